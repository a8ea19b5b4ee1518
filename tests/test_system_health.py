"""System health: whether a model can be reached, and what is going on."""

from datetime import timedelta
import json
from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.typing import (
    MockHAClientWebSocket,
    WebSocketGenerator,
)

from custom_components.proactive_agent.const import DOMAIN
from tests.support.doors import Door, door
from tests.support.heartbeats import Home, clock, home
from tests.support.llm_server import Held, Raw, llm_server, text
from tests.support.task_entity import ENTITY, Tasks, tasks
from tests.support.translated import TEXTS

__all__ = ["clock", "door", "home", "llm_server", "tasks"]

KEY = "sk-s3cret"


async def health(
    hass: HomeAssistant, hass_ws_client: WebSocketGenerator
) -> dict[str, Any]:
    """Ask as the page does."""
    return await answer_to(hass, await hass_ws_client(hass))


async def answer_to(
    hass: HomeAssistant, client: MockHAClientWebSocket
) -> dict[str, Any]:
    """Collect what comes at once, and what takes a while."""
    assert await async_setup_component(hass, "system_health", {})
    await client.send_json_auto_id({"type": "system_health/info"})
    assert (await client.receive_json())["success"]
    first = (await client.receive_json())["event"]
    ours = first["data"][DOMAIN]
    assert ours["manage_url"] == f"/config/integrations/integration/{DOMAIN}"
    info: dict[str, Any] = ours["info"]
    while (event := (await client.receive_json())["event"])["type"] != "finish":
        if event["domain"] == DOMAIN:
            info[event["key"]] = event["data"]
    assert not info.keys() - TEXTS["system_health"]["info"].keys()
    return info


async def test_what_is_going_on(home: Home, hass_ws_client: WebSocketGenerator) -> None:
    await home.add_heartbeat("Off")
    beat = await home.add_heartbeat("Spent", fuses={"max_wakes_per_day": 1})
    other = await home.add_heartbeat("Idle")
    home.llm_server.play(text("Nothing to do."))
    run = await beat.wake()
    await other.turn("off")
    assert await health(home.hass, hass_ws_client) == {
        "endpoint": "ok",
        "model": "test-model",
        "heartbeats_on": 2,
        "heartbeats_off": 1,
        "heartbeats_paused": 1,
        "tokens_today": sum(run["tokens"].values()),
        "pending_requests": 0,
    }


async def test_what_was_used_yesterday_is_none_of_it(
    home: Home, hass_ws_client: WebSocketGenerator
) -> None:
    # Who has logged in two days ago would have to do so again.
    client = await hass_ws_client(home.hass)
    beat = await home.add_heartbeat()
    home.llm_server.play(text("Nothing to do."))
    await beat.wake()
    await home.clock.tick(every=timedelta(hours=48))
    assert (await answer_to(home.hass, client))["tokens_today"] == 0


async def test_what_waits_for_a_yes(
    door: Door, hass_ws_client: WebSocketGenerator
) -> None:
    await door.ask()
    info = await health(door.hass, hass_ws_client)
    assert info["pending_requests"] == 1


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (Raw(status=401, body={"error": {"message": f"no {KEY}"}}), "unauthorized"),
        (Raw(status=404, body=f"<html>{KEY}</html>"), None),
        (Raw(status=400, body={"error": {"message": KEY}}), None),
    ],
)
async def test_any_answer_but_a_refusal_means_that_it_is_there(
    home: Home, hass_ws_client: WebSocketGenerator, answer: Raw, verdict: str | None
) -> None:
    await home.add_heartbeat()
    data = {**home.entry.data, "api_key": KEY}
    home.hass.config_entries.async_update_entry(home.entry, data=data)
    await home.settled()
    home.llm_server.models_answer = answer
    info = await health(home.hass, hass_ws_client)
    failed = {"type": "failed", "error": verdict}
    assert info["endpoint"] == (failed if verdict else "ok")
    assert KEY not in json.dumps(info)


async def test_a_server_that_is_off_is_unreachable(
    home: Home, hass_ws_client: WebSocketGenerator
) -> None:
    await home.add_heartbeat()
    await home.llm_server.close()
    info = await health(home.hass, hass_ws_client)
    assert info["endpoint"] == {"type": "failed", "error": "unreachable"}


async def test_one_that_does_not_answer_is_not_waited_for(
    home: Home, hass_ws_client: WebSocketGenerator
) -> None:
    await home.add_heartbeat()
    home.llm_server.models_answer = Held(text("Too late."))
    asked = home.hass.async_create_task(health(home.hass, hass_ws_client))
    await home.clock.turn_until(asked.done)
    assert asked.result()["endpoint"] == {"type": "failed", "error": "timeout"}


async def test_several_are_told_one_by_one(
    home: Home, tasks: Tasks, hass_ws_client: WebSocketGenerator
) -> None:
    await home.add_heartbeat()
    server = {"url": home.llm_server.url, "model": "test-model"}
    for data in (server, {"entity_id": "ai_task.gone"}):
        entry = MockConfigEntry(domain=DOMAIN, data=data)
        entry.add_to_hass(home.hass)
    info = await health(home.hass, hass_ws_client)
    assert [info[key] for key in ("endpoint", "endpoint_2", "endpoint_3")] == [
        "ok",
        "ok",
        {"type": "failed", "error": "unavailable"},
    ]
    assert info["model"] == f"{ENTITY}, test-model, ai_task.gone"

"""The actions of the integration (C8)."""

from typing import Any

from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.helpers.service import async_get_all_descriptions
import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.filters import props
import voluptuous as vol

from custom_components.proactive_agent.const import DOMAIN
from tests.support import stubs  # noqa: F401
from tests.support.heartbeats import FEED, HUNGRY, Home, clock, home
from tests.support.llm_server import calls, llm_server, text

__all__ = ["clock", "home", "llm_server"]

MEAL = ("feed", {"food": "meal"})
PET = {"entity_id": ["input_boolean.hungry"]}
RECORD_KEYS = {
    "run_id",
    "started",
    "cause",
    "outcome",
    "error",
    "gate",
    "actions",
    "message",
    "turns",
    "tokens",
    "seconds",
    "calls",
    "stopped",
}


async def _call(home: Home, action: str, entity_id: Any, **data: Any) -> Any:
    return await home.hass.services.async_call(
        "proactive_agent",
        action,
        {"entity_id": entity_id, **data},
        blocking=True,
        return_response=True,
    )


@pytest.mark.contract("C8")
async def test_wake_answers_with_the_record_of_the_run(home: Home) -> None:
    beat = await home.add_heartbeat(act=FEED)
    home.llm_server.play(calls(("feed", {"food": "meal"})), text("Fed."))
    answer = await _call(home, "wake", beat.switch)
    assert [*answer] == [beat.switch]
    record = answer[beat.switch]
    assert record.keys() >= RECORD_KEYS
    (action,) = record["actions"]
    assert action["action"] == "script.feed"
    assert action["entity_id"] == ["script.feed"]
    assert action["data"] == {"food": "meal"}
    assert action["status"] == "done"
    assert action["observed"] == {"script.feed": "off"}
    assert record["calls"][0]["arguments"] == {"food": "meal"}
    assert (record["turns"], record["answer"]) == (2, "Fed.")
    assert record["tokens"] == {"prompt": 40, "completion": 16}
    assert (await beat.runs())[0] == record


async def test_wake_takes_several_heartbeats(home: Home) -> None:
    first = await home.add_heartbeat("One")
    second = await home.add_heartbeat("Two")
    home.llm_server.always = text("Fine.")
    answer = await _call(home, "wake", [first.switch, second.switch])
    assert {*answer} == {first.switch, second.switch}
    assert len({record["run_id"] for record in answer.values()}) == 2


async def test_wake_works_without_an_answer(home: Home) -> None:
    beat = await home.add_heartbeat()
    home.llm_server.play(text("Fine."))
    await home.hass.services.async_call(
        "proactive_agent", "wake", {"entity_id": beat.switch}, blocking=True
    )
    assert len(await beat.runs()) == 1


async def test_get_runs_is_newest_first_and_limited(home: Home) -> None:
    beat = await home.add_heartbeat()
    assert await beat.runs() == []
    home.llm_server.always = text("Fine.")
    woken = [(await beat.wake())["run_id"] for _ in range(12)]
    assert [run["run_id"] for run in await beat.runs()] == woken[:1:-1]
    assert [run["run_id"] for run in await beat.runs(limit=2)] == woken[:9:-1]
    assert len(await beat.runs(limit=50)) == 12


@pytest.mark.parametrize("limit", [0, -1, 51, "many"])
async def test_get_runs_refuses_an_odd_limit(home: Home, limit: Any) -> None:
    beat = await home.add_heartbeat()
    with pytest.raises(vol.Invalid):
        await _call(home, "get_runs", beat.switch, limit=limit)


@pytest.mark.parametrize("action", ["wake", "get_runs"])
@pytest.mark.parametrize(
    "target", ["switch.unknown", "input_boolean.lamp", "sensor.milonga"]
)
async def test_a_wrong_target_is_an_error(home: Home, action: str, target: str) -> None:
    await home.add_heartbeat()
    with pytest.raises(HomeAssistantError):
        await _call(home, action, target)
    assert home.llm_server.requests == []


async def test_the_actions_are_there_without_an_endpoint(home: Home) -> None:
    switch = (await home.add_heartbeat()).switch
    assert await home.hass.config_entries.async_remove(home.entry.entry_id)
    assert home.hass.services.has_service("proactive_agent", "wake")
    with pytest.raises(HomeAssistantError):
        await _call(home, "wake", switch)


async def test_refusals_are_sentences(home: Home) -> None:
    beat = await home.add_heartbeat()
    await beat.turn("off")
    with pytest.raises(
        ServiceValidationError, match=r"^Milonga is switched off\. Switch it on first"
    ):
        await beat.wake()


@pytest.mark.contract("A9", "G3")
@pytest.mark.parametrize("dry_run", [False, True], ids=["for real", "dry"])
async def test_the_answer_of_a_run_is_what_it_was(
    home: Home, snapshot: SnapshotAssertion, dry_run: bool
) -> None:
    home.clock.freezer.move_to("2026-12-01 08:00:00+00:00")
    home.llm_server.play(
        calls(("get_state", {"entity_id": "input_boolean.hungry"}), MEAL),
        calls(("tell_owner", {"message": "Milonga had a meal."})),
        text("Done."),
    )
    beat = await home.add_heartbeat(
        conditions=[HUNGRY], look=PET, act=FEED, counted=False
    )
    await home.set("hungry", on=True)
    changing = props("run_id", "seconds", "started")
    assert await beat.wake(dry_run=dry_run) == snapshot(name="wake", exclude=changing)
    assert await beat.runs() == snapshot(name="get_runs", exclude=changing)


async def test_the_actions_are_described(
    home: Home, snapshot: SnapshotAssertion
) -> None:
    await home.add_heartbeat()
    described = await async_get_all_descriptions(home.hass)
    assert described[DOMAIN] == snapshot

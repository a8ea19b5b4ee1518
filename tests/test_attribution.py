"""Who did it: the activity page names the heartbeat (A8)."""

from typing import Any

from homeassistant.components.recorder import get_instance
from homeassistant.core import Context, HomeAssistant
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import MockUser

from .support.attack import Siege, async_lay_siege
from .support.heartbeats import Beat
from .support.llm_server import LlmServer, calls

pytestmark = pytest.mark.contract("A8")

LAMP = {"entity_id": ["light.lamp"]}


@pytest.fixture
def mock_recorder_before_hass(async_test_recorder: Any) -> None:
    """The activity page reads the recorder, which starts before everything else."""


@pytest.fixture
async def siege(
    recorder_mock: Any, hass: HomeAssistant, llm_server: LlmServer
) -> Siege:
    siege = await async_lay_siege(hass, llm_server)
    sequence = [{"action": "light.turn_off", "target": LAMP}]
    scripts = {"night": {"alias": "Night", "sequence": sequence}}
    assert await async_setup_component(hass, "logbook", {})
    await siege.reload_scripts(scripts)
    await hass.services.async_call("light", "turn_on", LAMP, blocking=True)
    await hass.async_block_till_done()
    return siege


async def _page(
    siege: Siege, ws_client: Any, since: Any, *entity_ids: str
) -> list[dict[str, Any]]:
    """Ask for the activity page as the frontend does."""
    await siege.hass.async_block_till_done(wait_background_tasks=True)
    await get_instance(siege.hass).async_block_till_done()
    await ws_client.send_json_auto_id(
        {
            "type": "logbook/get_events",
            "start_time": since.isoformat(),
            **({"entity_ids": [*entity_ids]} if entity_ids else {}),
        }
    )
    answer = await ws_client.receive_json()
    assert answer["success"]
    rows: list[dict[str, Any]] = answer["result"]
    return rows


async def _turned_off(
    siege: Siege, ws_client: Any, beat: Beat, *answers: Any, page_of: tuple[str, ...]
) -> dict[str, Any]:
    since = dt_util.utcnow()
    await siege.attack(beat, *answers)
    rows = await _page(siege, ws_client, since, *page_of)
    (row,) = [
        row
        for row in rows
        if row.get("entity_id") == "light.lamp" and row.get("state") == "off"
    ]
    return row


@pytest.mark.parametrize("page_of", [(), ("light.lamp",)], ids=["all", "lamp"])
async def test_a_light_was_turned_off_by_the_heartbeat(
    siege: Siege, hass_ws_client: Any, page_of: tuple[str, ...]
) -> None:
    ws_client = await hass_ws_client(siege.hass)
    beat = await siege.add_heartbeat("Milonga", act=LAMP)
    row = await _turned_off(
        siege,
        ws_client,
        beat,
        calls(("light_turn_off", LAMP)),
        page_of=page_of,
    )
    assert row["context_domain"] == "proactive_agent"
    assert row["context_event_type"] == "proactive_agent_heartbeat_tick"
    assert row["context_name"] == "Milonga"
    assert row["context_message"] == "woke because it was asked to check now"
    assert "context_user_id" not in row


@pytest.mark.parametrize("page_of", [(), ("light.lamp",)], ids=["all", "lamp"])
async def test_so_is_a_light_that_a_script_of_the_heartbeat_turned_off(
    siege: Siege, hass_ws_client: Any, page_of: tuple[str, ...]
) -> None:
    ws_client = await hass_ws_client(siege.hass)
    act = {"entity_id": ["script.night"]}
    beat = await siege.add_heartbeat("Milonga", act=act)
    row = await _turned_off(
        siege, ws_client, beat, calls(("night", {})), page_of=page_of
    )
    assert row["context_domain"] == "proactive_agent"
    assert row["context_name"] == "Milonga"


async def test_each_heartbeat_answers_for_its_own_deeds(
    siege: Siege, hass_ws_client: Any
) -> None:
    ws_client = await hass_ws_client(siege.hass)
    act = {"entity_id": ["light.lamp", "light.dimmer"]}
    first = await siege.add_heartbeat("First", act=act)
    second = await siege.add_heartbeat("Second", act=act)
    since = dt_util.utcnow()
    await siege.attack(first, calls(("light_turn_off", LAMP)))
    dimmer = {"entity_id": ["light.dimmer"]}
    await siege.attack(second, calls(("light_turn_on", dimmer)))
    rows = await _page(siege, ws_client, since)
    names = {
        row["entity_id"]: row.get("context_name")
        for row in rows
        if row.get("entity_id") in {"light.lamp", "light.dimmer"}
    }
    assert names == {"light.lamp": "First", "light.dimmer": "Second"}


async def test_a_dry_run_is_answerable_for_nothing(
    siege: Siege, hass_ws_client: Any
) -> None:
    ws_client = await hass_ws_client(siege.hass)
    beat = await siege.add_heartbeat("Milonga", act=LAMP)
    since = dt_util.utcnow()
    await siege.attack(beat, calls(("light_turn_off", LAMP)), dry_run=True)
    rows = await _page(siege, ws_client, since)
    assert not [row for row in rows if row.get("entity_id") == "light.lamp"]


@pytest.mark.contract("P2")
@pytest.mark.parametrize("page_of", [(), ("light.lamp",)], ids=["all", "lamp"])
async def test_what_a_person_said_yes_to_was_done_by_the_heartbeat(
    siege: Siege,
    hass_ws_client: Any,
    hass_admin_user: MockUser,
    page_of: tuple[str, ...],
) -> None:
    ws_client = await hass_ws_client(siege.hass)
    beat = await siege.add_heartbeat("Milonga", ask=LAMP)
    since = dt_util.utcnow()
    await siege.attack(beat, calls(("light_turn_off", LAMP)))
    pending = siege.hass.states.get(beat.entity_id("sensor", "pending_approval"))
    assert pending is not None
    await siege.hass.services.async_call(
        "proactive_agent",
        "approve",
        {"approval_id": pending.attributes["approval_id"]},
        blocking=True,
        context=Context(user_id=hass_admin_user.id),
    )
    rows = await _page(siege, ws_client, since, *page_of)
    (row,) = [
        row
        for row in rows
        if row.get("entity_id") == "light.lamp" and row.get("state") == "off"
    ]
    assert row["context_domain"] == "proactive_agent"
    assert row["context_event_type"] == "proactive_agent_approval_answered"
    assert row["context_name"] == "Milonga"
    said = f"got a yes from {hass_admin_user.name}: Turn off light (Lamp)"
    assert row["context_message"] == said
    assert "context_user_id" not in row

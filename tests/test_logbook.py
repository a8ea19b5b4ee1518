"""The heartbeats' story on the activity page (A8)."""

from datetime import timedelta
from typing import Any

from homeassistant.components.logbook.helpers import async_determine_event_types
from homeassistant.components.logbook.models import async_event_to_row
from homeassistant.components.logbook.processor import EventProcessor
from homeassistant.const import EVENT_STATE_CHANGED
from homeassistant.core import Context, Event, HomeAssistant, callback
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockUser

from tests.support.doors import BACK, FRONT, Door, door
from tests.support.heartbeats import FEED, Home, clock, home
from tests.support.llm_server import calls, llm_server, text

__all__ = ["clock", "door", "home", "llm_server"]


@pytest.fixture
def mock_recorder_before_hass(async_test_recorder: Any) -> None:
    """The activity page reads the recorder, which starts before everything else."""


@pytest.fixture
async def events(recorder_mock: Any, home: Home, hass: HomeAssistant) -> list[Any]:
    """Collect what the activity page would be made of."""
    assert await async_setup_component(hass, "logbook", {})
    await hass.async_block_till_done()
    collected: list[Any] = []

    @callback
    def collect(event: Event[Any]) -> None:
        collected.append(event)

    hass.bus.async_listen("*", collect)
    return collected


def _page(hass: HomeAssistant, events: list[Any]) -> list[dict[str, Any]]:
    types = (EVENT_STATE_CHANGED, *async_determine_event_types(hass, None, None))
    rows = [async_event_to_row(one) for one in events if one.event_type in types]
    return list(EventProcessor(hass, types).humanify((row for row in rows), None))


@pytest.mark.contract("A8")
async def test_what_a_run_did_is_put_down_to_its_heartbeat(
    events: list[Any], home: Home
) -> None:
    beat = await home.add_heartbeat(act=FEED)
    home.llm_server.play(calls(("feed", {"food": "meal"})), text("Fed."))
    events.clear()
    await home.clock.tick()
    page = _page(home.hass, events)
    ours = [entry for entry in page if entry.get("domain") == "proactive_agent"]
    assert [(entry["name"], entry["message"]) for entry in ours] == [
        ("Milonga", "woke up to check"),
        ("Milonga", "reported: Done: Feed."),
    ]
    assert {entry["entity_id"] for entry in ours} == {beat.switch}
    deeds = [entry for entry in page if entry.get("entity_id") == "script.feed"]
    assert deeds
    for deed in deeds:
        assert deed["context_name"] == "Milonga"
        assert deed["context_domain"] == "proactive_agent"
        assert deed["context_event_type"] == "proactive_agent_heartbeat_tick"


@pytest.mark.contract("A8", "F8")
async def test_a_stop_stands_on_the_page(events: list[Any], home: Home) -> None:
    await home.add_heartbeat(fuses={"max_ticks": 1})
    home.llm_server.play(text("Fine."))
    await home.clock.tick()
    ours = [
        entry
        for entry in _page(home.hass, events)
        if entry.get("domain") == "proactive_agent"
    ]
    assert [entry["message"] for entry in ours] == [
        "woke up to check",
        "stopped: it has used all its ticks",
    ]


@pytest.fixture
async def story(events: list[Any], door: Door) -> list[Any]:
    """Collect what happens once the heartbeat is there."""
    events.clear()
    return events


def _told(door: Door, events: list[Any]) -> list[str]:
    page = _page(door.hass, events)
    ours = [entry for entry in page if entry.get("domain") == "proactive_agent"]
    assert {entry["name"] for entry in ours} == {"Milonga"}
    assert {entry["entity_id"] for entry in ours} == {door.beat.switch}
    return [entry["message"] for entry in ours]


@pytest.mark.contract("A8", "P2")
async def test_what_was_done_after_a_yes_is_put_down_to_the_heartbeat(
    story: list[Any], door: Door
) -> None:
    anna = MockUser(name="Anna", is_owner=True).add_to_hass(door.hass)
    approval_id = await door.ask()
    await door.answer("approve", approval_id, Context(user_id=anna.id))
    assert _told(door, story) == [
        "woke up to check",
        "asks for a yes: Unlock lock (Front door)",
        "got a yes from Anna: Unlock lock (Front door)",
        "reported: Done after your yes: Unlock lock (Front door).",
    ]
    page = _page(door.hass, story)
    (deed,) = [entry for entry in page if entry.get("entity_id") == FRONT]
    assert deed["state"] == "unlocked"
    assert deed["context_name"] == "Milonga"
    assert deed["context_domain"] == "proactive_agent"
    assert deed["context_event_type"] == "proactive_agent_approval_answered"
    assert "context_user_id" not in deed


@pytest.mark.contract("P2", "P5", "P7")
async def test_so_does_each_way_in_which_nothing_is_done(
    story: list[Any], door: Door
) -> None:
    first = await door.ask(FRONT)
    await door.answer("reject", first)
    await door.ask(BACK)
    await door.home.clock.tick(every=timedelta(hours=1))
    door.hass.states.async_set(FRONT, "jammed", {"friendly_name": "Front door"})
    await door.ask(FRONT)
    await door.beat.turn("off")
    await door.home.settled()
    assert [one for one in _told(door, story) if not one.startswith("woke")] == [
        "asks for a yes: Unlock lock (Front door)",
        "got a no from an automation: Unlock lock (Front door)",
        "asks for a yes: Unlock lock (Back door)",
        "got no answer: Unlock lock (Back door)",
        "asks for a yes: Unlock lock (Front door)",
        "withdrew its request: Unlock lock (Front door)",
    ]

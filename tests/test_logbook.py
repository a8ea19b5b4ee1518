"""The heartbeats' story on the activity page (A8)."""

from datetime import timedelta
from typing import Any

from homeassistant.components.logbook.helpers import async_determine_event_types
from homeassistant.components.logbook.models import async_event_to_row
from homeassistant.components.logbook.processor import EventProcessor
from homeassistant.const import EVENT_STATE_CHANGED
from homeassistant.core import Context, Event, HomeAssistant, callback
from homeassistant.exceptions import ServiceValidationError
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockUser
from syrupy.assertion import SnapshotAssertion

from tests.support.doors import BACK, BECAUSE, FRONT, Door, door
from tests.support.heartbeats import (
    FEED,
    HUNGRY,
    INTERVAL,
    LAMP,
    Home,
    clock,
    home,
)
from tests.support.llm_server import Held, Raw, calls, llm_server, text

__all__ = ["clock", "door", "home", "llm_server"]

WANTED = "Unlock lock (Front door)"
PAUSED = "Paused until tomorrow: it has woken as often as it may in one day."
CHANGED = "Not done after your yes, because things have changed since you were asked"


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


def _sentences(hass: HomeAssistant, events: list[Any]) -> list[str]:
    """Return our lines of the page, oldest first, as they are read there."""
    return [
        f"{entry['name']} {entry['message']}"
        for entry in _page(hass, events)
        if entry.get("domain") == "proactive_agent"
    ]


@pytest.mark.contract("A8")
async def test_what_a_run_did_is_put_down_to_its_heartbeat(
    events: list[Any], home: Home
) -> None:
    await home.add_heartbeat(act=FEED)
    home.llm_server.play(calls(("feed", {"food": "meal"})), text("Fed."))
    events.clear()
    await home.clock.tick()
    assert _sentences(home.hass, events) == [
        "Milonga woke for its check",
        "Milonga ran Feed, and told you: “Done: Feed.”",
    ]
    page = _page(home.hass, events)
    deeds = [entry for entry in page if entry.get("entity_id") == "script.feed"]
    assert deeds
    for deed in deeds:
        assert deed["context_name"] == "Milonga"
        assert deed["context_domain"] == "proactive_agent"
        assert deed["context_event_type"] == "proactive_agent_heartbeat_tick"


@pytest.mark.contract("A8")
async def test_an_event_that_was_too_large_to_be_kept_breaks_no_page(
    events: list[Any], home: Home
) -> None:
    await home.add_heartbeat()
    events.clear()
    home.hass.bus.async_fire("proactive_agent_heartbeat_tick", {})
    await home.settled()
    assert _sentences(home.hass, events) == ["Proactive Agent woke for its check"]


@pytest.fixture
async def story(events: list[Any], door: Door) -> list[Any]:
    """Collect what happens once the heartbeat is there."""
    events.clear()
    return events


@pytest.mark.contract("A8", "P2", "F8", "S1")
async def test_a_whole_story_is_told_in_plain_words_and_in_order(
    story: list[Any], door: Door, snapshot: SnapshotAssertion
) -> None:
    """Woke, acted, asked, got its yes, did it, and stopped: the device's own page."""
    hass, home, beat = door.hass, door.home, door.beat
    anna = MockUser(name="Anna", is_owner=True).add_to_hass(hass)
    await beat.change(conditions=[HUNGRY], act=FEED, manners={"may_stop": True})
    await home.set("hungry", on=True)
    story.clear()
    unlock = {"entity_id": FRONT, "because": BECAUSE}
    home.llm_server.play(
        calls(("feed", {"food": "meal"}), ("lock_unlock", unlock)),
        calls(("tell_owner", {"message": "Milonga was hungry and is fed."})),
        text("Done."),
    )
    await home.clock.tick()
    await door.answer("approve", door.shown["approval_id"], Context(user_id=anna.id))
    await home.settled()
    home.llm_server.play(
        calls(("stop_heartbeat", {"reason": "She is home and fed."})), text("Bye.")
    )
    await beat.check_now(Context(user_id=anna.id))
    await home.settled()
    activity = beat.entity_id("event", "activity")
    told = [
        _as_read(entry)
        for entry in _page(hass, story)
        if activity == entry.get("entity_id") or "message" in entry
    ]
    assert told == snapshot


def _as_read(entry: dict[str, Any]) -> str:
    """Return a line of the page: a sentence, or what kind of event it was."""
    if "message" in entry:
        return f"{entry['name']} {entry['message']}"
    return f"    {entry['name']}: {entry['attributes']['event_type']}"


WOKEN: dict[str, tuple[dict[str, Any], str]] = {
    "a state": (HUNGRY, "hungry is On"),
    "a state for a while": (
        HUNGRY | {"for": {"minutes": 5}},
        "hungry is On for 0:05:00",
    ),
    "a state for a second": (
        HUNGRY | {"for": {"seconds": 1}},
        "hungry is On for 0:00:01",
    ),
    "an attribute": (
        HUNGRY | {"attribute": "editable", "state": False},
        "hungry has editable False",
    ),
    "the owner's own words": (HUNGRY | {"alias": "She is hungry"}, "She is hungry"),
    "a number": (
        {"condition": "numeric_state", "entity_id": "sensor.fridge", "above": 7},
        "Fridge is 9.5 °C, above 7",
    ),
    "a number between two": (
        {
            "condition": "numeric_state",
            "entity_id": "sensor.fridge",
            "above": 7.5,
            "below": "sensor.limit",
        },
        "Fridge is 9.5 °C, between 7.5 and Limit (20)",
    ),
    "a number in an attribute": (
        {
            "condition": "numeric_state",
            "entity_id": "sensor.fridge",
            "attribute": "low_mark",
            "below": 7,
        },
        "Fridge has low mark 3, below 7",
    ),
    "what holds of two": (
        {
            "condition": "or",
            "conditions": [HUNGRY, HUNGRY | {"entity_id": "input_boolean.lamp"}],
        },
        "hungry is On",
    ),
    "both of two": (
        {
            "condition": "and",
            "conditions": [
                HUNGRY,
                {
                    "condition": "state",
                    "entity_id": "binary_sensor.door",
                    "state": "on",
                },
            ],
        },
        "hungry is On, and Fridge door is Open",
    ),
    "what does not hold": (
        {
            "condition": "not",
            "conditions": [
                {
                    "condition": "state",
                    "entity_id": "binary_sensor.door",
                    "state": "off",
                }
            ],
        },
        "Fridge door is Open",
    ),
    "a template": (
        {
            "condition": "template",
            "value_template": "{{ states('sensor.fridge') | float > 9 }}",
        },
        "Fridge is 9.5 °C",
    ),
    "the time": ({"condition": "time", "after": "00:00:00"}, "time after 00:00:00"),
}


@pytest.mark.contract("G3")
@pytest.mark.parametrize(("condition", "because"), WOKEN.values(), ids=WOKEN)
async def test_why_it_woke_is_said_by_the_names_of_the_home(
    events: list[Any], home: Home, condition: dict[str, Any], because: str
) -> None:
    hass = home.hass
    assert await async_setup_component(hass, "sensor", {})
    assert await async_setup_component(hass, "binary_sensor", {})
    for entity_id, state, attributes in (
        ("sensor.fridge", "9.5", {"unit_of_measurement": "°C", "low_mark": 3}),
        ("sensor.limit", "20", {}),
        ("binary_sensor.door", "on", {"device_class": "door"}),
    ):
        name = "Fridge door" if "door" in entity_id else entity_id.split(".")[1].title()
        hass.states.async_set(entity_id, state, {"friendly_name": name, **attributes})
    await home.set("hungry", on=True)
    await home.add_heartbeat(conditions=[condition])
    home.llm_server.play(text("Fine."))
    events.clear()
    await home.clock.tick()
    assert _sentences(hass, events) == [f"Milonga woke because {because}"]


@pytest.mark.contract("G3")
async def test_no_wake_fails_for_want_of_words(
    events: list[Any], home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def speechless(*_: Any) -> str:
        raise ValueError

    gate = "custom_components.proactive_agent.gate.gate"
    monkeypatch.setattr(f"{gate}.listed", speechless)
    await home.set("hungry", on=True)
    await home.add_heartbeat(conditions=[HUNGRY])
    home.llm_server.play(text("Fine."))
    await home.clock.tick()
    assert _sentences(home.hass, events) == ["Milonga woke for its check"]


@pytest.mark.contract("A9")
async def test_a_dry_run_says_that_it_is_one(events: list[Any], home: Home) -> None:
    beat = await home.add_heartbeat(conditions=[HUNGRY])
    home.llm_server.play(text("Fine."))
    await beat.wake(dry_run=True)
    assert _sentences(home.hass, events) == [
        "Milonga woke for a dry run, in which nothing is done or said"
    ]


STOPS: dict[str, tuple[dict[str, Any], list[Any], str]] = {
    "ticks": (
        {"fuses": {"max_ticks": 1}},
        [text("Fine.")],
        " because it has used all its ticks",
    ),
    "time": (
        {"fuses": {"max_duration": {"minutes": 20}}, "conditions": [HUNGRY]},
        [],
        " because its time is over",
    ),
    "acting": (
        {"manners": {"stop_after_acting": True}, "act": FEED},
        [calls(("feed", {"food": "meal"})), text("Fed.")],
        " because it was to stop after it had done something",
    ),
    "itself": (
        {"manners": {"may_stop": True}},
        [calls(("stop_heartbeat", {"reason": "She is home."})), text("Bye.")],
        ", saying: “She is home.”",
    ),
}


@pytest.mark.contract("A8", "F8")
@pytest.mark.parametrize(("options", "answers", "why"), STOPS.values(), ids=STOPS)
async def test_a_stop_stands_on_the_page(
    events: list[Any],
    home: Home,
    options: dict[str, Any],
    answers: list[Any],
    why: str,
) -> None:
    await home.add_heartbeat(**options)
    home.llm_server.play(*answers)
    await home.clock.tick(2)
    assert _sentences(home.hass, events)[-1] == f"Milonga switched itself off{why}"


FAILURES: dict[str, tuple[dict[str, Any], list[Any], str]] = {
    "the key is refused": (
        {},
        [Raw(status=401, body={"error": {"message": "no"}})],
        "The server refused the API key. Enter a valid one. The server said: 401: no",
    ),
    "too many turns": (
        {"fuses": {"max_turns": 1}},
        [calls(("get_state", {"entity_id": "input_boolean.lamp"}))],
        "It needed too many turns.",
    ),
    "too many actions": (
        {"fuses": {"max_actions": 1}},
        [
            calls(
                ("input_boolean_turn_on", {"entity_id": "input_boolean.lamp"}),
                ("input_boolean_turn_off", {"entity_id": "input_boolean.lamp"}),
            )
        ],
        "It reached its limit of actions.",
    ),
}


@pytest.mark.contract("R7", "F4", "F5")
@pytest.mark.parametrize(("options", "answers", "why"), FAILURES.values(), ids=FAILURES)
async def test_a_run_that_failed_says_why(
    events: list[Any],
    home: Home,
    options: dict[str, Any],
    answers: list[Any],
    why: str,
) -> None:
    await home.add_heartbeat(act=LAMP, **options)
    home.llm_server.play(*answers)
    await home.clock.tick()
    assert f"Milonga failed. {why}" in _sentences(home.hass, events)


@pytest.mark.contract("F3")
async def test_so_does_one_that_took_too_long(events: list[Any], home: Home) -> None:
    await home.add_heartbeat()
    held = Held(text("Late."))
    home.llm_server.play(held)
    home.clock.turn(INTERVAL)
    await held.reached.wait()
    await home.clock.tick(every=timedelta(minutes=1))
    held.release.set()
    await home.settled()
    assert _sentences(home.hass, events)[-1] == "Milonga failed. It took too long."


@pytest.mark.contract("S7", "F5", "F7")
async def test_what_it_tells_of_itself_stands_there_too(
    events: list[Any], home: Home
) -> None:
    await home.add_heartbeat()
    no = Raw(status=400, body={"error": {"message": "no"}})
    home.llm_server.play(*[no] * 5, text("Fine."))
    await home.clock.tick(8)
    waits, works = [one for one in _sentences(home.hass, events) if "told you" in one]
    assert waits.startswith("Milonga told you: “Waits until ")
    assert "because its last 5 runs have failed. The server does not accept" in waits
    assert works == "Milonga told you: “Works again: its last run went well.”"


@pytest.mark.contract("F5", "S7")
async def test_so_does_a_budget_that_is_spent(events: list[Any], home: Home) -> None:
    await home.add_heartbeat(fuses={"max_wakes_per_day": 1})
    home.llm_server.play(text("Fine."))
    await home.clock.tick(2)
    assert _sentences(home.hass, events) == [
        "Milonga woke for its check",
        f"Milonga told you: “{PAUSED}”",
    ]


@pytest.mark.contract("S1")
async def test_what_it_only_says_is_said_once(events: list[Any], home: Home) -> None:
    await home.add_heartbeat()
    home.llm_server.play(
        calls(("tell_owner", {"message": "The <b>door</b> is open."})), text("Told.")
    )
    await home.clock.tick()
    assert _sentences(home.hass, events) == [
        "Milonga woke for its check",
        "Milonga told you: “The door is open.”",
    ]


@pytest.mark.contract("A8", "P2")
async def test_what_was_done_after_a_yes_is_put_down_to_the_heartbeat(
    story: list[Any], door: Door
) -> None:
    anna = MockUser(name="Anna", is_owner=True).add_to_hass(door.hass)
    approval_id = await door.ask()
    await door.answer("approve", approval_id, Context(user_id=anna.id))
    assert _sentences(door.hass, story) == [
        "Milonga woke because it was asked to check now",
        f"Milonga asked whether it may do this: {WANTED}. Because: {BECAUSE}",
        "Milonga got a yes from Anna: Unlock lock (Front door)",
        f"Milonga unlocked Front door, and told you: “Done after your yes: {WANTED}.”",
    ]
    page = _page(door.hass, story)
    (deed,) = [entry for entry in page if entry.get("entity_id") == FRONT]
    assert deed["state"] == "unlocked"
    assert deed["context_name"] == "Milonga"
    assert deed["context_domain"] == "proactive_agent"
    assert deed["context_event_type"] == "proactive_agent_approval_answered"
    assert "context_user_id" not in deed


@pytest.mark.contract("P4")
async def test_what_came_to_nothing_after_a_yes_is_said_too(
    story: list[Any], door: Door
) -> None:
    approval_id = await door.ask()
    door.hass.states.async_set(FRONT, "jammed", {"friendly_name": "Front door"})
    with pytest.raises(ServiceValidationError):
        await door.answer("approve", approval_id)
    await door.home.settled()
    assert _sentences(door.hass, story)[-2:] == [
        "Milonga got a yes from an automation: Unlock lock (Front door)",
        f"Milonga told you: “{CHANGED}: {WANTED}.”",
    ]


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
    asked = (
        "Milonga asked whether it may do this: Unlock lock ({}). Because: " + BECAUSE
    )
    told = _sentences(door.hass, story)
    assert [one for one in told if " woke " not in one] == [
        asked.format("Front door"),
        "Milonga got a no from an automation: Unlock lock (Front door)",
        asked.format("Back door"),
        "Milonga got no answer in time, which counts as a no: Unlock lock (Back door)",
        asked.format("Front door"),
        "Milonga withdrew its request: Unlock lock (Front door)",
    ]

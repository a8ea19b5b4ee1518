"""All entities of a heartbeat in each status, and why it does nothing (S7)."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
import json
from typing import Any

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.event import async_track_state_change_event
from homeassistant.helpers.json import json_bytes, json_dumps
from homeassistant.helpers.translation import async_get_translations
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import (
    async_mock_restore_state_shutdown_restart,
)
from syrupy.assertion import SnapshotAssertion

from custom_components.proactive_agent.engine.breaker import Fault
from custom_components.proactive_agent.engine.fuses import PauseReason, StopReason
from tests.support.doors import BECAUSE, FRONT, Door, door
from tests.support.heartbeats import (
    FEED,
    HUNGRY,
    INTERVAL,
    LAMP,
    Beat,
    Home,
    clock,
    home,
)
from tests.support.llm_server import Held, Raw, calls, llm_server, text

__all__ = ["clock", "door", "home", "llm_server"]

BROKEN = {"condition": "state", "entity_id": "binary_sensor.gone", "state": "on"}
NO = Raw(status=401, body={"error": {"message": "no"}})
EMPTY = Raw(
    status=429,
    body={"error": {"message": "You exceeded it.", "code": "insufficient_quota"}},
)
FULL = Raw(status=400, body={"error": {"message": "no"}})
FED = (calls(("feed", {"food": "meal"})), text("Fed."))
BYE = (calls(("stop_heartbeat", {"reason": "She is home."})), text("Bye."))

type Scene = Callable[[Home], Awaitable[Beat]]


def _after(
    *answers: Any, ticks: int = 1, every: timedelta = INTERVAL, **options: Any
) -> Scene:
    """Return what so many ticks make of a heartbeat with these options."""

    async def scene(home: Home) -> Beat:
        beat = await home.add_heartbeat(**options)
        home.llm_server.play(*answers)
        await home.clock.tick(ticks, every=every)
        return beat

    return scene


async def _switched_off(home: Home) -> Beat:
    beat = await home.add_heartbeat()
    await beat.turn("off")
    await home.settled()
    return beat


STANDING: dict[str, tuple[Scene, str, str | None, str | None]] = {
    "asleep": (_after(conditions=[HUNGRY]), "asleep", None, None),
    "asleep after a run": (_after(text("Fine.")), "asleep", None, None),
    "off by its switch": (_switched_off, "off", "switched_off", None),
    "off after its ticks": (
        _after(text("Fine."), fuses={"max_ticks": 1}),
        "off",
        "max_ticks",
        None,
    ),
    "off after its time": (
        _after(ticks=2, conditions=[HUNGRY], fuses={"max_duration": {"minutes": 20}}),
        "off",
        "max_duration",
        None,
    ),
    "off after acting": (
        _after(*FED, act=FEED, manners={"stop_after_acting": True}),
        "off",
        "stop_after_acting",
        None,
    ),
    "off by itself": (_after(*BYE, manners={"may_stop": True}), "off", "agent", None),
    "paused: wakes": (
        _after(text("Fine."), fuses={"max_wakes_per_day": 1}),
        "paused",
        "max_wakes_per_day",
        "midnight",
    ),
    "paused: tokens": (
        _after(text("Fine."), fuses={"max_tokens_per_day": 1}),
        "paused",
        "max_tokens_per_day",
        "midnight",
    ),
    "paused: failures": (
        _after(*[FULL] * 5, ticks=5),
        "paused",
        "failures",
        "0:15:00",
    ),
    "paused: key": (_after(NO), "paused", "auth", None),
    "paused: account": (_after(EMPTY), "paused", "quota", "1 day, 0:00:00"),
    "asleep: conditions": (
        _after(conditions=[BROKEN], ticks=6),
        "asleep",
        "gate",
        None,
    ),
}


def _standing(home: Home, beat: Beat) -> tuple[str, str | None, str | None]:
    """Return status, reason, and for how long from now."""
    state = home.hass.states.get(beat.entity_id("sensor", "status"))
    assert state
    until = state.attributes.get("until")
    return state.state, state.attributes.get("reason"), until and _moment(until)


def _moment(text: str) -> str:
    moment = dt_util.parse_datetime(text)
    assert moment
    tomorrow = dt_util.start_of_local_day(dt_util.now().date() + timedelta(days=1))
    return "midnight" if moment == tomorrow else str(_whole(moment - dt_util.utcnow()))


def _whole(span: timedelta) -> timedelta:
    """Return it in minutes: some states have no parts of a second."""
    return timedelta(minutes=round(span / timedelta(minutes=1)))


@pytest.mark.contract("S7", "F5", "F7", "F8")
@pytest.mark.parametrize(
    ("scene", "status", "reason", "until"), STANDING.values(), ids=STANDING
)
async def test_the_status_says_why_and_until_when(
    home: Home, scene: Scene, status: str, reason: str | None, until: str | None
) -> None:
    beat = await scene(home)
    assert _standing(home, beat) == (status, reason, until)


@pytest.mark.contract("P1", "P5")
async def test_it_says_until_when_it_waits_for_an_answer(door: Door) -> None:
    await door.ask()
    standing = _standing(door.home, door.beat)
    assert standing == ("waiting", "approval", "1:00:00")


@pytest.mark.contract("F8", "P7")
async def test_it_says_that_it_stops_after_the_answer(door: Door) -> None:
    await door.beat.change(manners={"may_stop": True})
    unlock = {"entity_id": FRONT, "because": BECAUSE}
    door.home.llm_server.play(
        calls(("lock_unlock", unlock), ("stop_heartbeat", {"reason": "Over."})),
        text("Bye."),
    )
    await door.beat.wake()
    await door.home.settled()
    standing = _standing(door.home, door.beat)
    assert standing == ("waiting", "last_approval", "1:00:00")
    await door.answer("reject", door.shown["approval_id"])
    await door.home.settled()
    assert _standing(door.home, door.beat) == ("off", "agent", None)


@pytest.mark.contract("G2", "S7")
async def test_the_reason_goes_with_the_fault(home: Home) -> None:
    beat = await STANDING["asleep: conditions"][0](home)
    home.hass.states.async_set("binary_sensor.gone", "off")
    await home.clock.tick()
    assert _standing(home, beat) == ("asleep", None, None)


@pytest.mark.contract("C6", "F8")
@pytest.mark.parametrize("name", ["off after its ticks", "off by its switch"])
async def test_why_it_is_off_survives_a_restart(
    home: Home, hass_storage: dict[str, Any], name: str
) -> None:
    scene, *standing = STANDING[name]
    beat = await scene(home)
    await async_mock_restore_state_shutdown_restart(home.hass)
    assert await home.hass.config_entries.async_reload(home.entry.entry_id)
    await home.settled()
    assert [*_standing(home, beat)] == standing
    await beat.turn("on")
    assert _standing(home, beat) == ("asleep", None, None)
    await beat.turn("off")
    assert _standing(home, beat) == ("off", "switched_off", None)


async def test_each_reason_has_words(hass: HomeAssistant, home: Home) -> None:
    await home.add_heartbeat()
    words = await async_get_translations(hass, "en", "entity", {"proactive_agent"})
    base = (
        "component.proactive_agent.entity.sensor.status.state_attributes.reason.state."
    )
    known = {key.removeprefix(base) for key in words if key.startswith(base)}
    assert known == {
        *StopReason,
        *PauseReason,
        *({*Fault} - {Fault.BUDGET}),
        "switched_off",
        "approval",
        "last_approval",
    }


async def _asleep(home: Home) -> Beat:
    return await _after(*FED, act=FEED)(home)


async def _running(home: Home) -> Beat:
    held = Held(text("Late."))
    home.llm_server.play(held)
    beat = await home.add_heartbeat()
    home.clock.turn(INTERVAL)
    await held.reached.wait()
    return beat


async def _waiting(home: Home) -> Beat:
    asked = calls(("input_boolean_turn_on", {**LAMP, "because": "It is dark."}))
    return await _after(asked, text("Asked."), ask=LAMP)(home)


async def _unavailable(home: Home) -> Beat:
    beat = await _asleep(home)
    assert await home.hass.config_entries.async_unload(home.entry.entry_id)
    return beat


SCENES: dict[str, Scene] = {
    "off": STANDING["off after its ticks"][0],
    "asleep": _asleep,
    "running": _running,
    "waiting": _waiting,
    "paused": STANDING["paused: failures"][0],
    "unavailable": _unavailable,
}


@pytest.mark.parametrize("name", SCENES)
async def test_all_entities_in_each_status(
    home: Home, name: str, snapshot: SnapshotAssertion
) -> None:
    """As plain JSON: enums look different in each version of Home Assistant."""
    beat = await SCENES[name](home)
    assert _states(home, beat) == snapshot


def _states(home: Home, beat: Beat) -> dict[str, Any]:
    registry = er.async_get(home.hass)
    shown = {}
    for entry in er.async_entries_for_config_entry(registry, home.entry.entry_id):
        state = home.hass.states.get(entry.entity_id)
        assert state
        key = entry.unique_id.removeprefix(f"{beat.id}_")
        changing = {
            name: value
            for name, value in state.attributes.items()
            if name not in (entry.capabilities or {})
        }
        assert len(json_bytes(dict(state.attributes))) < 4_000
        shown[key] = json.loads(
            json_dumps({"state": state.state, "attributes": changing}),
            object_hook=_steady,
        )
    return dict(sorted(shown.items()))


def _steady(found: dict[str, Any]) -> dict[str, Any]:
    """Put what is different each time into words."""
    for key, value in found.items():
        if key.endswith("_id") and value:
            found[key] = "<id>"
        elif isinstance(value, str) and _is_moment(value):
            found[key] = (
                f"<now {_whole(dt_util.as_utc(_read(value)) - dt_util.utcnow())}>"
            )
    return found


def _is_moment(value: str) -> bool:
    return len(value) > 18 and dt_util.parse_datetime(value) is not None


def _read(value: str) -> datetime:
    moment = dt_util.parse_datetime(value)
    assert moment
    return moment


RUNS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "nothing": ((text("Fine."),), {}),
    "acted": (FED, {"act": FEED}),
    "acted and stopped": (
        FED,
        {"act": FEED, "manners": {"stop_after_acting": True}},
    ),
    "acted and cut": (
        (FED[0], calls(("feed", {"food": "snack"}))),
        {"act": FEED, "fuses": {"max_turns": 2}},
    ),
    "failed and paused": ((NO,), {}),
    "asked": (
        (
            calls(
                ("feed", {"food": "meal"}),
                ("input_boolean_turn_on", {**LAMP, "because": "It is dark."}),
            ),
            text("Asked."),
        ),
        {"act": FEED, "ask": LAMP},
    ),
}


@pytest.mark.parametrize(("answers", "options"), RUNS.values(), ids=RUNS)
async def test_the_recorder_writes_few_states_for_a_run(
    home: Home, answers: tuple[Any, ...], options: dict[str, Any]
) -> None:
    """Each change of a state is a row of its own."""
    beat = await home.add_heartbeat(counted=False, **options)
    registry = er.async_get(home.hass)
    entries = er.async_entries_for_config_entry(registry, home.entry.entry_id)
    rows: list[str] = []
    unsubscribe = async_track_state_change_event(
        home.hass,
        [entry.entity_id for entry in entries],
        callback(lambda event: rows.append(event.data["entity_id"])),
    )
    home.llm_server.play(*answers)
    await home.clock.tick()
    unsubscribe()
    assert beat.state("last_outcome") != "unknown"
    assert 4 < len(rows) < 10, rows


@pytest.mark.contract("P1")
@pytest.mark.parametrize("what", ["locks", "words"])
async def test_attributes_stay_small_whatever_is_asked(
    home: Home, door: Door, what: str
) -> None:
    hass = home.hass
    assert await async_setup_component(hass, "todo", {})
    locks = [f"lock.{'x' * 90}_{number}" for number in range(80)]
    for lock in locks:
        hass.states.async_set(lock, "locked", {"friendly_name": "ß" * 200})
    features = {"friendly_name": "List", "supported_features": 127}
    hass.states.async_set("todo.list", "0", features)
    await door.beat.change(ask={"entity_id": [*locks, "todo.list"]})
    asked: dict[str, tuple[str, dict[str, Any]]] = {
        "locks": ("lock_unlock", {"entity_id": locks}),
        "words": (
            "todo_add_item",
            {"entity_id": "todo.list", "item": "ü" * 800, "description": "ö" * 3_000},
        ),
    }
    tool, arguments = asked[what]
    home.llm_server.play(
        calls((tool, {**arguments, "because": "ä" * 3_000})), text("Asked.")
    )
    await door.beat.wake()
    await home.settled()
    assert door.shown["waiting"] == 1
    assert max(_sizes(hass)) > 800
    assert max(_sizes(hass)) < 4_000


def _sizes(hass: HomeAssistant) -> list[int]:
    ours = hass.states.async_all(("sensor", "event", "button", "switch"))
    return [len(json_bytes(dict(state.attributes))) for state in ours]

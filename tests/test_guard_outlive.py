"""Never half an action: what was begun comes to its end (R8)."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from homeassistant.core import HomeAssistant
import pytest

from .support.attack import async_reload_scripts
from .support.heartbeats import Beat, Home, clock, home, let_run
from .support.llm_server import calls

__all__ = ["clock", "home"]

pytestmark = pytest.mark.contract("R8")

VALVE = "input_boolean.lamp"
LONG = timedelta(minutes=5)
INTERVAL = timedelta(minutes=2)


def _turn(state: str) -> dict[str, Any]:
    return {"action": f"input_boolean.turn_{state}", "target": {"entity_id": VALVE}}


WAITS: Mapping[str, dict[str, Any]] = {
    "delay": {"delay": {"minutes": 5}},
    "20 minutes": {"delay": {"minutes": 20}},
    "event": {"wait_for_trigger": [{"trigger": "event", "event_type": "wet"}]},
    "state": {"wait_template": "{{ is_state('input_boolean.hungry', 'on') }}"},
}


async def _begin(home: Home, wait: str) -> Beat:
    """Let a run open the valve, and hang in the middle of the script."""
    await async_reload_scripts(
        home.hass,
        {
            "water": {
                "alias": "Water",
                "sequence": [_turn("on"), WAITS[wait], _turn("off")],
            }
        },
    )
    beat = await home.add_heartbeat(
        act={"entity_id": ["script.water"]}, interval={"minutes": 2}
    )
    home.llm_server.play(calls(("water", {})))
    home.clock.turn(INTERVAL)
    await home.clock.turn_until(lambda: _is_open(home.hass), step=timedelta())
    return beat


def _is_open(hass: HomeAssistant) -> bool:
    state = hass.states.get(VALVE)
    assert state is not None
    return bool(state.state == "on")


async def _end_wait(home: Home, wait: str) -> None:
    match wait:
        case "delay":
            home.clock.turn(LONG)
        case "event":
            home.hass.bus.async_fire("wet")
        case "state":
            await home.set("hungry", on=True)
    await home.settled()


async def _cut(home: Home, beat: Beat, way: str) -> None:
    match way:
        case "timeout":
            home.clock.turn(timedelta(seconds=61))
        case "off":
            await beat.turn("off")
        case "reload":
            assert await home.hass.config_entries.async_reload(home.entry.entry_id)
        case "unload":
            assert await home.hass.config_entries.async_unload(home.entry.entry_id)
        case "removal":
            home.hass.config_entries.async_remove_subentry(home.entry, beat.id)
    await let_run()


@pytest.mark.parametrize("wait", ["delay", "event", "state"])
@pytest.mark.parametrize("way", ["timeout", "off", "reload", "unload", "removal"])
async def test_a_script_that_outlives_its_run_still_closes_the_valve(
    home: Home, way: str, wait: str
) -> None:
    beat = await _begin(home, wait)
    await _cut(home, beat, way)
    assert _is_open(home.hass)
    await _end_wait(home, wait)
    assert not _is_open(home.hass)
    assert home.told[-1] == "What was still running has ended: Water."


@pytest.mark.parametrize("way", ["timeout", "off"])
async def test_the_record_tells_both_that_it_was_running_and_what_became_of_it(
    home: Home, way: str
) -> None:
    beat = await _begin(home, "event")
    await _cut(home, beat, way)
    (run,) = await beat.runs()
    assert [action["status"] for action in run["actions"]] == ["still_running"]
    await _end_wait(home, "event")
    (run,) = await beat.runs()
    assert [action["status"] for action in run["actions"]] == ["done"]
    assert run["outcome"] == ("timeout" if way == "timeout" else "stopped")


async def test_what_takes_longer_than_it_is_waited_for_still_comes_to_its_end(
    home: Home,
) -> None:
    beat = await _begin(home, "20 minutes")
    await _cut(home, beat, "off")
    home.clock.turn(timedelta(minutes=10))
    await let_run()
    (run,) = await beat.runs()
    (action,) = run["actions"]
    assert action["status"] == "failed"
    assert action["error"] == (
        "it did not end within 10 minutes; it may still be running"
    )
    told = "It has not ended within 10 minutes and may still be running: Water."
    assert home.told[-1] == told
    assert _is_open(home.hass)
    home.clock.turn(timedelta(minutes=10))
    await home.settled()
    assert not _is_open(home.hass)
    assert home.told[-1] == told


async def test_one_that_fails_later_is_told_as_failed(home: Home) -> None:
    beat = await _begin(home, "event")
    await beat.turn("off")
    await let_run()
    home.hass.services.async_remove("input_boolean", "turn_off")
    await _end_wait(home, "event")
    assert _is_open(home.hass)
    assert home.told[-1] == "What was still running has failed: Water."


@pytest.mark.contract("A8")
async def test_the_next_run_waits_with_its_action_for_the_one_that_still_runs(
    home: Home,
) -> None:
    beat = await _begin(home, "event")
    home.clock.turn(timedelta(seconds=61))
    await let_run()
    home.llm_server.play(calls(("water", {})))
    home.clock.turn(INTERVAL)
    await home.clock.turn_until(
        lambda: len(home.llm_server.chats) == 2, step=timedelta()
    )
    await let_run()
    assert beat.state("status") == "running"
    home.clock.turn(timedelta(seconds=61))
    await let_run()
    runs = await beat.runs()
    assert [run["outcome"] for run in runs] == ["timeout", "timeout"]
    assert runs[0]["actions"] == []
    await _end_wait(home, "event")
    assert not _is_open(home.hass)

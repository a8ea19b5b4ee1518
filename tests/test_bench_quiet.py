"""The measurement of quiet ticks: its clock, its ledger and its figures."""

import asyncio
from datetime import UTC, datetime, timedelta
import os
from pathlib import Path
import time

from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from bench_house.beside import Beside, in_its_pace
from bench_house.clock import Clock
from bench_house.ledger import Ledger
from bench_house.quiet_kinds import kinds, own_checker
from custom_components.proactive_agent.gate import Gate

ON_TIME = {"template_now", "or_now", "time", "sun"}
NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
FOLDER = Path("/config")

# The clock


async def test_timers_and_the_time_of_day_follow_the_clock() -> None:
    fired: list[timedelta] = []
    loop = asyncio.get_running_loop()
    real = time.time
    with Clock.in_charge(NOON) as clock:
        clock.stop()
        start = dt_util.utcnow()
        for seconds in (60, 3600, 3601):
            loop.call_later(seconds, lambda: fired.append(dt_util.utcnow() - start))
        await clock.turn_to(clock.timestamp() + 60)
        await clock.turn_to(clock.timestamp() + 3540)
        assert fired == [timedelta(minutes=1), timedelta(hours=1)]
        assert timedelta() < start - NOON < timedelta(minutes=1)
        # A number of seconds cannot hold every microsecond of today.
        later = (start + timedelta(hours=1)).timestamp()
        assert time.time() == pytest.approx(later, abs=1e-5)
        assert abs(dt_util.now() - start - timedelta(hours=1)) < timedelta(seconds=1e-5)
    assert time.time is real


async def test_a_clock_runs_unless_it_is_stopped() -> None:
    with Clock.in_charge(NOON) as clock:
        first = clock.timestamp()
        assert clock.timestamp() > first
        clock.stop()
        stopped = clock.timestamp()
        assert clock.timestamp() == stopped
        clock.start()
        assert clock.timestamp() > stopped


# The ledger


async def test_events_and_states_count_while_they_are_to(hass: HomeAssistant) -> None:
    with Ledger.of(hass) as ledger:
        hass.states.async_set("sensor.a", "1")
        hass.bus.async_fire("before")
        ledger.is_counting = True
        hass.states.async_set("sensor.a", "2")
        hass.states.async_set("sensor.a", "2")
        hass.bus.async_fire("meanwhile")
    hass.states.async_set("sensor.a", "3")
    # A state that is written once more as it was fires no event.
    assert ledger.state_writes == 2
    assert ledger.events == 2


async def test_files_count_whoever_writes_them(hass: HomeAssistant) -> None:
    with Ledger.of(hass) as ledger:
        path = Path(hass.config.path("note.txt"))
        await hass.async_add_executor_job(path.write_text, "x")
        await hass.async_add_executor_job(path.read_text)
        await hass.async_add_executor_job(path.unlink)
    assert ledger.files == ["note.txt"]


@pytest.mark.parametrize(
    ("event", "args", "files"),
    [
        ("open", ("/config/.storage/a", "w", os.O_WRONLY | os.O_CREAT), [".storage/a"]),
        ("open", ("/config/.storage/a", "r", os.O_RDONLY), []),
        ("open", ("/config/.storage/tmp1", None, os.O_RDWR), []),
        ("open", ("/elsewhere/a", "w", os.O_WRONLY), []),
        ("open", (3, "w", os.O_WRONLY), []),
        ("os.rename", ("/config/.storage/tmp1", "/config/b", -1, -1), ["b"]),
        ("import", ("a",), []),
    ],
)
def test_a_file_is_written_under_its_own_name(
    event: str, args: tuple[object, ...], files: list[str]
) -> None:
    ledger = Ledger(folder=FOLDER)
    ledger.note(event, args)
    assert ledger.files == files


# The conditions


async def test_each_kind_is_one_that_does_not_hold(hass: HomeAssistant) -> None:
    entry = MockConfigEntry(domain="bench", state=ConfigEntryState.LOADED)
    entry.add_to_hass(hass)
    hass.states.async_set("sensor.freezer", "-8.5")
    found = await kinds(hass, entry)
    for kind, last in found.items():
        checker = await own_checker(hass, last)
        assert checker.async_check() is False, kind
        checker.async_unload()
        gate = await Gate.async_build(hass, [last], kind)
        assert gate.judge() is False, kind
        # Only what the time alone changes is judged again.
        assert gate.stays_closed is (kind not in ON_TIME), kind
        gate.async_unload()
    assert found.keys() > ON_TIME


# The figures


def test_both_ticks_are_printed_with_ours_as_a_share() -> None:
    beside = Beside(automation=[50_000], ours=[15_000], idle=[10_000])
    figures = {"ours_us": 5.0, "automation_us": 40.0, "ratio": 0.125}
    assert beside.figures == figures


def test_a_tick_is_what_its_step_costs_more_than_an_idle_one() -> None:
    beside = Beside(
        automation=[60_000, 61_000, 900_000], ours=[16_000], idle=[11_000, 10_900]
    )
    assert beside.ours_us == pytest.approx(5.05)
    assert beside.automation_us == pytest.approx(50.05)
    assert beside.ratio == pytest.approx(5.05 / 50.05)


def test_a_slow_moment_is_no_expensive_tick() -> None:
    headline = Beside(automation=[50_000], ours=[5_000], idle=[0])
    slow = Beside(automation=[100_000], ours=[11_000], idle=[0])
    assert in_its_pace({1: headline, 500: slow}, headline) == {"1": 5.0, "500": 5.5}

"""The clock of the wall jumps, and the day is longer or shorter (C6, F2, F5)."""

from datetime import UTC, datetime, timedelta

from homeassistant.util.async_ import get_scheduled_timer_handles
import pytest

from .support.heartbeats import HUNGRY, Home, clock, home
from .support.llm_server import llm_server, text

__all__ = ["clock", "home", "llm_server"]

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)


def jump(home: Home, step: timedelta) -> None:
    """Move the clock of the wall; the loop's own clock stands still.

    That is a sleep of the machine, or a clock that is set.
    """
    home.clock.freezer.move_to(datetime.now(UTC) + step)
    for handle in get_scheduled_timer_handles(home.hass.loop):
        handle._when += step.total_seconds()  # type: ignore[attr-defined]


async def awake(home: Home, minutes: int) -> None:
    """Let so many minutes pass."""
    await home.clock.tick(minutes, every=MINUTE)


@pytest.mark.contract("C6")
async def test_after_a_sleep_of_the_machine_there_is_one_tick(home: Home) -> None:
    beat = await home.add_heartbeat(conditions=[HUNGRY], interval={"hours": 1})
    await awake(home, 40)
    jump(home, timedelta(hours=42))
    await home.settled()
    assert await beat.ticks() == 0
    await awake(home, 20)
    assert await beat.ticks() == 1
    await awake(home, 59)
    assert await beat.ticks() == 1
    await awake(home, 1)
    assert await beat.ticks() == 2


@pytest.mark.contract("F2")
async def test_a_time_that_ran_out_in_a_sleep_is_over_at_the_next_tick(
    home: Home,
) -> None:
    home.llm_server.always = text("Fine.")
    beat = await home.add_heartbeat(
        interval={"hours": 1}, fuses={"max_duration": {"hours": 10}}
    )
    jump(home, timedelta(hours=42))
    await awake(home, 60)
    assert not beat.is_on()
    assert home.llm_server.chats == []


@pytest.mark.contract("C1", "C6")
@pytest.mark.parametrize("is_restarted", [False, True])
async def test_a_clock_that_is_set_back_neither_skips_nor_repeats(
    home: Home, is_restarted: bool
) -> None:
    beat = await home.add_heartbeat(conditions=[HUNGRY], interval={"minutes": 15})
    await awake(home, 20)
    assert await beat.ticks() == 1
    jump(home, -HOUR)
    if is_restarted:
        await home.reload()
    await awake(home, 15)
    assert await beat.ticks() == 2
    await awake(home, 45)
    assert await beat.ticks() == 5


@pytest.mark.contract("C6")
async def test_a_clock_that_is_set_back_before_it_began_keeps_nobody_waiting(
    home: Home,
) -> None:
    beat = await home.add_heartbeat(conditions=[HUNGRY], interval={"minutes": 15})
    jump(home, timedelta(days=-400))
    await home.reload()
    await awake(home, 15)
    assert await beat.ticks() == 1


@pytest.mark.contract("G4")
@pytest.mark.parametrize(("back", "wakes"), [(HOUR, 1), (timedelta(days=400), 2)])
async def test_a_clock_that_is_set_back_keeps_nobody_quiet_for_long(
    home: Home, back: timedelta, wakes: int
) -> None:
    home.llm_server.always = text("Fine.")
    await home.set("hungry", on=True)
    await home.add_heartbeat(conditions=[HUNGRY])
    await awake(home, 15)
    jump(home, -back)
    await awake(home, 45)
    assert len(home.llm_server.chats) == wakes


@pytest.mark.contract("F5")
@pytest.mark.parametrize(
    ("begins", "hours"),
    [
        ("2027-03-27T23:00:00+00:00", 23),  # the clock goes forward
        ("2027-10-30T22:00:00+00:00", 25),  # the clock goes back
        ("2027-06-30T22:00:00+00:00", 24),
    ],
)
async def test_a_budget_is_for_the_local_day_however_long(
    home: Home, begins: str, hours: int
) -> None:
    await home.hass.config.async_set_time_zone("Europe/Berlin")
    home.clock.freezer.move_to(begins)
    home.llm_server.always = text("Fine.")
    beat = await home.add_heartbeat(
        interval={"hours": 1}, fuses={"max_wakes_per_day": 2}
    )
    await home.clock.tick(hours - 1, every=HOUR)
    assert len(home.llm_server.chats) == 2
    assert beat.state("status") == "paused"
    await home.clock.tick(59, every=MINUTE)
    assert beat.state("status") == "paused"
    await home.clock.tick(every=MINUTE)
    # The new day's first tick falls on its beginning.
    assert beat.state("status") == "asleep"
    assert len(home.llm_server.chats) == 3


@pytest.mark.contract("F5", "C6")
@pytest.mark.parametrize("way", ["clock", "restart"])
async def test_a_clock_set_back_over_midnight_gives_no_fresh_budget(
    home: Home, way: str
) -> None:
    await home.hass.config.async_set_time_zone("Europe/Berlin")
    home.clock.freezer.move_to("2027-06-30T22:05:00+00:00")
    home.llm_server.always = text("Fine.")
    beat = await home.add_heartbeat(fuses={"max_wakes_per_day": 1})
    await awake(home, 15)
    assert beat.state("status") == "paused"
    jump(home, -HOUR)
    if way == "restart":
        await home.reload()
    await awake(home, 120)
    assert len(home.llm_server.chats) == 1
    assert beat.state("status") == "paused"

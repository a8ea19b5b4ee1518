"""Due times that whatever comes between does not shift (C1, C6)."""

from datetime import UTC, datetime, timedelta

from hypothesis import given, strategies as st
import pytest

from custom_components.proactive_agent.engine.cadence import (
    has_missed,
    next_due,
    spread,
)

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)


@pytest.mark.contract("C6")
@pytest.mark.parametrize(
    ("now", "due"),
    [
        (NOON, NOON + HOUR),
        (NOON + 20 * MINUTE, NOON + HOUR),
        (NOON + HOUR, NOON + 2 * HOUR),
        (NOON + 42 * HOUR + MINUTE, NOON + 43 * HOUR),
        (NOON - MINUTE, NOON),
        (NOON - 90 * MINUTE, NOON - HOUR),
    ],
)
def test_the_next_tick_is_due_whole_intervals_from_the_anchor(
    now: datetime, due: datetime
) -> None:
    assert next_due(NOON, HOUR, now) == due


@pytest.mark.contract("C6")
@given(
    now=st.integers(-(10**7), 10**7).map(lambda second: timedelta(seconds=second)),
    interval=st.integers(1, 10**6).map(lambda second: timedelta(seconds=second)),
)
def test_it_is_always_ahead_and_never_further_than_an_interval(
    now: timedelta, interval: timedelta
) -> None:
    due = next_due(NOON, interval, NOON + now)
    assert timedelta() < due - (NOON + now) <= interval
    assert (due - NOON) % interval == timedelta()


@pytest.mark.contract("C6")
@pytest.mark.parametrize(
    ("alive", "now", "missed"),
    [
        (NOON + 10 * MINUTE, NOON + 50 * MINUTE, False),
        (NOON + 50 * MINUTE, NOON + HOUR, True),
        (NOON + 50 * MINUTE, NOON + 400 * HOUR, True),
        (NOON + HOUR, NOON + 70 * MINUTE, False),
        # A clock that went back has missed nothing, and before the first tick is none.
        (NOON + 3 * HOUR, NOON + 2 * HOUR, False),
        (NOON - 5 * HOUR, NOON + MINUTE, False),
    ],
)
def test_a_tick_is_missed_if_it_was_due_while_nobody_was_there(
    alive: datetime, now: datetime, missed: bool
) -> None:
    assert has_missed(NOON, HOUR, alive, now) is missed


@given(st.text())
def test_what_is_spread_lies_between_and_is_the_same_each_time(key: str) -> None:
    moment = spread(key, MINUTE, HOUR)
    assert MINUTE <= moment <= HOUR
    assert spread(key, MINUTE, HOUR) == moment


def test_heartbeats_are_spread() -> None:
    moments = {spread(f"01JBEAT{number}", MINUTE, HOUR) for number in range(40)}
    assert len(moments) > 30

from datetime import UTC, date, datetime, timedelta
import json
from typing import Any

from hypothesis import given, strategies as st
import pytest

from custom_components.proactive_agent.engine.fuses import (
    Limits,
    PauseReason,
    Stop,
    StopReason,
    Used,
    deadline_from,
    pause_reason,
    stop_reason,
    ticks_spent,
)

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
TODAY = date(2026, 11, 30)
TOMORROW = date(2026, 12, 1)


@pytest.mark.contract("F1")
@pytest.mark.parametrize(
    ("max_ticks", "ticks", "spent"),
    [
        (6, 5, False),
        (6, 6, True),
        (6, 7, True),
        (1, 0, False),
        (1, 1, True),
        (None, 10**9, False),
    ],
)
def test_the_last_tick_allowed_spends_them_all(
    max_ticks: int | None, ticks: int, spent: bool
) -> None:
    assert ticks_spent(Limits(max_ticks=max_ticks), Used(ticks=ticks)) is spent


@pytest.mark.contract("F1")
def test_ticks_are_counted_one_by_one_and_nothing_else_changes() -> None:
    used = Used(deadline=NOON, day=TODAY, wakes=2, tokens=30)

    assert used.ticked().ticked() == Used(
        ticks=2, deadline=NOON, day=TODAY, wakes=2, tokens=30
    )


@pytest.mark.contract("F2")
def test_the_deadline_is_a_moment_and_none_without_a_limit() -> None:
    limits = Limits(max_duration=timedelta(hours=10))

    assert deadline_from(limits, NOON) == datetime(2026, 11, 30, 22, tzinfo=UTC)
    assert deadline_from(Limits(), NOON) is None


@pytest.mark.contract("F6")
def test_switching_on_gives_fresh_ticks_and_deadline_but_no_fresh_day() -> None:
    used = Used(ticks=6, deadline=NOON, day=TODAY, wakes=48, tokens=200_000)
    limits = Limits(max_ticks=6, max_duration=timedelta(hours=1), max_wakes_per_day=48)

    anew = used.started(limits, NOON)

    assert anew == Used(
        deadline=NOON + timedelta(hours=1), day=TODAY, wakes=48, tokens=200_000
    )
    assert not ticks_spent(limits, anew)
    assert pause_reason(limits, anew, TODAY) is PauseReason.WAKES


@pytest.mark.contract("F5")
@pytest.mark.parametrize(
    ("wakes", "tokens", "reason"),
    [
        (0, 0, None),
        (47, 199_999, None),
        (48, 0, PauseReason.WAKES),
        (49, 0, PauseReason.WAKES),
        (0, 200_000, PauseReason.TOKENS),
        (0, 999_999, PauseReason.TOKENS),
        (48, 200_000, PauseReason.WAKES),
    ],
)
def test_a_budget_that_is_spent_pauses_until_the_next_day(
    wakes: int, tokens: int, reason: PauseReason | None
) -> None:
    limits = Limits(max_wakes_per_day=48, max_tokens_per_day=200_000)
    used = Used(day=TODAY, wakes=wakes, tokens=tokens)

    assert pause_reason(limits, used, TODAY) is reason
    assert pause_reason(limits, used, TOMORROW) is None


@pytest.mark.contract("F5")
def test_without_a_limit_nothing_pauses() -> None:
    used = Used(day=TODAY, wakes=10**6, tokens=10**9)

    assert pause_reason(Limits(), used, TODAY) is None


@pytest.mark.contract("F5")
def test_wakes_and_tokens_are_charged_to_the_day_they_fall_on() -> None:
    used = Used(ticks=3).woken(TODAY).woken(TODAY).charged(TODAY, 70)

    assert used == Used(ticks=3, day=TODAY, wakes=2, tokens=70)
    assert used.woken(TOMORROW) == Used(ticks=3, day=TOMORROW, wakes=1)
    assert used.charged(TOMORROW, 5) == Used(ticks=3, day=TOMORROW, tokens=5)


@pytest.mark.contract("F5")
def test_the_first_wake_of_all_begins_a_day() -> None:
    assert Used().woken(TODAY) == Used(day=TODAY, wakes=1)


@pytest.mark.contract("F5")
def test_what_is_given_back_after_midnight_does_not_widen_the_new_day() -> None:
    used = Used().charged(TODAY, 500).charged(TOMORROW, -480)

    assert used == Used(day=TOMORROW, tokens=0)


@pytest.mark.contract("F5", "C6")
def test_a_clock_that_is_set_back_over_midnight_gives_no_fresh_day() -> None:
    used = Used(day=TOMORROW, wakes=48, tokens=9)

    assert used.woken(TODAY).woken(TOMORROW) == Used(day=TOMORROW, wakes=50, tokens=9)
    # One that was wrong by more is put right at once.
    yesterday = TODAY - timedelta(days=1)
    assert used.woken(yesterday) == Used(day=yesterday, wakes=1)


@pytest.mark.contract("F5")
@given(
    steps=st.lists(
        st.tuples(st.sampled_from([TODAY, TOMORROW]), st.integers(-1000, 1000))
    )
)
def test_tokens_used_are_never_fewer_than_none(steps: list[tuple[date, int]]) -> None:
    used = Used()
    for day, tokens in steps:
        before, used = used, used.charged(day, tokens)
        assert used.tokens >= 0
        assert used.day == max(day, before.day or day)


@pytest.mark.contract("F1", "F2")
@pytest.mark.parametrize(
    ("used", "seconds_late", "reason"),
    [
        (Used(ticks=1), 0, None),
        (Used(ticks=2), 0, StopReason.MAX_TICKS),
        # A tick that is due with the deadline still counts.
        (Used(ticks=1, deadline=NOON), 1, None),
        (Used(ticks=1, deadline=NOON), 1.001, StopReason.MAX_DURATION),
        (Used(ticks=2, deadline=NOON), 9, StopReason.MAX_DURATION),
    ],
)
def test_what_stops_the_heartbeat(
    used: Used, seconds_late: float, reason: StopReason | None
) -> None:
    now = NOON + timedelta(seconds=seconds_late)
    assert stop_reason(Limits(max_ticks=2), used, now) is reason


@pytest.mark.contract("C6", "F8")
@pytest.mark.parametrize("reason", StopReason)
@pytest.mark.parametrize("detail", [None, "The owner is home."])
def test_a_stop_is_read_as_it_was_written(
    reason: StopReason, detail: str | None
) -> None:
    stop = Stop(reason=reason, detail=detail)
    assert Stop.from_dict(json.loads(json.dumps(stop.as_dict()))) == stop


@pytest.mark.contract("D1")
@pytest.mark.parametrize(
    "data", [{}, {"reason": "agent"}, {"reason": "x", "detail": None}, {"detail": 1}]
)
def test_rubbish_is_no_stop(data: dict[str, Any]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        Stop.from_dict(data)

"""When a heartbeat that fails again and again tries the next time (F7)."""

from datetime import UTC, datetime, timedelta
import json
from typing import Any

from hypothesis import given, strategies as st
import pytest

from custom_components.proactive_agent.engine.breaker import (
    LONGEST_WAIT,
    Breaker,
    Fault,
    faults_from,
)
from custom_components.proactive_agent.engine.records import (
    Cause,
    Outcome,
    RunError,
    RunRecord,
)

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
QUARTER = timedelta(minutes=15)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
CUT = [Outcome.TIMEOUT, Outcome.TURN_LIMIT, Outcome.ACTION_LIMIT]
NEUTRAL = [Outcome.STOPPED, Outcome.TOKEN_LIMIT]
GOOD = [Outcome.ACTED, Outcome.WAITING, Outcome.SPOKE, Outcome.NOTHING]


def run(
    outcome: Outcome = Outcome.ERROR,
    kind: str = "connection",
    *,
    cause: Cause = Cause.TICK,
) -> RunRecord:
    is_error = outcome is Outcome.ERROR
    return RunRecord(
        run_id="run",
        started=NOON,
        cause=cause,
        outcome=outcome,
        error=RunError(kind=kind, message=f"It said {kind}.") if is_error else None,
        gate=(),
        actions=(),
        message=None,
        turns=1,
        tokens=None,
        seconds=1,
        calls=(),
        stopped=False,
    )


def after(
    breaker: Breaker,
    *records: RunRecord,
    now: datetime = NOON,
    interval: timedelta = QUARTER,
    told: bool = True,
) -> Breaker:
    for record in records:
        breaker = breaker.after(
            record, now=now, interval=interval, anchor=NOON, is_told_of_change=told
        )
    return breaker


OPEN = after(Breaker(), *[run()] * 5)


@pytest.mark.contract("F7")
@pytest.mark.parametrize("outcome", [Outcome.ERROR, *CUT])
def test_after_five_failures_in_a_row_it_waits(outcome: Outcome) -> None:
    four = after(Breaker(), *[run(outcome)] * 4)
    assert four.fault is None
    assert not four.waits(NOON)

    five = after(four, run(outcome))
    assert five.fault is Fault.FAILURES
    assert five.failures == 5
    assert five.since == NOON
    assert five.waits(NOON)
    assert five.waits(NOON + QUARTER - timedelta(seconds=2))
    assert not five.waits(NOON + QUARTER)


@pytest.mark.contract("F7")
@pytest.mark.parametrize("outcome", NEUTRAL)
def test_what_says_nothing_neither_counts_nor_breaks_the_row(outcome: Outcome) -> None:
    four = after(Breaker(), *[run()] * 4)

    assert after(four, run(outcome)) == four
    assert after(OPEN, run(outcome)) == OPEN


@pytest.mark.contract("F7")
@pytest.mark.parametrize("outcome", GOOD)
def test_the_first_good_run_clears_it(outcome: Outcome) -> None:
    assert after(OPEN, run(outcome)) == Breaker()
    assert after(after(Breaker(), *[run()] * 4), run(outcome)).failures == 0


@pytest.mark.contract("F7")
def test_it_waits_longer_and_longer_up_to_six_hours() -> None:
    now, breaker, waits = NOON, after(Breaker(), *[run()] * 4), []
    for _ in range(9):
        breaker = after(breaker, run(), now=now)
        assert breaker.until is not None
        waits.append(breaker.until - now)
        now = breaker.until

    minutes = [15, 30, 60, 120, 240, 360, 360, 360, 360]
    assert waits == [MINUTE * one for one in minutes]


@pytest.mark.contract("F7")
@pytest.mark.parametrize(
    ("interval", "wait"),
    [
        (MINUTE, QUARTER),
        (2 * HOUR, 2 * HOUR),
        (10 * HOUR, 10 * HOUR),
        (7 * DAY, 7 * DAY),
    ],
)
def test_the_first_wait_is_an_interval_but_not_less_than_a_quarter_of_an_hour(
    interval: timedelta, wait: timedelta
) -> None:
    assert after(Breaker(), *[run()] * 5, interval=interval).until == NOON + wait


@pytest.mark.contract("F7")
def test_a_wait_ends_with_the_tick_that_is_nearest() -> None:
    """A run that takes a minute does not make it wait for one tick more."""
    late = after(Breaker(), *[run()] * 5, now=NOON + MINUTE)
    assert late.until == NOON + QUARTER

    long = after(Breaker(), *[run()] * 5, now=NOON + HOUR)
    assert long.until == NOON + HOUR + QUARTER


@pytest.mark.contract("F7")
@given(
    st.integers(1, 200),
    st.timedeltas(timedelta(seconds=1), timedelta(days=3)),
    st.timedeltas(timedelta(), timedelta(days=2)),
)
def test_no_wait_lasts_longer_than_it_may(
    failures: int, interval: timedelta, lasted: timedelta
) -> None:
    now = NOON + lasted
    breaker = after(Breaker(failures=failures), run(), now=now, interval=interval)
    if breaker.fault is None:
        assert not breaker.waits(now)
        return
    assert breaker.until is not None
    assert now < breaker.until <= now + max(interval, LONGEST_WAIT + interval / 2)


@pytest.mark.contract("F7")
def test_a_refused_key_waits_for_another_one() -> None:
    refused = after(Breaker(), run(kind="auth"))
    assert refused.fault is Fault.AUTH
    assert refused.waits(NOON)
    assert refused.waits(NOON + 400 * DAY)

    again = refused.tried_again(NOON + DAY)
    assert not again.waits(NOON + DAY)
    assert after(again, run(kind="auth"), now=NOON + DAY).waits(NOON + 9 * DAY)
    assert after(again, run(Outcome.NOTHING)) == Breaker()


@pytest.mark.contract("F7")
def test_a_refused_key_is_tried_once_after_a_start() -> None:
    refused = after(Breaker(), run(kind="auth"))

    assert not refused.restarted(NOON + HOUR).waits(NOON + HOUR)
    assert OPEN.restarted(NOON + MINUTE) == OPEN
    assert Breaker().restarted(NOON) == Breaker()


@pytest.mark.contract("F7")
def test_a_key_that_is_not_ours_is_tried_again_after_six_hours() -> None:
    refused = after(Breaker(), run(kind="auth"), told=False)

    assert refused.fault is Fault.AUTH
    assert refused.until == NOON + LONGEST_WAIT


@pytest.mark.contract("F7")
@pytest.mark.parametrize(
    ("interval", "lasted", "until"),
    [
        (QUARTER, MINUTE, DAY),
        (7 * HOUR, MINUTE, 28 * HOUR),
        (DAY, MINUTE, DAY),
        (30 * HOUR, MINUTE, 30 * HOUR),
    ],
)
def test_without_credit_it_tries_once_a_day(
    interval: timedelta, lasted: timedelta, until: timedelta
) -> None:
    broke = after(Breaker(), run(kind="quota"), now=NOON + lasted, interval=interval)

    assert broke.fault is Fault.QUOTA
    assert broke.until == NOON + until
    assert broke.waits(NOON + until - MINUTE)
    assert not broke.waits(NOON + until)


@pytest.mark.contract("F7")
def test_another_error_after_a_refused_key_does_not_wait_for_ever() -> None:
    """Only a good run ends the fault, but its waiting was for something else."""
    refused = after(Breaker(), run(kind="auth")).restarted(NOON)

    off = after(refused, run())
    assert off.fault is Fault.AUTH
    assert not off.waits(NOON)
    assert after(off, *[run()] * 3).fault is Fault.FAILURES
    assert after(off, run(kind="auth")).waits(NOON + DAY)


@pytest.mark.contract("F7", "C8")
def test_what_fails_by_hand_counts_but_makes_no_wait_longer() -> None:
    by_hand = run(cause=Cause.MANUAL)
    assert after(Breaker(), *[by_hand] * 5).fault is Fault.FAILURES

    assert after(OPEN, by_hand, now=NOON + MINUTE) == OPEN
    assert after(OPEN, by_hand, now=NOON + QUARTER).failures == 6
    assert after(OPEN, run(Outcome.ACTED, cause=Cause.MANUAL)) == Breaker()


@pytest.mark.contract("F7")
def test_a_change_lets_it_try_and_begin_with_short_waits() -> None:
    long = after(OPEN, *[run()] * 9, now=NOON + DAY)

    again = long.tried_again(NOON + DAY)
    assert not again.waits(NOON + DAY)
    assert again.fault is Fault.FAILURES
    assert after(again, run(), now=NOON + DAY).until == NOON + DAY + QUARTER
    assert Breaker().tried_again(NOON) == Breaker()


@pytest.mark.contract("F7", "C6")
def test_a_clock_that_is_set_back_makes_no_wait_endless() -> None:
    assert not OPEN.waits(NOON - timedelta(days=300))


@pytest.mark.contract("F7", "C6")
@given(
    st.lists(
        st.builds(
            run,
            st.sampled_from(Outcome),
            st.sampled_from(["auth", "quota", "connection"]),
        ),
        max_size=12,
    )
)
def test_it_comes_back_from_the_disk_as_it_was(records: list[RunRecord]) -> None:
    breaker = after(Breaker(), *records)

    assert Breaker.from_dict(json.loads(json.dumps(breaker.as_dict()))) == breaker


@pytest.mark.contract("F7", "D1")
@pytest.mark.parametrize(
    "rubbish",
    [
        None,
        [],
        "open",
        {},
        {**OPEN.as_dict(), "failures": "many"},
        {**OPEN.as_dict(), "since": 5},
        {**OPEN.as_dict(), "until": "2026-11-30T12:00:00"},
        {**OPEN.as_dict(), "until": "soon"},
        {**OPEN.as_dict(), "fault": "broken"},
    ],
)
def test_rubbish_on_the_disk_is_a_fresh_one(rubbish: Any) -> None:
    assert Breaker.from_dict(rubbish) == Breaker()


@pytest.mark.contract("F7", "D1")
def test_what_stands_on_the_disk_is_bounded() -> None:
    much = {**OPEN.as_dict(), "reason": "x" * 9_999, "kind": "y" * 9_999}

    assert len(json.dumps(Breaker.from_dict(much).as_dict())) < 1_000


@pytest.mark.contract("F7", "D1")
def test_a_wait_without_an_end_is_for_a_refused_key_only() -> None:
    endless = Breaker.from_dict({**OPEN.as_dict(), "until": None})

    assert not endless.waits(NOON)


@pytest.mark.contract("S7", "D1")
def test_faults_are_read_as_far_as_they_are_known() -> None:
    assert faults_from(["gate", "auth", "no such", 5, []]) == {Fault.GATE, Fault.AUTH}
    assert faults_from(None) == frozenset()
    assert faults_from("gate") == frozenset()

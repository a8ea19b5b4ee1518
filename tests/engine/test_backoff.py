from dataclasses import replace
from datetime import UTC, datetime, timedelta
import json
from typing import Any

import pytest

from custom_components.proactive_agent.engine.backoff import (
    MAX_ENTITIES,
    UNSAID,
    Shown,
    closed_long,
    moves,
    stays_quiet,
    with_last_words,
)
from custom_components.proactive_agent.engine.records import Outcome

pytestmark = pytest.mark.contract("G4")

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
STATES = {"input_number.hunger": "1.0", "light.lamp": "on"}
HALF_AN_HOUR = timedelta(minutes=30)


def quiet(
    shown: Shown | None,
    states: dict[str, str] | None = None,
    *,
    after: timedelta = timedelta(minutes=15),
) -> bool:
    return stays_quiet(
        shown,
        STATES if states is None else states,
        now=NOON + after,
        recheck_after=timedelta(hours=6),
    )


def shown(outcome: Outcome = Outcome.NOTHING) -> Shown:
    return Shown(states=STATES, at=NOON, outcome=outcome)


@pytest.mark.parametrize("outcome", Outcome)
def test_the_same_situation_is_news_only_after_acting_or_an_error(
    outcome: Outcome,
) -> None:
    stays = outcome not in {Outcome.ACTED, Outcome.ERROR}

    assert quiet(shown(outcome)) is stays


def test_without_anything_to_compare_there_is_no_backoff() -> None:
    assert not quiet(None)
    assert not quiet(Shown(states={}, at=NOON, outcome=Outcome.NOTHING), {})


@pytest.mark.parametrize(
    ("after", "stays"),
    [
        (timedelta(hours=5, minutes=59), True),
        (timedelta(hours=6), False),
        (timedelta(days=3), False),
    ],
)
def test_it_looks_again_after_a_while(after: timedelta, stays: bool) -> None:
    assert quiet(shown(), after=after) is stays


@pytest.mark.parametrize(
    ("states", "stays"),
    [
        ({**STATES, "light.lamp": "off"}, False),
        ({**STATES, "light.lamp": UNSAID}, True),
        ({**STATES, "input_number.hunger": "0.9"}, True),
        ({**STATES, "input_number.hunger": "2.0"}, False),
        ({**STATES, "sensor.new": "1"}, False),
        ({"light.lamp": "on"}, True),
        ({"light.lamp": "on", "input_number.thirst": "1.0"}, False),
        (dict(reversed(STATES.items())), True),
    ],
)
def test_a_change_is_news(states: dict[str, str], stays: bool) -> None:
    assert quiet(shown(), states) is stays


@pytest.mark.parametrize(
    ("closed_for", "settle_for", "is_long"),
    [
        (timedelta(minutes=29), HALF_AN_HOUR, False),
        (timedelta(minutes=30), HALF_AN_HOUR, True),
        (timedelta(hours=1), HALF_AN_HOUR, True),
        (timedelta(), HALF_AN_HOUR, False),
        (timedelta(seconds=1), timedelta(), True),
        (timedelta(), timedelta(), False),
    ],
)
def test_a_gate_was_closed_for_long_only_if_it_was_closed(
    closed_for: timedelta, settle_for: timedelta, is_long: bool
) -> None:
    assert closed_long(closed_for, settle_for) is is_long


def test_what_has_spoken_for_the_first_time_is_news() -> None:
    first = replace(shown(), states={**STATES, "sensor.late": UNSAID})
    assert quiet(first, {**STATES, "sensor.late": UNSAID})
    assert not quiet(first, {**STATES, "sensor.late": "1"})


def test_what_has_never_spoken_can_be_compared() -> None:
    silent = replace(shown(), states={"light.lamp": UNSAID})
    assert quiet(silent, {"light.lamp": UNSAID})


def test_what_moved_and_came_back_is_news() -> None:
    assert not quiet(replace(shown(), has_moved=True))


@pytest.mark.parametrize(("hours", "stays"), [(1, True), (5.9, True), (6, False)])
def test_a_clock_that_was_set_back_keeps_nobody_asleep(
    hours: float, stays: bool
) -> None:
    assert quiet(shown(), after=-timedelta(hours=hours)) is stays


@pytest.mark.parametrize(
    ("state", "is_move"),
    [("on", False), ("off", True), ("5", True)],
)
def test_a_state_that_is_no_number_moves(state: str, is_move: bool) -> None:
    assert moves(STATES, "light.lamp", state) is is_move


def test_a_number_moves_only_where_it_stays() -> None:
    assert not moves(STATES, "input_number.hunger", "99")
    assert moves(STATES, "input_number.hunger", "starving")


def test_a_first_word_is_no_move() -> None:
    assert not moves({"light.lamp": UNSAID}, "light.lamp", "on")
    assert not moves({}, "light.lamp", "on")


def test_the_last_word_of_what_is_silent_counts() -> None:
    known = with_last_words(
        {"light.lamp": UNSAID, "sensor.late": UNSAID, "light.hall": "off"},
        {"light.lamp": "on", "light.hall": "on", "light.gone": "on"},
    )
    assert known == {
        "light.lamp": "on",
        "sensor.late": UNSAID,
        "light.hall": "off",
        "light.gone": "on",
    }


def test_memory_is_bounded() -> None:
    now = {f"light.{number}": UNSAID for number in range(MAX_ENTITIES)}
    known = with_last_words(now, {"light.gone": "on", "light.0": "on"})
    assert known == {**now, "light.0": "on"}


def test_the_gate_was_closed_from_the_first_look_to_the_next_open_one() -> None:
    told = shown().gate_was(is_open=True, now=NOON)
    assert told == shown()
    closed = told.gate_was(is_open=False, now=NOON)
    assert closed.gate_was(is_open=False, now=NOON + HALF_AN_HOUR) is closed
    opened = closed.gate_was(is_open=True, now=NOON + HALF_AN_HOUR)
    assert opened.closed_for == HALF_AN_HOUR
    assert opened.gate_was(is_open=True, now=NOON + 2 * HALF_AN_HOUR) is opened
    assert opened.opened().closed_for == timedelta()
    assert told.opened() is told


def test_what_could_not_be_judged_is_not_closed() -> None:
    now, told = NOON, shown()
    for is_open in (False, None, False, None, True):
        told = told.gate_was(is_open=is_open, now=now)
        now += HALF_AN_HOUR
    assert told.closed_for == 2 * HALF_AN_HOUR


def test_a_clock_that_was_set_back_takes_no_time_off() -> None:
    closed = shown().gate_was(is_open=False, now=NOON)
    assert closed.gate_was(is_open=True, now=NOON - HALF_AN_HOUR).closed_for == (
        timedelta()
    )


@pytest.mark.contract("C6")
@pytest.mark.parametrize(
    "changes",
    [{}, {"has_moved": True, "closed_for": HALF_AN_HOUR, "closed_since": NOON}],
)
def test_what_is_written_is_what_is_read(changes: dict[str, Any]) -> None:
    one = replace(shown(Outcome.SPOKE), **changes)
    assert Shown.from_dict(json.loads(json.dumps(one.as_dict()))) == one


@pytest.mark.contract("D1")
@pytest.mark.parametrize(
    "change",
    [
        {"at": "2026-11-30T12:00:00"},
        {"at": 5},
        {"states": ["light.lamp"]},
        {"states": {"light.lamp": 1}},
        {"outcome": "asleep"},
        {"has_moved": 1},
        {"closed_for": "long"},
        {"closed_since": ""},
    ],
    ids=str,
)
def test_rubbish_is_not_read(change: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        Shown.from_dict({**shown().as_dict(), **change})

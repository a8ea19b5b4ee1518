"""How many days in a row a budget was spent."""

from datetime import date, timedelta
from typing import Any

import pytest

from custom_components.proactive_agent.engine.fuses import PauseReason
from custom_components.proactive_agent.engine.streak import DAYS_IN_A_ROW, Streak

MONDAY = date(2026, 11, 30)


def day(number: int) -> date:
    return MONDAY + timedelta(days=number)


def spent_on(*numbers: int) -> Streak:
    streak = Streak()
    for number in numbers:
        streak = streak.spent(PauseReason.WAKES, day(number))
    return streak


@pytest.mark.contract("F5")
@pytest.mark.parametrize(
    ("days", "today", "is_due"),
    [
        ((), 0, False),
        ((0, 1), 1, False),
        ((0, 1, 2), 2, True),
        ((0, 0, 1, 1), 1, False),
        ((0, 1, 3), 3, False),
        ((0, 1, 3, 4, 5), 5, True),
        ((0, 1, 2), 3, True),
        ((0, 1, 2), 4, False),
        ((0, 1, 2, 1), 2, True),
    ],
)
def test_it_is_told_of_days_in_a_row(
    days: tuple[int, ...], today: int, is_due: bool
) -> None:
    assert DAYS_IN_A_ROW == 3
    assert spent_on(*days).is_due(day(today)) is is_due


def test_a_clock_that_is_set_back_counts_no_day_twice() -> None:
    assert spent_on(0, 1, 0, 1).days == 2


def test_the_last_budget_is_the_one_that_is_told_of() -> None:
    streak = spent_on(0).spent(PauseReason.TOKENS, day(0))
    assert (streak.days, streak.reason) == (1, PauseReason.TOKENS)


def test_what_is_left_is_not_told_of() -> None:
    left = Streak(days=2, last=day(0), reason=PauseReason.WAKES, is_left=True)
    later = left.spent(PauseReason.WAKES, day(1))
    assert (later.days, later.is_due(day(1))) == (3, False)


@pytest.mark.parametrize("streak", [Streak(), spent_on(0, 1)])
def test_it_can_be_written_down(streak: Streak) -> None:
    assert Streak.from_dict(streak.as_dict()) == streak


@pytest.mark.parametrize(
    "rubbish",
    [
        None,
        {},
        [],
        "x",
        {"days": "x", "last": None, "reason": None, "left": False},
        {"days": 1, "last": "someday", "reason": None, "left": False},
        {"days": 1, "last": None, "reason": "bored", "left": False},
    ],
)
def test_rubbish_is_none(rubbish: Any) -> None:
    assert Streak.from_dict(rubbish) == Streak()

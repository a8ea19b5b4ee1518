from datetime import UTC, datetime, timedelta

from hypothesis import given, strategies as st
import pytest

from custom_components.proactive_agent.engine.backoff import (
    Shown,
    closed_long,
    differs,
    stays_quiet,
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
        ({**STATES, "light.lamp": "unavailable"}, False),
        ({**STATES, "input_number.hunger": "0.9"}, True),
        ({**STATES, "input_number.hunger": "2.0"}, False),
        ({**STATES, "sensor.new": "1"}, False),
        ({"light.lamp": "on"}, False),
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


@pytest.mark.parametrize(
    ("before", "after", "different"),
    [
        ("on", "on", False),
        ("on", "off", True),
        ("On", "on", True),
        ("20.0", "20.1", False),
        ("20.0", "20.4", False),
        ("20.0", "20.41", True),
        ("20", "19.59", True),
        ("0", "0.15", False),
        ("0", "0.16", True),
        ("0", "-0.16", True),
        ("1000", "1020", False),
        ("1000", "1021", True),
        ("-1000", "-1020", False),
        ("-1000", "-1021", True),
        ("1", "1.00", False),
        ("1e3", "1000", False),
        ("5", "unavailable", True),
        ("unavailable", "5", True),
        ("unknown", "unavailable", True),
        ("nan", "nan", False),
        ("nan", "NaN", True),
        ("inf", "1", True),
        ("1", "inf", True),
        ("", "0", True),
        ("12:30", "12:31", True),
    ],
)
def test_numbers_may_tremble_and_nothing_else(
    before: str, after: str, different: bool
) -> None:
    assert differs(before, after) is different


def test_trembling_is_measured_against_the_value_shown() -> None:
    # Step by step it stays within bounds; against what the run saw it does not.
    creeping = [str(20 + step / 10) for step in range(7)]

    told = [differs("20.0", value) for value in creeping]

    assert told == [False, False, False, False, False, True, True]


@given(before=st.text(), after=st.text())
def test_any_two_states_can_be_compared(before: str, after: str) -> None:
    assert not differs(before, before)
    if differs(before, after):
        assert before != after

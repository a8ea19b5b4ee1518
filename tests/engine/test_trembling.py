"""When a state is another one, and when its number only trembles (G4)."""

from hypothesis import given, strategies as st
import pytest

from custom_components.proactive_agent.engine.trembling import (
    differs,
    is_number,
    with_unit,
)

pytestmark = pytest.mark.contract("G4")


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
        ("1000", "1020", False),
        ("1000", "1021", True),
        ("-1000", "-1020", False),
        ("-1000", "-1021", True),
        ("1", "1.00", False),
        ("1e3", "1000", False),
        ("5", "unavailable", True),
        ("unavailable", "5", True),
        ("unknown", "unavailable", True),
        ("", "5", True),
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


@pytest.mark.parametrize(
    ("before", "after", "unit", "different"),
    [
        # A temperature, also where a share of it is nothing, and however it is written.
        ("0.0", "0.1", "°C", False),
        ("0.04", "0.14", "°C", False),
        ("-0.05", "0.05", "°C", False),
        ("4.02", "4.12", "°C", False),
        ("0.0", "0.2", "°C", True),
        ("273.1", "283", "K", True),
        ("32.00", "32.18", "°F", False),
        # At the border of two roundings it is shown as a whole degree.
        ("20", "21", "°C", False),
        ("0", "-1", "°C", False),
        ("20", "22", "°C", True),
        # Small ranges of something else.
        ("0.2", "0.3", "m³", True),
        ("0.20", "0.31", None, True),
        ("0.2", "0.31", None, True),
        ("0.20", "0.21", "bar", False),
        ("0.20", "0.22", "bar", True),
        ("0", "0.15", None, True),
        ("0.1", "0.0", None, True),
        ("2.1", "2.2", "m/s", False),
        ("2.1", "2.3", "m/s", True),
        ("1.0", "0.9", None, False),
        # What is counted has no border of two roundings.
        ("1", "2", None, True),
        ("9", "8", "updates", True),
        ("45", "46", "%", False),
        ("45", "47", "%", True),
        ("2", "1", "%", True),
    ],
)
def test_how_much_is_a_tremble_depends_on_what_it_is_of(
    before: str, after: str, unit: str | None, different: bool
) -> None:
    first, second = with_unit(before, unit), with_unit(after, unit)

    assert differs(first, second) is different
    assert differs(second, first) is different


def test_another_unit_is_another_state() -> None:
    assert differs(with_unit("20", "°C"), with_unit("20", "°F"))
    assert differs(with_unit("20", "°C"), "20")


def test_only_a_number_has_a_unit() -> None:
    assert with_unit("unavailable", "°C") == "unavailable"
    assert with_unit("5", None) == with_unit("5", "") == "5"
    assert is_number(with_unit("-5.5", "°C"))
    assert not is_number("5 °C")
    assert not is_number("inf")


def test_trembling_is_measured_against_the_value_shown() -> None:
    # Step by step it stays within bounds; against what the run saw it does not.
    creeping = [str(20 + step / 10) for step in range(7)]

    told = [differs("20.0", value) for value in creeping]

    assert told == [False, False, False, False, False, True, True]


@given(before=st.text(), after=st.text(), unit=st.text())
def test_any_two_states_can_be_compared(before: str, after: str, unit: str) -> None:
    assert not differs(before, before)
    if differs(before, after):
        assert before != after
    assert not differs(with_unit(before, unit), with_unit(before, unit))

"""When a state is another one, and when its number only trembles (G4, P4, A7)."""

from math import isfinite
from typing import Final

# Stands between a number and its unit; no state has one by itself.
_BEFORE_UNIT: Final = "\N{NO-BREAK SPACE}"
# A meter's noise: two per cent of what it shows.
_SHARE: Final = 0.02
# A thermometer's noise, by its unit: a tenth of a degree Celsius, and room to round.
_OF_TEMPERATURES: Final = {"°C": 0.15, "K": 0.15, "°F": 0.27}
# At the border of two roundings the last digit goes to and fro by one step, unless
# that step is a good part of all that is shown. What is counted has no such border.
_STEPS: Final = 1.5
_GOOD_PART: Final = 0.25
_NEVER_COUNTED: Final = "%"


def with_unit(state: str, unit: str | None) -> str:
    """Return a state as it is compared: a number knows what it is a number of."""
    return state if not unit or not is_number(state) else f"{state}{_BEFORE_UNIT}{unit}"


def is_number(state: str) -> bool:
    """Say whether a state may tremble."""
    return _number(_parts(state)[0]) is not None


def differs(before: str, after: str) -> bool:
    """Say whether a state is another one, trembling numbers aside (G4)."""
    if before == after:
        return False
    (old_text, old_unit), (new_text, new_unit) = _parts(before), _parts(after)
    old, new = _number(old_text), _number(new_text)
    if old is None or new is None or old_unit != new_unit:
        return True
    decimals = max(_decimals(old_text), _decimals(new_text))
    return abs(new - old) > _allowed(old, new, decimals, old_unit)


def _allowed(old: float, new: float, decimals: int, unit: str) -> float:
    steps: float = _STEPS * 10**-decimals
    share = _SHARE * abs(old)
    if unit in _OF_TEMPERATURES:
        return max(_OF_TEMPERATURES[unit], steps, share)
    if not decimals and unit != _NEVER_COUNTED:
        return share
    return max(share, min(steps, _GOOD_PART * max(abs(old), abs(new))))


def _parts(state: str) -> tuple[str, str]:
    text, _, unit = state.partition(_BEFORE_UNIT)
    return text, unit


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None


def _decimals(text: str) -> int:
    """Return how many decimals a number is written with; 0 for a power of ten."""
    decimals = text.strip().partition(".")[2]
    return len(decimals) if decimals.isdigit() else 0

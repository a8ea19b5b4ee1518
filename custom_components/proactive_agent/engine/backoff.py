"""The same situation as last time? Then there is no reason to wake (G4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import isfinite

from .records import Outcome

_ALWAYS_AGAIN = {Outcome.ACTED, Outcome.ERROR}
# A sensor's noise: 0.15 of its unit, or two per cent of what a meter shows.
TREMBLE = 0.15
TREMBLE_SHARE = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The states a run was shown, and how it ended."""

    states: Mapping[str, str]
    at: datetime
    outcome: Outcome


def stays_quiet(
    shown: Shown | None,
    states: Mapping[str, str],
    *,
    now: datetime,
    recheck_after: timedelta,
) -> bool:
    """Say whether waking again would show the model nothing new (G4)."""
    if shown is None or not states or shown.outcome in _ALWAYS_AGAIN:
        return False
    if now - shown.at >= recheck_after:
        return False
    return same_states(shown.states, states)


def same_states(before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    """Say whether two situations are the same, trembling numbers aside (G4)."""
    return before.keys() == after.keys() and not any(
        differs(before[entity_id], state) for entity_id, state in after.items()
    )


def differs(before: str, after: str) -> bool:
    """Say whether a state is another one, trembling numbers aside (G4)."""
    if before == after:
        return False
    numbers = _number(before), _number(after)
    if numbers[0] is None or numbers[1] is None:
        return True
    allowed = max(TREMBLE, TREMBLE_SHARE * abs(numbers[0]))
    return abs(numbers[1] - numbers[0]) > allowed


def closed_long(closed_for: timedelta, settle_for: timedelta) -> bool:
    """Say whether the gate was closed long enough for all to be news again (G4)."""
    return bool(closed_for) and closed_for >= settle_for


def _number(state: str) -> float | None:
    try:
        number = float(state)
    except ValueError:
        return None
    return number if isfinite(number) else None

"""The same situation as last time? Then there is no reason to wake (G4)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Self

from .records import Outcome
from .stored import flag_from, moment_from, texts_by_name_from
from .trembling import differs, is_number

# Entities of a situation; what is more is not compared.
MAX_ENTITIES: Final = 500
# What an entity has not said yet; of one that falls silent its last word counts.
UNSAID: Final = ""

_ALWAYS_AGAIN = {Outcome.ACTED, Outcome.ERROR}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The states a run was shown, how it ended, and what has happened since.

    `has_moved` when a state was another one in between, even if it has come back;
    `closed_for` is how long the gate was closed from one look with an open gate to the
    next, but for what has passed since `closed_since`.
    """

    states: Mapping[str, str]
    at: datetime
    outcome: Outcome
    has_moved: bool = False
    closed_for: timedelta = timedelta()
    closed_since: datetime | None = None

    def gate_was(self, *, is_open: bool | None, now: datetime) -> Shown:
        """Note what the gate said; None is neither open nor closed."""
        if (is_open is False) is (self.closed_since is not None):
            return self
        if self.closed_since is None:
            return replace(self, closed_since=now)
        closed_for = self.closed_for + max(timedelta(), now - self.closed_since)
        return replace(self, closed_for=closed_for, closed_since=None)

    def opened(self) -> Shown:
        """Let the time for which the gate was closed begin anew."""
        return replace(self, closed_for=timedelta()) if self.closed_for else self

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        since = self.closed_since
        return {
            "states": {**self.states},
            "at": self.at.isoformat(),
            "outcome": self.outcome.value,
            "has_moved": self.has_moved,
            "closed_for": self.closed_for.total_seconds(),
            "closed_since": since.isoformat() if since else None,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `as_dict` wrote.

        Raises `KeyError`, `TypeError` or `ValueError` for anything else.
        """
        since = data["closed_since"]
        return cls(
            states=texts_by_name_from(data["states"]),
            at=moment_from(data["at"]),
            outcome=Outcome(data["outcome"]),
            has_moved=flag_from(data["has_moved"]),
            closed_for=timedelta(seconds=data["closed_for"]),
            closed_since=None if since is None else moment_from(since),
        )


def stays_quiet(
    shown: Shown | None,
    states: Mapping[str, str],
    *,
    now: datetime,
    recheck_after: timedelta,
) -> bool:
    """Say whether waking again would show the model nothing new (G4).

    Falling silent, and saying the same again, is no change.
    """
    if shown is None or not states or shown.outcome in _ALWAYS_AGAIN:
        return False
    # A clock that was set back must not keep it asleep for long.
    if shown.has_moved or abs(now - shown.at) >= recheck_after:
        return False
    return same_states(shown.states, with_last_words(states, shown.states))


def same_states(before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    """Say whether two situations are the same, trembling numbers aside (G4)."""
    return before.keys() == after.keys() and not any(
        differs(before[entity_id], state) for entity_id, state in after.items()
    )


def moves(shown: Mapping[str, str], entity_id: str, state: str) -> bool:
    """Say whether a state is news, even if it is soon back at what was shown (G4).

    It is not for a number, which counts as it is at the tick, nor for the first state
    of an entity that has been silent until now.
    """
    before = shown.get(entity_id, UNSAID)
    if before in (UNSAID, state):
        return False
    return not (is_number(before) and is_number(state))


def with_last_words(
    states: Mapping[str, str], before: Mapping[str, str]
) -> dict[str, str]:
    """Return the states; for entities that are silent or gone, what they said last."""
    known = {**states}
    for entity_id, state in before.items():
        if known.get(entity_id, UNSAID) == UNSAID and (
            entity_id in known or len(known) < MAX_ENTITIES
        ):
            known[entity_id] = state
    return known


def closed_long(closed_for: timedelta, settle_for: timedelta) -> bool:
    """Say whether the gate was closed so long that everything is news again (G4)."""
    return bool(closed_for) and closed_for >= settle_for

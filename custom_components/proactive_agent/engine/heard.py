"""What was told of which situation, so that it is not told again (S4)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Self

from .backoff import same_states
from .stored import moment_from, text_from, texts_by_name_from, texts_from

MAX_HEARD: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A message that has reached these targets, from a run that saw these states.

    Only messages of runs that did nothing count. `unhelpful` are the keys of actions of
    which it said that they had not helped (A7).
    """

    at: datetime
    states: Mapping[str, str]
    targets: frozenset[str]
    unhelpful: frozenset[str] = frozenset()
    message: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "at": self.at.isoformat(),
            "states": {**self.states},
            "targets": sorted(self.targets),
            "unhelpful": sorted(self.unhelpful),
            "message": self.message,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `as_dict` wrote.

        Raises `KeyError`, `TypeError` or `ValueError` for anything else.
        """
        return cls(
            at=moment_from(data["at"]),
            states=texts_by_name_from(data["states"]),
            targets=frozenset(texts_from(data["targets"])),
            unhelpful=frozenset(texts_from(data["unhelpful"])),
            message=text_from(data.get("message", "")),
        )


def have_heard(
    heard: Iterable[Heard],
    states: Mapping[str, str],
    unhelpful: frozenset[str],
    *,
    now: datetime,
    recheck_after: timedelta,
) -> frozenset[str]:
    """Return the targets that have been told of this situation already.

    Situations are compared by their states, whatever the words were; without any state
    nothing counts as told.
    """
    if not states:
        return frozenset()
    return frozenset().union(
        *(
            one.targets
            for one in still_known(heard, now=now, recheck_after=recheck_after)
            if unhelpful <= one.unhelpful and same_states(one.states, states)
        )
    )


def still_known(
    heard: Iterable[Heard], *, now: datetime, recheck_after: timedelta
) -> tuple[Heard, ...]:
    """Return what was told so lately that it need not be told again."""
    return tuple(one for one in heard if abs(now - one.at) < recheck_after)


def with_heard(heard: Iterable[Heard], latest: Heard) -> tuple[Heard, ...]:
    """Add what was told last, and forget what was told long ago."""
    return (*heard, latest)[-MAX_HEARD:]

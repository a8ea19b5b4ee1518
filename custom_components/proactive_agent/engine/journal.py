"""What a run has come to, for whoever ends it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from .records import CallRecord, TurnRecord, Usage
from .truncation import Reading


def _stands_still() -> float:
    return 0


@dataclass(slots=True)
class Journal:
    """What a run has come to so far; readable at any time, also after a cut.

    `usage` is None where nobody says what is used, `first` where nobody says how much
    of the first request was read. `answered` are the turns that have ended, by `clock`
    in seconds.
    """

    turns: int = 0
    usage: Usage | None = field(default_factory=Usage)
    calls: list[CallRecord] = field(default_factory=list)
    answer: str | None = None
    first: Reading | None = None
    answered: list[TurnRecord] = field(default_factory=list)
    clock: Callable[[], float] = field(default=_stands_still, repr=False, compare=False)
    _asked_at: float | None = field(default=None, repr=False, compare=False)

    def open_turn(self) -> None:
        """Count a request that is about to be made."""
        self.turns += 1
        self._asked_at = self.clock()

    def cancel_turn(self) -> None:
        """Take a request back that was not made."""
        self.turns -= 1
        self._asked_at = None

    def close_turn(self, usage: Usage | None, text: str | None = None) -> None:
        """Note what a request has used, and what was written beside the calls."""
        if self._asked_at is None:
            return
        seconds = self.since(self._asked_at)
        self.answered.append(
            TurnRecord(turn=self.turns, seconds=seconds, tokens=usage, text=text)
        )
        self._asked_at = None

    def since(self, moment: float) -> float:
        """Return the seconds that have passed since a moment of `clock`."""
        return round(self.clock() - moment, 3)

    def spend(self, usage: Usage) -> None:
        """Add what one request has used."""
        self.usage = usage if self.usage is None else self.usage + usage

    def copy(self) -> Journal:
        """Return what stands now, out of reach of whoever still writes.

        A request that is still out has ended there.
        """
        copied = replace(self, calls=[*self.calls], answered=[*self.answered])
        copied.close_turn(None)
        return copied

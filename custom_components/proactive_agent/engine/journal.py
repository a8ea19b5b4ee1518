"""What a run has come to, for whoever ends it."""

from dataclasses import dataclass, field, replace

from .records import CallRecord, Usage
from .truncation import Reading


@dataclass(slots=True)
class Journal:
    """What a run has come to so far; readable at any time, also after a cut.

    `usage` is None where nobody says what is used, `first` where nobody says how much
    of the first request was read.
    """

    turns: int = 0
    usage: Usage | None = field(default_factory=Usage)
    calls: list[CallRecord] = field(default_factory=list)
    answer: str | None = None
    first: Reading | None = None

    def spend(self, usage: Usage) -> None:
        """Add what one request has used."""
        self.usage = usage if self.usage is None else self.usage + usage

    def copy(self) -> Journal:
        """Return what stands now, out of reach of whoever still writes."""
        return replace(self, calls=[*self.calls])

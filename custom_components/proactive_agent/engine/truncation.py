"""Whether a server has quietly cut off what it was sent.

A request that does not fit into a model's context is an error on most servers. Some
throw a part of it away instead and answer on the rest: Ollama down to its context, or
to the half of it and two tokens. The figures they report are all that shows it.
"""

from dataclasses import dataclass
from typing import Final

# In tokens. A short request fits anywhere; no context is as small as a smaller report.
_LEAST_TELLING: Final = 1_500
_LEAST_REPORTED: Final = 256
_STEP: Final = 1_024  # contexts and their halves are multiples of it
_BEYOND_STEP: Final = 4  # tokens that are kept on top


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The first request of a run in tokens: as estimated, and as a server reports it.

    The estimate takes four characters for a token. Languages with fewer characters a
    token come to more tokens, not to fewer: a report far below it says something in
    all of them. A later request says less: what a server has read before, some leave
    out of their reports.
    """

    expected: int
    reported: int

    @property
    def is_cut_off(self) -> bool:
        """Whether less was read than was sent, beyond what an estimate may be off."""
        if self.expected < _LEAST_TELLING or self.reported < _LEAST_REPORTED:
            return False
        if self.reported * 2 < self.expected:
            return True
        fills_a_context = self.reported % _STEP <= _BEYOND_STEP
        return fills_a_context and self.reported * 5 < self.expected * 4


class Window:
    """What the reports of one model show about how much it reads at once."""

    def __init__(self) -> None:
        """Begin without a report."""
        self._largest = 0
        self._cut_at: int | None = None

    def note(self, reading: Reading) -> bool | None:
        """Return True if this was cut off, False if that is mended, else None."""
        reported = reading.reported
        self._largest = max(self._largest, reported)
        # Who has read more before was not at its limit: it did not read all anew.
        if reading.is_cut_off and reported * 10 >= self._largest * 9:
            self._cut_at = reported
            return True
        if self._cut_at is not None and reported * 10 > self._cut_at * 11:
            self._cut_at = None
            return False
        return None

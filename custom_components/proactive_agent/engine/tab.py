"""Requests that somebody else makes, charged to a budget all the same (F5)."""

from collections.abc import Sequence

from .errors import CutReason, RunCutError
from .journal import Journal
from .metering import expected_usage
from .ports import Allowance
from .records import JsonObject, ToolSpec, Usage


class Tab:
    """Charges an estimate before each request, and settles it after.

    What is spent goes to the journal where it is known; an estimate of what others
    send is too rough to be shown.
    """

    def __init__(
        self, tools: Sequence[ToolSpec], allowance: Allowance, journal: Journal
    ) -> None:
        """Begin with nothing charged."""
        self._tools = tools
        self._allowance = allowance
        self._journal = journal
        self._charged = 0

    def open(self, messages: Sequence[JsonObject]) -> None:
        """Charge the next request; raises `RunCutError` if it may not be made."""
        self._allowance.check()
        left = self._allowance.remaining()
        if left is not None and left <= 0:
            raise RunCutError(CutReason.TOKEN_LIMIT)
        self._charged = expected_usage(messages, self._tools).total
        self._allowance.charge(self._charged)

    def settle(self, usage: Usage | None, answered: Sequence[JsonObject] = ()) -> None:
        """Put in what the request has used; where nobody knows, add what came back."""
        if usage is None:
            self._allowance.charge(expected_usage(answered, ()).total)
        else:
            self._allowance.charge(usage.total - self._charged)
            self._journal.spend(usage)
        self._charged = 0

    def cancel(self) -> None:
        """Give back what was charged for a request that was not made."""
        self._allowance.charge(-self._charged)
        self._charged = 0

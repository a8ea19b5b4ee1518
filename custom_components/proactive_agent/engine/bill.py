"""What failed requests of a turn have used, charged all the same (F5)."""

from collections.abc import Callable
from dataclasses import replace

from .errors import ModelError
from .metering import answered_usage
from .records import Reply, Usage


class Bill:
    """What the failed requests of one turn have used.

    Requests of which no server says it count, all together, as one request is
    estimated.
    """

    def __init__(self, expected: Callable[[], Usage]) -> None:
        """Begin with nothing; `expected` says what one request is thought to use."""
        self.total = Usage()
        self._expected = expected
        self._has_guessed = False

    def add(self, err: ModelError) -> None:
        """Count a request that failed."""
        if err.usage is not None:
            self.total += err.usage
        elif not self._has_guessed:
            self._has_guessed = True
            self.total += self._expected()

    def settle(self, reply: Reply) -> Reply:
        """Return the reply with the usage of the failed requests before it added."""
        if self.total == Usage():
            return reply
        used = reply.usage or self._expected() + answered_usage(reply)
        return replace(reply, usage=self.total + used)

"""What is going to happen, and when."""

from collections.abc import Awaitable, Callable
import heapq
import itertools

from .hours import Hours

type Happening = Callable[[], Awaitable[None] | None]


class Agenda:
    """Lets one thing happen after the other, each at its time."""

    def __init__(self, hours: Hours) -> None:
        self._hours = hours
        self._heap: list[tuple[float, int, Happening]] = []
        self._numbers = itertools.count()

    @property
    def now(self) -> float:
        """The time, in seconds since the epoch."""
        return self._hours.now

    def at(self, moment: float, happening: Happening) -> None:
        """Let something happen at a moment, in seconds since the epoch."""
        heapq.heappush(self._heap, (moment, next(self._numbers), happening))

    def after(self, seconds: float, happening: Happening) -> None:
        """Let something happen in so many seconds."""
        self.at(self.now + seconds, happening)

    async def live_until(self, moment: float) -> None:
        """Let everything happen that is due until then."""

        def next_one() -> float:
            return min(self._heap[0][0], moment) if self._heap else moment

        while self.now < moment:
            await self._hours.until(next_one)
            while self._heap and self._heap[0][0] <= self.now:
                _, _, happening = heapq.heappop(self._heap)
                waited_for = happening()
                if waited_for is not None:
                    await waited_for
                await self._hours.settle()

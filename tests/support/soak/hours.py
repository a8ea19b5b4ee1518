"""Time that passes from one timer straight to the next."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
import time
from typing import Any, Final, Self
from unittest.mock import patch

from bench_house.clock import Clock

# Real seconds in which nothing has happened any more while something is waited for:
# what is on its way to a socket of this machine has arrived by then.
GRACE: Final = 0.003
# Passes of the loop that have to be idle where nothing is waited for.
PASSES: Final = 2
# Seconds; more than what is lost of the time since the epoch in a float.
FINE: Final = 1e-6
# Real seconds that a thread may take.
PATIENCE: Final = 20


class Hours:
    """Lets time pass, as fast as there is nothing to do in it.

    Each timer of the loop fires at the very moment for which it was set, and time
    stands still until all that came of it is done or waits for another timer.
    """

    def __init__(self, clock: Clock) -> None:
        """Stop the clock; `pending` says what is under way, as far as it is known."""
        clock.stop()
        self.pending: Callable[[], Iterable[asyncio.Future[Any]]] = tuple
        self._clock = clock
        self._loop: Any = asyncio.get_running_loop()
        self._driven: set[asyncio.Future[Any]] = set()
        self._in_threads: set[asyncio.Future[Any]] = set()

    @classmethod
    @contextmanager
    def from_(cls, start: datetime) -> Iterator[Self]:
        """Be in charge of the time of the running loop and of Home Assistant."""
        with Clock.in_charge(start) as clock:
            hours = cls(clock)
            with patch.object(hours._loop, "run_in_executor", hours._run_in_executor):
                yield hours

    @property
    def now(self) -> float:
        """The time, in seconds since the epoch."""
        return self._clock.timestamp()

    @property
    def timers(self) -> list[asyncio.TimerHandle]:
        """Every timer of the loop that is still to fire."""
        return [one for one in self._loop._scheduled if not one.cancelled()]

    async def until(self, moment: Callable[[], float]) -> None:
        """Let time pass until a moment, in seconds since the epoch.

        What happens meanwhile may bring it nearer.
        """
        while (due := self._next_due()) <= moment():
            self._clock.set(max(due + FINE, self.now))
            await self.settle()
        self._clock.set(max(moment(), self.now))
        await self.settle()

    async def drive[T](self, job: Coroutine[Any, Any, T]) -> T:
        """Let as much time pass as a job takes."""
        task = asyncio.ensure_future(job)
        self._driven.add(task)
        await self.settle()
        while not task.done():
            self._clock.set(max(self._next_due() + FINE, self.now))
            await self.settle()
        self._driven.remove(task)
        return task.result()

    async def settle(self) -> None:
        """Let all be done for which no time has to pass."""
        begun = quiet_since = time.perf_counter()
        idle = 0
        while True:
            await asyncio.sleep(0)
            if self._loop._ready:
                idle, quiet_since = 0, time.perf_counter()
                continue
            idle += 1
            if idle < PASSES:
                continue
            if not (pending := self._pending()):
                return
            now = time.perf_counter()
            assert now - begun < PATIENCE, pending
            if now - quiet_since > GRACE and not self._in_threads:
                return

    def _pending(self) -> list[asyncio.Future[Any]]:
        known = (*self.pending(), *self._driven, *self._in_threads)
        return [one for one in known if not one.done()]

    def _run_in_executor(self, *job: Any) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = type(self._loop).run_in_executor(self._loop, *job)
        self._in_threads.add(future)
        future.add_done_callback(self._in_threads.discard)
        return future

    def _next_due(self) -> float:
        """Return when the next timer fires, in seconds since the epoch."""
        scheduled = self._loop._scheduled
        if not scheduled:
            return float("inf")
        began = self._clock.timestamp() - self._clock.elapsed()
        due: float = scheduled[0].when()
        return began + due

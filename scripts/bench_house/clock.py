"""A clock that can be turned: the loop's timers and Home Assistant's time follow it."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, tzinfo
import time
from typing import Self
from unittest.mock import patch

from homeassistant.helpers import event
from homeassistant.util import dt as dt_util

# Passes of the loop in which a timer that has come due, and what it starts, are done.
PASSES = 3


class Clock:
    """Runs like any other until it is stopped, and can be turned forward at any time.

    Only the loop's time and the wall clock of Home Assistant are turned: whatever is
    measured with `time.monotonic` or by the processor is real.
    """

    def __init__(self, start: datetime) -> None:
        """Show this moment."""
        self._began = self._shown = start.timestamp()
        self._since: float | None = time.monotonic()

    @classmethod
    @contextmanager
    def in_charge(cls, start: datetime) -> Iterator[Self]:
        """Have the running loop and Home Assistant go by a clock like this."""
        clock = cls(start)
        loop = asyncio.get_running_loop()
        with ExitStack() as stack:
            for place, name, hand in (
                (loop, "time", clock.elapsed),
                (time, "time", clock.timestamp),
                (event, "time_tracker_timestamp", clock.timestamp),
                (event, "time_tracker_utcnow", clock.utcnow),
                (dt_util, "utcnow", clock.utcnow),
                (dt_util, "now", clock.now),
            ):
                stack.enter_context(patch.object(place, name, hand))
            yield clock

    def timestamp(self) -> float:
        """Return the time that is shown, in seconds since the epoch."""
        if self._since is None:
            return self._shown
        return self._shown + time.monotonic() - self._since

    def elapsed(self) -> float:
        """Return the seconds since its start: few enough to be told apart finely."""
        return self.timestamp() - self._began

    def utcnow(self) -> datetime:
        """Return it as a datetime in UTC."""
        return datetime.fromtimestamp(self.timestamp(), UTC)

    def now(self, time_zone: tzinfo | None = None) -> datetime:
        """Return it as a datetime in a time zone, that of the home by default."""
        zone = time_zone or dt_util.get_default_time_zone()
        return datetime.fromtimestamp(self.timestamp(), zone)

    def stop(self) -> None:
        """Stand still but for being turned."""
        self._shown, self._since = self.timestamp(), None

    def start(self) -> None:
        """Run on from what is shown."""
        self.set(self.timestamp())
        self._since = time.monotonic()

    def set(self, timestamp: float) -> None:
        """Show this time; what has come due by then runs in the loop's next passes."""
        self._shown = timestamp
        if self._since is not None:
            self._since = time.monotonic()

    async def turn_to(self, timestamp: float) -> None:
        """Show this time and let what has come due by then run."""
        self.set(timestamp)
        for _ in range(PASSES):
            await asyncio.sleep(0)

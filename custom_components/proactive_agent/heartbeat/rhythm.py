"""The rhythm of one heartbeat: due times that a restart does not shift (C1, C6)."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from homeassistant.core import HomeAssistant, callback
from homeassistant.util import dt as dt_util

from ..engine.cadence import has_missed, next_due, spread
from ..store.memory import Memory
from .pulse import Pulse

# How long after the start of Home Assistant one tick makes up for all that was
# missed: its entities come up meanwhile, and not every heartbeat ticks at once.
_EARLIEST: Final = timedelta(seconds=60)
_LATEST: Final = timedelta(minutes=4)


class Rhythm:
    """Runs the timers so that ticks stay at whole intervals from the `anchor` (C6)."""

    def __init__(
        self,
        hass: HomeAssistant,
        name: str,
        state: Memory,
        *,
        key: str,
        on_tick: Callable[[datetime], None],
        on_deadline: Callable[[datetime], None],
    ) -> None:
        """Prepare; no timer runs before `begin`. `key` spreads what is caught up."""
        self._key = key
        self._state = state
        self._pulse = Pulse(hass, name, on_tick=on_tick, on_deadline=on_deadline)

    @callback
    def resume(self, interval: timedelta) -> None:
        """Go on after a start of Home Assistant (C6)."""
        anchor = self._state.anchor
        if anchor is None:
            self.begin(interval)
            return
        now = dt_util.utcnow()
        first = next_due(anchor, interval, now)
        self._pulse.start(interval, first)
        alive = self._state.last_saved
        if alive is not None and has_missed(anchor, interval, alive, now):
            catch_up = now + spread(self._key, _EARLIEST, _LATEST)
            # The next regular tick, if it is soon, makes up for them as well.
            if catch_up < first:
                self._pulse.catch_up(catch_up)
        self.follow_deadline()

    @callback
    def begin(self, interval: timedelta) -> None:
        """Begin anew from now on (C1)."""
        self._state.set_anchor(dt_util.utcnow())
        self._pulse.start(interval)
        self.follow_deadline()

    @callback
    def follow_deadline(self) -> None:
        """Wait for the deadline, if there is one (F2)."""
        self._pulse.set_deadline(self._state.meter.used.deadline)

    @callback
    def stop(self) -> None:
        """Cancel every timer."""
        self._pulse.stop()

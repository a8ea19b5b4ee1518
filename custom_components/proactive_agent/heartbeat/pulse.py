"""The timers of one heartbeat: its interval and its deadline."""

from collections.abc import Callable
from contextvars import Context
from datetime import datetime, timedelta
from typing import Concatenate

from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.helpers.event import (
    async_track_point_in_utc_time,
    async_track_time_interval,
)
from homeassistant.util import dt as dt_util

from ..engine.fuses import DEADLINE_GRACE


class Pulse:
    """Owns and cancels the timers; each callback gets the time in UTC."""

    def __init__(
        self,
        hass: HomeAssistant,
        name: str,
        *,
        on_tick: Callable[[datetime], None],
        on_deadline: Callable[[datetime], None],
    ) -> None:
        """Prepare; no timer runs before `start`."""
        self._hass = hass
        self._name = name
        self._on_tick = on_tick
        self._on_deadline = on_deadline
        self._next_tick: datetime | None = None
        self._interval = timedelta()
        self._timers: dict[str, CALLBACK_TYPE] = {}

    @callback
    def start(self, interval: timedelta, first: datetime | None = None) -> None:
        """Tick after one interval, or `first` at that moment, and then at each (C1)."""
        self.stop()
        self._interval = interval
        if first is None:
            self._next_tick = dt_util.utcnow() + interval
            self._track_interval()
            return
        self._next_tick = first
        self._own("interval", async_track_point_in_utc_time, self._first_tick, first)

    @callback
    def catch_up(self, moment: datetime) -> None:
        """Tick once at this moment besides, for what was missed (C6)."""
        self._own("catch_up", async_track_point_in_utc_time, self._caught_up, moment)

    @callback
    def _first_tick(self, now: datetime) -> None:
        self._track_interval()
        self._ticked(now)

    @callback
    def _caught_up(self, now: datetime) -> None:
        self._timers.pop("catch_up", None)
        self._on_tick(now)

    @callback
    def _track_interval(self) -> None:
        self._own(
            "interval",
            async_track_time_interval,
            self._ticked,
            self._interval,
            name=f"{self._name} heartbeat",
            cancel_on_shutdown=True,
        )

    @callback
    def set_deadline(self, deadline: datetime | None) -> None:
        """Move the deadline, None for none (F2)."""
        self._cancel("deadline")
        if deadline is not None:
            self._own(
                "deadline",
                async_track_point_in_utc_time,
                self._deadline_reached,
                deadline,
            )

    @callback
    def stop(self) -> None:
        """Cancel every timer."""
        for name in tuple(self._timers):
            self._cancel(name)

    @callback
    def _ticked(self, now: datetime) -> None:
        self._next_tick = now + self._interval
        self._on_tick(now)

    @callback
    def _deadline_reached(self, now: datetime) -> None:
        self._timers.pop("deadline", None)
        grace = min(DEADLINE_GRACE, self._interval / 2)
        if self._next_tick is not None and self._next_tick - now <= grace:
            self._ticked(now)
        self._on_deadline(now)

    def _own[**P](
        self,
        timer: str,
        track: Callable[Concatenate[HomeAssistant, P], CALLBACK_TYPE],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> None:
        # An empty context: a timer started by an automation's action would carry
        # that automation's trace along, and grow it at each tick.
        self._timers[timer] = Context().run(track, self._hass, *args, **kwargs)

    def _cancel(self, timer: str) -> None:
        if (cancel := self._timers.pop(timer, None)) is not None:
            cancel()

"""A timer for one moment, which can be moved."""

from collections.abc import Callable
from contextvars import Context
from datetime import datetime

from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.helpers.event import async_track_point_in_utc_time


class Alarm:
    """Calls back once, at the moment that was set last."""

    def __init__(self, hass: HomeAssistant, on_time: Callable[[], None]) -> None:
        """Wait for nothing yet."""
        self._hass = hass
        self._on_time = on_time
        self._moment: datetime | None = None
        self._cancel: CALLBACK_TYPE | None = None

    @property
    def is_set(self) -> bool:
        """Whether a moment is waited for."""
        return self._moment is not None

    @callback
    def set(self, moment: datetime | None) -> None:
        """Wait for this moment and no other, for None for nothing.

        One that is past comes at once.
        """
        self.cancel()
        self._moment = moment
        if moment is None:
            return
        # An empty context: a trace that is carried along would grow for ever.
        self._cancel = Context().run(
            async_track_point_in_utc_time, self._hass, self._ring, moment
        )

    @callback
    def keep(self, moment: datetime | None) -> None:
        """Do as `set`, but leave the timer alone if it waits for this already (C4)."""
        if moment != self._moment:
            self.set(moment)

    @callback
    def cancel(self) -> None:
        """Wait no longer."""
        if self._cancel is not None:
            self._cancel()
        self._moment = self._cancel = None

    @callback
    def _ring(self, _now: datetime) -> None:
        self._moment = self._cancel = None
        self._on_time()

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
        self._cancel: CALLBACK_TYPE | None = None

    @property
    def is_set(self) -> bool:
        """Whether a moment is waited for."""
        return self._cancel is not None

    @callback
    def set(self, moment: datetime) -> None:
        """Wait for this moment and no other; one that is past comes at once."""
        self.cancel()
        # An empty context: a trace that is carried along would grow for ever.
        self._cancel = Context().run(
            async_track_point_in_utc_time, self._hass, self._ring, moment
        )

    @callback
    def cancel(self) -> None:
        """Wait no longer."""
        if self._cancel is not None:
            self._cancel()
            self._cancel = None

    @callback
    def _ring(self, _now: datetime) -> None:
        self._cancel = None
        self._on_time()

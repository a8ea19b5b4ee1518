"""The wait for notifiers that load late when Home Assistant starts (S5)."""

import asyncio
from collections.abc import Callable, Sequence

from homeassistant.const import EVENT_SERVICE_REGISTERED
from homeassistant.core import (
    CALLBACK_TYPE,
    CoreState,
    Event,
    EventStateChangedData,
    HomeAssistant,
    callback,
)
from homeassistant.helpers.event import async_track_state_change_event
from homeassistant.helpers.start import async_at_started

# Seconds. Some integrations are set up again and again until their device answers.
LATE_FOR = 300
PATIENCE = 60
# A start that takes longer has failed.
START_PATIENCE = 600


class Start:
    """Knows whether Home Assistant has just started, and waits for what is late."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Follow the start, if it is not over yet."""
        self._hass = hass
        self._waits: set[asyncio.Timeout] = set()
        self._over_at: float | None = None
        self._unlisten: CALLBACK_TYPE | None = None
        if hass.state is CoreState.running:
            self._over_at = 0
        else:
            self._unlisten = async_at_started(hass, self._has_started)

    @property
    def is_recent(self) -> bool:
        """Whether something may still be loading."""
        return self._over_at is None or self._hass.loop.time() < self._over_at

    @callback
    def close(self) -> None:
        """Follow the start no longer."""
        self._over_at = 0
        if self._unlisten is not None:
            self._unlisten()

    async def async_wait(
        self, entity_ids: Sequence[str], is_there: Callable[[], bool]
    ) -> None:
        """Wait until what is late is there, or it must be given up.

        That is a minute after it was missed, or after Home Assistant has started.
        """
        if not self.is_recent:
            return
        there = asyncio.Event()

        @callback
        def look(_event: Event | Event[EventStateChangedData] | None = None) -> None:
            if is_there():
                there.set()

        unlisten = (
            self._hass.bus.async_listen(EVENT_SERVICE_REGISTERED, look),
            async_track_state_change_event(self._hass, entity_ids, look),
        )
        look()
        try:
            await self._wait(there)
        finally:
            for stop in unlisten:
                stop()

    async def _wait(self, there: asyncio.Event) -> None:
        patience = START_PATIENCE if self._over_at is None else PATIENCE
        wait = asyncio.timeout(patience)
        self._waits.add(wait)
        try:
            async with wait:
                await there.wait()
        except TimeoutError:
            return
        finally:
            self._waits.remove(wait)

    @callback
    def _has_started(self, _hass: HomeAssistant) -> None:
        now = self._hass.loop.time()
        self._over_at = now + LATE_FOR
        self._unlisten = None
        for wait in self._waits:
            if not wait.expired():
                wait.reschedule(now + PATIENCE)

"""What must outlive a restart, one file for each endpoint (C6, D1, D2)."""

from collections.abc import Container, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import (
    ConfigEntryError,
    HomeAssistantError,
    UnsupportedStorageVersionError,
)
from homeassistant.util import dt as dt_util

from ..const import DOMAIN
from ..engine.stored import moment_from
from .file import StoreFile, keep_aside
from .open_runs import OpenRuns
from .shapes import StoredShapes
from .state import HeartbeatState

__all__ = ["HeartbeatState", "HeartbeatStore"]

VERSION = 1
SAVE_DELAY = 10  # seconds
# Seconds in which several things that happen in a row come to one write.
SAVE_SHORTLY = 0.1
RESERVED_SHARE = 20  # a block is the twentieth part of `max_ticks`


class HeartbeatStore:
    """The states of an endpoint's heartbeats, in memory and in one file.

    Beside them the file holds `shapes` and `open_runs`, and:

    - `last_saved`: when the file was written that has been loaded. Until then, at
      least, the heartbeats were beating.
    - `lineage`: what was known of runs' contexts, written with an unload only: no
      context outlives Home Assistant (A2).

    Ticks are written ahead in blocks: a crash may count some too many, but never too
    few, and most ticks cost no write (C4, C6). So are the tokens of a run's next
    request.
    """

    def __init__(self, hass: HomeAssistant, entry_id: str) -> None:
        """Prepare the file of one endpoint; nothing is read yet."""
        self._store = StoreFile(
            hass, VERSION, f"{DOMAIN}.{entry_id}", private=True, atomic_writes=True
        )
        self.shapes = StoredShapes(self.save_soon)
        self.open_runs = OpenRuns()
        self.last_saved: datetime | None = None
        self.lineage: Any = None
        self._hass = hass
        self._states: dict[str, HeartbeatState] = {}
        self._reserved: dict[str, int] = {}
        self._uncounted: dict[str, int] = {}  # ticks that no state holds yet
        self._ahead: Mapping[str, int] = {}  # tokens that only the file holds
        self._lost = self._closed = False
        self._due: float | None = None

    async def async_load(self) -> bool:
        """Read the file; returns False if there is one that cannot be read (D1).

        Such a file is kept aside, and every heartbeat counts as off. Raises
        `ConfigEntryError` for the file of a newer version, which is left alone.
        """
        path = Path(self._store.path)
        exists = await self._hass.async_add_executor_job(path.exists)
        try:
            data = await self._store.async_load()
            self._states = _states(data)
            self.shapes.load((data or {}).get("shapes"))
            self.open_runs.load((data or {}).get("open_runs"))
            self.open_runs.load_ended((data or {}).get("ended_runs"))
            self.last_saved = _moment((data or {}).get("saved"))
            self.lineage = (data or {}).get("lineage")
        except UnsupportedStorageVersionError as error:
            raise ConfigEntryError(
                translation_domain=DOMAIN, translation_key="store_too_new"
            ) from error
        except HomeAssistantError, KeyError, TypeError, ValueError, AttributeError:
            data, exists = None, True
        if data is None and exists:
            self._lost = True
            await self._hass.async_add_executor_job(keep_aside, path)
            return False
        self._reserved = {
            heartbeat_id: state.used.ticks
            for heartbeat_id, state in self._states.items()
        }
        return True

    def get(self, heartbeat_id: str) -> HeartbeatState | None:
        """Return the state of a heartbeat, None if it is new (D2)."""
        self._count(heartbeat_id)
        return self.glance(heartbeat_id)

    def glance(self, heartbeat_id: str) -> HeartbeatState | None:
        """Return the same without counting the latest ticks, which costs less (C4)."""
        state = self._states.get(heartbeat_id)
        return HeartbeatState(on=False) if state is None and self._lost else state

    @callback
    def note_tick(self, heartbeat_id: str) -> None:
        """Note a tick; its state is made anew only when somebody asks for it (C4)."""
        self._uncounted[heartbeat_id] = self._uncounted.get(heartbeat_id, 0) + 1

    def _count(self, heartbeat_id: str) -> None:
        ticks = self._uncounted.pop(heartbeat_id, 0)
        state = self._states.get(heartbeat_id)
        if ticks and state is not None:
            used = state.used.ticked(ticks)
            self._states[heartbeat_id] = replace(state, used=used)

    async def async_begin_anew(self) -> None:
        """Write down that all are off after a loss; later ones are on (D1, D2)."""
        self._lost = False
        await self.async_save()

    @callback
    def put(self, heartbeat_id: str, state: HeartbeatState) -> None:
        """Remember a state in memory; it is written with the next save."""
        self._states[heartbeat_id] = state

    @callback
    def update(self, heartbeat_id: str, state: HeartbeatState) -> None:
        """Replace the state of a heartbeat; one that was removed stays removed."""
        if heartbeat_id in self._states:
            self._states[heartbeat_id] = state

    @callback
    def keep_only(self, heartbeat_ids: Container[str]) -> None:
        """Drop heartbeats that were removed while nothing was loaded."""
        for heartbeat_id in [*self._states]:
            if heartbeat_id not in heartbeat_ids:
                self.forget(heartbeat_id)

    @callback
    def forget(self, heartbeat_id: str) -> None:
        """Drop a heartbeat that was removed."""
        self._states.pop(heartbeat_id, None)
        self._uncounted.pop(heartbeat_id, None)
        self._reserved.pop(heartbeat_id, None)
        self.open_runs.forget(heartbeat_id)
        self.save_soon()

    @callback
    def reserve_ticks(self, heartbeat_id: str, max_ticks: int) -> None:
        """Write the next block of ticks as used before the last is used up (C6)."""
        self._count(heartbeat_id)
        ticks = self._states[heartbeat_id].used.ticks
        if ticks < self._reserved.get(heartbeat_id, 0):
            return
        block = max(1, max_ticks // RESERVED_SHARE)
        self._reserved[heartbeat_id] = min(max_ticks, ticks + block)
        self.save_soon(0)

    @callback
    def release_ticks(self, heartbeat_id: str) -> None:
        """Forget what was reserved, when ticks begin anew."""
        self._reserved.pop(heartbeat_id, None)

    async def async_save(self, *, exact: bool = False) -> bool:
        """Write now and say whether the disk took it (D1).

        `exact` gives reserved ticks back, for an orderly end.
        """
        if self._closed:
            return False
        return await self._write(exact=exact)

    async def async_save_ahead(self, heartbeat_id: str, tokens: int) -> bool:
        """Write now as `async_save` does, these tokens as used already (F5, C6)."""
        if self._closed:
            return False
        ahead = {heartbeat_id: max(0, tokens)}
        return await self._store.async_try_save(partial(self._data, ahead))

    @callback
    def takes_ahead(self, heartbeat_id: str, tokens: int) -> bool:
        """Take tokens off those written ahead; returns whether there were enough."""
        left = self._ahead.get(heartbeat_id, 0) - tokens
        self._ahead = {**self._ahead, heartbeat_id: max(0, left)}
        return left >= 0

    async def _write(self, *, exact: bool) -> bool:
        if exact:
            self._reserved.clear()
        return await self._store.async_try_save(self._data)

    async def async_close(self, lineage: Any = None) -> None:
        """Write for the last time, with what is known of runs' contexts (A2).

        A later write would bring a removed file back, or replace what the next
        set-up has written.
        """
        self._closed = True
        self.lineage = lineage
        await self._write(exact=True)

    @callback
    def save_soon(self, delay: float = SAVE_DELAY) -> None:
        """Write within `delay` seconds, also if asked again and again meanwhile."""
        if self._closed:
            return
        due = self._hass.loop.time() + delay
        if self._due is None or due < self._due:
            self._due = due
            self._store.async_delay_save(self._data, delay)

    async def async_remove(self) -> None:
        """Delete the file with the endpoint."""
        await self._store.async_remove()

    @callback
    def _data(self, ahead: Mapping[str, int] | None = None) -> dict[str, Any]:
        self._due, self._ahead = None, ahead or {}
        for heartbeat_id in self._states:
            self._count(heartbeat_id)
        return {
            "heartbeats": {
                heartbeat_id: state.as_dict(
                    ticks=max(state.used.ticks, self._reserved.get(heartbeat_id, 0)),
                    ahead=self._ahead.get(heartbeat_id, 0),
                )
                for heartbeat_id, state in self._states.items()
            },
            "shapes": self.shapes.as_list(),
            "open_runs": self.open_runs.as_dict(),
            "ended_runs": {} if self._closed else self.open_runs.ended,
            "saved": dt_util.utcnow().isoformat(),
            **({"lineage": self.lineage} if self._closed else {}),
        }


def _states(data: Mapping[str, Any] | None) -> dict[str, HeartbeatState]:
    known = {} if data is None else data["heartbeats"]
    return {
        heartbeat_id: HeartbeatState.from_dict(state)
        for heartbeat_id, state in known.items()
    }


def _moment(stored: Any) -> datetime | None:
    """Read a time that nothing depends on: rubbish is none."""
    with suppress(TypeError, ValueError):
        return moment_from(stored)
    return None

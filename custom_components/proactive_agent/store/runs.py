"""The logs of an endpoint's heartbeats on disk, a file for each of them."""

import asyncio
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from functools import partial
import logging
from pathlib import Path
from typing import Any, Final

from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError, UnsupportedStorageVersionError
from homeassistant.helpers.storage import STORAGE_DIR

from ..const import DOMAIN
from ..engine.run_log import RunLog
from .file import StoreFile, keep_aside

_LOGGER = logging.getLogger(__name__)

VERSION: Final = 1
SAVE_DELAY: Final = 1  # seconds


class RunFile:
    """The log of one heartbeat, written soon after it has changed.

    One that cannot be read is kept aside, and a new one begins. One of a newer version
    is left alone: what happens is then kept in memory only.
    """

    def __init__(
        self, hass: HomeAssistant, key: str, on_written: Callable[[str], None]
    ) -> None:
        """Prepare the file; nothing is read yet.

        `on_written` is called with the newest record when the disk has it.
        """
        self.log = RunLog(self._save_soon)
        self._hass = hass
        self._file = StoreFile(hass, VERSION, key, private=True, atomic_writes=True)
        self._file.on_written = self._written
        self._on_written = on_written
        self._newest: list[str] = []
        self._has_changed = self._closed = False

    async def async_load(self) -> None:
        """Read what was kept; raises nothing."""
        try:
            data = await self._file.async_load()
            self.log.load([] if data is None else data["runs"])
        except UnsupportedStorageVersionError:
            self._file.make_read_only()
            _LOGGER.warning(
                "A newer version of this integration wrote the log of runs %s: "
                "it is left alone, and runs are kept in memory only",
                self._file.path,
            )
        except (
            HomeAssistantError,
            AttributeError,
            KeyError,
            RecursionError,
            TypeError,
            ValueError,
        ):
            path = Path(self._file.path)
            await self._hass.async_add_executor_job(keep_aside, path)
            _LOGGER.warning(
                "The log of runs %s cannot be read; it is kept aside, "
                "and a new one begins",
                path,
            )

    async def async_close(self) -> None:
        """Write for the last time, behind a write that is under way."""
        self._closed = True
        if self._has_changed:
            await self._file.async_try_save(self._data)

    async def async_remove(self) -> None:
        """Delete the file; nothing is written any more."""
        self._closed = True
        # What cannot be deleted now is when the endpoint is set up again.
        with suppress(OSError):
            await self._file.async_remove()

    @callback
    def _save_soon(self) -> None:
        if not self._closed:
            self._has_changed = True
            self._file.async_delay_save(self._data, SAVE_DELAY)

    @callback
    def _data(self) -> dict[str, Any]:
        texts = [*self.log.texts]
        self._newest = texts[:1]
        return {"runs": texts}

    @callback
    def _written(self) -> None:
        for text in self._newest:
            self._on_written(text)


class RunFiles:
    """Owns the logs of an endpoint from set-up to unload."""

    def __init__(
        self,
        hass: HomeAssistant,
        entry_id: str,
        on_written: Callable[[str, str], None] | None = None,
    ) -> None:
        """Prepare; nothing is read yet.

        `on_written` is told the heartbeat and its newest record on disk.
        """
        self._hass = hass
        self._on_written = on_written or _ignored
        self._prefix = f"{DOMAIN}.{entry_id}.runs."
        self._files: dict[str, RunFile] = {}

    def log(self, heartbeat_id: str) -> RunLog:
        """Return the log of a heartbeat, an empty one if it is new."""
        return self._file(heartbeat_id).log

    async def async_load(self, heartbeat_ids: Collection[str]) -> None:
        """Read the logs of these heartbeats, and delete those of all others."""
        await asyncio.gather(
            self._hass.async_add_executor_job(self._keep_only, heartbeat_ids),
            *(self._file(one).async_load() for one in heartbeat_ids),
        )

    async def async_forget(self, heartbeat_id: str) -> None:
        """Delete the log of a heartbeat that was removed."""
        if (file := self._files.pop(heartbeat_id, None)) is not None:
            await file.async_remove()

    async def async_close(self) -> None:
        """Write what has changed, for the last time."""
        await asyncio.gather(*(file.async_close() for file in self._files.values()))

    async def async_remove(self, heartbeat_ids: Iterable[str]) -> None:
        """Delete every log, with the endpoint."""
        for heartbeat_id in heartbeat_ids:
            await self._file(heartbeat_id).async_remove()
        await self._hass.async_add_executor_job(self._keep_only, ())

    def _file(self, heartbeat_id: str) -> RunFile:
        if heartbeat_id not in self._files:
            key = f"{self._prefix}{heartbeat_id}"
            self._files[heartbeat_id] = RunFile(
                self._hass, key, partial(self._on_written, heartbeat_id)
            )
        return self._files[heartbeat_id]

    def _keep_only(self, heartbeat_ids: Collection[str]) -> None:
        folder = Path(self._hass.config.path(STORAGE_DIR))
        for path in folder.glob(f"{self._prefix}*"):
            heartbeat_id, _, _ = path.name.removeprefix(self._prefix).partition(".")
            if heartbeat_id not in heartbeat_ids:
                with suppress(OSError):
                    path.unlink()


def _ignored(_heartbeat_id: str, _text: str) -> None:
    """Stand for nobody who waits for the disk."""

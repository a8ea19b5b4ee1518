"""The file of one endpoint: what another version wrote is not converted (D1)."""

import asyncio
from collections.abc import Callable
import logging
from pathlib import Path
from typing import Any, Final, override

from homeassistant.core import CoreState
from homeassistant.exceptions import UnsupportedStorageVersionError
from homeassistant.helpers.storage import Store
from homeassistant.util import dt as dt_util
from homeassistant.util.file import WriteError

_LOGGER = logging.getLogger(__name__)

WRITE_TIMEOUT: Final = 10  # seconds


class StoreFile(Store[dict[str, Any]]):
    """The file of one endpoint; what another version wrote is not converted."""

    is_failing = False
    on_written: Callable[[], None] | None = None
    _writing: asyncio.Task[None] | None = None

    async def async_try_save(self, data: Callable[[], dict[str, Any]]) -> bool:
        """Write now, and say whether the disk took it within 10 seconds (D1).

        Cancelling the wait does not cancel the write. While one write hangs no other is
        begun.
        """
        if self._writing is not None and not await _ends(self._writing):
            return False
        ended = self.hass.loop.create_future()
        self._writing = self.hass.async_create_background_task(
            self._async_save_now(data(), ended), f"{self.key} write", eager_start=True
        )
        try:
            async with asyncio.timeout(WRITE_TIMEOUT):
                await ended
        except TimeoutError:
            return False
        return not self.is_failing

    async def _async_save_now(
        self, data: dict[str, Any], ended: asyncio.Future[None]
    ) -> None:
        try:
            await self.async_save(data)
            if self.hass.state is CoreState.stopping:
                # It was only noted down for the end of the stop, which may never come.
                await self._async_handle_write_data()  # type: ignore[no-untyped-call]
        finally:
            if not ended.done():
                ended.set_result(None)

    @override
    async def _async_write_data(self, data: dict[str, Any]) -> None:
        try:
            await super()._async_write_data(data)
        except Exception as error:
            self.is_failing = True
            # Home Assistant logs this kind and goes on; a folder fails with another.
            raise WriteError(str(error)) from error
        self.is_failing = False
        if self.on_written is not None:
            self.on_written()

    @override
    async def _async_migrate_func(
        self, old_major_version: int, old_minor_version: int, old_data: dict[str, Any]
    ) -> dict[str, Any]:
        if (old_major_version, old_minor_version) > (self.version, self.minor_version):
            raise UnsupportedStorageVersionError(
                self.key, old_major_version, self.version
            )
        raise ValueError("There is no older version")


async def _ends(write: asyncio.Task[None]) -> bool:
    if not write.done():
        await asyncio.wait({write}, timeout=WRITE_TIMEOUT)
    return write.done()


def keep_aside(path: Path) -> None:
    """Rename a file that cannot be read, so that its owner may look into it."""
    aside = path.with_name(f"{path.name}.unreadable.{dt_util.utcnow().isoformat()}")
    try:
        path.replace(aside)
    except FileNotFoundError:
        return  # Home Assistant has kept it aside itself
    except OSError:
        _LOGGER.exception("%s cannot be read and could not be kept aside", path)

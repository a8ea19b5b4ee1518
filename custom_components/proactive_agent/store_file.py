"""The file of one endpoint: what another version wrote is not converted (D1)."""

from typing import Any, override

from homeassistant.exceptions import UnsupportedStorageVersionError
from homeassistant.helpers.storage import Store
from homeassistant.util.file import WriteError


class StoreFile(Store[dict[str, Any]]):
    """The file of one endpoint; what another version wrote is not converted."""

    is_failing = False

    @override
    async def _async_write_data(self, data: dict[str, Any]) -> None:
        try:
            await super()._async_write_data(data)
        except Exception as error:
            self.is_failing = True
            # Home Assistant logs this kind and goes on; a folder fails with another.
            raise WriteError(str(error)) from error
        self.is_failing = False

    @override
    async def _async_migrate_func(
        self, old_major_version: int, old_minor_version: int, old_data: dict[str, Any]
    ) -> dict[str, Any]:
        if (old_major_version, old_minor_version) > (self.version, self.minor_version):
            raise UnsupportedStorageVersionError(
                self.key, old_major_version, self.version
            )
        raise ValueError("There is no older version")

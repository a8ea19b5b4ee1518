"""Covers: blinds that can stop half way."""

from typing import Any

from homeassistant.components.cover import (
    ATTR_POSITION,
    CoverDeviceClass,
    CoverEntity,
    CoverEntityFeature,
)
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .entity import ThingEntity, put_up


async def async_setup_entry(
    _hass: HomeAssistant, entry: ConfigEntry, add: AddConfigEntryEntitiesCallback
) -> None:
    """Put up the covers."""
    put_up("cover", BenchCover, entry, add)


class BenchCover(ThingEntity, CoverEntity):
    """Blinds that are open at first."""

    _attr_device_class = CoverDeviceClass.BLIND
    _attr_supported_features = (
        CoverEntityFeature.OPEN
        | CoverEntityFeature.CLOSE
        | CoverEntityFeature.STOP
        | CoverEntityFeature.SET_POSITION
    )
    _attr_current_cover_position = 100
    _attr_is_closed = False

    async def async_open_cover(self, **_kwargs: Any) -> None:
        """Be open."""
        self._move(100)

    async def async_close_cover(self, **_kwargs: Any) -> None:
        """Be closed."""
        self._move(0)

    async def async_set_cover_position(self, **kwargs: Any) -> None:
        """Be as far open as told."""
        self._move(kwargs[ATTR_POSITION])

    async def async_stop_cover(self, **_kwargs: Any) -> None:
        """Stay where it is."""

    def _move(self, position: int) -> None:
        self.become(current_cover_position=position, is_closed=position == 0)

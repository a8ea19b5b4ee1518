"""Fans."""

from typing import Any

from homeassistant.components.fan import FanEntity, FanEntityFeature
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .entity import ThingEntity, put_up

FULL = 100


async def async_setup_entry(
    _hass: HomeAssistant, entry: ConfigEntry, add: AddConfigEntryEntitiesCallback
) -> None:
    """Put up the fans."""
    put_up("fan", BenchFan, entry, add)


class BenchFan(ThingEntity, FanEntity):
    """A fan that stands still at first."""

    _attr_supported_features = (
        FanEntityFeature.SET_SPEED
        | FanEntityFeature.TURN_ON
        | FanEntityFeature.TURN_OFF
    )
    _attr_percentage = 0

    async def async_set_percentage(self, percentage: int) -> None:
        """Turn as fast as told."""
        self.become(percentage=percentage)

    async def async_turn_on(
        self,
        percentage: int | None = None,
        preset_mode: str | None = None,  # noqa: ARG002 - HA's way
        **_kwargs: Any,
    ) -> None:
        """Turn."""
        self.become(percentage=percentage or FULL)

    async def async_turn_off(self, **_kwargs: Any) -> None:
        """Stand still."""
        self.become(percentage=0)

"""Lights: dimmable, and white in any warmth."""

from typing import Any

from homeassistant.components.light import (
    ATTR_BRIGHTNESS,
    ATTR_COLOR_TEMP_KELVIN,
    ColorMode,
    LightEntity,
)
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .entity import ThingEntity, put_up


async def async_setup_entry(
    _hass: HomeAssistant, entry: ConfigEntry, add: AddConfigEntryEntitiesCallback
) -> None:
    """Put up the lights."""
    put_up("light", BenchLight, entry, add)


class BenchLight(ThingEntity, LightEntity):
    """A light that is on at first."""

    _attr_supported_color_modes = {ColorMode.COLOR_TEMP}  # noqa: RUF012 - HA's way
    _attr_color_mode = ColorMode.COLOR_TEMP
    _attr_min_color_temp_kelvin = 2200
    _attr_max_color_temp_kelvin = 6500
    _attr_color_temp_kelvin = 3000
    _attr_brightness = 180
    _attr_is_on = True

    async def async_turn_on(self, **kwargs: Any) -> None:
        """Be on, as bright and as warm as told."""
        self.become(
            is_on=True,
            brightness=kwargs.get(ATTR_BRIGHTNESS, self.brightness),
            color_temp_kelvin=kwargs.get(
                ATTR_COLOR_TEMP_KELVIN, self.color_temp_kelvin
            ),
        )

    async def async_turn_off(self, **_kwargs: Any) -> None:
        """Be off."""
        self.become(is_on=False)

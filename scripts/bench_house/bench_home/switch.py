"""Switches: sockets with something plugged in."""

from typing import Any

from homeassistant.components.switch import SwitchDeviceClass, SwitchEntity
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .entity import ThingEntity, put_up


async def async_setup_entry(
    _hass: HomeAssistant, entry: ConfigEntry, add: AddConfigEntryEntitiesCallback
) -> None:
    """Put up the switches."""
    put_up("switch", BenchSwitch, entry, add)


class BenchSwitch(ThingEntity, SwitchEntity):
    """A socket that is off at first."""

    _attr_device_class = SwitchDeviceClass.OUTLET
    _attr_is_on = False

    async def async_turn_on(self, **_kwargs: Any) -> None:
        """Be on."""
        self.become(is_on=True)

    async def async_turn_off(self, **_kwargs: Any) -> None:
        """Be off."""
        self.become(is_on=False)

"""Binary sensors: motion and windows."""

from homeassistant.components.binary_sensor import (
    BinarySensorDeviceClass,
    BinarySensorEntity,
)
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .entity import ThingEntity, put_up
from .plan import Thing


async def async_setup_entry(
    _hass: HomeAssistant, entry: ConfigEntry, add: AddConfigEntryEntitiesCallback
) -> None:
    """Put up the binary sensors."""
    put_up("binary_sensor", BenchBinarySensor, entry, add)


class BenchBinarySensor(ThingEntity, BinarySensorEntity):
    """A sensor that sees nothing."""

    _attr_is_on = False

    def __init__(self, index: int, thing: Thing) -> None:
        """Watch what its kind watches."""
        super().__init__(index, thing)
        self._attr_device_class = BinarySensorDeviceClass(thing.kind)

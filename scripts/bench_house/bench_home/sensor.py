"""Sensors: what a room measures."""

from typing import Final

from homeassistant.components.sensor import (
    SensorDeviceClass,
    SensorEntity,
    SensorStateClass,
)
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import (
    CONCENTRATION_PARTS_PER_MILLION,
    LIGHT_LUX,
    PERCENTAGE,
    UnitOfPower,
    UnitOfTemperature,
)
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .entity import ThingEntity, put_up
from .plan import Thing

MEASURED: Final = {
    "temperature": (SensorDeviceClass.TEMPERATURE, UnitOfTemperature.CELSIUS, 21.4),
    "humidity": (SensorDeviceClass.HUMIDITY, PERCENTAGE, 48),
    "power": (SensorDeviceClass.POWER, UnitOfPower.WATT, 37.5),
    "illuminance": (SensorDeviceClass.ILLUMINANCE, LIGHT_LUX, 210),
    "carbon dioxide": (SensorDeviceClass.CO2, CONCENTRATION_PARTS_PER_MILLION, 620),
    "battery": (SensorDeviceClass.BATTERY, PERCENTAGE, 83),
}


async def async_setup_entry(
    _hass: HomeAssistant, entry: ConfigEntry, add: AddConfigEntryEntitiesCallback
) -> None:
    """Put up the sensors."""
    put_up("sensor", BenchSensor, entry, add)


class BenchSensor(ThingEntity, SensorEntity):
    """A sensor whose value stands still."""

    _attr_state_class = SensorStateClass.MEASUREMENT

    def __init__(self, index: int, thing: Thing) -> None:
        """Measure what its kind measures."""
        super().__init__(index, thing)
        device_class, unit, value = MEASURED[thing.kind]
        self._attr_device_class = device_class
        self._attr_native_unit_of_measurement = unit
        self._attr_native_value = value

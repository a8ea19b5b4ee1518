"""Devices of domains for which Home Assistant has no platform without a network."""

from typing import Any, Final, override

from homeassistant.components.lawn_mower import (
    LawnMowerActivity,
    LawnMowerEntity,
    LawnMowerEntityFeature,
)
from homeassistant.components.siren import SirenEntity, SirenEntityFeature
from homeassistant.components.text import TextEntity
from homeassistant.components.valve import (
    ValveDeviceClass,
    ValveEntity,
    ValveEntityFeature,
)
from homeassistant.components.water_heater import (
    ATTR_OPERATION_MODE,
    WaterHeaterEntity,
    WaterHeaterEntityFeature,
)
from homeassistant.const import ATTR_TEMPERATURE, UnitOfTemperature
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity import Entity
from pytest_homeassistant_custom_component.common import setup_test_component_platform


class Garden(ValveEntity):
    """Waters the garden."""

    _attr_name = "Garden"
    _attr_unique_id = "garden"
    _attr_device_class = ValveDeviceClass.WATER
    _attr_reports_position = True
    _attr_current_valve_position = 0
    _attr_supported_features = (
        ValveEntityFeature.OPEN
        | ValveEntityFeature.CLOSE
        | ValveEntityFeature.SET_POSITION
    )

    @override
    async def async_set_valve_position(self, position: int) -> None:
        self._attr_current_valve_position = position
        self.async_write_ha_state()


class Attic(SirenEntity):
    """Makes noise."""

    _attr_name = "Attic"
    _attr_unique_id = "attic"
    _attr_is_on = False
    _attr_supported_features = (
        SirenEntityFeature.TURN_ON
        | SirenEntityFeature.TURN_OFF
        | SirenEntityFeature.TONES
        | SirenEntityFeature.VOLUME_SET
        | SirenEntityFeature.DURATION
    )

    def __init__(self) -> None:
        self._attr_available_tones = ["fire", "doorbell"]

    @override
    async def async_turn_on(self, **kwargs: Any) -> None:
        self._attr_is_on = True
        self._attr_extra_state_attributes = {"played": kwargs}
        self.async_write_ha_state()

    @override
    async def async_turn_off(self, **kwargs: Any) -> None:
        self._attr_is_on = False
        self.async_write_ha_state()


class Boiler(WaterHeaterEntity):
    """Heats the water."""

    _attr_name = "Boiler"
    _attr_unique_id = "boiler"
    _attr_temperature_unit = UnitOfTemperature.CELSIUS
    _attr_current_temperature = 48
    _attr_target_temperature = 45
    _attr_target_temperature_step = 1
    _attr_min_temp = 30
    _attr_max_temp = 65
    _attr_current_operation = "eco"
    _attr_is_away_mode_on = False
    _attr_supported_features = (
        WaterHeaterEntityFeature.TARGET_TEMPERATURE
        | WaterHeaterEntityFeature.OPERATION_MODE
        | WaterHeaterEntityFeature.AWAY_MODE
        | WaterHeaterEntityFeature.ON_OFF
    )

    def __init__(self) -> None:
        self._attr_operation_list = ["off", "eco", "performance"]

    @override
    async def async_set_temperature(self, **kwargs: Any) -> None:
        self._attr_target_temperature = kwargs[ATTR_TEMPERATURE]
        if ATTR_OPERATION_MODE in kwargs:
            self._attr_current_operation = kwargs[ATTR_OPERATION_MODE]
        self.async_write_ha_state()

    @override
    async def async_set_operation_mode(self, operation_mode: str) -> None:
        self._attr_current_operation = operation_mode
        self.async_write_ha_state()

    @override
    async def async_turn_away_mode_on(self) -> None:
        self._attr_is_away_mode_on = True
        self.async_write_ha_state()

    @override
    async def async_turn_away_mode_off(self) -> None:
        self._attr_is_away_mode_on = False
        self.async_write_ha_state()

    @override
    async def async_turn_on(self, **kwargs: Any) -> None:
        await self.async_set_operation_mode("eco")

    @override
    async def async_turn_off(self, **kwargs: Any) -> None:
        await self.async_set_operation_mode("off")


class Sign(TextEntity):
    """Shows a text at the door."""

    _attr_name = "Sign"
    _attr_unique_id = "sign"
    _attr_native_min = 1
    _attr_native_max = 20
    _attr_native_value = "Welcome"

    @override
    async def async_set_value(self, value: str) -> None:
        self._attr_native_value = value
        self.async_write_ha_state()


class Mower(LawnMowerEntity):
    """Mows the lawn."""

    _attr_name = "Mower"
    _attr_unique_id = "mower"
    _attr_activity = LawnMowerActivity.DOCKED
    _attr_supported_features = (
        LawnMowerEntityFeature.START_MOWING
        | LawnMowerEntityFeature.PAUSE
        | LawnMowerEntityFeature.DOCK
    )

    @override
    async def async_start_mowing(self) -> None:
        self._become(LawnMowerActivity.MOWING)

    @override
    async def async_pause(self) -> None:
        self._become(LawnMowerActivity.PAUSED)

    @override
    async def async_dock(self) -> None:
        self._become(LawnMowerActivity.DOCKED)

    def _become(self, activity: LawnMowerActivity) -> None:
        self._attr_activity = activity
        self.async_write_ha_state()


_DEVICES: Final[dict[str, type[Entity]]] = {
    "lawn_mower": Mower,
    "siren": Attic,
    "text": Sign,
    "valve": Garden,
    "water_heater": Boiler,
}


def plug_in(hass: HomeAssistant) -> dict[str, dict[str, str]]:
    """Make the devices known; return the configuration that sets them up."""
    for domain, device in _DEVICES.items():
        entity = device()
        entity._attr_should_poll = False
        setup_test_component_platform(hass, domain, [entity])
    return {domain: {"platform": "test"} for domain in _DEVICES}

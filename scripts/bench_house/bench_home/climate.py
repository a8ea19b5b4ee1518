"""Climate: a thermostat on the wall."""

from typing import Any

from homeassistant.components.climate import (
    ClimateEntity,
    ClimateEntityFeature,
    HVACMode,
)
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import ATTR_TEMPERATURE, UnitOfTemperature
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .entity import ThingEntity, put_up


async def async_setup_entry(
    _hass: HomeAssistant, entry: ConfigEntry, add: AddConfigEntryEntitiesCallback
) -> None:
    """Put up the thermostats."""
    put_up("climate", BenchClimate, entry, add)


class BenchClimate(ThingEntity, ClimateEntity):
    """A thermostat that heats."""

    _attr_temperature_unit = UnitOfTemperature.CELSIUS
    _attr_hvac_modes = [HVACMode.OFF, HVACMode.HEAT, HVACMode.AUTO]  # noqa: RUF012
    _attr_supported_features = (
        ClimateEntityFeature.TARGET_TEMPERATURE
        | ClimateEntityFeature.TURN_ON
        | ClimateEntityFeature.TURN_OFF
    )
    _attr_hvac_mode = HVACMode.HEAT
    _attr_current_temperature = 20.5
    _attr_target_temperature = 21.0

    async def async_set_temperature(self, **kwargs: Any) -> None:
        """Aim at a temperature."""
        self.become(target_temperature=kwargs[ATTR_TEMPERATURE])

    async def async_set_hvac_mode(self, hvac_mode: HVACMode) -> None:
        """Heat, or do not."""
        self.become(hvac_mode=hvac_mode)

    async def async_turn_on(self) -> None:
        """Heat."""
        self.become(hvac_mode=HVACMode.HEAT)

    async def async_turn_off(self) -> None:
        """Heat no more."""
        self.become(hvac_mode=HVACMode.OFF)

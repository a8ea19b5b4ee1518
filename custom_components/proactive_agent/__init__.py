"""Proactive Agent: a heartbeat that looks before it wakes a language model."""

from homeassistant.const import Platform
from homeassistant.core import HomeAssistant
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.typing import ConfigType

from .const import DOMAIN
from .loss import Loss
from .removal import async_clean_up
from .runtime import EndpointRuntime, ProactiveAgentConfigEntry
from .services import async_setup_services

CONFIG_SCHEMA = cv.config_entry_only_config_schema(DOMAIN)
PLATFORMS = [Platform.BUTTON, Platform.EVENT, Platform.SENSOR, Platform.SWITCH]


async def async_setup(hass: HomeAssistant, config: ConfigType) -> bool:
    """Register the actions of the integration."""
    async_setup_services(hass)
    return True


async def async_setup_entry(
    hass: HomeAssistant, entry: ProactiveAgentConfigEntry
) -> bool:
    """Set up an endpoint; its server is not asked before a heartbeat wakes."""
    entry.runtime_data = EndpointRuntime(hass, entry)
    await entry.runtime_data.async_start()
    await hass.config_entries.async_forward_entry_setups(entry, PLATFORMS)
    entry.runtime_data.async_begin()
    return True


async def async_unload_entry(
    hass: HomeAssistant, entry: ProactiveAgentConfigEntry
) -> bool:
    """Unload an endpoint; runs in flight end as stopped."""
    # First, as the last word of a run belongs on the entities.
    await entry.runtime_data.async_close()
    return await hass.config_entries.async_unload_platforms(entry, PLATFORMS)


async def async_remove_entry(
    hass: HomeAssistant, entry: ProactiveAgentConfigEntry
) -> None:
    """Take back what was asked, and delete what was remembered (P7)."""
    Loss(hass, entry).forget()
    await async_clean_up(hass, entry)

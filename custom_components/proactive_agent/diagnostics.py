"""What an owner can hand to whoever helps: how it stands, without what is private."""

from typing import Any

from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import __version__ as home_assistant_version
from homeassistant.core import HomeAssistant
from homeassistant.helpers.device_registry import DeviceEntry

from .const import DOMAIN
from .handout.endpoint import async_version, describe
from .handout.heartbeat import async_describe
from .handout.veil import Veil
from .heartbeat.heartbeat import Heartbeat
from .runtime import ProactiveAgentConfigEntry


async def async_get_config_entry_diagnostics(
    hass: HomeAssistant, entry: ProactiveAgentConfigEntry
) -> dict[str, Any]:
    """Describe an endpoint and each of its heartbeats (G3)."""
    return await _async_describe(hass, entry, sorted(_heartbeats(entry)))


async def async_get_device_diagnostics(
    hass: HomeAssistant, entry: ProactiveAgentConfigEntry, device: DeviceEntry
) -> dict[str, Any]:
    """Describe the heartbeat of a device, and its endpoint (G3)."""
    own = [
        heartbeat_id
        for domain, heartbeat_id in device.identifiers
        if domain == DOMAIN and heartbeat_id in _heartbeats(entry)
    ]
    return await _async_describe(hass, entry, own)


async def _async_describe(
    hass: HomeAssistant, entry: ProactiveAgentConfigEntry, heartbeat_ids: list[str]
) -> dict[str, Any]:
    veil = await Veil.async_of(hass)
    heartbeats = _heartbeats(entry)
    return {
        "versions": {
            "home_assistant": home_assistant_version,
            "proactive_agent": await async_version(hass),
        },
        "endpoint": describe(entry, veil),
        "heartbeats": [
            await async_describe(
                hass,
                heartbeats[heartbeat_id],
                entry.subentries[heartbeat_id].data,
                veil,
            )
            for heartbeat_id in heartbeat_ids
        ],
    }


def _heartbeats(entry: ProactiveAgentConfigEntry) -> dict[str, Heartbeat]:
    if entry.state is not ConfigEntryState.LOADED:
        return {}
    return entry.runtime_data.heartbeats

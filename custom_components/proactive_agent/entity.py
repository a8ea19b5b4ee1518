"""What every entity of a heartbeat shares."""

from collections.abc import Callable, Iterable

from homeassistant.core import callback
from homeassistant.helpers.device_registry import DeviceEntryType, DeviceInfo
from homeassistant.helpers.entity import Entity
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .const import DOMAIN
from .heartbeat.heartbeat import Heartbeat
from .identity import unique_id
from .runtime import ProactiveAgentConfigEntry


class HeartbeatEntity(Entity):
    """An entity on the device of a heartbeat; it follows what the heartbeat does."""

    _attr_has_entity_name = True
    _attr_should_poll = False
    _follows_runs = True
    _shown_last: object = None

    def __init__(self, heartbeat: Heartbeat, key: str) -> None:
        """Belong to a heartbeat, as its entity `key`."""
        self.heartbeat = heartbeat
        self._attr_translation_key = key
        self._attr_unique_id = unique_id(heartbeat.id, key)
        self._attr_device_info = DeviceInfo(
            entry_type=DeviceEntryType.SERVICE,
            identifiers={(DOMAIN, heartbeat.id)},
            manufacturer="Proactive Agent",
            name=heartbeat.options.title,
        )

    async def async_added_to_hass(self) -> None:
        """Follow the heartbeat whenever it changes."""
        await super().async_added_to_hass()
        self.async_on_remove(self.heartbeat.on_change.add(self._heartbeat_changed))

    @property
    def _on_show(self) -> object:
        """All that makes this entity's state."""
        return self.state, self.extra_state_attributes

    @callback
    def _heartbeat_changed(self) -> None:
        """Write the state if there is something new to be seen."""
        shown = self._on_show
        if shown != self._shown_last:
            self._shown_last = shown
            if (cause := self.heartbeat.runs.context) and self._follows_runs:
                # An automation that follows must be known as set off by a run (A2).
                self.async_set_context(cause)
            self.async_write_ha_state()


def add_for_each_heartbeat(
    entry: ProactiveAgentConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
    make: Callable[[Heartbeat], Iterable[HeartbeatEntity]],
) -> None:
    """Add entities for each heartbeat there is, and for each that is added later."""

    @callback
    def add(heartbeat: Heartbeat) -> None:
        async_add_entities(make(heartbeat), config_subentry_id=heartbeat.id)

    entry.async_on_unload(entry.runtime_data.on_added.add(add))
    for heartbeat in entry.runtime_data.heartbeats.values():
        add(heartbeat)

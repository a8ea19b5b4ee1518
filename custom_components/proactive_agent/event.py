"""What a heartbeat does, as it happens."""

from typing import Any

from homeassistant.components.event import EventEntity
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .activity import Activity
from .entity import HeartbeatEntity, add_for_each_heartbeat
from .heartbeat.heartbeat import Heartbeat
from .identity import KEY_ACTIVITY
from .runtime import ProactiveAgentConfigEntry

PARALLEL_UPDATES = 0


async def async_setup_entry(
    hass: HomeAssistant,
    entry: ProactiveAgentConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add an activity entity for each heartbeat."""
    add_for_each_heartbeat(
        entry, async_add_entities, lambda heartbeat: [ActivityEvent(heartbeat)]
    )


class ActivityEvent(HeartbeatEntity, EventEntity):
    """Tells when the heartbeat woke, acted, spoke, failed or stopped."""

    def __init__(self, heartbeat: Heartbeat) -> None:
        """Be the activity of a heartbeat."""
        super().__init__(heartbeat, KEY_ACTIVITY)
        self._attr_event_types = [*Activity]

    async def async_added_to_hass(self) -> None:
        """Listen to what the heartbeat does, not to each change of its state."""
        self.async_on_remove(self.heartbeat.on_activity.add(self._happened))

    @callback
    def _happened(
        self, activity: Activity, attributes: dict[str, Any], context: Context
    ) -> None:
        self.async_set_context(context)
        self._trigger_event(activity, attributes)
        self.async_write_ha_state()

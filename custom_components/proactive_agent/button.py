"""Check now: wake a heartbeat by hand from a dashboard."""

from homeassistant.components.button import ButtonEntity
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .entity import HeartbeatEntity, add_for_each_heartbeat
from .heartbeat import Heartbeat
from .runtime import ProactiveAgentConfigEntry

PARALLEL_UPDATES = 0


async def async_setup_entry(
    hass: HomeAssistant,
    entry: ProactiveAgentConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add a button for each heartbeat."""
    add_for_each_heartbeat(
        entry, async_add_entities, lambda heartbeat: [CheckNowButton(heartbeat)]
    )


class CheckNowButton(HeartbeatEntity, ButtonEntity):
    """Wakes the model whatever the gate says; it does not wait for the run (C8)."""

    def __init__(self, heartbeat: Heartbeat) -> None:
        """Be the button of a heartbeat."""
        super().__init__(heartbeat, "check_now")

    async def async_press(self) -> None:
        """Start a run; refused with a reason when there can be none."""
        self.heartbeat.wake(context=self._context)

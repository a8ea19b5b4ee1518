"""What a heartbeat is doing, and why it does nothing."""

from collections.abc import Mapping
from typing import Any, Final

from homeassistant.components.sensor import SensorDeviceClass, SensorEntity
from homeassistant.helpers.restore_state import RestoreEntity

from ..const import ATTR_REASON
from ..engine.breaker import Fault
from ..engine.fuses import StopReason
from ..engine.records import Status
from ..entity import HeartbeatEntity
from ..heartbeat.heartbeat import Heartbeat
from ..identity import KEY_STATUS

ATTR_UNTIL: Final = "until"
# Beside what pauses it, and what it stops for.
BY_SWITCH: Final = "switched_off"
A_QUESTION: Final = "approval"
THE_LAST_QUESTION: Final = "last_approval"


class StatusSensor(HeartbeatEntity, SensorEntity, RestoreEntity):
    """Shows what a heartbeat is doing; `reason` and `until` say why it does nothing."""

    _attr_device_class = SensorDeviceClass.ENUM

    def __init__(self, heartbeat: Heartbeat) -> None:
        """Be the status of a heartbeat."""
        super().__init__(heartbeat, KEY_STATUS)
        self._attr_options = [*Status]
        self._stopped_before: str | None = None

    async def async_added_to_hass(self) -> None:
        """Go on from why it was off before a restart."""
        await super().async_added_to_hass()
        last = await self.async_get_last_state()
        if last is not None and last.state == Status.OFF:
            self._stopped_before = last.attributes.get(ATTR_REASON)

    @property
    def _on_show(self) -> object:
        return self.native_value, self.extra_state_attributes

    @property
    def native_value(self) -> str:
        """What it is doing."""
        status = self.heartbeat.status
        if status is not Status.OFF:
            self._stopped_before = None
        return status

    @property
    def extra_state_attributes(self) -> Mapping[str, Any] | None:
        """Why, and until when; without a time it is for as long as nothing changes."""
        health = self.heartbeat.health
        match self.heartbeat.status:
            case Status.OFF:
                why = health.stop.reason if health.stop else self._why_off_before
                return {ATTR_REASON: why, ATTR_UNTIL: None}
            case Status.WAITING:
                return self._why_waiting
            case Status.PAUSED if pause := health.pause:
                return pause.as_dict()
            case Status.ASLEEP if health.is_blind:
                return {ATTR_REASON: Fault.GATE, ATTR_UNTIL: None}
        return None

    @property
    def _why_off_before(self) -> str:
        before = self._stopped_before
        return before if before is not None and before in StopReason else BY_SWITCH

    @property
    def _why_waiting(self) -> Mapping[str, Any]:
        asking = self.heartbeat.asking
        until = min((one.expires for one in asking.pending), default=None)
        return {
            ATTR_REASON: THE_LAST_QUESTION if asking.farewell.is_near else A_QUESTION,
            ATTR_UNTIL: until.isoformat() if until else None,
        }

"""How a heartbeat is doing, what it has used, and what it asks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from homeassistant.components.sensor import (
    RestoreSensor,
    SensorDeviceClass,
    SensorEntity,
    SensorEntityDescription,
    SensorStateClass,
)
from homeassistant.const import EntityCategory
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback
from homeassistant.helpers.event import async_track_time_interval

from .const import ATTR_APPROVAL_ID
from .engine.plain_text import MAX_LENGTH, plain_line
from .engine.records import Outcome, Status
from .entity import HeartbeatEntity, add_for_each_heartbeat
from .heartbeat.heartbeat import Heartbeat
from .identity import KEY_STATUS
from .runtime import ProactiveAgentConfigEntry

PARALLEL_UPDATES = 0
LOOK_INTERVAL = timedelta(seconds=30)

type Value = str | int | datetime | None


@dataclass(frozen=True, kw_only=True)
class HeartbeatSensorDescription(SensorEntityDescription):
    """A sensor of a heartbeat; `silent` if its value changes without a word."""

    value_fn: Callable[[Heartbeat], Value]
    attributes_fn: Callable[[Heartbeat], Mapping[str, Any] | None] = lambda _: None
    silent: bool = False


def _last_outcome(heartbeat: Heartbeat) -> str | None:
    latest = heartbeat.log.latest()
    return latest.outcome if latest else None


def _why_paused(heartbeat: Heartbeat) -> Mapping[str, Any] | None:
    pause = heartbeat.health.pause
    return pause.as_dict() if pause else None


SENSORS = (
    HeartbeatSensorDescription(
        key=KEY_STATUS,
        device_class=SensorDeviceClass.ENUM,
        options=[*Status],
        value_fn=lambda heartbeat: heartbeat.status,
        attributes_fn=_why_paused,
    ),
    HeartbeatSensorDescription(
        key="last_wake",
        device_class=SensorDeviceClass.TIMESTAMP,
        value_fn=lambda heartbeat: heartbeat.last_wake,
    ),
    HeartbeatSensorDescription(
        key="last_outcome",
        device_class=SensorDeviceClass.ENUM,
        options=[*Outcome],
        value_fn=_last_outcome,
    ),
    HeartbeatSensorDescription(
        key="tokens_used",
        entity_category=EntityCategory.DIAGNOSTIC,
        state_class=SensorStateClass.TOTAL_INCREASING,
        value_fn=lambda heartbeat: heartbeat.tokens_used,
    ),
    # Quiet ticks write no state: this one is looked up from time to time.
    HeartbeatSensorDescription(
        key="ticks_used",
        entity_category=EntityCategory.DIAGNOSTIC,
        entity_registry_enabled_default=False,
        silent=True,
        value_fn=lambda heartbeat: heartbeat.used.ticks,
    ),
)


async def async_setup_entry(
    hass: HomeAssistant,
    entry: ProactiveAgentConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the sensors of each heartbeat."""
    add_for_each_heartbeat(
        entry,
        async_add_entities,
        lambda heartbeat: [
            *(HeartbeatSensor(heartbeat, one) for one in SENSORS),
            PendingApprovalSensor(heartbeat),
        ],
    )


class HeartbeatSensor(HeartbeatEntity, RestoreSensor):
    """Shows one figure of a heartbeat; what a restart forgets is taken up again."""

    entity_description: HeartbeatSensorDescription

    def __init__(
        self, heartbeat: Heartbeat, description: HeartbeatSensorDescription
    ) -> None:
        """Be one sensor of a heartbeat."""
        super().__init__(heartbeat, description.key)
        self.entity_description = description

    async def async_added_to_hass(self) -> None:
        """Begin with the last known value where the heartbeat has none yet."""
        await super().async_added_to_hass()
        self._attr_native_value = self.entity_description.value_fn(self.heartbeat)
        if self._attr_native_value is None:
            last = await self.async_get_last_sensor_data()
            self._attr_native_value = last.native_value if last else None
        if self.entity_description.silent:
            # A timer of its own: Home Assistant's goes on polling an empty platform.
            self.async_on_remove(
                async_track_time_interval(
                    self.hass,
                    self._look,
                    LOOK_INTERVAL,
                    cancel_on_shutdown=True,
                )
            )

    @property
    def extra_state_attributes(self) -> Mapping[str, Any] | None:
        """What there is to say beside the value."""
        return self.entity_description.attributes_fn(self.heartbeat)

    async def async_update(self) -> None:
        """Look the value up when somebody asks for it."""
        self._follow()

    @callback
    def _look(self, _now: datetime) -> None:
        self._heartbeat_changed()

    @callback
    def _heartbeat_changed(self) -> None:
        self._follow()
        super()._heartbeat_changed()

    def _follow(self) -> None:
        value = self.entity_description.value_fn(self.heartbeat)
        if value is not None:
            self._attr_native_value = value


class PendingApprovalSensor(HeartbeatEntity, SensorEntity):
    """Shows the oldest request that waits for an answer, as it is now (P2, P7)."""

    _unrecorded_attributes = frozenset({"because", "data", "entity_ids", "expires"})

    def __init__(self, heartbeat: Heartbeat) -> None:
        """Be the sensor of what a heartbeat asks."""
        super().__init__(heartbeat, "pending_approval")

    @property
    def native_value(self) -> str | None:
        """What a yes would do."""
        pending = self.heartbeat.asking.pending
        return pending[0].words if pending else None

    @property
    def extra_state_attributes(self) -> dict[str, Any]:
        """What is asked exactly, why, until when, and how many wait."""
        pending = self.heartbeat.asking.pending
        if not pending:
            return {"waiting": 0}
        oldest = pending[0]
        return {
            "waiting": len(pending),
            ATTR_APPROVAL_ID: oldest.approval_id,
            "action": oldest.action,
            "entity_ids": [*oldest.entity_id],
            "data": {**oldest.data},
            "because": plain_line(oldest.because, MAX_LENGTH),
            "expires": oldest.expires.isoformat(),
        }

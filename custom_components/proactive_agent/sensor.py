"""How a heartbeat is doing, what it has used, and what it asks."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from homeassistant.components.sensor import (
    RestoreSensor,
    SensorDeviceClass,
    SensorEntityDescription,
    SensorStateClass,
)
from homeassistant.const import EntityCategory
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback
from homeassistant.helpers.event import async_track_time_interval

from .engine.records import Outcome, Status
from .entity import HeartbeatEntity, add_for_each_heartbeat
from .heartbeat.heartbeat import Heartbeat
from .runtime import ProactiveAgentConfigEntry
from .sensors.pending import PendingApprovalSensor
from .sensors.status import StatusSensor

PARALLEL_UPDATES = 0
LOOK_INTERVAL = timedelta(seconds=30)

type Value = str | int | datetime | None


@dataclass(frozen=True, kw_only=True)
class HeartbeatSensorDescription(SensorEntityDescription):
    """A sensor of a heartbeat; `silent` if its value changes without a word."""

    value_fn: Callable[[Heartbeat], Value]
    silent: bool = False


def _last_outcome(heartbeat: Heartbeat) -> str | None:
    latest = heartbeat.runs.log.latest()
    return latest.outcome if latest else None


def _tokens_used(heartbeat: Heartbeat) -> int | None:
    """Return them as they stand between runs: in one they would be written again."""
    return None if heartbeat.status is Status.RUNNING else heartbeat.tokens_used


SENSORS = (
    HeartbeatSensorDescription(
        key="last_wake",
        device_class=SensorDeviceClass.TIMESTAMP,
        value_fn=lambda heartbeat: heartbeat.runs.last_wake,
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
        suggested_display_precision=0,
        value_fn=_tokens_used,
    ),
    # Quiet ticks write no state: this one is looked up from time to time.
    HeartbeatSensorDescription(
        key="ticks_used",
        entity_category=EntityCategory.DIAGNOSTIC,
        entity_registry_enabled_default=False,
        state_class=SensorStateClass.TOTAL_INCREASING,
        suggested_display_precision=0,
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
            StatusSensor(heartbeat),
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

    @property
    def _on_show(self) -> object:
        return self._attr_native_value

    def _follow(self) -> None:
        value = self.entity_description.value_fn(self.heartbeat)
        if value is not None:
            self._attr_native_value = value

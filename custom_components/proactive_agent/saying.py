"""States as they are compared: with a unit, and none for a silent entity."""

from collections.abc import Callable, Iterable
from contextvars import Context as TaskContext

from homeassistant.components.sensor import SensorDeviceClass
from homeassistant.const import (
    ATTR_DEVICE_CLASS,
    ATTR_UNIT_OF_MEASUREMENT,
    UnitOfTemperature,
)
from homeassistant.core import (
    CALLBACK_TYPE,
    Event,
    EventStateChangedData,
    HomeAssistant,
    State,
    callback,
)
from homeassistant.helpers.event import async_track_state_change_event

from .const import SILENT_STATES
from .engine.trembling import with_unit


def text_of(state: State) -> str:
    """Return a state as it is compared with another (G4, P4, A7)."""
    unit = state.attributes.get(ATTR_UNIT_OF_MEASUREMENT)
    if unit is None and (
        state.attributes.get(ATTR_DEVICE_CLASS) == SensorDeviceClass.TEMPERATURE
    ):
        unit = UnitOfTemperature.CELSIUS
    return with_unit(state.state, None if unit is None else str(unit))


def said(state: State | None) -> str | None:
    """Return the state of an entity, None if it is silent or not there."""
    if state is None or state.state in SILENT_STATES:
        return None
    return text_of(state)


def all_said(hass: HomeAssistant, entity_ids: Iterable[str]) -> dict[str, str]:
    """Return the states of those entities that are there and not silent."""
    return {
        entity_id: text
        for entity_id in entity_ids
        if (text := said(hass.states.get(entity_id))) is not None
    }


class Listening:
    """Listens to states; what is listened to can be changed at any time."""

    def __init__(
        self, hass: HomeAssistant, on_said: Callable[[str, str], None]
    ) -> None:
        """Listen to nobody; `on_said` gets an entity and what it says."""
        self._hass = hass
        self._on_said = on_said
        self._entity_ids: frozenset[str] = frozenset()
        self._unsubscribe: CALLBACK_TYPE | None = None

    @callback
    def follow(self, entity_ids: frozenset[str]) -> None:
        """Listen to these entities, and no others."""
        if entity_ids == self._entity_ids:
            return
        self._entity_ids = entity_ids
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        if entity_ids:
            # An empty context: a trace that is carried along would grow for ever.
            self._unsubscribe = TaskContext().run(
                async_track_state_change_event, self._hass, entity_ids, self._changed
            )

    @callback
    def _changed(self, event: Event[EventStateChangedData]) -> None:
        if (text := said(event.data["new_state"])) is not None:
            self._on_said(event.data["entity_id"], text)

"""States as they are compared: with a unit, and none for a silent entity."""

from collections.abc import Callable, Iterable

from homeassistant.components.sensor import SensorDeviceClass
from homeassistant.const import (
    ATTR_DEVICE_CLASS,
    ATTR_UNIT_OF_MEASUREMENT,
    UnitOfTemperature,
)
from homeassistant.core import (
    Event,
    EventStateChangedData,
    HomeAssistant,
    State,
    callback,
)

from .const import SILENT_STATES
from .engine.trembling import with_unit
from .tracking import StateTracker


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
    """Listens to what entities say, and not to their silence."""

    def __init__(
        self, hass: HomeAssistant, on_said: Callable[[str, str], None]
    ) -> None:
        """Listen to nobody; `on_said` gets an entity and what it says."""
        self._on_said = on_said
        self._tracker = StateTracker(hass, self._changed)

    @callback
    def follow(self, entity_ids: frozenset[str]) -> None:
        """Listen to these entities, and no others."""
        self._tracker.follow(entity_ids)

    @callback
    def _changed(self, event: Event[EventStateChangedData]) -> None:
        if (text := said(event.data["new_state"])) is not None:
            self._on_said(event.data["entity_id"], text)

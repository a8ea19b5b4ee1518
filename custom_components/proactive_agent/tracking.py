"""A listener to the states of entities that may become others at any time."""

from collections.abc import Callable
from contextvars import Context as TaskContext

from homeassistant.core import (
    CALLBACK_TYPE,
    Event,
    EventStateChangedData,
    HomeAssistant,
    callback,
)
from homeassistant.helpers.event import async_track_state_change_event


class StateTracker:
    """Calls back at each change of the entities that are followed."""

    def __init__(
        self,
        hass: HomeAssistant,
        on_change: Callable[[Event[EventStateChangedData]], None],
    ) -> None:
        """Follow nothing yet."""
        self._hass = hass
        self._on_change = on_change
        self._entity_ids: frozenset[str] = frozenset()
        self._unsubscribe: CALLBACK_TYPE | None = None

    @callback
    def follow(self, entity_ids: frozenset[str]) -> None:
        """Follow these entities and no others; none at all ends it."""
        if entity_ids == self._entity_ids:
            return
        self._entity_ids = entity_ids
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        if entity_ids:
            # An empty context: a trace that is carried along would grow for ever.
            self._unsubscribe = TaskContext().run(
                async_track_state_change_event, self._hass, entity_ids, self._on_change
            )

"""What can happen to requests by themselves: time runs out, or a state changes."""

from collections.abc import Callable, Iterable
from contextvars import Context as TaskContext
from datetime import datetime

from homeassistant.core import (
    CALLBACK_TYPE,
    Event,
    EventStateChangedData,
    HomeAssistant,
    callback,
)
from homeassistant.helpers.event import (
    async_track_point_in_utc_time,
    async_track_state_change_event,
)

from .saying import all_said, said


class ApprovalWatch:
    """One timer and one listener, set anew whenever there is something else to see.

    `on_time` is called with the moment that has come, `on_state` with an entity and
    its state, as long as that says something.
    """

    def __init__(
        self,
        hass: HomeAssistant,
        *,
        on_time: Callable[[datetime], None],
        on_state: Callable[[str, str], None],
    ) -> None:
        """Watch nothing yet."""
        self._hass = hass
        self._on_time = on_time
        self._on_state = on_state
        self._moment: datetime | None = None
        self._entity_ids: frozenset[str] = frozenset()
        self._cancel_timer: CALLBACK_TYPE | None = None
        self._unsubscribe: CALLBACK_TYPE | None = None

    @callback
    def watch(self, moment: datetime | None, entity_ids: frozenset[str]) -> None:
        """Wait for this moment and for changes of these entities, and no others."""
        # In an empty context: what an automation sets off would else carry its trace.
        TaskContext().run(self._set_timer, moment)
        TaskContext().run(self._listen, entity_ids)

    @callback
    def look(self) -> None:
        """Report the states as they are, for what changed while nobody watched."""
        for entity_id, state in self.states(self._entity_ids).items():
            self._on_state(entity_id, state)

    def states(self, entity_ids: Iterable[str]) -> dict[str, str]:
        """Return the states of those entities that say something now."""
        return all_said(self._hass, entity_ids)

    @callback
    def close(self) -> None:
        """Stop the timer and the listener."""
        self.watch(None, frozenset())

    @callback
    def _set_timer(self, moment: datetime | None) -> None:
        if moment == self._moment:
            return
        self._moment = moment
        if self._cancel_timer is not None:
            self._cancel_timer()
            self._cancel_timer = None
        if moment is not None:
            self._cancel_timer = async_track_point_in_utc_time(
                self._hass, self._time_has_come, moment
            )

    @callback
    def _listen(self, entity_ids: frozenset[str]) -> None:
        if entity_ids == self._entity_ids:
            return
        self._entity_ids = entity_ids
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        if entity_ids:
            self._unsubscribe = async_track_state_change_event(
                self._hass, entity_ids, self._changed
            )

    @callback
    def _time_has_come(self, now: datetime) -> None:
        self._moment = self._cancel_timer = None
        self._on_time(now)

    @callback
    def _changed(self, event: Event[EventStateChangedData]) -> None:
        if (text := said(event.data["new_state"])) is not None:
            self._on_state(event.data["entity_id"], text)

"""The actions of past runs, forgotten when their situation changes (A7)."""

from collections.abc import Iterable, Mapping
from datetime import timedelta

from homeassistant.core import (
    CALLBACK_TYPE,
    Event,
    EventStateChangedData,
    HomeAssistant,
    callback,
)
from homeassistant.helpers.event import async_track_state_change_event
from homeassistant.util import dt as dt_util

from .const import SILENT_STATES
from .engine.repeats import PastAction, Repeats


class PastActions:
    """Remembers across the runs of one heartbeat; listens while it remembers any.

    What makes up the situation and how long an action counts is told to it by `watch`.
    """

    def __init__(self, hass: HomeAssistant) -> None:
        """Remember nothing, listen to nothing."""
        self._hass = hass
        self._repeats = Repeats()
        self._situation: frozenset[str] = frozenset()
        self._recheck_after = timedelta()
        self._unsubscribe: CALLBACK_TYPE | None = None
        self._closed = False

    @callback
    def watch(self, entity_ids: Iterable[str], recheck_after: timedelta) -> None:
        """Take these entities for the situation of what is done from now on."""
        self._situation = frozenset(entity_ids)
        self._recheck_after = recheck_after

    def situation(self) -> Mapping[str, str]:
        """Return the states that an action may change, as they are."""
        return self._states(self._situation)

    @callback
    def remember(
        self,
        key: str,
        before: Mapping[str, str],
        acted_on: Iterable[str],
        *,
        has_shown: bool = False,
    ) -> None:
        """Remember an action that was executed just now.

        `before` is the `situation` it was done in; see `Repeats.add`.
        """
        if self._closed:
            return
        self._repeats.add(
            key,
            before,
            self._states(before),
            acted_on=acted_on,
            at=dt_util.utcnow(),
            has_shown=has_shown,
        )
        self._listen()

    def without_effect(self, key: str) -> PastAction | None:
        """Return the last time of an action if nothing has changed since."""
        return self._repeats.find(key, now=dt_util.utcnow(), within=self._recheck_after)

    def mark_told(self, key: str) -> None:
        """Note that the owner hears that an action did not help."""
        self._repeats.mark_told(key)

    @callback
    def forget(self) -> None:
        """Begin anew: something else than a state has changed."""
        self._repeats.forget()
        self._listen()

    @callback
    def close(self) -> None:
        """Stop listening for good; what is still running is not noted any more."""
        self._closed = True
        self.forget()

    def _states(self, entity_ids: Iterable[str]) -> dict[str, str]:
        return {
            entity_id: state.state
            for entity_id in entity_ids
            if (state := self._hass.states.get(entity_id)) is not None
            and state.state not in SILENT_STATES
        }

    @callback
    def _listen(self) -> None:
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        if watched := self._repeats.entity_ids:
            self._unsubscribe = async_track_state_change_event(
                self._hass, watched, self._changed
            )

    @callback
    def _changed(self, event: Event[EventStateChangedData]) -> None:
        state = event.data["new_state"]
        if state is not None and state.state not in SILENT_STATES:
            self._repeats.change(state.entity_id, state.state)

"""The look at an action's entities before and after it (A5)."""

import asyncio
from collections.abc import Iterable
from math import isfinite
import threading
from typing import Final

from homeassistant.core import (
    Event,
    EventStateChangedData,
    HomeAssistant,
    callback,
    split_entity_id,
)
from homeassistant.helpers.event import async_track_state_change_event

from ..const import SILENT_STATES
from ..engine.expect import Expectation, Seen, View, expect, sentence
from ..engine.one_line import one_line
from ..engine.records import Json, JsonObject
from .checks import Action
from .facts import members

FOLLOW_TIMEOUT: Final = 2  # seconds a state may take to follow an action
# These say when they were last used, and nothing of what came of it.
_SAY_ONLY_WHEN: Final = {"button", "event", "input_button", "scene", "script"}
_BOOKKEEPING: Final = {"current", "last_triggered"}
_MAX_VALUE = 60
_MAX_ITEMS = 10


class Look:
    """Compares entities with what an action should lead to; made before the call."""

    def __init__(self, hass: HomeAssistant, action: Action) -> None:
        """Look at everything the action is for, groups and their members too."""
        self._hass = hass
        self._targets = action.entity_id
        self.entity_ids = _touched(hass, action.entity_id)
        self._before = _shown_by(hass, self.entity_ids)
        self._expected = {
            entity_id: expected
            for entity_id in self.entity_ids
            if (expected := _expectation(hass, action, entity_id)) is not None
        }

    @property
    def is_already_met(self) -> bool:
        """Whether it is certain that everything already is as asked."""
        return len(self._expected) == len(self.entity_ids) and all(
            expected.is_already_met for expected in self._expected.values()
        )

    @property
    def is_step_taken(self) -> bool:
        """Whether an action that goes on from any state (`increment`) has done so."""
        return bool(self._expected) and all(
            expected.is_step
            and (view := _view(self._hass, entity_id)) is not None
            and expected.find(view).seen is Seen.EXACT
            for entity_id, expected in self._expected.items()
        )

    @property
    def shows_effect(self) -> bool:
        """Whether an entity acted on visibly is another than before."""
        return any(
            now != self._before.get(entity_id)
            for entity_id, now in _shown_by(self._hass, self.entity_ids).items()
            if now[0] not in SILENT_STATES
        )

    async def follow(self, over: asyncio.Future[None]) -> None:
        """Wait until all is as asked, at most `FOLLOW_TIMEOUT`, or until `over`.

        Where nobody knows what should come of an action, nothing is waited for.
        """
        if self._is_settled():
            return
        settled = self._hass.loop.create_future()

        @callback
        def look_again(_: Event[EventStateChangedData]) -> None:
            if not settled.done() and self._is_settled():
                settled.set_result(None)

        unsubscribe = async_track_state_change_event(
            self._hass, self._expected, look_again
        )
        # By the machine's clock: it holds the action lock, so it has to end even
        # where the loop's own time stands still.
        seen = threading.Event()
        bound = self._hass.async_add_executor_job(seen.wait, FOLLOW_TIMEOUT)
        try:
            await asyncio.wait(
                {settled, over, bound}, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            seen.set()
            unsubscribe()

    def observed(self) -> JsonObject:
        """Return the states of the entities as they are; None is one that is gone.

        Where attributes were looked at, they stand beside the state.
        """
        return {entity_id: self._observe(entity_id) for entity_id in self._targets}

    def note(self) -> str | None:
        """Say what is otherwise than asked, None if nothing is."""
        found: list[str] = []
        failed = False
        for entity_id, expected in self._expected.items():
            if (view := _view(self._hass, entity_id)) is None:
                found.append(f"{entity_id} is gone")
                failed = True
            elif (words := expected.describe(entity_id, view)) is not None:
                found.append(words)
                failed |= expected.find(view).seen is Seen.OTHER
        return sentence(found, failed=failed) if found else None

    def _observe(self, entity_id: str) -> Json:
        if (view := _view(self._hass, entity_id)) is None:
            return None
        expected = self._expected.get(entity_id)
        if expected is None or not (names := expected.attributes(view)):
            return view.state
        return {
            "state": view.state,
            **{name: _plain(view.attributes.get(name)) for name in names},
        }

    def _is_settled(self) -> bool:
        return all(
            (view := _view(self._hass, entity_id)) is not None
            and expected.find(view).seen <= Seen.UNCLEAR
            for entity_id, expected in self._expected.items()
        )


def _touched(hass: HomeAssistant, entity_ids: Iterable[str]) -> tuple[str, ...]:
    found = {
        one: None
        for entity_id in entity_ids
        for one in (entity_id, *members(hass, entity_id))
    }
    return tuple(found)


def _expectation(
    hass: HomeAssistant, action: Action, entity_id: str
) -> Expectation | None:
    view = _view(hass, entity_id)
    if view is None or split_entity_id(entity_id)[0] != action.domain:
        return None
    return expect(action.name, action.data, view)


def _view(hass: HomeAssistant, entity_id: str) -> View | None:
    state = hass.states.get(entity_id)
    if state is None:
        return None
    return View(state=state.state, attributes=state.attributes)


def _shown_by(
    hass: HomeAssistant, entity_ids: Iterable[str]
) -> dict[str, tuple[str, dict[str, object]]]:
    return {
        entity_id: (
            state.state,
            {
                name: value
                for name, value in state.attributes.items()
                if name not in _BOOKKEEPING
            },
        )
        for entity_id in entity_ids
        if (state := hass.states.get(entity_id)) is not None
        and state.domain not in _SAY_ONLY_WHEN
    }


def _plain(value: object) -> Json:
    """Return a value of an attribute, short and as JSON."""
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value[:_MAX_ITEMS]]
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float) and isfinite(value):
        return value
    return one_line(str(value), _MAX_VALUE)

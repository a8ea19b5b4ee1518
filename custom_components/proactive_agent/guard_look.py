"""The look at an action's entities before and after it (A5)."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from homeassistant.core import (
    Event,
    EventStateChangedData,
    HomeAssistant,
    callback,
    split_entity_id,
)
from homeassistant.helpers.event import async_track_state_change_event

from .engine.expect import Expectation, Seen, View, expect, note
from .engine.records import JsonObject
from .guard_checks import Action
from .guard_facts import members

FOLLOW_TIMEOUT: Final = 2  # seconds a state may take to follow an action


class Look:
    """Knows what an action should lead to; make it right before the call."""

    def __init__(self, hass: HomeAssistant, action: Action) -> None:
        """Look at everything the action is for, groups and their members too."""
        self._hass = hass
        self._targets = action.entity_id
        self.entity_ids = _touched(hass, action.entity_id)
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
        """Whether an action that goes on from where it stands has done so."""
        return bool(self._expected) and all(
            expected.is_step
            and (view := _view(self._hass, entity_id)) is not None
            and expected.find(view).seen is Seen.EXACT
            for entity_id, expected in self._expected.items()
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
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(FOLLOW_TIMEOUT):
                    await asyncio.wait(
                        {settled, over}, return_when=asyncio.FIRST_COMPLETED
                    )
        finally:
            unsubscribe()

    def observed(self) -> JsonObject:
        """Return the states of the entities as they are; None is one that is gone."""
        return {
            entity_id: state.state
            if (state := self._hass.states.get(entity_id))
            else None
            for entity_id in self._targets
        }

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
        return note(found, failed=failed) if found else None

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

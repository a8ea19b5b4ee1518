"""Which contexts descend from a run, so that a run cannot wake another (A2)."""

from collections import OrderedDict
from typing import Any, Final

from homeassistant.const import EVENT_CALL_SERVICE, EVENT_STATE_CHANGED
from homeassistant.core import CALLBACK_TYPE, Context, Event, HomeAssistant, callback

MAX_REMEMBERED: Final = 2_000
# Removes that are looked for in what happened while nobody listened.
_REMOVES: Final = 5

# Whatever makes a context out of another one shows it in one of these: automations
# when they trigger, template entities and thermostats in what they call or write.
_EVENT_TYPES: Final = (
    "automation_triggered",
    EVENT_CALL_SERVICE,
    EVENT_STATE_CHANGED,
)


class RunLineage:
    """Remembers the contexts of our runs and of what they set off.

    Listens from the first run on, until it is stopped. What it knows outlives it where
    it is handed on. Remembers the latest
    `MAX_REMEMBERED` runs, and as many contexts of what they set off.
    """

    def __init__(self, hass: HomeAssistant) -> None:
        """Begin with no run, and without listening."""
        self._hass = hass
        self._runs: OrderedDict[str, None] = OrderedDict()
        self._set_off: OrderedDict[str, None] = OrderedDict()
        self._unsubscribe: list[CALLBACK_TYPE] = []

    @callback
    def async_stop(self) -> None:
        """Stop listening and forget."""
        self._runs.clear()
        self._set_off.clear()
        while self._unsubscribe:
            self._unsubscribe.pop()()

    @callback
    def add(self, context_id: str) -> None:
        """Remember the context of a run, before it acts."""
        self._listen()
        # Apart: what it sets off may be so much that it would itself be forgotten.
        _remember(self._runs, context_id)

    @callback
    def descends(self, context: Context) -> bool:
        """Tell whether a context is a run's or comes, at any remove, from one."""
        return self._knows(context.id) or self._knows(context.parent_id)

    def handed_on(self) -> dict[str, list[str]]:
        """Return what is known as plain data, for who goes on after an unload."""
        return {"runs": [*self._runs], "set_off": [*self._set_off]}

    @callback
    def take(self, handed_on: Any) -> None:
        """Go on with what `handed_on` returned; anything else is ignored."""
        match handed_on:
            case {"runs": [_, *_] as runs, "set_off": list(set_off)}:
                for run in runs:
                    self.add(str(run))
                for one in set_off:
                    _remember(self._set_off, str(one))
                contexts = [state.context for state in self._hass.states.async_all()]
                for _remove in range(_REMOVES):
                    for context in contexts:
                        self._note(context)

    def _listen(self) -> None:
        if not self._unsubscribe:
            self._unsubscribe = [
                self._hass.bus.async_listen(event_type, self._follow)
                for event_type in _EVENT_TYPES
            ]

    @callback
    def _follow(self, event: Event[Any]) -> None:
        self._note(event.context)

    def _note(self, context: Context) -> None:
        if self._knows(context.parent_id) and not self._knows(context.id):
            _remember(self._set_off, context.id)

    def _knows(self, context_id: str | None) -> bool:
        return context_id in self._runs or context_id in self._set_off


def _remember(known: OrderedDict[str, None], context_id: str) -> None:
    known[context_id] = None
    known.move_to_end(context_id)
    if len(known) > MAX_REMEMBERED:
        known.popitem(last=False)

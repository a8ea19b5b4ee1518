"""Which contexts descend from a run, so that a run cannot wake another (A2)."""

from collections import OrderedDict
from typing import Any, Final

from homeassistant.const import EVENT_CALL_SERVICE, EVENT_STATE_CHANGED
from homeassistant.core import CALLBACK_TYPE, Context, Event, HomeAssistant, callback

MAX_REMEMBERED: Final = 2_000

# Whatever makes a context out of another one shows it in one of these: automations
# when they trigger, template entities and thermostats in what they call or write.
_EVENT_TYPES: Final = (
    "automation_triggered",
    EVENT_CALL_SERVICE,
    EVENT_STATE_CHANGED,
)


class RunLineage:
    """Remembers the contexts of our runs and of what they set off.

    Listens from the first run on, until it is stopped. Remembers the latest
    `MAX_REMEMBERED` contexts.
    """

    def __init__(self, hass: HomeAssistant) -> None:
        """Begin with no run, and without listening."""
        self._hass = hass
        self._known: OrderedDict[str, None] = OrderedDict()
        self._unsubscribe: list[CALLBACK_TYPE] = []

    @callback
    def async_stop(self) -> None:
        """Stop listening and forget."""
        self._known.clear()
        while self._unsubscribe:
            self._unsubscribe.pop()()

    @callback
    def add(self, context_id: str) -> None:
        """Remember the context of a run, before it acts."""
        if not self._unsubscribe:
            self._unsubscribe = [
                self._hass.bus.async_listen(event_type, self._follow)
                for event_type in _EVENT_TYPES
            ]
        self._remember(context_id)

    @callback
    def descends(self, context: Context) -> bool:
        """Tell whether a context is a run's or comes, at any remove, from one."""
        return context.id in self._known or context.parent_id in self._known

    @callback
    def _follow(self, event: Event[Any]) -> None:
        context = event.context
        if context.parent_id in self._known and context.id not in self._known:
            self._remember(context.id)

    def _remember(self, context_id: str) -> None:
        self._known[context_id] = None
        self._known.move_to_end(context_id)
        if len(self._known) > MAX_REMEMBERED:
            self._known.popitem(last=False)

"""Which contexts descend from a run, so that a run cannot wake another (A2)."""

from collections import OrderedDict
from typing import Any, Final

from homeassistant.const import EVENT_CALL_SERVICE, EVENT_STATE_CHANGED
from homeassistant.core import CALLBACK_TYPE, Context, Event, HomeAssistant, callback

MAX_REMEMBERED: Final = 2_000

# Whatever makes a context out of another one shows it in one of these: automations
# when they trigger, template entities and thermostats in what they call or write.
_TELLING: Final = (
    "automation_triggered",
    EVENT_CALL_SERVICE,
    EVENT_STATE_CHANGED,
)


class RunLineage:
    """Remembers the contexts of our runs and of what they set off.

    Listens only from the first run on. Remembers the latest `MAX_REMEMBERED`
    contexts.
    """

    def __init__(self, hass: HomeAssistant) -> None:
        """Know of no run yet."""
        self._hass = hass
        self._known: OrderedDict[str, None] = OrderedDict()
        self._unsubscribe: list[CALLBACK_TYPE] = []
        self._started = False

    @callback
    def async_start(self) -> None:
        """Be ready for the first run."""
        self._started = True

    @callback
    def async_stop(self) -> None:
        """Stop listening and forget."""
        self._started = False
        self._known.clear()
        while self._unsubscribe:
            self._unsubscribe.pop()()

    @callback
    def add(self, context_id: str) -> None:
        """Remember the context of a run, before it acts."""
        if self._started and not self._unsubscribe:
            self._unsubscribe = [
                self._hass.bus.async_listen(event_type, self._look)
                for event_type in _TELLING
            ]
        self._remember(context_id)

    @callback
    def descends(self, context: Context) -> bool:
        """Tell whether a context is a run's or comes, at any remove, from one."""
        return context.id in self._known or context.parent_id in self._known

    @callback
    def _look(self, event: Event[Any]) -> None:
        context = event.context
        if context.parent_id in self._known and context.id not in self._known:
            self._remember(context.id)

    def _remember(self, context_id: str) -> None:
        self._known[context_id] = None
        self._known.move_to_end(context_id)
        if len(self._known) > MAX_REMEMBERED:
            self._known.popitem(last=False)

"""What can happen to requests by themselves: time runs out, or a state changes."""

from collections.abc import Callable, Iterable
from datetime import datetime

from homeassistant.core import HomeAssistant, callback

from ..alarm import Alarm
from ..saying import Listening, all_said


class ApprovalWatch:
    """One timer and one state listener, replaced whenever there is other to watch.

    `on_time` is called when the moment has come, `on_state` with an entity id and its
    state.
    """

    def __init__(
        self,
        hass: HomeAssistant,
        *,
        on_time: Callable[[], None],
        on_state: Callable[[str, str], None],
    ) -> None:
        """Watch nothing yet."""
        self._hass = hass
        self._on_state = on_state
        self._entity_ids: frozenset[str] = frozenset()
        self._alarm = Alarm(hass, on_time)
        self._listening = Listening(hass, on_state)

    @callback
    def watch(self, moment: datetime | None, entity_ids: frozenset[str]) -> None:
        """Wait for this moment and for changes of these entities, and no others."""
        self._alarm.keep(moment)
        self._entity_ids = entity_ids
        self._listening.follow(entity_ids)

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

"""The heartbeats' story on the activity page."""

from collections.abc import Callable

from homeassistant.components.logbook import (
    LOGBOOK_ENTRY_ENTITY_ID,
    LOGBOOK_ENTRY_MESSAGE,
    LOGBOOK_ENTRY_NAME,
)
from homeassistant.const import ATTR_ENTITY_ID
from homeassistant.core import Event, HomeAssistant, callback

from .answers.answers import name_of
from .const import (
    ATTR_ANSWERED_BY,
    ATTR_DETAIL,
    ATTR_HEARTBEAT,
    ATTR_MESSAGE,
    ATTR_REASON,
    ATTR_REQUEST,
    DOMAIN,
    EVENT_ACTED,
    EVENT_APPROVAL_ANSWERED,
    EVENT_APPROVAL_REQUESTED,
    EVENT_HEARTBEAT_TICK,
    EVENT_STOPPED,
)
from .texts import cached_sentence

_SENTENCES = {
    EVENT_HEARTBEAT_TICK: "logbook_woke",
    EVENT_ACTED: "logbook_acted",
    EVENT_APPROVAL_REQUESTED: "logbook_asked",
    EVENT_APPROVAL_ANSWERED: "logbook_answered_{status}",
    EVENT_STOPPED: "logbook_stopped_{reason}",
}


@callback
def async_describe_events(
    hass: HomeAssistant,
    async_describe_event: Callable[[str, str, Callable[[Event], dict[str, str]]], None],
) -> None:
    """Describe the events; what a run did is then put down to its heartbeat (A8)."""

    @callback
    def describe(event: Event) -> dict[str, str]:
        return {
            LOGBOOK_ENTRY_NAME: event.data[ATTR_HEARTBEAT],
            LOGBOOK_ENTRY_MESSAGE: cached_sentence(
                hass,
                _SENTENCES[str(event.event_type)].format(
                    reason=event.data.get(ATTR_REASON),
                    status=event.data.get("status"),
                ),
                request=event.data.get(ATTR_REQUEST) or "",
                who=name_of(hass, event.data.get(ATTR_ANSWERED_BY)),
                message=event.data.get(ATTR_MESSAGE) or "",
                detail=event.data.get(ATTR_DETAIL) or "",
            ),
            LOGBOOK_ENTRY_ENTITY_ID: event.data.get(ATTR_ENTITY_ID) or "",
        }

    for event_type in _SENTENCES:
        async_describe_event(DOMAIN, event_type, describe)

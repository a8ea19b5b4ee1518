"""The heartbeats' story on the activity page."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from homeassistant.components.logbook import (
    LOGBOOK_ENTRY_ICON,
    LOGBOOK_ENTRY_MESSAGE,
    LOGBOOK_ENTRY_NAME,
)
from homeassistant.core import Event, HomeAssistant, callback

from .answers.answers import name_of
from .const import (
    ATTR_ANSWERED_BY,
    ATTR_BECAUSE,
    ATTR_DETAIL,
    ATTR_DID,
    ATTR_DRY_RUN,
    ATTR_HEARTBEAT,
    ATTR_MESSAGE,
    ATTR_REASON,
    ATTR_REQUEST,
    DOMAIN,
    EVENT_ACTED,
    EVENT_APPROVAL_ANSWERED,
    EVENT_APPROVAL_REQUESTED,
    EVENT_FAILED,
    EVENT_HEARTBEAT_TICK,
    EVENT_NOTICE,
    EVENT_STOPPED,
)
from .engine.plain_text import plain_line
from .engine.records import Cause
from .texts import cached_sentence

type Data = Mapping[str, Any]

_NAMED: Final = (
    ATTR_BECAUSE,
    ATTR_DETAIL,
    ATTR_DID,
    ATTR_MESSAGE,
    ATTR_REASON,
    ATTR_REQUEST,
)


@callback
def async_describe_events(
    hass: HomeAssistant,
    async_describe_event: Callable[[str, str, Callable[[Event], dict[str, str]]], None],
) -> None:
    """Describe the events; what a run did is then put down to its heartbeat (A8).

    Without an entity: the sentences go on from the name of the heartbeat.
    """

    @callback
    def describe(event: Event) -> dict[str, str]:
        data = event.data
        said = {key: plain_line(str(data.get(key) or "")) for key in _NAMED}
        who = name_of(hass, data.get(ATTR_ANSWERED_BY))
        sentence = _SENTENCES[str(event.event_type)](data)
        key = f"logbook_{sentence}"
        return {
            LOGBOOK_ENTRY_ICON: _ICONS[sentence.partition("_")[0]],
            # The recorder keeps nothing of an event that is too large for it.
            LOGBOOK_ENTRY_NAME: data.get(ATTR_HEARTBEAT, "Proactive Agent"),
            LOGBOOK_ENTRY_MESSAGE: cached_sentence(hass, key, who=who, **said),
        }

    for event_type in _SENTENCES:
        async_describe_event(DOMAIN, event_type, describe)


def _woke(data: Data) -> str:
    if data.get(ATTR_DRY_RUN):
        return "woke_dry"
    if data.get("cause") == Cause.MANUAL:
        return "woke_by_hand"
    return "woke_because" if data.get(ATTR_BECAUSE) else "woke"


def _acted(data: Data) -> str:
    return "acted" if data.get(ATTR_DID) else "spoke"


def _asked(data: Data) -> str:
    return "asked_because" if data.get(ATTR_BECAUSE) else "asked"


def _failed(data: Data) -> str:
    return "spoke" if data.get(ATTR_MESSAGE) else "failed"


# The icon of each sentence, by its first word.
_ICONS: Final[Mapping[str, str]] = {
    "acted": "mdi:heart-flash",
    "answered": "mdi:account-check-outline",
    "asked": "mdi:account-question-outline",
    "failed": "mdi:alert-circle-outline",
    "spoke": "mdi:message-text-outline",
    "stopped": "mdi:heart-off-outline",
    "woke": "mdi:alarm",
}
# The sentence of each event, by what there is to say of it.
_SENTENCES: Final[Mapping[str, Callable[[Data], str]]] = {
    EVENT_HEARTBEAT_TICK: _woke,
    EVENT_ACTED: _acted,
    EVENT_APPROVAL_REQUESTED: _asked,
    EVENT_APPROVAL_ANSWERED: lambda data: f"answered_{data.get('status')}",
    EVENT_FAILED: _failed,
    EVENT_NOTICE: lambda _: "spoke",
    EVENT_STOPPED: lambda data: f"stopped_{data.get(ATTR_REASON)}",
}

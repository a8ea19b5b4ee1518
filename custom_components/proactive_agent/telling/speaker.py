"""How a heartbeat makes itself heard: on the bus, in its activity, to its owner."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from homeassistant.core import Context, HomeAssistant, callback

from ..activity import Activity, OnActivity
from ..engine.records import ActionRecord
from ..identity import Identity
from ..models import HeartbeatOptions
from ..notifier.notifier import Delivery, Notifier, OnLate
from ..texts import Texts


class Speaker:
    """Speaks for one heartbeat, so that its name and its device are in all it says."""

    def __init__(
        self,
        hass: HomeAssistant,
        identity: Identity,
        notifier: Notifier,
        on_activity: OnActivity,
    ) -> None:
        """Speak for the heartbeat with this identity."""
        self.heartbeat_id = identity.heartbeat_id
        self._hass = hass
        self._identity = identity
        self._notifier = notifier
        self._on_activity = on_activity

    async def async_texts(self, actions: Iterable[ActionRecord] = ()) -> Texts:
        """Load the sentences, and the names of the services in `actions`."""
        return await Texts.async_load(self._hass, tuple(actions))

    @callback
    def fire(
        self,
        event_type: str,
        options: HeartbeatOptions,
        data: Mapping[str, Any],
        context: Context,
    ) -> None:
        """Fire an event that says which heartbeat it is about, and this."""
        about = self._identity.describe(self._hass, options.title)
        self._hass.bus.async_fire(event_type, {**about, **data}, context=context)

    @callback
    def note(self, activity: Activity, data: dict[str, Any], context: Context) -> None:
        """Let the activity entity show this."""
        self._on_activity(activity, data, context)

    async def async_send(
        self,
        options: HeartbeatOptions,
        message: str,
        *,
        notification_id: str,
        context: Context,
        targets: Sequence[str] | None = None,
        on_late: OnLate | None = None,
    ) -> Delivery:
        """Send a message to these targets, or to all, as `Notifier.async_send` does."""
        return await self._notifier.async_send(
            options.notify if targets is None else targets,
            title=options.title,
            message=message,
            notification_id=notification_id,
            context=context,
            on_late=on_late,
        )

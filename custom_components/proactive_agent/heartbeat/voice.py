"""All who tell of one heartbeat: of its runs, of its requests, and of itself."""

from homeassistant.core import HomeAssistant, callback

from ..activity import OnActivity
from ..asking.reporter import ApprovalReporter
from ..identity import Identity
from ..notifier.notifier import Notifier
from ..telling.notices import Notices
from ..telling.reporter import Reporter
from ..telling.speaker import Speaker


class Voice:
    """They speak through one notifier, which ends with them."""

    def __init__(
        self,
        hass: HomeAssistant,
        identity: Identity,
        on_activity: OnActivity,
    ) -> None:
        """Speak for the heartbeat with this identity."""
        self._notifier = notifier = Notifier(hass)
        speaker = Speaker(hass, identity, notifier, on_activity)
        self.runs = Reporter(speaker)
        self.requests = ApprovalReporter(speaker, notifier)
        self.notices = Notices(speaker)

    @callback
    def close(self) -> None:
        """Wait no longer for notifiers that are late (S5)."""
        self._notifier.close()

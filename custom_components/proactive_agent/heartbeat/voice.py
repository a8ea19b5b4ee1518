"""How one heartbeat makes itself heard: of its runs, its requests and itself."""

from homeassistant.core import HomeAssistant, callback

from ..activity import OnActivity
from ..asking.reporter import ApprovalReporter
from ..identity import Identity
from ..notifier.notifier import Notifier
from ..telling.notices import Notices
from ..telling.reporter import Reporter


class Voice:
    """All that a heartbeat tells, through one notifier."""

    def __init__(
        self,
        hass: HomeAssistant,
        identity: Identity,
        on_activity: OnActivity,
    ) -> None:
        """Speak for the heartbeat with this identity."""
        self._notifier = notifier = Notifier(hass)
        self.runs = Reporter(hass, identity, notifier, on_activity)
        self.requests = ApprovalReporter(hass, identity, notifier, on_activity)
        self.notices = Notices(hass, identity, notifier, on_activity)

    @callback
    def close(self) -> None:
        """Wait no longer for notifiers that are late (S5)."""
        self._notifier.close()

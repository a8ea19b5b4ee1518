"""What a heartbeat may see and touch now, resolved anew when it may be another."""

from homeassistant.core import HomeAssistant, callback

from ..gate.registries import Registries
from ..home.home import Reach, is_lasting, resolve
from ..models import HeartbeatOptions


class ReachNow:
    """Resolves the owner's lists as of now (C7).

    What areas and labels lead to is kept while the registries are as they were.
    """

    def __init__(self, hass: HomeAssistant, options: HeartbeatOptions) -> None:
        """Resolve at each moment, until `start`."""
        self._hass = hass
        self._options = options
        self._registries = Registries(hass)
        self._version = 0
        self._known: Reach | None = None

    @callback
    def start(self) -> None:
        """Listen to the registries."""
        self._forget()
        self._registries.listen()

    @callback
    def close(self) -> None:
        """Listen no more."""
        self._registries.close()
        self._forget()

    @callback
    def change(self, options: HeartbeatOptions) -> None:
        """Take other options."""
        self._options = options
        self._forget()

    @callback
    def get(self) -> Reach:
        """Return what may be seen and touched now."""
        if self._known is None or self._version != self._registries.version:
            self._version = self._registries.version
            self._known = resolve(self._hass, self._options)
            if not self._registries.are_heard or not is_lasting(
                self._options, self._known
            ):
                # Before anything else can happen in the home.
                self._hass.loop.call_soon(self._forget)
        return self._known

    @callback
    def _forget(self) -> None:
        self._known = None

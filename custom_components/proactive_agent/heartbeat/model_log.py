"""What the log says of the model: that it fails, and that it answers again (R7)."""

import logging
from typing import Final

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback

from ..engine.errors import ErrorKind
from ..engine.records import Outcome, RunRecord
from ..models import has_key

_LOGGER = logging.getLogger(__name__)

_SAYS_NOTHING_OF_THE_MODEL: Final = frozenset(
    {Outcome.TIMEOUT, Outcome.STOPPED, Outcome.TOKEN_LIMIT}
)


class ModelLog:
    """Logs the first of several errors in a row, and their end, for one heartbeat."""

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry) -> None:
        """Begin with a model that answers."""
        self._hass = hass
        self._entry = entry
        self._is_failing = False

    @callback
    def note(self, title: str, record: RunRecord) -> None:
        """Log what has changed with a run, and ask for a key that is refused."""
        if record.outcome in _SAYS_NOTHING_OF_THE_MODEL:
            return
        if record.outcome is Outcome.ERROR and record.error is not None:
            level = logging.DEBUG if self._is_failing else logging.WARNING
            _LOGGER.log(level, "%s: %s", title, record.error.message)
            if record.error.kind == ErrorKind.AUTH and has_key(self._entry):
                self._entry.async_start_reauth(self._hass)
        elif self._is_failing:
            _LOGGER.info("%s: the model answers again", title)
        self._is_failing = record.outcome is Outcome.ERROR

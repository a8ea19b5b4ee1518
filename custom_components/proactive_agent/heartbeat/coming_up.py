"""What entities say while they come up with Home Assistant (G4)."""

from datetime import datetime, timedelta
from typing import Final

# So long an entity says again what it said before the start until it is believed
# when it says something else: while it comes up, it may show a default for a moment.
CALM: Final = timedelta(seconds=10)


class ComingUp:
    """Tells real changes from states that only come up after a start.

    It keeps since when each entity has been saying again what was last shown.
    """

    def __init__(self, started: datetime) -> None:
        """Begin with nobody, when Home Assistant has started."""
        self._started = started
        self._since: dict[str, datetime] = {}

    def is_back(self, entity_id: str, since: datetime) -> None:
        """Note that an entity says what was shown, since then without a break."""
        self._since[entity_id] = max(self._started, since)

    def has_moved(self, entity_id: str, now: datetime) -> bool:
        """Say whether an entity that says something else has really changed.

        If not, it is only coming up, and is expected to say the same again.
        """
        since = self._since.pop(entity_id, None)
        return since is not None and now - since >= CALM

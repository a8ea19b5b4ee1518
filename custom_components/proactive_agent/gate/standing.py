"""How long an answer stands without being asked for again (C4)."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
import sys
from typing import Final, Self

from homeassistant.core import HomeAssistant, State
from homeassistant.util import dt as dt_util

_NEVER: Final = datetime.max.replace(tzinfo=UTC)


class Standing:
    """An answer that rests on states alone stands while these are the same.

    Where one of them has to last, it stands only until it has lasted for so long.
    """

    def __init__(
        self,
        hass: HomeAssistant,
        entity_ids: Iterable[str],
        durations: Iterable[tuple[str, timedelta]] = (),
    ) -> None:
        """Begin without an answer."""
        self._hass = hass
        # The very texts that are kept for other heartbeats are compared in no time.
        self.entity_ids = tuple(sys.intern(one) for one in dict.fromkeys(entity_ids))
        self.durations = tuple(durations)
        self._states: list[State | None] = []
        self._asked = self._until = _NEVER

    @classmethod
    def of_all(cls, hass: HomeAssistant, parts: Sequence[Self | None]) -> Self | None:
        """Follow the answer that several make together, if each of them stands."""
        known = [part for part in parts if part is not None]
        if not known or len(known) < len(parts):
            return None
        return cls(
            hass,
            [one for part in known for one in part.entity_ids],
            [one for part in known for one in part.durations],
        )

    def is_over(self) -> bool:
        """Say whether the last answer may be another by now; the next is, if so."""
        states = [self._hass.states.get(entity_id) for entity_id in self.entity_ids]
        is_same = states == self._states
        if not self.durations:
            self._states = states
            return not is_same
        now = dt_util.utcnow()
        # A clock that was set back brings durations back as well.
        if is_same and self._asked <= now <= self._until:
            return False
        self._states, self._asked = states, now
        self._until = self._next_end(now)
        return True

    def _next_end(self, now: datetime) -> datetime:
        get = self._hass.states.get
        ends = (
            state.last_changed + duration
            for entity_id, duration in self.durations
            if (state := get(entity_id)) is not None
        )
        return min((end for end in ends if end >= now), default=_NEVER)

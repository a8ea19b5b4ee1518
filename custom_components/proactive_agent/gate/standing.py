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

    def begin(self) -> None:
        """Let an answer stand that is asked for now."""
        self._states = self._present()
        if self.durations:
            self._asked = dt_util.utcnow()
            self._until = self._next_end(self._asked)

    def is_over(self) -> bool:
        """Say whether the last answer may be another by now."""
        if self._present() != self._states:
            return True
        # A clock that was set back brings durations back as well.
        return bool(self.durations) and not (
            self._asked <= dt_util.utcnow() <= self._until
        )

    def _present(self) -> list[State | None]:
        get = self._hass.states.get
        return [get(entity_id) for entity_id in self.entity_ids]

    def _next_end(self, now: datetime) -> datetime:
        get = self._hass.states.get
        ends = (
            state.last_changed + duration
            for entity_id, duration in self.durations
            if (state := get(entity_id)) is not None
        )
        return min((end for end in ends if end >= now), default=_NEVER)

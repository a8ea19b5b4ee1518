"""How long a verdict stands without judging the condition again (C4)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
import sys
from typing import Final

from homeassistant.core import HomeAssistant, State
from homeassistant.util import dt as dt_util

from .registries import Registries

_NEVER: Final = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """All that an answer rests on.

    Of a domain it is all states, also of entities that come and go; `has_all` are
    those of the whole home. With `registries`, which entities these are is found there.
    """

    entity_ids: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    has_all: bool = False
    registries: Registries | None = None


class Standing:
    """Says whether a verdict still stands: all that it rests on is as it was.

    If a state has to last for a while, it stands only until that while is over.
    """

    def __init__(
        self,
        hass: HomeAssistant,
        bases: Sequence[Basis],
        durations: Iterable[tuple[str, timedelta]] = (),
    ) -> None:
        """Begin without an answer."""
        self._hass = hass
        entity_ids = dict.fromkeys(one for basis in bases for one in basis.entity_ids)
        # The very texts that are kept for other heartbeats are compared in no time.
        self._entity_ids = tuple(map(sys.intern, entity_ids))
        self._domains = tuple({one for basis in bases for one in basis.domains})
        self._has_all = any(basis.has_all for basis in bases)
        self._registries = next(filter(None, (one.registries for one in bases)), None)
        self._durations = tuple(durations)
        self._is_plain = not (
            self._domains or self._has_all or self._registries or self._durations
        )
        self._states: list[State | None] = []
        self._crowd: list[State] = []
        self._version = 0
        self._asked = self._until = _NEVER

    def begin(self) -> None:
        """Note what the verdict of this moment rests on.

        No time may pass between this and the judging: a duration might end in it.
        """
        self._states = self._present()
        if self._is_plain:
            return
        self._crowd = self._present_crowd()
        if self._registries is not None:
            self._version = self._registries.version
        if self._durations:
            self._asked = dt_util.utcnow()
            self._until = self._next_end(self._asked)

    def is_over(self) -> bool:
        """Say whether the last answer may be another by now."""
        if self._present() != self._states:
            return True
        return not self._is_plain and self._is_else_over()

    def _is_else_over(self) -> bool:
        if self._registries is not None and self._registries.version != self._version:
            return True
        if self._present_crowd() != self._crowd:
            return True
        # A clock that was set back brings durations back as well.
        return bool(self._durations) and not (
            self._asked <= dt_util.utcnow() <= self._until
        )

    def _present(self) -> list[State | None]:
        get = self._hass.states.get
        return [get(entity_id) for entity_id in self._entity_ids]

    def _present_crowd(self) -> list[State]:
        if self._has_all:
            return self._hass.states.async_all()
        return self._hass.states.async_all(self._domains) if self._domains else []

    def _next_end(self, now: datetime) -> datetime:
        get = self._hass.states.get
        ends = (
            state.last_changed + duration
            for entity_id, duration in self._durations
            if (state := get(entity_id)) is not None
        )
        return min((end for end in ends if end >= now), default=_NEVER)

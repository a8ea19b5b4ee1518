"""How long an answer stands without being asked for again (C4)."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, Self

from homeassistant.const import CONF_CONDITION, CONF_FOR
from homeassistant.core import HomeAssistant, State
from homeassistant.helpers.condition import ConditionChecker
from homeassistant.helpers.typing import ConfigType
from homeassistant.util import dt as dt_util

from .needs import EntityNeed, Need

_NEVER: Final = datetime.max.replace(tzinfo=UTC)


class Standing:
    """An answer that rests on states alone stands while these are the same.

    With a `duration`, only until one of them has lasted for so long.
    """

    def __init__(
        self,
        hass: HomeAssistant,
        entity_ids: tuple[str, ...],
        duration: timedelta | None = None,
    ) -> None:
        """Begin without an answer."""
        self._hass = hass
        self._entity_ids = entity_ids
        self._duration = duration
        self._states: list[State | None] = []
        self._asked = self._until = _NEVER

    @classmethod
    def of(
        cls,
        hass: HomeAssistant,
        config: ConfigType,
        checker: ConditionChecker,
        needs: Sequence[Need],
    ) -> Self | None:
        """Follow the answer of a condition, if states are all that it rests on."""
        named = {need.entity_id for need in needs if isinstance(need, EntityNeed)}
        if not named or not all(isinstance(need, EntityNeed) for need in needs):
            return None
        if not checker.needs_polling:
            return cls(hass, tuple(named))
        duration = config.get(CONF_FOR)
        if config[CONF_CONDITION] == "state" and isinstance(duration, timedelta):
            return cls(hass, tuple(named), duration)
        return None

    def is_over(self) -> bool:
        """Say whether the last answer may be another by now; the next is, if so."""
        states = [self._hass.states.get(entity_id) for entity_id in self._entity_ids]
        is_same = states == self._states
        if self._duration is None:
            self._states = states
            return not is_same
        now = dt_util.utcnow()
        # A clock that was set back brings durations back as well.
        if is_same and self._asked <= now <= self._until:
            return False
        self._states, self._asked = states, now
        self._until = self._ends(now, self._duration)
        return True

    def _ends(self, now: datetime, duration: timedelta) -> datetime:
        return min(
            (
                end
                for state in self._states
                if state is not None and (end := state.last_changed + duration) >= now
            ),
            default=_NEVER,
        )

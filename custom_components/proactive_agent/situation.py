"""What the gate and the entities show now, against what the last run saw (G4)."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from homeassistant.core import HomeAssistant

from .engine.backoff import Shown, closed_long, stays_quiet
from .engine.records import Outcome
from .hearing import Ears
from .home import Reach, snapshot
from .models import Manners
from .past_actions import PastActions


class Situation:
    """Remembers what the last run was shown, and what was done, in memory.

    When something else makes all of it news again, `ears` have heard nothing (S4).
    """

    def __init__(self, hass: HomeAssistant, ears: Ears) -> None:
        """Begin with nothing to compare."""
        self.past_actions = PastActions(hass)
        self._ears = ears
        self._hass = hass
        self._shown: Shown | None = None
        self._showing: Mapping[str, str] | None = None
        self._closed_since: datetime | None = None
        self._closed_for = timedelta()

    def gate_was(self, *, is_open: bool | None, now: datetime) -> None:
        """Note at each tick what the gate said; None is neither open nor closed."""
        if self._closed_since is not None:
            self._closed_for += now - self._closed_since
        self._closed_since = now if is_open is False else None

    def is_old_news(
        self,
        gate_ids: frozenset[str],
        reach: Reach,
        manners: Manners,
        now: datetime,
    ) -> bool:
        """Say at a tick with an open gate whether waking would show nothing new (G4).

        How long the gate was closed counts from one such tick to the next.
        """
        closed_for, self._closed_for = self._closed_for, timedelta()
        if closed_long(closed_for, manners.settle_for):
            self._shown = None
            self.past_actions.forget()
            self._ears.forget()
        return stays_quiet(
            self._shown,
            self.states(gate_ids, reach),
            now=now,
            recheck_after=manners.recheck_after,
        )

    def states(self, gate_ids: frozenset[str], reach: Reach) -> dict[str, str]:
        """Return the states that make up the situation."""
        return snapshot(self._hass, sorted({*gate_ids, *reach.visible}))

    def show(self, gate_ids: frozenset[str], reach: Reach, manners: Manners) -> None:
        """Note what a run that begins now is shown."""
        self._showing = self.states(gate_ids, reach)
        self.past_actions.watch({*gate_ids, *reach.visible}, manners.recheck_after)

    def ended(self, outcome: Outcome, *, now: datetime) -> None:
        """Keep how the run ended; one that was forgotten meanwhile says nothing."""
        if self._showing is not None:
            self._shown = Shown(states=self._showing, at=now, outcome=outcome)
        self._showing = None

    def forget(self) -> None:
        """Begin anew, when switched on or when an option has changed."""
        self._shown = self._showing = None
        self._closed_since = None
        self._closed_for = timedelta()
        self.past_actions.forget()
        self._ears.forget()

    def close(self) -> None:
        """Let go of what is watched."""
        self.past_actions.close()

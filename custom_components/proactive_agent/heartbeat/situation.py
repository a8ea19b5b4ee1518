"""What the gate and the entities show now, against what the last run saw (G4)."""

from collections.abc import Mapping
from contextvars import Context as TaskContext
from dataclasses import replace
from datetime import datetime
from typing import Final

from homeassistant.core import CALLBACK_TYPE, CoreState, HomeAssistant, callback
from homeassistant.helpers.event import async_call_later
from homeassistant.util import dt as dt_util

from ..engine.backoff import Shown, closed_long, moves, stays_quiet, with_last_words
from ..engine.records import Outcome
from ..guard.past_actions import PastActions
from ..home.home import Reach, snapshot
from ..models import Manners
from ..run.hearing import Ears
from ..saying import Listening, all_said
from ..store.memory import Memory
from .coming_up import ComingUp

# Seconds after a start in which entities come up.
SETTLING: Final = 60


class Situation:
    """Remembers what the last run was shown, and whether that has changed since.

    `memory` keeps it over a restart; nothing is written for it alone. `ears` forget
    what was told when all of it becomes news again (S4).
    """

    def __init__(self, hass: HomeAssistant, memory: Memory, ears: Ears) -> None:
        """Go on with what the memory holds."""
        self.past_actions = PastActions(hass, memory.past, memory.put_past)
        self._hass = hass
        self._memory = memory
        self._ears = ears
        self._gate_ids: frozenset[str] = frozenset()
        self._showing: Mapping[str, str] | None = None
        self._has_moved = False
        self._listening = Listening(hass, self._said)
        self._hears = hass.state is CoreState.running
        self._coming_up: ComingUp | None = None
        self._cancel_timer: CALLBACK_TYPE | None = None
        if (shown := memory.shown) is not None and memory.last_saved is not None:
            # How the gate was while nobody judged it is not known.
            memory.put_shown(shown.gate_was(is_open=None, now=memory.last_saved))

    @callback
    def start(self) -> None:
        """Listen from now on; for a minute, entities may still be coming up."""
        if self._hears:
            self.past_actions.resume()
        else:
            self._hears = True
            self._coming_up = ComingUp(dt_util.utcnow())
            self.follow(self._gate_ids)
            self._cancel_timer = TaskContext().run(
                async_call_later, self._hass, SETTLING, self._settled
            )

    def gate_was(self, *, is_open: bool | None, now: datetime) -> None:
        """Note at each tick what the gate said; None is neither open nor closed."""
        if (shown := self._memory.shown) is not None:
            self._memory.put_shown(shown.gate_was(is_open=is_open, now=now))

    def is_old_news(
        self, gate_ids: frozenset[str], reach: Reach, manners: Manners, now: datetime
    ) -> bool:
        """Say at a tick with an open gate whether waking would show nothing new (G4).

        How long the gate was closed counts from one such tick to the next.
        """
        self.follow(gate_ids)
        if (shown := self._memory.shown) is None:
            return False
        if closed_long(shown.closed_for, manners.settle_for):
            self._forget_all()
            return False
        self._memory.put_shown(shown.opened())
        return stays_quiet(
            shown,
            self._states(gate_ids, reach),
            now=now,
            recheck_after=manners.recheck_after,
        )

    @callback
    def follow(self, gate_ids: frozenset[str]) -> None:
        """Listen to these entities of the gate."""
        self._gate_ids = gate_ids
        if not self._hears:
            return
        is_needed = self._last_shown is not None
        self._listening.follow(gate_ids if is_needed else frozenset())
        if is_needed and self._coming_up is not None:
            for entity_id, state in all_said(self._hass, gate_ids).items():
                self._hear(entity_id, state)

    def show(
        self,
        gate_ids: frozenset[str],
        reach: Reach,
        manners: Manners,
        *,
        for_good: bool = True,
    ) -> Mapping[str, str]:
        """Return the states that a run which begins now is shown.

        They are noted as shown if `for_good`: a dry run does not count (A9).
        """
        before = self._memory.shown
        states = self._states(gate_ids, reach)
        if before is not None:
            states = with_last_words(states, before.states)
        if for_good:
            if before is not None and before.has_moved:
                self._ears.forget()
            self._showing, self._has_moved = states, False
            self.follow(gate_ids)
            self.past_actions.watch({*gate_ids, *reach.visible}, manners.recheck_after)
        return states

    def ended(self, outcome: Outcome, *, now: datetime) -> None:
        """Keep how the run ended whose states were shown last.

        Nothing is kept of one that was stopped, as it has not looked to its end, or
        after `forget`.
        """
        if self._showing is not None and outcome is not Outcome.STOPPED:
            self._memory.put_shown(
                Shown(
                    states=self._showing,
                    at=now,
                    outcome=outcome,
                    has_moved=self._has_moved,
                )
            )
        self._showing = None

    def forget(self) -> None:
        """Begin anew: it was switched on, or an option has changed."""
        self._showing = None
        self._forget_all()
        self._memory.save_soon()

    def close(self) -> None:
        """Let go of what is watched."""
        self._hears = False
        self._listening.follow(frozenset())
        self.past_actions.close()
        if self._cancel_timer is not None:
            self._cancel_timer()
            self._cancel_timer = None

    def _states(self, gate_ids: frozenset[str], reach: Reach) -> dict[str, str]:
        """Return the states that make up the situation, the gate's first."""
        others = {*reach.visible} - gate_ids
        return snapshot(self._hass, (*sorted(gate_ids), *sorted(others)))

    def _forget_all(self) -> None:
        self._memory.put_shown(None)
        self.past_actions.forget()
        self._ears.forget()

    @callback
    def _settled(self, _now: datetime) -> None:
        self._cancel_timer = self._coming_up = None
        self.past_actions.resume()

    @property
    def _last_shown(self) -> Mapping[str, str] | None:
        """What the run in flight was shown, or else the last one."""
        if self._showing is not None:
            return self._showing
        return None if self._memory.shown is None else self._memory.shown.states

    @callback
    def _said(self, entity_id: str, state: str) -> None:
        """Note that an entity of the gate is another than was shown.

        That is on disk before it may have come back: no tick would see it any more.
        """
        if not self._hear(entity_id, state):
            return
        shown = self._memory.shown
        if self._showing is not None:
            self._has_moved = True
        elif shown is not None and not shown.has_moved:
            self._memory.put_shown(replace(shown, has_moved=True))
            self._memory.save_soon(0)

    def _hear(self, entity_id: str, state: str) -> bool:
        """Say whether an entity has become another than was shown."""
        has_moved = moves(self._last_shown or {}, entity_id, state)
        if self._coming_up is None:
            return has_moved
        if has_moved:
            return self._coming_up.has_moved(entity_id, dt_util.utcnow())
        if (now := self._hass.states.get(entity_id)) is not None:
            self._coming_up.is_back(entity_id, now.last_changed)
        return False

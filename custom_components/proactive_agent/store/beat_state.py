"""The remembered side of one heartbeat: on or off, and what it has used."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime

from homeassistant.core import callback
from homeassistant.util import dt as dt_util

from ..engine.approvals import Approval
from ..engine.backoff import Shown
from ..engine.breaker import Breaker, Fault
from ..engine.due import Due
from ..engine.fuses import (
    PauseReason,
    Stop,
    StopReason,
    Used,
    deadline_from,
    pause_reason,
    stop_reason,
    ticks_spent,
)
from ..engine.heard import Heard
from ..engine.repeats import PastAction
from ..models import Fuses
from .store import SAVE_DELAY, SAVE_SHORTLY, HeartbeatState, HeartbeatStore

TOKENS_AHEAD = 10_000  # on disk for the first request of a run before it is known


class BeatState:
    """Counts against the fuses of one heartbeat and keeps the count in the store."""

    def __init__(
        self, store: HeartbeatStore, heartbeat_id: str, fuses: Fuses, *, now: datetime
    ) -> None:
        """Read what the store knows; a new heartbeat is on (D2)."""
        self._store = store
        self._id = heartbeat_id
        self._limits = fuses.limits
        if (known := store.get(heartbeat_id)) is not None:
            store.put(heartbeat_id, known)
            if known.on:
                self._reserve()
            return
        used = Used().started(self._limits, now)
        store.put(heartbeat_id, HeartbeatState(on=True, used=used))
        self._reserve()
        # A process that is killed must not begin its time anew (C6).
        store.save_soon(0)

    @property
    def is_on(self) -> bool:
        """Whether the heartbeat is switched on."""
        return self._glance.on

    @property
    def used(self) -> Used:
        """What has been used up."""
        return self._state.used

    @property
    def tokens_total(self) -> int:
        """All tokens ever charged to this heartbeat."""
        return self._state.tokens_total

    @property
    def anchor(self) -> datetime | None:
        """When the ticks began; the due times are whole intervals from there (C6)."""
        return self._state.anchor

    @property
    def last_saved(self) -> datetime | None:
        """When Home Assistant was last known to be up before it started (C6)."""
        return self._store.last_saved

    @property
    def approvals(self) -> tuple[Approval, ...]:
        """The requests for a yes, open and settled (P1)."""
        return self._state.approvals

    @property
    def leaving(self) -> Stop | None:
        """The stop that waits until the owner has answered (P7)."""
        return self._state.leaving

    @property
    def heard(self) -> tuple[Heard, ...]:
        """What was told of which situation (S4)."""
        return self._state.heard

    @property
    def shown(self) -> Shown | None:
        """What the last run was shown (G4)."""
        return self._state.shown

    @property
    def past(self) -> Mapping[str, PastAction]:
        """What was done and has not helped (A7)."""
        return self._state.past

    @property
    def due(self) -> tuple[Due, ...]:
        """What the owner has yet to hear (S5)."""
        return self._state.due

    @property
    def breaker(self) -> Breaker:
        """The runs that failed since the last good one (F7)."""
        return self._glance.breaker

    @property
    def told(self) -> frozenset[Fault]:
        """The faults of which the owner knows (S7)."""
        return self._glance.told

    @property
    def pause_reason(self) -> PauseReason | None:
        """Which budget of today is spent (F5)."""
        return pause_reason(self._limits, self._glance.used, _today())

    @property
    def tokens_left(self) -> int | None:
        """Tokens of today's budget, None for no limit (F5)."""
        if self._limits.max_tokens_per_day is None:
            return None
        return self._limits.max_tokens_per_day - self.used.on(_today()).tokens

    @property
    def ticks_spent(self) -> bool:
        """Whether the last tick allowed has been counted (F1)."""
        return ticks_spent(self._limits, self._glance.used)

    def stop_reason(self, now: datetime) -> StopReason | None:
        """Which limit of the whole heartbeat is reached (F1, F2)."""
        return stop_reason(self._limits, self._glance.used, now)

    @callback
    def set_anchor(self, anchor: datetime) -> None:
        """Let the ticks begin anew from this moment."""
        self._put(replace(self._state, anchor=anchor))
        self._store.save_soon()

    @callback
    def count_tick(self) -> None:
        """Count one tick, in memory unless there is a limit to keep (C4, C6)."""
        self._store.note_tick(self._id)
        self._reserve()

    @callback
    def charge_tokens(self, tokens: int) -> None:
        """Charge tokens to today; a negative number gives back (F5)."""
        state = self._state
        self._put(
            replace(
                state,
                used=state.used.charged(_today(), tokens),
                tokens_total=max(0, state.tokens_total + tokens),
            )
        )
        if tokens <= 0:
            self._store.save_soon()
        else:
            # A killed process must not give back what is about to be used (C6).
            is_on_disk = self._store.takes_ahead(self._id, tokens)
            self._store.save_soon(SAVE_SHORTLY if is_on_disk else 0)

    async def charge_wake(self) -> bool:
        """Charge a wake to today, on disk before the model is called (F5).

        The tokens of its first request are held on disk, as far as the day's budget
        goes. Returns False, and charges nothing, if the disk cannot be written (D1).
        """
        self._use(self.used.woken(_today()))
        left = self.tokens_left
        ahead = TOKENS_AHEAD if left is None else min(left, TOKENS_AHEAD)
        is_written = await self._store.async_save_ahead(self._id, ahead)
        if not is_written:
            self._use(replace(self.used, wakes=max(0, self.used.wakes - 1)))
        return is_written

    @callback
    def switch_on(self, now: datetime) -> None:
        """Switch on, with fresh ticks, deadline and breaker (F6, F7)."""
        self._store.release_ticks(self._id)
        state = replace(self._state, breaker=Breaker(), told=frozenset())
        used = self.used.started(self._limits, now)
        self._put(replace(state, on=True, used=used, leaving=None))
        self._reserve()

    @callback
    def switch_off(self) -> None:
        """Switch off; what has been used stays on record."""
        self._put(replace(self._state, on=False, leaving=None))

    @callback
    def leave(self, stop: Stop | None) -> None:
        """Stop once the owner has answered; None takes that back."""
        self._put(replace(self._state, leaving=stop))
        self._store.save_soon()

    @callback
    def put_heard(self, heard: tuple[Heard, ...]) -> None:
        """Keep what was told of which situation; it is written within seconds."""
        if heard != self.heard:
            self._put(replace(self._state, heard=heard))
            self._store.save_soon()

    @callback
    def put_shown(self, shown: Shown | None) -> None:
        """Keep what was shown; it is written when something else is (C4)."""
        if shown is not self.shown:
            self._put(replace(self._state, shown=shown))

    @callback
    def put_past(self, past: Mapping[str, PastAction]) -> None:
        """Keep what was done; it is written when something else is (C4)."""
        self._put(replace(self._state, past=past))

    @callback
    def put_due(self, due: tuple[Due, ...]) -> None:
        """Keep what the owner has yet to hear; who calls it has it written."""
        self._put(replace(self._state, due=due))

    @callback
    def put_breaker(self, breaker: Breaker) -> None:
        """Keep how the runs fail; it is written within seconds."""
        if breaker != self.breaker:
            self._put(replace(self._state, breaker=breaker))
            self._store.save_soon()

    @callback
    def put_told(self, told: frozenset[Fault]) -> None:
        """Keep of which faults the owner has heard."""
        self._put(replace(self._state, told=told))

    @callback
    def put_approvals(self, approvals: tuple[Approval, ...]) -> None:
        """Keep the requests for a yes; they are written within seconds."""
        self._put(replace(self._state, approvals=approvals))
        self._store.save_soon()

    async def async_save(self) -> bool:
        """Write to disk now and say whether the disk took it (D1)."""
        return await self._store.async_save()

    @callback
    def change_fuses(self, fuses: Fuses, *, now: datetime) -> None:
        """Take new limits; a count begins anew only where its fuse changed (C7)."""
        before, self._limits = self._limits, fuses.limits
        used = self.used
        if before.max_ticks != self._limits.max_ticks:
            self._store.release_ticks(self._id)
            used = replace(used, ticks=0)
        if before.max_duration != self._limits.max_duration:
            used = replace(used, deadline=deadline_from(self._limits, now))
        self._use(used)
        self._reserve()
        self._store.save_soon()

    @callback
    def save_soon(self, delay: float = SAVE_DELAY) -> None:
        """Have the present state written within `delay` seconds."""
        self._store.save_soon(delay)

    @property
    def _state(self) -> HeartbeatState:
        return self._store.get(self._id) or HeartbeatState(on=False)

    @property
    def _glance(self) -> HeartbeatState:
        """The state without ticks of which no limit asks: for each tick."""
        return self._store.glance(self._id) or HeartbeatState(on=False)

    @callback
    def _put(self, state: HeartbeatState) -> None:
        self._store.update(self._id, state)

    @callback
    def _use(self, used: Used) -> None:
        self._put(replace(self._state, used=used))

    @callback
    def _reserve(self) -> None:
        if self._limits.max_ticks is not None:
            self._store.reserve_ticks(self._id, self._limits.max_ticks)


def _today() -> date:
    return dt_util.now().date()

"""What one heartbeat has used, counted against its limits (F1, F2, F5)."""

from dataclasses import replace
from datetime import date, datetime

from homeassistant.core import callback
from homeassistant.util import dt as dt_util

from ..engine.fuses import (
    Limits,
    PauseReason,
    StopReason,
    Used,
    deadline_from,
    pause_reason,
    stop_reason,
    ticks_spent,
)
from .slot import Slot
from .store import SAVE_SHORTLY

TOKENS_AHEAD = 10_000  # on disk for the next request of a run before it is known


class Meter:
    """Counts ticks, wakes and tokens, so that no restart gives any back (C6)."""

    def __init__(self, slot: Slot, limits: Limits) -> None:
        """Go on with what the slot holds; nothing is counted yet."""
        self._slot = slot
        self._limits = limits

    @property
    def used(self) -> Used:
        """What has been used up."""
        return self._slot.state.used

    @property
    def tokens_total(self) -> int:
        """All tokens ever charged to this heartbeat."""
        return self._slot.state.tokens_total

    @property
    def pause_reason(self) -> PauseReason | None:
        """Which budget of today is spent (F5)."""
        return pause_reason(self._limits, self._slot.glance.used, _today())

    @property
    def tokens_left(self) -> int | None:
        """Tokens of today's budget, None for no limit (F5)."""
        if self._limits.max_tokens_per_day is None:
            return None
        return self._limits.max_tokens_per_day - self.used.on(_today()).tokens

    @property
    def ticks_spent(self) -> bool:
        """Whether the last tick allowed has been counted (F1)."""
        return ticks_spent(self._limits, self._slot.glance.used)

    def stop_reason(self, now: datetime) -> StopReason | None:
        """Return which limit of the whole heartbeat is reached, if one is (F1, F2)."""
        return stop_reason(self._limits, self._slot.glance.used, now)

    @callback
    def begin(self, now: datetime) -> None:
        """Begin with fresh ticks and a fresh deadline, not with a fresh day (F6)."""
        self._slot.store.release_ticks(self._slot.heartbeat_id)
        self._slot.use(self.used.started(self._limits, now))
        self.reserve()

    @callback
    def count_tick(self) -> None:
        """Count one tick, in memory unless there is a limit to keep (C4, C6)."""
        self._slot.store.note_tick(self._slot.heartbeat_id)
        self.reserve()

    @callback
    def reserve(self) -> None:
        """Have the next ticks on disk before they are counted, if there is a limit."""
        if self._limits.max_ticks is not None:
            self._slot.store.reserve_ticks(
                self._slot.heartbeat_id, self._limits.max_ticks
            )

    @callback
    def charge_tokens(self, tokens: int) -> None:
        """Charge tokens to today; a negative number gives back (F5)."""
        state = self._slot.state
        self._slot.put(
            replace(
                state,
                used=state.used.charged(_today(), tokens),
                tokens_total=max(0, state.tokens_total + tokens),
            )
        )
        if tokens <= 0:
            self._slot.save_soon()
        else:
            # A killed process must not give back what is about to be used (C6).
            is_on_disk = self._slot.store.takes_ahead(self._slot.heartbeat_id, tokens)
            can_wait = is_on_disk or not self._has_budget
            self._slot.save_soon(SAVE_SHORTLY if can_wait else 0)

    async def charge_wake(self) -> bool:
        """Charge a wake to today, on disk before the model is called (F5).

        Returns False, and charges nothing, if the disk cannot be written (D1). Without
        a budget there is nothing that a crash could give back: it is written beside.
        """
        self._slot.use(self.used.woken(_today()))
        if not self._has_budget:
            self._slot.save_soon(SAVE_SHORTLY)
            return True
        is_written = await self.async_save_ahead()
        if not is_written:
            self._slot.use(replace(self.used, wakes=max(0, self.used.wakes - 1)))
        return is_written

    @property
    def _has_budget(self) -> bool:
        """Whether a limit of the day counts on what is on disk (F5)."""
        limits = self._limits
        return (
            limits.max_wakes_per_day is not None
            or limits.max_tokens_per_day is not None
        )

    async def async_save_ahead(self) -> bool:
        """Write to disk now, and say whether the disk took it (D1).

        The tokens of a run's next request are held there, as far as the day's budget
        goes, so that it costs no write of its own (C6).
        """
        left = self.tokens_left
        ahead = TOKENS_AHEAD if left is None else min(left, TOKENS_AHEAD)
        return await self._slot.store.async_save_ahead(self._slot.heartbeat_id, ahead)

    @callback
    def change(self, limits: Limits, *, now: datetime) -> None:
        """Take new limits; a count begins anew only where its limit changed (C7)."""
        before, self._limits = self._limits, limits
        used = self.used
        if before.max_ticks != limits.max_ticks:
            self._slot.store.release_ticks(self._slot.heartbeat_id)
            used = replace(used, ticks=0)
        if before.max_duration != limits.max_duration:
            used = replace(used, deadline=deadline_from(limits, now))
        self._slot.use(used)
        self.reserve()
        self._slot.save_soon()


def _today() -> date:
    return dt_util.now().date()

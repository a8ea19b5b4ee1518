"""One heartbeat: timer → fuses → gate → run → report."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.util import dt as dt_util

from ..activity import Activity
from ..engine.fuses import Stop, StopReason, Used
from ..engine.records import Cause, GateVerdict, RunRecord, Status
from ..listeners import Listeners
from ..models import HeartbeatOptions
from ..refusal import refuse_if
from .parts import make_parts
from .ports import Ports
from .runner import LAST_WORD_TIMEOUT
from .shared import Shared


class Heartbeat:
    """A proactive agent: asleep until its clock ticks and its gate is open."""

    def __init__(
        self,
        hass: HomeAssistant,
        entry: ConfigEntry,
        subentry: ConfigSubentry,
        shared: Shared,
    ) -> None:
        """Read what the store knows; no timer runs before `start`."""
        self.id = subentry.subentry_id
        self.options = HeartbeatOptions.from_subentry(subentry)
        self.on_change = Listeners[[]]()
        self.on_activity = Listeners[[Activity, dict[str, Any], Context]]()
        self._shared = shared
        self._started = self._closed = False
        parts = make_parts(
            hass,
            entry,
            self.id,
            shared,
            Ports(
                options=lambda: self.options,
                on_activity=self.on_activity.fire,
                on_change=self.on_change.fire,
                on_tick=self._tick,
                on_stop=self._stop,
                on_run_ended=self._run_ended,
            ),
        )
        self.runs = parts.runs
        self.asking = parts.asking
        self.health = parts.health
        self._state = parts.state
        self._waker = parts.waker
        self._voice = parts.voice
        self._rhythm = parts.rhythm

    @property
    def is_on(self) -> bool:
        """Whether the heartbeat is switched on."""
        return self._state.is_on

    @property
    def status(self) -> Status:
        """What the heartbeat is doing now."""
        if self.runs.is_running:
            return Status.RUNNING
        if not self.is_on:
            return Status.OFF
        if self.asking.pending:
            return Status.WAITING
        return Status.PAUSED if self.health.pause else Status.ASLEEP

    @property
    def used(self) -> Used:
        """What has been used up of the fuses."""
        return self._state.meter.used

    @property
    def gate(self) -> tuple[GateVerdict, ...]:
        """What each condition says now, and why (G3)."""
        return self._waker.explain()

    @property
    def tokens_used(self) -> int:
        """All tokens ever charged to this heartbeat."""
        return self._state.meter.tokens_total

    @callback
    def start(self) -> None:
        """Begin to beat, once Home Assistant has started (C1)."""
        self._started = True
        self._waker.start()
        self.runs.tell_due(self.options)
        self.asking.start()
        self._beat(self._rhythm.resume)
        self.health.start()
        self._build_gate()

    async def async_close(self) -> None:
        """End what is under way: the endpoint is unloaded or the heartbeat removed."""
        self._closed = True
        self._rhythm.stop()
        self.health.close()
        self._waker.close()
        asking = self.asking.async_close(LAST_WORD_TIMEOUT)
        await asyncio.gather(self.runs.async_close(), asking)
        self._voice.close()

    async def async_remove(self) -> None:
        """End for good: what waits for a yes is withdrawn (P7)."""
        self._closed = True
        self.asking.withdraw_all()
        await self.async_close()

    async def async_turn_on(self) -> None:
        """Switch on, with fresh ticks and a fresh deadline (F6, C9)."""
        if self.is_on:
            return
        self._waker.forget()
        self._state.switch_on(dt_util.utcnow())
        self.health.begin_anew()
        self._beat(self._rhythm.begin)
        self.on_change.fire()
        await self._state.async_save()

    async def async_turn_off(self) -> None:
        """Switch off at once: a run in flight ends as `stopped` (F6)."""
        self.runs.cut()
        if not self.is_on:
            return
        self._switch_off()
        await self._state.async_save()

    @callback
    def wake(
        self, *, context: Context | None = None, dry_run: bool = False
    ) -> asyncio.Task[RunRecord]:
        """Wake by hand; the task gives the run's record (C8, A9).

        Raises `ServiceValidationError` when the heartbeat is off, running, paused
        or unloaded, or when a run's own action asks for it (A2).
        """
        refuse_if(
            self.options.title,
            not_loaded=self._closed,
            woken_by_own_run=context is not None and self._shared.descends(context),
            already_running=self.runs.is_running,
            switched_off=not self.is_on and not dry_run,
            budget_spent=self._state.meter.pause_reason is not None,
        )
        parent_id = context.id if context else None
        return self._wake(Cause.MANUAL, Context(parent_id=parent_id), dry_run=dry_run)

    @callback
    def change(self, subentry: ConfigSubentry) -> None:
        """Take new options; a run in flight ends on its old ones (C7)."""
        before, self.options = self.options, HeartbeatOptions.from_subentry(subentry)
        if before == self.options or self._closed:
            return
        needs_gate = self._waker.change(self.options)
        self.asking.follow_options()
        if before.fuses != self.options.fuses:
            self._state.meter.change(self.options.fuses.limits, now=dt_util.utcnow())
        if before.interval != self.options.interval:
            self._beat(self._rhythm.begin)
        elif self.is_on:
            self._rhythm.follow_deadline()
        if needs_gate and self._started:
            self._build_gate()
        self.health.try_again()

    @callback
    def _build_gate(self) -> None:
        # The first tick may come as soon as set-up has settled: it must find a gate.
        self.runs.spawn(self._waker.async_build(), "gate", awaited=True)

    @callback
    def _beat(self, begin: Callable[[timedelta], None]) -> None:
        """Let the rhythm run, unless a fuse says that it is over."""
        self._rhythm.stop()
        if not self.is_on or not self._started or self._closed:
            return
        if (reason := self._state.meter.stop_reason(dt_util.utcnow())) is not None:
            self._stop(Stop(reason=reason))
        else:
            begin(self.options.interval)

    @callback
    def _tick(self, now: datetime) -> None:
        """One firing of the timer: drop · count · fuses · gate · back-off (C2)."""
        if self.runs.is_running:
            return
        if (reason := self._state.meter.stop_reason(now)) is not None:
            self._stop(Stop(reason=reason))
            return
        self._state.meter.count_tick()
        if not self._wakes(now) and self._state.meter.ticks_spent:
            self._stop(Stop(reason=StopReason.MAX_TICKS))

    def _wakes(self, now: datetime) -> bool:
        if self._waker.sleeps_on or self.health.pause or self.asking.farewell.is_near:
            return False
        has_woken = self._waker.attempt(partial(self._wake_if_due, now))
        if self._waker.needs_build:
            self._build_gate()
        self.health.tick_judged(now)
        return has_woken

    def _wake_if_due(self, now: datetime) -> bool:
        if not self._waker.is_reason(now):
            return False
        self._wake(Cause.TICK, Context())
        return True

    @callback
    def _wake(
        self, cause: Cause, context: Context, *, dry_run: bool = False
    ) -> asyncio.Task[RunRecord]:
        # Of its own: the context of a run begins with the event that tells of it (A8).
        shown = Context(parent_id=context.id)
        for one in (context, shown):
            self._shared.lineage.add(one.id)
        plan = self._waker.plan(
            cause, context, dry_run=dry_run, requests=self.asking.for_prompt()
        )
        task = self.runs.start(
            plan,
            shown,
            self._shared.mind(self.options, context),
            self._waker.reach,
            self.asking.async_ask,
            self.asking.farewell.at_end_of_run,
        )
        self.on_change.fire()
        return task

    @callback
    def _run_ended(self, record: RunRecord, stop: Stop | None) -> None:
        self._waker.ended(record, now=dt_util.utcnow())
        if stop is not None:
            self._stop(stop)
        self.health.run_ended(record)
        self._state.save_soon(0)
        self.on_change.fire()

    @callback
    def _stop(self, stop: Stop) -> None:
        """Go off without the owner; a run in flight may end (F1, F2, F8)."""
        if self._closed or not self.is_on:
            return
        self.health.stopped(stop)
        self._switch_off()

    @callback
    def _switch_off(self) -> None:
        self._rhythm.stop()
        self._state.switch_off()
        self.health.begin_anew()
        self.asking.withdraw_all()
        self.on_change.fire()

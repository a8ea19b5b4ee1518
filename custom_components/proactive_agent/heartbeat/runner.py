"""The runs of one heartbeat: one at a time, each reported once it is over (C3)."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import Context as TaskContext
from dataclasses import replace
from functools import partial
import logging
from typing import Any

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import Context, HomeAssistant, callback

from ..engine.errors import CutReason
from ..engine.fuses import Stop
from ..engine.ports import Mind
from ..engine.records import (
    ActionRecord,
    ActionStatus,
    RunRecord,
)
from ..engine.report import Ending
from ..guard.guard import Action
from ..home.home import Reach
from ..models import HeartbeatOptions
from ..run.plan import RunPlan
from ..run.run import Run, RunPorts
from ..store.memory import Memory
from ..telling.due import DueMessages
from ..telling.reporter import Reporter, Told
from ..tools.toolbox import OfferCache
from .book import Book
from .model_log import ModelLog
from .stopping import stop_with, why_stopped

_LOGGER = logging.getLogger(__name__)

# Seconds in which a run that is ended by unloading may still tell what it did.
LAST_WORD_TIMEOUT = 5
# Seconds after which a report goes on by itself: no notifier may hold the lock.
TELL_TIMEOUT = 60


class Runner:
    """Holds the lock of a heartbeat: there is a run, or there is none."""

    def __init__(
        self,
        hass: HomeAssistant,
        entry: ConfigEntry,
        reporter: Reporter,
        state: Memory,
        book: Book,
        judge: Callable[[Run, RunRecord], RunRecord],
        on_end: Callable[[RunRecord, Stop | None], None],
    ) -> None:
        """Begin without a run.

        `book` keeps the records, `judge` adds to one what it says of the model,
        `on_end` is called after each run, with how the heartbeat stops if it does.
        """
        self.log = book.log
        self.offers = OfferCache(hass)
        self.due = DueMessages(hass, state, reporter, self._told_late, book.unseen)
        self.action_lock = asyncio.Lock()
        self._hass = hass
        self._entry = entry
        self._reporter = reporter
        self._state = state
        self._book = book
        self._judge = judge
        self._on_end = on_end
        latest = self.log.latest()
        self.last_wake = None if latest is None else latest.started
        self.context: Context | None = None
        self._run: Run | None = None
        self._task: asyncio.Task[RunRecord] | None = None
        self._model_log = ModelLog(hass, entry)
        self._is_closed = False

    @property
    def is_running(self) -> bool:
        """Whether a run is in flight."""
        return self._run is not None

    @callback
    def start(
        self,
        plan: RunPlan,
        context: Context,
        mind: Mind,
        permitted: Callable[[], Reach],
        ask: Callable[[str, int, Action, str], Awaitable[None]],
        put_off: Callable[[Stop | None], Stop | None],
    ) -> asyncio.Task[RunRecord]:
        """Take the lock and run; the lock is released with the task (C3).

        States that show the run are written with `context`. `put_off` returns what is
        left for now of a stop that comes with its end.
        """
        ports = RunPorts(
            mind=mind,
            offers=self.offers,
            permitted=permitted,
            action_lock=self.action_lock,
            budget=self._state.meter,
            announce=self._reporter.woke,
            on_settled=self._action_settled,
            ask=ask,
            about_to=self.due.async_about_to,
            done_so_far=self.due.done_so_far,
        )
        run = self._run = Run(self._hass, plan, ports)
        self._book.begin(run)
        self.context = context
        if not plan.dry_run:
            self.last_wake = run.started
        self._task = self.spawn(
            self._live(run, put_off, was_on=self._state.is_on),
            f"run {run.run_id}",
        )
        return self._task

    @callback
    def tell_due(self, options: HeartbeatOptions) -> None:
        """Tell after a start what could not be told before it (S5)."""
        self.due.resume(self.spawn, options)

    @callback
    def cut(self) -> None:
        """End a run in flight as `stopped` (F6)."""
        if self._run is not None:
            self._run.cut(CutReason.STOPPED)

    async def async_close(self) -> None:
        """End a run in flight and give it a moment for its last word (R8)."""
        self._is_closed = True
        self.cut()
        if (task := self._task) is not None:
            await asyncio.wait({task}, timeout=LAST_WORD_TIMEOUT)
            task.cancel()
        self.due.close()

    @callback
    def spawn[T](
        self, job: Coroutine[Any, Any, T], name: str, *, awaited: bool = False
    ) -> asyncio.Task[T]:
        """Start a task that the config entry owns and cancels.

        Home Assistant is not settled before one that is `awaited` has ended.

        In an empty context: a trace of what happened to wake the heartbeat would
        else grow with everything that it does.
        """
        start = (
            self._entry.async_create_task
            if awaited
            else self._entry.async_create_background_task
        )
        return TaskContext().run(
            start, self._hass, job, f"proactive_agent {name}", eager_start=True
        )

    @callback
    def answered(self, run_id: str, index: int, action: ActionRecord) -> None:
        """Write down what became of an action that waited for a yes (P1)."""
        if self._run is not None and self._run.run_id == run_id:
            self._run.answered(index, action)
        else:
            self.log.answer(run_id, index, action)

    @callback
    def _action_settled(self, run: Run, index: int, action: ActionRecord) -> None:
        """Note and tell what became of an action that outlived its run (R8)."""
        nothing_said = self.log.settle(run.run_id, index, action)
        if nothing_said is not None:
            # Not the entry's own task: the word is due even after an unload.
            self._hass.async_create_background_task(
                self._tell_settled(run, index, action, first_word=nothing_said),
                "proactive_agent settled action",
            )

    async def _tell_settled(
        self, run: Run, index: int, action: ActionRecord, *, first_word: bool
    ) -> None:
        await self._reporter.settled(run, action, first_word=first_word)
        self.due.settled(run.run_id, index)

    async def _live(
        self,
        run: Run,
        put_off: Callable[[Stop | None], Stop | None],
        *,
        was_on: bool,
    ) -> RunRecord:
        stop = None
        try:
            await run.execute()
            ending = run.ending
            told = await self._tell(run, ending)
            stop = put_off(stop_with(run, told, self._state))
            went_off = stop is not None or (was_on and not self._state.is_on)
            record = replace(
                run.record(ending),
                message=told.message,
                stopped=went_off,
                stop_reason=why_stopped(
                    ending,
                    stop,
                    self._state,
                    went_off=went_off,
                    is_unloaded=self._is_closed,
                ),
                delivery_failed=told.delivery.failed,
                delivery_waiting=self.due.still_waits(run.run_id, told),
                not_sent=told.not_sent,
            )
            record = self._book.end(self._judged(run, record))
        finally:
            self._run = self._task = None
        self._model_log.note(run.plan.options.title, record)
        self._settle_what_ended_meanwhile(run, ending)
        self._on_end(record, stop)
        self.context = None
        return record

    @callback
    def _told_late(self, run_id: str, told: Told) -> None:
        """Write down what was told of a run only after it was over (S5)."""
        heard = told.delivery
        self.log.told(
            run_id,
            told.message,
            heard.failed,
            reached=heard.reached,
            waiting=heard.late,
        )

    async def _tell(self, run: Run, ending: Ending) -> Told:
        telling = self.spawn(self._report(run, ending), "report")
        try:
            if not telling.done():
                await asyncio.wait({telling}, timeout=TELL_TIMEOUT)
        except asyncio.CancelledError:
            telling.cancel()
            raise
        title = run.plan.options.title
        if not telling.done():
            _LOGGER.warning("A run of %s is over, but its report hangs", title)
            return Told()
        try:
            return await telling
        except Exception:
            _LOGGER.exception("A run of %s was not reported", title)
            return Told()

    async def _report(self, run: Run, ending: Ending) -> Told:
        """Report a run; until that is done it is due (S5)."""
        on_late = partial(self.due.reached, run.run_id)
        told = await self._reporter.ended(run, ending, on_late)
        self.due.told(run.run_id, ending.actions, told)
        return told

    def _judged(self, run: Run, record: RunRecord) -> RunRecord:
        try:
            return self._judge(run, record)
        except Exception:
            _LOGGER.exception("A run of %s was not judged", run.plan.options.title)
            return record

    def _settle_what_ended_meanwhile(self, run: Run, ending: Ending) -> None:
        now = run.ending.actions
        for index, action in enumerate(ending.actions):
            if now[index] == action:
                continue
            if action.status is ActionStatus.STILL_RUNNING:
                self._action_settled(run, index, now[index])
            elif action.status is ActionStatus.WAITING:
                self.log.answer(run.run_id, index, now[index])

"""The one door to Home Assistant's actions for the model (A1-A9, R8)."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
import logging
from typing import Any

from homeassistant.core import Context, HomeAssistant
from homeassistant.util import dt as dt_util

from .engine.errors import (
    ActionRefusedError,
    CutReason,
    RefusalKind,
    RunCutError,
)
from .engine.policy import Verdict
from .engine.reach import Reach
from .engine.records import ActionRecord, ActionStatus, Json
from .engine.repeats import ONLY_ADDS, action_key
from .engine.spans import ago
from .guard_call import call_action, call_reading
from .guard_checks import Action, check, check_reading, judge_action
from .guard_look import Look
from .past_actions import PastActions

__all__ = ["Action", "Guard"]

_LOGGER = logging.getLogger(__name__)

type Result = tuple[ActionRecord, Json]


class Guard:
    """Lets the actions of one run through: resolve, judge, check, act, look.

    `lock` belongs to the heartbeat: one action at a time, also across runs (A8).
    `permitted` answers with today's reach, so that what was taken out of it
    meanwhile is refused (C7). `on_settled` hears of an action that outlived the
    waiting for it or the run (R8): its index in `actions` and its final record.
    `past_actions` is the heartbeat's memory of what did not help (A7).
    """

    def __init__(  # noqa: PLR0913 - by name, each from another side
        self,
        hass: HomeAssistant,
        *,
        context: Context,
        permitted: Callable[[], Reach],
        ask_before_risky: bool,
        max_actions: int,
        lock: asyncio.Lock,
        dry_run: bool,
        on_settled: Callable[[int, ActionRecord], None],
        past_actions: PastActions,
    ) -> None:
        """Serve one run, with no action yet."""
        self._hass = hass
        self._context = context
        self._permitted = permitted
        self._ask_before_risky = ask_before_risky
        self._max_actions = max_actions
        self._lock = lock
        self._dry_run = dry_run
        self._on_settled = on_settled
        self._past_actions = past_actions
        self._over: asyncio.Future[None] = hass.loop.create_future()
        self._records: list[ActionRecord] = []
        self._unhelpful: list[ActionRecord] = []
        self._own_keys: set[str] = set()
        self._abandoned: set[int] = set()

    @property
    def actions(self) -> tuple[ActionRecord, ...]:
        """The actions so far; one that has not ended yet is `still_running`."""
        return tuple(self._records)

    @property
    def unhelpful(self) -> tuple[ActionRecord, ...]:
        """What was not repeated, and its owner does not know that it did not help."""
        return tuple(self._unhelpful)

    def close(self) -> None:
        """Let no new action through; what has been called goes on (F6, R8)."""
        if not self._over.done():
            self._over.set_result(None)

    async def act(self, action: Action) -> Result:
        """Execute an action; return its record and its response, if it has one.

        One that would certainly change nothing is not called (A5). Raises
        `ActionRefusedError` for what is not done or failed, `RunCutError` when the
        run may not act any more. Cancelling the wait does not cancel an action that
        has been called (R8).
        """
        if (already := self._admit(action)) is not None:
            return already, None
        if self._dry_run:
            return self._append(action, ActionStatus.NOT_DONE), None
        await self._lock.acquire()
        is_started = False
        try:
            if (already := self._admit(action)) is not None:
                return already, None
            index, task = self._start(action)
            is_started = True
        finally:
            if not is_started:
                self._lock.release()
        return await self._wait(index, task)

    async def read(self, action: Action) -> Json:
        """Return the answer of an action that does nothing but answer.

        Takes entities that may only be seen, too; counts as no action, and is let
        through in a dry run. Raises `ActionRefusedError` for what is not allowed or
        failed, `RunCutError` when the run is over.
        """
        self._check_open()
        check_reading(self._hass, action, self._permitted())
        answer, error = await call_reading(self._hass, action, self._context)
        if error is not None:
            raise ActionRefusedError(
                RefusalKind.FAILED, f"{action.name} failed: {error}"
            )
        return answer

    def _check_open(self) -> None:
        if self._over.done():
            raise RunCutError(CutReason.STOPPED)

    def _admit(self, action: Action) -> ActionRecord | None:
        """Check everything as of now; raise instead of letting it through.

        Returns the record of an action that need not be called.
        """
        self._check_open()
        reach = self._permitted()
        check(self._hass, action, reach)
        verdict = judge_action(
            self._hass, action, reach, ask_before_risky=self._ask_before_risky
        )
        if verdict is Verdict.DENY:
            raise ActionRefusedError(
                RefusalKind.NOT_ALLOWED, f"{action.name} is not allowed here."
            )
        look = Look(self._hass, action)
        if look.is_already_met:
            return self._append(action, ActionStatus.ALREADY, observed=look.observed())
        self._check_help(action)
        if self._count >= self._max_actions:
            raise RunCutError(CutReason.ACTION_LIMIT)
        if verdict is Verdict.ASK:
            self._request(action)
        return None

    @property
    def _count(self) -> int:
        """The actions against the limit: one that was not needed is none (A5, F5)."""
        return sum(one.status is not ActionStatus.ALREADY for one in self._records)

    def _check_help(self, action: Action) -> None:
        """Refuse what was done and changed nothing since; note it for the owner (A7).

        In the run that did it, it is too early to say that it did not help.
        """
        key = action_key(action.name, action.entity_id, action.data)
        if (past := self._past_actions.without_effect(key)) is None:
            return
        error = (
            f"It was done {ago(dt_util.utcnow() - past.at)} and nothing has changed"
            " since; not repeated."
        )
        if past.to_tell and not self._dry_run and key not in self._own_keys:
            self._past_actions.mark_told(key)
            self._unhelpful.append(_record(action, ActionStatus.NOT_DONE, error=error))
        raise ActionRefusedError(RefusalKind.REPEATED, error)

    def _request(self, action: Action) -> None:
        error = f"{action.name} needs the owner's yes; not done."
        self._append(action, ActionStatus.FAILED, error=error)
        raise ActionRefusedError(RefusalKind.NEEDS_APPROVAL, error)

    def _append(
        self, action: Action, status: ActionStatus, **seen: Any
    ) -> ActionRecord:
        record = _record(action, status, **seen)
        self._records.append(record)
        return record

    def _start(self, action: Action) -> tuple[int, asyncio.Task[Result]]:
        look = Look(self._hass, action)
        before = self._past_actions.situation()
        index = len(self._records)
        self._append(action, ActionStatus.STILL_RUNNING)
        task = self._hass.async_create_background_task(
            self._execute(index, action, look, before),
            f"proactive_agent {action.name}",
            # One that is cancelled before its first step would never release the lock.
            eager_start=True,
        )
        return index, task

    async def _execute(
        self, index: int, action: Action, look: Look, before: Mapping[str, str]
    ) -> Result:
        """Call, look, record, release: the task owns all of it from here on."""
        outlived = True
        try:
            response, error = await call_action(self._hass, action, self._context)
            outlived = self._over.done() or index in self._abandoned
            self._change(
                index,
                status=ActionStatus.FAILED if error else ActionStatus.DONE,
                error=error,
            )
            await self._look_after(index, action, look, before)
            return self._records[index], response
        finally:
            if self._records[index].status is ActionStatus.STILL_RUNNING:
                self._change(index, status=ActionStatus.FAILED, error="It was cut off.")
            self._lock.release()
            if outlived:
                self._settle(index, self._records[index])

    async def _look_after(
        self, index: int, action: Action, look: Look, before: Mapping[str, str]
    ) -> None:
        """Add to the record what is seen; what was done stays done if it fails (A6)."""
        is_done = self._records[index].status is ActionStatus.DONE
        try:
            self._record_outcome(index, look)
            if is_done:
                await look.follow(self._over)
                self._record_outcome(index, look)
                self._remember(action, look, before)
        except Exception:
            _LOGGER.exception("What came of %s could not be looked at", action.name)

    def _record_outcome(self, index: int, look: Look) -> None:
        failed = self._records[index].status is ActionStatus.FAILED
        self._change(
            index, observed=look.observed(), note=None if failed else look.note()
        )

    def _change(self, index: int, **changes: Any) -> None:
        self._records[index] = replace(self._records[index], **changes)

    def _remember(self, action: Action, look: Look, before: Mapping[str, str]) -> None:
        """Keep in mind what was done; a step that was taken is an effect (A7)."""
        if look.is_step_taken:
            return
        key = action_key(action.name, action.entity_id, action.data)
        self._own_keys.add(key)
        self._past_actions.remember(
            key,
            before,
            look.entity_ids,
            has_shown=look.shows_effect or action.name in ONLY_ADDS,
        )

    async def _wait(self, index: int, task: asyncio.Task[Result]) -> Result:
        try:
            record, response = await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.done():
                self._abandoned.add(index)
            raise
        if record.error is not None:
            raise ActionRefusedError(
                RefusalKind.FAILED, f"{record.action} failed: {record.error}"
            )
        return record, response

    def _settle(self, index: int, record: ActionRecord) -> None:
        try:
            self._on_settled(index, record)
        except Exception:
            _LOGGER.exception("What became of %s could not be noted", record.action)


def _record(action: Action, status: ActionStatus, **seen: Any) -> ActionRecord:
    return ActionRecord(
        action=action.name,
        entity_id=action.entity_id,
        data=action.data,
        status=status,
        **seen,
    )

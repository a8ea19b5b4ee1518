"""The one door to Home Assistant's actions for the model (A1-A4, A8, R8)."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
import logging

from homeassistant.core import Context, HomeAssistant

from .engine.errors import (
    ActionRefusedError,
    CutReason,
    RefusalKind,
    RunCutError,
)
from .engine.policy import Verdict
from .engine.reach import Reach
from .engine.records import ActionRecord, ActionStatus, Json
from .guard_call import ACTION_TIMEOUT, READING_TIMEOUT, call_action, observe
from .guard_checks import Action, check, check_reading, judge_action

__all__ = ["Action", "Guard"]

_LOGGER = logging.getLogger(__name__)

type Result = tuple[ActionRecord, Json]


class Guard:
    """Lets the actions of one run through: resolve, judge, check, act, look.

    `lock` belongs to the heartbeat: one action at a time, also across runs (A8).
    `permitted` answers with today's reach, so that what was taken out of it
    meanwhile is refused (C7). `on_settled` hears of an action that outlived the
    waiting for it or the run (R8): its index in `actions` and its final record.
    """

    def __init__(
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
    ) -> None:
        """Stand at the door for one run."""
        self._hass = hass
        self._context = context
        self._permitted = permitted
        self._ask_before_risky = ask_before_risky
        self._max_actions = max_actions
        self._lock = lock
        self._dry_run = dry_run
        self._on_settled = on_settled
        self._closed = False
        self._records: list[ActionRecord] = []
        self._abandoned: set[int] = set()

    @property
    def actions(self) -> tuple[ActionRecord, ...]:
        """The actions so far; one that has not ended yet is `still_running`."""
        return tuple(self._records)

    def close(self) -> None:
        """Let no new action through; what has been called goes on (F6, R8)."""
        self._closed = True

    async def act(self, action: Action) -> Result:
        """Execute an action; return its record and its response, if it has one.

        Raises `ActionRefusedError` for what is not done or failed, `RunCutError`
        when the run may not act any more. Cancelling the wait does not cancel an
        action that has been called (R8).
        """
        self._admit(action)
        if self._dry_run:
            return self._append(action, ActionStatus.NOT_DONE), None
        await self._lock.acquire()
        try:
            self._admit(action)
            index = len(self._records)
            self._append(action, ActionStatus.STILL_RUNNING)
            task = self._hass.async_create_background_task(
                self._execute(index, action), f"proactive_agent {action.name}"
            )
        except BaseException:
            self._lock.release()
            raise
        return await self._wait(index, task)

    async def read(self, action: Action) -> Json:
        """Return the answer of an action that does nothing but answer.

        Takes entities that may only be seen, too; counts as no action, and is let
        through in a dry run. Raises `ActionRefusedError` for what is not allowed or
        failed, `RunCutError` when the run is over.
        """
        self._check_open()
        check_reading(self._hass, action, self._permitted())
        answer, error = await call_action(
            self._hass, action, self._context, limit=READING_TIMEOUT
        )
        if error is not None:
            raise ActionRefusedError(
                RefusalKind.FAILED, f"{action.name} failed: {error}"
            )
        return answer

    def _check_open(self) -> None:
        if self._closed:
            raise RunCutError(CutReason.STOPPED)

    def _admit(self, action: Action) -> None:
        """Check everything as of now; raise instead of letting it through."""
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
        if len(self._records) >= self._max_actions:
            raise RunCutError(CutReason.ACTION_LIMIT)
        if verdict is Verdict.ASK:
            self._request(action)

    def _request(self, action: Action) -> None:
        error = f"{action.name} needs the owner's yes; not done."
        self._append(action, ActionStatus.FAILED, error)
        raise ActionRefusedError(RefusalKind.NEEDS_APPROVAL, error)

    def _append(
        self, action: Action, status: ActionStatus, error: str | None = None
    ) -> ActionRecord:
        record = ActionRecord(
            action=action.name,
            entity_id=action.entity_id,
            data=action.data,
            status=status,
            error=error,
        )
        self._records.append(record)
        return record

    async def _execute(self, index: int, action: Action) -> Result:
        """Call, record, release the lock: the task owns all three from here on."""
        record = replace(
            self._records[index], status=ActionStatus.FAILED, error="It was cut off."
        )
        try:
            response, error = await call_action(
                self._hass, action, self._context, limit=ACTION_TIMEOUT
            )
            record = replace(
                record,
                status=ActionStatus.FAILED if error else ActionStatus.DONE,
                observed=observe(self._hass, action.entity_id),
                error=error,
            )
            return record, response
        finally:
            self._records[index] = record
            self._lock.release()
            if self._closed or index in self._abandoned:
                self._settle(index, record)

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

"""An action under way: called, looked after, and never cut off (A5, R8)."""

import asyncio
from collections.abc import Callable, Mapping
import logging

from homeassistant.core import Context, HomeAssistant, callback

from ..engine.errors import ActionRefusedError, RefusalKind
from ..engine.records import CUT_OFF, ActionRecord, ActionStatus, Json
from ..engine.repeats import ONLY_ADDS, action_key
from .call import call_action
from .checks import Action
from .look import Look
from .past_actions import PastActions
from .records import ActionRecords
from .witness import Witness

_LOGGER = logging.getLogger(__name__)

type Result = tuple[ActionRecord, Json]


class Work:
    """Carries out the actions of one run, each under the heartbeat's action lock."""

    def __init__(
        self,
        hass: HomeAssistant,
        *,
        context: Context,
        records: ActionRecords,
        lock: asyncio.Lock,
        past_actions: PastActions,
        on_settled: Callable[[int, ActionRecord], None],
        witness: Witness,
    ) -> None:
        """Begin with nothing under way; see `Guard` for what the ports are."""
        self._hass = hass
        self._context = context
        self._records = records
        self._lock = lock
        self._past_actions = past_actions
        self._on_settled = on_settled
        self._witness = witness
        self._over: asyncio.Future[None] = hass.loop.create_future()
        self._own_keys: set[str] = set()
        self._abandoned: set[int] = set()

    @property
    def is_over(self) -> bool:
        """Whether nothing new may begin."""
        return self._over.done()

    @callback
    def close(self) -> None:
        """Begin nothing new; what has been called goes on (F6, R8)."""
        if not self._over.done():
            self._over.set_result(None)

    def has_done(self, key: str) -> bool:
        """Say whether this run itself has executed an action with this key."""
        return key in self._own_keys

    @callback
    def start(self, action: Action) -> tuple[int, asyncio.Task[Result]]:
        """Call an action; its task owns the lock from here on, and releases it."""
        look = Look(self._hass, action)
        before = self._past_actions.situation()
        index = len(self._records)
        self._records.append(action, ActionStatus.STILL_RUNNING)
        task = self._hass.async_create_background_task(
            self._execute(index, action, look, before),
            f"proactive_agent {action.name}",
            # One that is cancelled before its first step would never release the lock.
            eager_start=True,
        )
        return index, task

    async def wait(self, index: int, task: asyncio.Task[Result]) -> Result:
        """Wait for an action; raises `ActionRefusedError` if it failed.

        Cancelling the wait does not cancel the action (R8).
        """
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

    async def _execute(
        self, index: int, action: Action, look: Look, before: Mapping[str, str]
    ) -> Result:
        """Call, look, record, release: the task owns all of it."""
        outlived = True
        try:
            response, error = await call_action(self._hass, action, self._context)
            outlived = self.is_over or index in self._abandoned
            self._records.change(
                index,
                status=ActionStatus.FAILED if error else ActionStatus.DONE,
                error=error,
            )
            self._witness.done_so_far(tuple(self._records))
            await self._look_after(index, action, look, before)
            return self._records[index], response
        finally:
            if self._records[index].status is ActionStatus.STILL_RUNNING:
                self._records.change(index, status=ActionStatus.FAILED, error=CUT_OFF)
            self._lock.release()
            if outlived:
                self._settle(index)

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
        self._records.change(
            index, observed=look.observed(), note=None if failed else look.note()
        )

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

    def _settle(self, index: int) -> None:
        record = self._records[index]
        try:
            self._on_settled(index, record)
        except Exception:
            _LOGGER.exception("What became of %s could not be noted", record.action)

"""An action that has its owner's yes: carried out once, and told (P3, P4)."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
import logging

from homeassistant.core import Context, HomeAssistant, callback

from ..approvals.approvals import Approvals
from ..engine.approval_words import as_record
from ..engine.approvals import Approval, ApprovalStatus
from ..engine.errors import (
    ActionRefusedError,
    ApprovalError,
    ApprovalFault,
    RefusalKind,
    RunCutError,
)
from ..engine.records import CUT_OFF, ActionRecord, ActionStatus
from ..guard.facts import entries_of, members
from ..guard.guard import Action, Guard
from ..saying import text_of
from .endings import Endings

_LOGGER = logging.getLogger(__name__)

SWITCHED_OFF = "the heartbeat was stopped"
INTERNAL = "it failed for an internal reason"

type MakeGuard = Callable[[Context, Callable[[int, ActionRecord], None]], Guard]
type OnOver = Callable[[ActionRecord], None]


class CarryingOut:
    """Has approved actions done, each through a guard of its own.

    `make_guard` returns that guard, for the action's context and a callback that gets
    the action's record if it ends after nobody waits for it any more. `on_answer` gets
    what became of an action: its run's id, its index there, its record. `on_over` gets
    the record when all that follows from the request has been done.
    """

    def __init__(
        self,
        hass: HomeAssistant,
        *,
        approvals: Approvals,
        endings: Endings,
        make_guard: MakeGuard,
        on_answer: Callable[[str, int, ActionRecord], None],
        on_over: OnOver,
    ) -> None:
        """Carry out for one heartbeat; nothing is under way."""
        self._hass = hass
        self._approvals = approvals
        self._endings = endings
        self._make_guard = make_guard
        self._on_answer = on_answer
        self._on_over = on_over
        self._under_way: dict[str, Guard] = {}
        self._tasks: set[asyncio.Task[RefusalKind | None]] = set()

    @callback
    def close(self) -> None:
        """Let nothing more begin; what has been called goes on (F6, R8)."""
        for guard in self._under_way.values():
            guard.close()

    async def async_close(self, seconds: float) -> None:
        """Let nothing more begin, and wait a moment for what is under way."""
        self.close()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)

    @callback
    def begin(self, approval: Approval) -> None:
        """Make the guard of an approved action: from now on a stop reaches it (F6)."""
        self._under_way[approval.approval_id] = self._make_guard(
            Context(id=approval.context_id),
            lambda _, record: self._outlived(approval, record),
        )

    async def async_act(self, approval: Approval) -> RefusalKind | None:
        """Have the action done for which `begin` was called, and tell how it ended.

        Returns why it was not done, None if it was (P4).
        """
        guard = self._under_way[approval.approval_id]
        record, refused = await self._act(guard, approval)
        await self._ended(approval, record, refused)
        return refused

    @callback
    def follow(self, task: asyncio.Task[RefusalKind | None]) -> None:
        """Add a task that `async_close` waits for."""
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _act(
        self, guard: Guard, approval: Approval
    ) -> tuple[ActionRecord, RefusalKind | None]:
        action = _action(approval)
        grant = _Grant(self._hass, self._approvals, approval, action)
        try:
            record, _ = await guard.act_with(grant, action)
        except ActionRefusedError as err:
            return _what_became(guard, approval, str(err)), err.kind
        except RunCutError:
            return _what_became(guard, approval, SWITCHED_OFF), RefusalKind.STOPPED
        except Exception:
            _LOGGER.exception("%s could not be carried out", approval.action)
            return _what_became(guard, approval, INTERNAL), RefusalKind.FAILED
        return record, None

    async def _ended(
        self, approval: Approval, record: ActionRecord, refused: RefusalKind | None
    ) -> None:
        """Settle a request, once: the wait for it and its action may both end here."""
        if self._under_way.pop(approval.approval_id, None) is None:
            return
        record = replace(record, answered_by=approval.answered_by)
        message = await self._endings.async_message(approval, record, refused)
        if await self._is_settled(approval, record, refused, message):
            self._on_answer(approval.run_id, approval.index, record)
            await self._endings.async_tell(approval, record, message)
            self._on_over(record)

    async def _is_settled(
        self,
        approval: Approval,
        record: ActionRecord,
        refused: RefusalKind | None,
        message: str,
    ) -> bool:
        """Write down how a request has ended; says whether that is still to be told.

        What was cut off before or while it was called stays as it is on disk: the next
        start tells of it (P3).
        """
        try:
            status = self._approvals.get(approval.approval_id).status
        except ApprovalError:
            return True  # removed with its heartbeat
        if status is ApprovalStatus.WITHDRAWN:
            return False  # told by who withdrew it
        if record.error == CUT_OFF or (
            refused is RefusalKind.STOPPED and status is ApprovalStatus.APPROVED
        ):
            return False
        # In one write with the end: else a crash could lose the word of it (S5).
        self._endings.put(approval, message)
        await self._approvals.async_end(
            approval.approval_id, _status(record), record.error
        )
        return True

    @callback
    def _outlived(self, approval: Approval, record: ActionRecord) -> None:
        """Note what became of an action that nobody waited for to its end (R8)."""
        # Not the entry's own task: the word is due even after an unload.
        self._hass.async_create_background_task(
            self._ended(approval, record, None), "proactive_agent settled approval"
        )


def situation_of(hass: HomeAssistant, action: Action) -> dict[str, str]:
    """Return the states that a yes to an action is given for (P4)."""
    touched = (*action.entity_id, *action.named)
    return {
        entity_id: text_of(state)
        for one in touched
        for entity_id in (one, *members(hass, one))
        if (state := hass.states.get(entity_id)) is not None
    }


class _Grant:
    """The yes to one request."""

    def __init__(
        self,
        hass: HomeAssistant,
        approvals: Approvals,
        approval: Approval,
        action: Action,
    ) -> None:
        self._hass = hass
        self._approvals = approvals
        self._approval = approval
        self._action = action

    async def async_begin(self) -> None:
        try:
            await self._approvals.async_begin(self._approval.approval_id)
        except ApprovalError as err:
            raise ActionRefusedError(
                RefusalKind.NOT_WRITTEN
                if err.kind is ApprovalFault.NOT_WRITTEN
                else RefusalKind.NOT_ALLOWED,
                str(err),
            ) from err

    def check(self) -> None:
        asked = self._approval
        if asked.differs_from(
            situation_of(self._hass, self._action)
        ) or asked.entries != entries_of(self._hass, asked.states):
            raise ActionRefusedError(
                RefusalKind.CHANGED, "its entities have changed since it was asked"
            )


def _action(approval: Approval) -> Action:
    domain, _, service = approval.action.partition(".")
    return Action(
        domain=domain,
        service=service,
        entity_id=approval.entity_id,
        data=approval.data,
        named=approval.named,
        must_ask=approval.must_ask,
    )


def _what_became(guard: Guard, approval: Approval, error: str) -> ActionRecord:
    """Return the guard's own record, if the action has got as far as that."""
    if guard.actions:
        return guard.actions[-1]
    return as_record(approval, ActionStatus.FAILED, error)


def _status(record: ActionRecord) -> ApprovalStatus:
    if record.may_go_on:
        return ApprovalStatus.UNKNOWN
    is_done = record.status in (ActionStatus.DONE, ActionStatus.ALREADY)
    return ApprovalStatus.DONE if is_done else ApprovalStatus.FAILED

"""A heartbeat's requests: put to its owner, answered, carried out (P1-P7)."""

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, Final

from homeassistant.core import HomeAssistant, callback
from homeassistant.util import dt as dt_util

from ..approvals.approvals import Approvals
from ..engine.approval_words import as_record, standing, why_not_again
from ..engine.approvals import Approval, ApprovalStatus, fault_after_yes
from ..engine.errors import (
    ActionRefusedError,
    ApprovalError,
    ApprovalFault,
    NothingDoneError,
    RefusalKind,
)
from ..engine.records import ActionStatus
from ..guard.guard import Action
from .carrying_out import CarryingOut
from .endings import Endings
from .farewell import Farewell
from .ports import Ports
from .reporter import ApprovalReporter
from .request import new_request

# Seconds in which who said yes may hear how it ended; it goes on without them.
ANSWER_TIMEOUT: Final = 10
_NO: Final = {
    ApprovalStatus.REJECTED: "the owner said no",
    ApprovalStatus.EXPIRED: "the owner did not answer",
    ApprovalStatus.WITHDRAWN: "it was withdrawn",
}


class Asking:
    """Puts the requests of one heartbeat to its owner, and acts on the answers.

    `farewell` puts off its stop while a request is open.
    """

    def __init__(
        self,
        hass: HomeAssistant,
        ports: Ports,
        *,
        approvals: Approvals,
        reporter: ApprovalReporter,
        endings: Endings,
        carrying_out: CarryingOut,
        farewell: Farewell,
    ) -> None:
        """Ask for one heartbeat."""
        self._hass = hass
        self._approvals = approvals
        self._reporter = reporter
        self._endings = endings
        self._options = ports.options
        self._carrying_out = carrying_out
        self._spawn = ports.spawn
        self._is_on = ports.is_on
        self._on_answer = ports.on_answer
        self.farewell = farewell
        self._started = asyncio.Event()
        approvals.on_expired.add(self._over)

    @property
    def pending(self) -> tuple[Approval, ...]:
        """What waits for an answer, the oldest first."""
        return self._approvals.pending

    @property
    def all(self) -> tuple[Approval, ...]:
        """Every request that is remembered, open or settled."""
        return self._approvals.all

    @callback
    def start(self) -> None:
        """Go on with what was asked before a restart, and say what it cut short."""
        self.follow_options()
        for approval in self._approvals.start():
            self._tell(self._interrupted(approval))
        for approval in self._approvals.pending:
            if not approval.is_asked:
                self._tell(self._asked(approval))
            elif not (options := self._options()).notify:
                # Phones go on showing it, Home Assistant does not.
                self._tell(self._reporter.asked(options, approval, again=True))
        self._started.set()
        self.farewell.look()

    @callback
    def follow_options(self) -> None:
        """Take over from the options for how long a no stands (P5)."""
        self._approvals.remember_for(self._options().manners.recheck_after)

    @callback
    def withdraw_all(self) -> None:
        """Withdraw what is pending or approved; no action is called for it (F6, P7)."""
        self._carrying_out.close()
        for approval in self._approvals.withdraw_all():
            self._over(approval)
            if approval.answered_by is not None:
                self._tell(self._endings.async_stopped(approval))

    async def async_close(self, seconds: float) -> None:
        """Stop following; wait at most `seconds` for actions that have been called."""
        self._approvals.close()
        await self._carrying_out.async_close(seconds)

    def for_prompt(self) -> tuple[str, ...]:
        """Return what the model is told of requests, a line for each (P5)."""
        known = (*self._approvals.open, *self._approvals.remembered())
        return standing(known, dt_util.utcnow())

    async def async_ask(
        self, run_id: str, index: int, action: Action, because: str
    ) -> None:
        """Put an action to the owner; it is action `index` of its run (P1).

        The run may be cut short meanwhile: it is asked to the end all the same.
        Raises `ActionRefusedError`, of the kind `REPEATED` if it was asked before.
        """
        ask = self._ask(run_id, index, action, because)
        if (refusal := await asyncio.shield(self._spawn(ask, "request"))) is not None:
            raise refusal

    async def async_approve(self, approval_id: str, answered_by: str) -> Approval:
        """Take a yes and act on it; returns the request as it then stands (P3).

        Waits at most 10 seconds for the end of the action. Raises `ApprovalError` for
        an answer that is not taken (P6), `NothingDoneError` if the action was not done
        (P4).
        """
        task = await self._taken(self._take_yes(approval_id, answered_by))
        await asyncio.wait({task}, timeout=ANSWER_TIMEOUT)
        approval = self._approvals.get(approval_id)
        if approval.status is ApprovalStatus.FAILED:
            raise NothingDoneError(_why(task), approval.note or "")
        if approval.status is ApprovalStatus.WITHDRAWN:
            raise NothingDoneError(ApprovalFault.STOPPED)
        return approval

    async def async_reject(self, approval_id: str, answered_by: str) -> Approval:
        """Take a no; raises `ApprovalError` for an answer that is not taken (P6)."""
        return await self._taken(self._take_no(approval_id, answered_by))

    async def _taken[T](self, answer: Coroutine[Any, Any, T]) -> T:
        """Take an answer, also if who gives it is gone before the disk has it (P3)."""
        task = self._spawn(_caught(answer), "answer", awaited=True)
        if isinstance(taken := await asyncio.shield(task), ApprovalError):
            raise taken
        return taken

    async def _take_yes(
        self, approval_id: str, answered_by: str
    ) -> asyncio.Task[RefusalKind | None]:
        approval = await self._approvals.async_take_yes(approval_id, answered_by)
        self._carrying_out.begin(approval)
        task = self._spawn(self._on_yes(approval), f"approval {approval_id}")
        self._carrying_out.follow(task)
        return task

    async def _take_no(self, approval_id: str, answered_by: str) -> Approval:
        approval = await self._approvals.async_take_no(approval_id, answered_by)
        self._over(approval)
        return approval

    async def _ask(
        self, run_id: str, index: int, action: Action, because: str
    ) -> ActionRefusedError | None:
        """Write a request down and ask; returns why, if it is not asked."""
        approval = new_request(
            self._hass,
            self._options(),
            action,
            run_id=run_id,
            index=index,
            because=because,
        )
        words = await self._reporter.words(approval)
        approval = replace(approval, words=words)
        # No await between this and the adding: a stop would withdraw what is there.
        refusal = self._obstacle(approval)
        if refusal is None:
            try:
                await self._approvals.async_add(approval)
            except ApprovalError:
                why = "and the request could not be written down"
                refusal = _not_asked(approval, why, RefusalKind.NOT_WRITTEN)
        if refusal is not None:
            # A run that is over hears nothing of it, and its record has to.
            record = as_record(approval, ActionStatus.FAILED, str(refusal))
            self._on_answer(run_id, index, record)
        # It may have been withdrawn while the disk was waited for (C5).
        elif approval in self._approvals.pending:
            self._tell(self._asked(approval))
        return refusal

    def _obstacle(self, approval: Approval) -> ActionRefusedError | None:
        """Return why a request cannot be put now, None if it can."""
        if not self._is_on():
            return _not_asked(approval, "and the heartbeat has stopped")
        if (known := self._approvals.in_the_way(approval.key)) is not None:
            return ActionRefusedError(
                RefusalKind.REPEATED,
                f"{approval.action} {why_not_again(known)}; not asked again.",
            )
        if self._approvals.is_full:
            return _not_asked(approval, "but too many requests wait already")
        return None

    async def _asked(self, approval: Approval) -> None:
        options = self._options()
        await self._reporter.asked(options, approval)
        self._approvals.mark_asked(approval.approval_id, options.notify)

    async def _on_yes(self, approval: Approval) -> RefusalKind | None:
        options = self._options()
        self._tell(self._reporter.cleared(options, approval))
        # Until Home Assistant has started, much of it is not there yet (P4).
        await self._started.wait()
        await self._reporter.answered(options, approval)
        return await self._carrying_out.async_act(approval)

    @callback
    def _over(self, approval: Approval) -> None:
        """Tell that a request ended without a yes."""
        record = as_record(approval, ActionStatus.FAILED, _NO[approval.status])
        self._on_answer(
            approval.run_id,
            approval.index,
            replace(record, answered_by=approval.answered_by),
        )
        self._tell(self._reporter.answered(self._options(), approval))
        self._tell(self._reporter.cleared(self._options(), approval))
        self.farewell.request_over(record)

    async def _interrupted(self, approval: Approval) -> None:
        await self._endings.async_interrupted(approval)
        record = as_record(approval, ActionStatus.FAILED, approval.note)
        self.farewell.request_over(record)

    @callback
    def _tell(self, job: Coroutine[Any, Any, None]) -> None:
        self._spawn(job, "approval notice")


async def _caught[T](answer: Coroutine[Any, Any, T]) -> T | ApprovalError:
    """Return why an answer is not taken: nobody may be there to be told."""
    try:
        return await answer
    except ApprovalError as err:
        return err


def _not_asked(
    approval: Approval, why: str, kind: RefusalKind = RefusalKind.NEEDS_APPROVAL
) -> ActionRefusedError:
    return ActionRefusedError(
        kind,
        f"{approval.action} needs the owner's yes, {why}; not asked and not done.",
    )


def _why(task: asyncio.Task[RefusalKind | None]) -> ApprovalFault:
    """Say why a yes came to nothing, as far as that is known by now."""
    if not task.done() or task.cancelled() or task.exception() is not None:
        return ApprovalFault.FAILED
    return fault_after_yes(task.result())

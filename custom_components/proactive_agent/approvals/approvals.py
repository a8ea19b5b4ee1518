"""Requests for the owner's yes: kept on disk, answered once, ended in time (P1-P7)."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import timedelta

from homeassistant.core import HomeAssistant, callback
from homeassistant.util import dt as dt_util

from ..engine.approvals import (
    MAX_PENDING,
    Approval,
    ApprovalStatus,
    fault_of,
    in_the_way,
    is_remembered,
    pending,
    recovered,
    refused_at,
    trimmed,
)
from ..engine.errors import ApprovalError, ApprovalFault
from ..listeners import Listeners
from .memory import Memory
from .watch import ApprovalWatch


class Approvals:
    """The requests of one heartbeat, and the steps each of them can take.

    A step checks the present status and sets the next without an await in between, so
    that of two answers only the first counts. `on_change` is called after each step,
    `on_expired` with a request that nobody has answered in time.
    """

    def __init__(
        self,
        memory: Memory,
        hass: HomeAssistant,
        on_change: Callable[[], None],
    ) -> None:
        """Take over what the memory holds; no timer runs before `start`."""
        self._memory = memory
        self.on_expired = Listeners[[Approval]]()
        self._on_change = on_change
        self._watch = ApprovalWatch(
            hass, on_time=self._expire, on_state=self._note_change
        )
        self._recheck_after = timedelta()
        self._is_started = False
        # What gets its yes from now on is not what a restart has cut short.
        self._cut_short = {one.approval_id for one in self.open if not one.is_pending}

    @property
    def all(self) -> tuple[Approval, ...]:
        """Every request that is remembered."""
        return self._memory.approvals

    @property
    def pending(self) -> tuple[Approval, ...]:
        """What waits for an answer, the oldest first."""
        return pending(self._memory.approvals)

    @property
    def open(self) -> tuple[Approval, ...]:
        """What is pending, approved or executing: everything that has not ended."""
        return tuple(one for one in self._memory.approvals if one.is_open)

    @property
    def is_full(self) -> bool:
        """Whether as many wait as may (P1)."""
        return len(self.pending) >= MAX_PENDING

    def get(self, approval_id: str) -> Approval:
        """Return a request; raises `ApprovalError` if it is not known."""
        for approval in self._memory.approvals:
            if approval.approval_id == approval_id:
                return approval
        raise ApprovalError(ApprovalFault.NOT_FOUND)

    def in_the_way(self, key: str) -> Approval | None:
        """Return an earlier request that keeps the same from being put (P5)."""
        now = dt_util.utcnow()
        return in_the_way(self.all, key, now=now, recheck_after=self._recheck_after)

    def remembered(self) -> tuple[Approval, ...]:
        """Return the rejected and expired requests not to be repeated yet (P5)."""
        now, span = dt_util.utcnow(), self._recheck_after
        return tuple(one for one in self.all if is_remembered(one, now, span))

    @callback
    def remember_for(self, recheck_after: timedelta) -> None:
        """Set for how long a rejected or expired request is not repeated (P5)."""
        self._recheck_after = recheck_after
        self._follow()

    @callback
    def start(self) -> tuple[Approval, ...]:
        """Begin to expire requests and to watch states.

        Returns the requests whose action a restart has kept from being called, or seen
        to its end (P3, P7).
        """
        self._is_started = True
        now = dt_util.utcnow()
        cut_short = tuple(
            recovered(one, now)
            for one in self.open
            if one.approval_id in self._cut_short
        )
        self._cut_short.clear()
        if cut_short:
            self._replace(cut_short)
        self._expire()
        self._follow()
        self._watch.look()
        return cut_short

    @callback
    def close(self) -> None:
        """Stop following; what waits goes on waiting."""
        self._is_started = False
        self._watch.close()

    async def async_add(self, approval: Approval) -> None:
        """Keep a new request; raises `ApprovalError` if it cannot be written down (P1).

        One that has been answered while the disk was waited for is kept all the same.
        """
        self._put((*self._memory.approvals, approval))
        if not await self._memory.async_save() and self._stands_at(
            approval.approval_id, ApprovalStatus.PENDING
        ):
            others = (
                one for one in self.all if one.approval_id != approval.approval_id
            )
            self._put(tuple(others))
            raise ApprovalError(ApprovalFault.NOT_WRITTEN)

    @callback
    def mark_asked(self, approval_id: str, targets: tuple[str, ...]) -> None:
        """Note which targets show a request: a restart need not send it again."""
        self._replace(
            replace(one, is_asked=True, targets=targets)
            for one in self.pending
            if one.approval_id == approval_id
        )

    async def async_take_yes(self, approval_id: str, answered_by: str) -> Approval:
        """Take a yes, once, and have it on disk before its action can be called (P3).

        Raises `ApprovalError` if it comes too late, or if the disk does not take it:
        then the request is pending again.
        """
        self._expire()
        approval = self._step(
            approval_id, ApprovalStatus.APPROVED, answered_by=answered_by
        )
        is_written = await self._memory.async_save()
        # It may have been withdrawn while the disk was waited for (C5).
        if not self._stands_at(approval_id, ApprovalStatus.APPROVED):
            raise ApprovalError(fault_of(self.get(approval_id)))
        if not is_written:
            self._undo(approval)
            raise ApprovalError(ApprovalFault.NOT_WRITTEN)
        return approval

    async def async_take_no(self, approval_id: str, answered_by: str) -> Approval:
        """Take a no; raises `ApprovalError` for one that comes too late.

        A no counts even if the disk does not take it: nothing follows from it.
        """
        self._expire()
        approval = self._step(
            approval_id, ApprovalStatus.REJECTED, answered_by=answered_by
        )
        await self._memory.async_save()
        return approval

    async def async_begin(self, approval_id: str) -> None:
        """Write down that the action is about to be called (P3).

        Raises `ApprovalError` if it is not approved any more or the disk fails: then
        nothing may be called.
        """
        self._step(approval_id, ApprovalStatus.EXECUTING)
        if not await self._memory.async_save():
            raise ApprovalError(ApprovalFault.NOT_WRITTEN)

    async def async_end(
        self, approval_id: str, status: ApprovalStatus, note: str | None = None
    ) -> Approval:
        """Write down how an approved request has ended."""
        approval = self._step(approval_id, status, note=note)
        await self._memory.async_save()
        return approval

    @callback
    def withdraw_all(self) -> tuple[Approval, ...]:
        """Withdraw and return all that is pending or approved (F6, P7)."""
        now = dt_util.utcnow()
        withdrawn = tuple(
            one.to(ApprovalStatus.WITHDRAWN, now=now)
            for one in self.open
            if one.status is not ApprovalStatus.EXECUTING
        )
        if withdrawn:
            self._replace(withdrawn)
        return withdrawn

    @callback
    def _step(
        self,
        approval_id: str,
        status: ApprovalStatus,
        *,
        answered_by: str | None = None,
        note: str | None = None,
    ) -> Approval:
        approval = self.get(approval_id).to(
            status, now=dt_util.utcnow(), answered_by=answered_by, note=note
        )
        if status is ApprovalStatus.REJECTED:
            approval = self._refused(approval)
        self._replace((approval,))
        return approval

    @callback
    def _undo(self, approval: Approval) -> None:
        back = approval.to(ApprovalStatus.PENDING, now=dt_util.utcnow())
        self._replace((replace(back, answered_by=None),))

    def _stands_at(self, approval_id: str, status: ApprovalStatus) -> bool:
        return self.get(approval_id).status is status

    def _refused(self, approval: Approval) -> Approval:
        return refused_at(approval, self._watch.states(approval.states))

    @callback
    def _replace(self, changed: Iterable[Approval]) -> None:
        by_id = {one.approval_id: one for one in changed}
        self._put(
            tuple(by_id.get(one.approval_id, one) for one in self._memory.approvals)
        )

    @callback
    def _put(self, approvals: tuple[Approval, ...]) -> None:
        self._memory.put_approvals(trimmed(approvals))
        self._follow()
        self._on_change()

    @callback
    def _expire(self) -> None:
        now = dt_util.utcnow()
        expired = tuple(
            self._refused(one.to(ApprovalStatus.EXPIRED, now=now))
            for one in self.pending
            if one.expires <= now
        )
        if not expired:
            return
        self._replace(expired)
        for approval in expired:
            self.on_expired.fire(approval)

    @callback
    def _follow(self) -> None:
        """Wait for the next that expires, and watch what was refused."""
        if self._is_started:
            self._watch.watch(
                min((one.expires for one in self.pending), default=None),
                frozenset().union(*(one.states for one in self.remembered())),
            )

    @callback
    def _note_change(self, entity_id: str, state: str) -> None:
        """Let the same be asked again once what it is about has changed (P5)."""
        changed = tuple(
            replace(one, has_changed=True)
            for one in self.remembered()
            if entity_id in one.states
            and one.differs_from({**one.states, entity_id: state})
        )
        if changed:
            self._replace(changed)

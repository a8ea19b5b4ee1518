"""A request for the owner's yes, from asking to its end (P1-P7)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from .backoff import same_states
from .errors import ApprovalError, ApprovalFault, RefusalKind
from .records import JsonObject
from .repeats import action_key

MAX_PENDING: Final = 3
# Settled requests that are kept, so that a late answer gets a clear reply (P6).
MAX_SETTLED: Final = 20
NEVER_CALLED: Final = "Home Assistant was restarted before it was called"


class ApprovalStatus(StrEnum):
    """Where a request stands."""

    PENDING = "pending"
    APPROVED = "approved"
    EXECUTING = "executing"
    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"
    REJECTED = "rejected"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


_S = ApprovalStatus
_NEXT: Final[Mapping[ApprovalStatus, frozenset[ApprovalStatus]]] = {
    _S.PENDING: frozenset({_S.APPROVED, _S.REJECTED, _S.EXPIRED, _S.WITHDRAWN}),
    # Back to pending if the yes could not be written down (P3).
    _S.APPROVED: frozenset({_S.EXECUTING, _S.FAILED, _S.WITHDRAWN, _S.PENDING}),
    _S.EXECUTING: frozenset({_S.DONE, _S.FAILED, _S.UNKNOWN}),
}
OPEN: Final = frozenset({_S.PENDING, _S.APPROVED, _S.EXECUTING})
_CAME_TO_NOTHING: Final[Mapping[RefusalKind, ApprovalFault]] = {
    RefusalKind.CHANGED: ApprovalFault.CHANGED,
    RefusalKind.NEEDS_APPROVAL: ApprovalFault.NOT_ALLOWED,
    RefusalKind.NOT_ALLOWED: ApprovalFault.NOT_ALLOWED,
    RefusalKind.NOT_WRITTEN: ApprovalFault.NOT_WRITTEN,
    RefusalKind.STOPPED: ApprovalFault.STOPPED,
    RefusalKind.UNAVAILABLE: ApprovalFault.UNAVAILABLE,
}
_REMEMBERED: Final = frozenset({_S.REJECTED, _S.EXPIRED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """One action that waits for a yes, exactly as it would be called.

    - `words` say it in the home's language, with names as they were when it was asked.
    - `states` of the entities it is about: when it was asked or, once it was refused,
      when it was refused. `entries` are their ids in the entity registry, since an
      entity id may be given to another entity (P4).
    - `secret` is what a button on a phone sends back.
    - `run_id` and `index` are its place in the record of the run that asked,
      `context_id` is the context its action is called with.
    - `targets` show it, `is_asked` is set once they do.
    - `has_changed` is set if `states` have changed since it was refused (P5).
    """

    approval_id: str
    action: str
    entity_id: tuple[str, ...]
    asked: datetime
    expires: datetime
    data: JsonObject = field(default_factory=dict)
    named: tuple[str, ...] = ()
    words: str = ""
    must_ask: bool = False
    is_risky: bool = True
    because: str = ""
    states: Mapping[str, str] = field(default_factory=dict)
    entries: Mapping[str, str] = field(default_factory=dict)
    secret: str = field(default="", repr=False)
    run_id: str = ""
    index: int = 0
    context_id: str = ""
    status: ApprovalStatus = ApprovalStatus.PENDING
    settled: datetime | None = None
    answered_by: str | None = None
    note: str | None = None
    targets: tuple[str, ...] = ()
    is_asked: bool = False
    has_changed: bool = False

    @property
    def key(self) -> str:
        """What makes two requests the same one (P5)."""
        return action_key(self.action, self.entity_id, self.data)

    @property
    def is_open(self) -> bool:
        """Whether it has not come to its end."""
        return self.status in OPEN

    @property
    def is_pending(self) -> bool:
        """Whether it waits for an answer."""
        return self.status is ApprovalStatus.PENDING

    def to(
        self,
        status: ApprovalStatus,
        *,
        now: datetime,
        answered_by: str | None = None,
        note: str | None = None,
    ) -> Approval:
        """Go on to `status`; raises `ApprovalError` where that is no next step."""
        if status not in _NEXT.get(self.status, frozenset()):
            raise ApprovalError(fault_of(self))
        return replace(
            self,
            status=status,
            settled=None if status in OPEN else now,
            answered_by=answered_by or self.answered_by,
            note=note,
        )

    def differs_from(self, states: Mapping[str, str]) -> bool:
        """Say whether the states it was based on are other ones now (P4)."""
        return not same_states(self.states, states)


def fault_of(approval: Approval) -> ApprovalFault:
    """Return why a request takes no answer any more (P6)."""
    match approval.status:
        case ApprovalStatus.EXPIRED:
            return ApprovalFault.EXPIRED
        case ApprovalStatus.WITHDRAWN:
            return ApprovalFault.WITHDRAWN
        case ApprovalStatus.REJECTED:
            return ApprovalFault.REJECTED
    return ApprovalFault.ANSWERED


def fault_after_yes(refused: RefusalKind | None) -> ApprovalFault:
    """Return why an approved action was not done (P4); it failed for None."""
    if refused is None:
        return ApprovalFault.FAILED
    return _CAME_TO_NOTHING.get(refused, ApprovalFault.FAILED)


def pending(approvals: Iterable[Approval]) -> tuple[Approval, ...]:
    """Return what waits for an answer, the oldest first."""
    return tuple(sorted(filter(_is_pending, approvals), key=_by_age))


def in_the_way(
    approvals: Iterable[Approval],
    key: str,
    *,
    now: datetime,
    recheck_after: timedelta,
) -> Approval | None:
    """Return an earlier request that keeps the same one from being put again (P5)."""
    for approval in approvals:
        if approval.key == key and (
            approval.is_open or is_remembered(approval, now, recheck_after)
        ):
            return approval
    return None


def refused_at(approval: Approval, states: Mapping[str, str]) -> Approval:
    """Return a refused request with the states of that moment.

    What changes from there on lets the same be asked again (P5).
    """
    return replace(approval, states={**approval.states, **states}, has_changed=False)


def is_remembered(approval: Approval, now: datetime, recheck_after: timedelta) -> bool:
    """Say whether a no still stands: for `span`, or until a state changes (P5)."""
    return (
        approval.status in _REMEMBERED
        and not approval.has_changed
        and approval.settled is not None
        and now - approval.settled < recheck_after
    )


def recovered(approval: Approval, now: datetime) -> Approval:
    """Return a request as it stands after a restart (P3).

    One that was executing may have happened: nobody knows. One that was only approved
    was never called.
    """
    if approval.status is ApprovalStatus.EXECUTING:
        return approval.to(ApprovalStatus.UNKNOWN, now=now)
    if approval.status is ApprovalStatus.APPROVED:
        return approval.to(ApprovalStatus.FAILED, now=now, note=NEVER_CALLED)
    return approval


def trimmed(approvals: Iterable[Approval]) -> tuple[Approval, ...]:
    """Forget the oldest of those that came to their end."""
    kept = [*approvals]
    settled = sorted((one for one in kept if not one.is_open), key=_by_age)
    forgotten = {one.approval_id for one in settled[:-MAX_SETTLED]}
    return tuple(one for one in kept if one.approval_id not in forgotten)


def _is_pending(approval: Approval) -> bool:
    return approval.is_pending


def _by_age(approval: Approval) -> datetime:
    return approval.asked

"""What is said of a request: to its owner, and to the model."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final

from .approvals import Approval, ApprovalStatus
from .plain_text import MAX_LENGTH, plain_line, shorten
from .records import ActionRecord, ActionStatus, Json
from .report import Phrases
from .spans import ago

_NAME_ROOM: Final = 160  # characters; the reason gets what is left
_VALUE_ROOM: Final = 60
_STANDING: Final[Mapping[ApprovalStatus, str]] = {
    ApprovalStatus.PENDING: "waits for the owner's answer, asked",
    ApprovalStatus.APPROVED: "has the owner's yes and is about to be done, asked",
    ApprovalStatus.EXECUTING: "has the owner's yes and is being done, asked",
    ApprovalStatus.REJECTED: "the owner said no; asked",
    ApprovalStatus.EXPIRED: "the owner did not answer, which is a no; asked",
}


def as_record(
    approval: Approval, status: ActionStatus, error: str | None = None
) -> ActionRecord:
    """Return the action of a request as a record shows it."""
    return ActionRecord(
        action=approval.action,
        entity_id=approval.entity_id,
        data=approval.data,
        status=status,
        error=error,
    )


def action_in_words(approval: Approval, phrases: Phrases) -> str:
    """Say what a yes would do, with each value it would do it with."""
    record = as_record(approval, ActionStatus.WAITING)
    name = plain_line(phrases.name_of(record)) or approval.action
    values = ", ".join(_values(approval.data))
    return f"{name}, {values}" if values else name


def request_message(approval: Approval, heartbeat: str, phrases: Phrases) -> str:
    """Ask for a yes in one line: what, where and why (P1)."""
    because = plain_line(approval.because)
    wanted = action_in_words(approval, phrases)
    asked = phrases.say(
        "asks",
        heartbeat=plain_line(heartbeat),
        actions=shorten(wanted, _NAME_ROOM if because else MAX_LENGTH),
    )
    if because:
        asked = f"{asked} {phrases.say('asks_because', because=because)}"
    return shorten(asked, MAX_LENGTH)


def standing(approvals: Iterable[Approval], now: datetime) -> tuple[str, ...]:
    """Tell the model what was asked already, so that it does not ask again (P5)."""
    return tuple(
        _told_to_model(one, now) for one in approvals if one.status in _STANDING
    )


def _told_to_model(approval: Approval, now: datetime) -> str:
    values = ", ".join(_values(approval.data))
    wanted = f"{approval.action} on {', '.join(approval.entity_id)}"
    if values:
        wanted = f"{wanted} ({values})"
    return f"{wanted}: {_STANDING[approval.status]} {ago(now - approval.asked)}."


def _values(data: Mapping[str, Json]) -> Iterator[str]:
    for key, value in data.items():
        said = plain_line(f"{key}: {value}")
        yield shorten(said, _VALUE_ROOM)

"""What is said of a request: to its owner, and to the model."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from .approvals import Approval, ApprovalStatus
from .plain_text import MAX_LENGTH, plain_line, shorten
from .records import ActionRecord, ActionStatus, Json
from .report import Phrases
from .spans import ago

_HEARTBEAT_ROOM: Final = 40  # characters
_VALUE_ROOM: Final = 60
_ENDS: Final = (".", "!", "?", "…", "。", "\uff01", "\uff1f")
_LEAST_ROOM: Final = 40  # for what is to be done, whatever stands around it
_STANDING: Final[Mapping[ApprovalStatus, str]] = {
    ApprovalStatus.PENDING: "waits for the owner's answer, asked",
    ApprovalStatus.APPROVED: "has the owner's yes and is about to be done, asked",
    ApprovalStatus.EXECUTING: "has the owner's yes and is being done, asked",
    ApprovalStatus.REJECTED: "the owner said no; asked",
    ApprovalStatus.EXPIRED: "the owner did not answer, which is a no; asked",
}
_REPEATED: Final[Mapping[ApprovalStatus, str]] = {
    ApprovalStatus.PENDING: "has been asked already and waits for the owner's answer",
    ApprovalStatus.REJECTED: "was asked, and the owner said no",
    ApprovalStatus.EXPIRED: "was asked, and the owner did not answer, which is a no",
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


def short_name(heartbeat: str) -> str:
    """Return the name of a heartbeat, as long as a request has room for."""
    return shorten(plain_line(heartbeat), _HEARTBEAT_ROOM)


def action_in_words(
    approval: Approval, phrases: Phrases, room: int = MAX_LENGTH
) -> str:
    """Say what a yes would do, with each value it would do it with.

    Where that is too long, it says of how many more entities it is, and a name is cut
    before a value is: the name is what the owner knows.
    """
    values = ", ".join(("", *_values(approval.data)))
    left = max(room - len(values), _LEAST_ROOM)
    count = len(approval.entity_id)
    while len(named := _named(approval, phrases, count)) > left and count > 1:
        count -= 1
    return shorten(f"{shorten(named, left)}{values}", room)


def request_message(
    approval: Approval, heartbeat: str, phrases: Phrases, ending: str = ""
) -> str:
    """Ask for a yes in one line: what, where and why (P1).

    What would be done fits beside the `ending` that may be put behind it; the reason
    comes last, so that it is the reason which is cut.
    """
    name = short_name(heartbeat)
    around = phrases.say("asks", heartbeat=name, actions="")
    room = MAX_LENGTH - len(around) - (len(ending) + 1 if ending else 0)
    wanted = action_in_words(approval, phrases, max(room, _LEAST_ROOM))
    asked = phrases.say("asks", heartbeat=name, actions=wanted)
    if because := plain_line(approval.because):
        # What follows must not look like a part of it.
        end = "" if not ending or because.endswith(_ENDS) else "."
        asked = f"{asked} {phrases.say('asks_because', because=because)}{end}"
    return shorten(asked, MAX_LENGTH)


def standing(approvals: Iterable[Approval], now: datetime) -> tuple[str, ...]:
    """Tell the model what was asked already, so that it does not ask again (P5)."""
    return tuple(
        _told_to_model(one, now) for one in approvals if one.status in _STANDING
    )


def why_not_again(approval: Approval) -> str:
    """Tell the model because of what the same is not asked again (P5)."""
    return _REPEATED.get(approval.status, "has the owner's yes and is being done")


def _told_to_model(approval: Approval, now: datetime) -> str:
    values = ", ".join(_values(approval.data))
    wanted = f"{approval.action} on {', '.join(approval.entity_id)}"
    if values:
        wanted = f"{wanted} ({values})"
    return f"{wanted}: {_STANDING[approval.status]} {ago(now - approval.asked)}."


def _named(approval: Approval, phrases: Phrases, count: int) -> str:
    """Name the action and so many of its entities, and say how many more there are."""
    record = as_record(approval, ActionStatus.WAITING)
    shown = replace(record, entity_id=approval.entity_id[:count])
    named = plain_line(phrases.name_of(shown)) or approval.action
    if more := len(approval.entity_id) - count:
        return phrases.say("and_more", actions=named, count=str(more))
    return named


def _values(data: Mapping[str, Json]) -> Iterator[str]:
    for key, value in data.items():
        said = plain_line(f"{key}: {value}")
        yield shorten(said, _VALUE_ROOM)

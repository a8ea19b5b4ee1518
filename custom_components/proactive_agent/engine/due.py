"""What an owner has yet to hear, written down in case Home Assistant ends (S5)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Self

from .records import ActionRecord, ActionStatus
from .stored import (
    dict_from,
    list_from,
    moment_from,
    text_from,
    text_or_none_from,
    texts_from,
)

MAX_DUE: Final = 8
# Words that reached nobody are old by then; that something was done is never.
WORDS_LAST: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """A message that the owner has yet to get, about the run `run_id`.

    With a `message` it is these words, for `targets` or for all if there are none.
    Without, the run has not been told yet, and `actions` are what it has called so far.
    """

    id: str
    run_id: str
    at: datetime
    actions: tuple[ActionRecord, ...] = ()
    message: str | None = None
    targets: tuple[str, ...] = ()

    @property
    def is_of_run(self) -> bool:
        """Whether it is about a whole run, not about one action or request."""
        return self.id == self.run_id

    def is_over(self, now: datetime) -> bool:
        """Say whether its words are more than a day old; actions are always told."""
        return self.message is not None and now - self.at > WORDS_LAST

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "id": self.id,
            "run_id": self.run_id,
            "at": self.at.isoformat(),
            "actions": [_as_dict(one) for one in self.actions],
            "message": self.message,
            "targets": [*self.targets],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `as_dict` wrote.

        Raises `KeyError`, `TypeError` or `ValueError` for anything else.
        """
        return cls(
            id=text_from(data["id"]),
            run_id=text_from(data["run_id"]),
            at=moment_from(data["at"]),
            actions=tuple(map(_from_dict, list_from(data["actions"]))),
            message=text_or_none_from(data["message"]),
            targets=texts_from(data["targets"]),
        )


def with_due(known: Iterable[Due], due: Due) -> tuple[Due, ...]:
    """Add what is due, in place of what was due under the same id."""
    return (*without_due(known, due.id), due)[-MAX_DUE:]


def without_due(known: Iterable[Due], due_id: str) -> tuple[Due, ...]:
    """Take off what has been told."""
    return tuple(one for one in known if one.id != due_id)


def _as_dict(action: ActionRecord) -> dict[str, Any]:
    return {
        "action": action.action,
        "entity_id": [*action.entity_id],
        "data": {**action.data},
        "status": action.status.value,
        "error": action.error,
        "note": action.note,
        "answered_by": action.answered_by,
    }


def _from_dict(data: Mapping[str, Any]) -> ActionRecord:
    return ActionRecord(
        action=text_from(data["action"]),
        entity_id=texts_from(data["entity_id"]),
        data=dict_from(data["data"]),
        status=ActionStatus(data["status"]),
        error=text_or_none_from(data["error"]),
        note=text_or_none_from(data["note"]),
        answered_by=text_or_none_from(data["answered_by"]),
    )

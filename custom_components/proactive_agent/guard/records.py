"""The actions of one run, as they come to be known."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..engine.records import ActionRecord, ActionStatus
from .checks import Action


class ActionRecords:
    """A list that only grows; an entry changes until its action has ended."""

    def __init__(self) -> None:
        """Begin with no action."""
        self._records: list[ActionRecord] = []

    def __iter__(self) -> Iterator[ActionRecord]:
        """Go through the records, in the order of the actions."""
        return iter(self._records)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._records)

    def __getitem__(self, index: int) -> ActionRecord:
        """Return one of them."""
        return self._records[index]

    @property
    def counted(self) -> int:
        """The actions against the limit: one that was not needed is none (A5, F5)."""
        return sum(one.status is not ActionStatus.ALREADY for one in self._records)

    def append(self, action: Action, status: ActionStatus, **seen: Any) -> ActionRecord:
        """Add an action; returns its record."""
        record = record_of(action, status, **seen)
        self._records.append(record)
        return record

    def change(self, index: int, **changes: Any) -> None:
        """Write down what has become of an action."""
        self._records[index] = replace(self._records[index], **changes)

    def replace(self, index: int, record: ActionRecord) -> None:
        """Put another record in the place of an action."""
        self._records[index] = record

    def take_back(self, index: int) -> None:
        """Forget an action that came to nothing, as if it had not been wanted."""
        del self._records[index]


def record_of(action: Action, status: ActionStatus, **seen: Any) -> ActionRecord:
    """Return an action as a record shows it."""
    return ActionRecord(
        action=action.name,
        entity_id=action.entity_id,
        data=action.data,
        status=status,
        **seen,
    )

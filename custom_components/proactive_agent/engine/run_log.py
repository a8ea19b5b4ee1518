"""The last runs of a heartbeat, newest first."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

from .records import ActionRecord, ActionStatus, RunRecord
from .run_data import run_from_text
from .run_size import LEAST, fitted, written_size

MAX_RUNS: Final = 50
# Bytes, of one run and of all: the file of a log stays under 1 MB.
RUN_SIZE: Final = 100_000
LOG_SIZE: Final = 900_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """A record, and as it is written down."""

    record: RunRecord
    text: str
    size: int

    @classmethod
    def of(cls, record: RunRecord, limit: int = RUN_SIZE) -> Self:
        kept, text = fitted(record, limit)
        return cls(record=kept, text=text, size=written_size(text))

    @classmethod
    def read(cls, text: str) -> Self:
        return cls(record=run_from_text(text), text=text, size=written_size(text))


class RunLog:
    """Keeps the records of the last 50 runs; `on_change` when there is another.

    Together they are of bounded size: of the oldest less is kept than of the newest.
    """

    def __init__(self, on_change: Callable[[], None] | None = None) -> None:
        """Begin empty."""
        self._runs: list[_Kept] = []
        self._on_change = on_change or _ignored

    def __iter__(self) -> Iterator[RunRecord]:
        """Go through the records, newest first."""
        return iter([kept.record for kept in self._runs])

    @property
    def texts(self) -> Sequence[str]:
        """The records as they are written down, newest first."""
        return [kept.text for kept in self._runs]

    def load(self, texts: Iterable[str]) -> None:
        """Take what `texts` gave.

        Raises `KeyError`, `TypeError` or `ValueError` for anything else.
        """
        self._runs = [_Kept.read(text) for text in texts][:MAX_RUNS]

    def latest(self) -> RunRecord | None:
        """Return the record of the last run that was no dry run."""
        return next((run for run in self if not run.dry_run), None)

    def find(self, run_id: str) -> RunRecord | None:
        """Return the record of a run, None if it is not known."""
        return next((run for run in self if run.run_id == run_id), None)

    def add(self, record: RunRecord) -> RunRecord:
        """Put a finished run on top; returns what is kept of its record."""
        kept = _Kept.of(record)
        self._runs = [kept, *self._runs][:MAX_RUNS]
        self._fit()
        self._on_change()
        return kept.record

    def settle(self, run_id: str, index: int, action: ActionRecord) -> bool | None:
        """Write down what became of an action that outlived its run (R8).

        Returns whether the owner has heard nothing of that run yet, None if the run
        or its action that is still running is not known.
        """
        before = self._replace(run_id, index, action, ActionStatus.STILL_RUNNING)
        return None if before is None else before.message is None

    def answer(self, run_id: str, index: int, action: ActionRecord) -> None:
        """Write down what became of an action that waited for a yes (P1)."""
        self._replace(run_id, index, action, ActionStatus.WAITING)

    def told(
        self,
        run_id: str,
        message: str | None,
        failed: Sequence[str],
        *,
        reached: Sequence[str] = (),
        waiting: Sequence[str] = (),
    ) -> None:
        """Write down what the owner was told of a run only after it was over (S5).

        These are the targets that were tried, and how that has ended.
        """
        if (before := self.find(run_id)) is None:
            return
        tried = {*reached, *failed, *waiting}
        left = [one for one in before.delivery_failed if one not in tried]
        record = replace(
            before,
            message=before.message or message,
            delivery_failed=(*left, *failed),
            delivery_waiting=tuple(waiting),
        )
        if record != before:
            self._put(record)

    def _replace(
        self, run_id: str, index: int, action: ActionRecord, expected: ActionStatus
    ) -> RunRecord | None:
        """Replace an action that stands as expected; returns the record before."""
        record = self.find(run_id)
        if (
            record is None
            or index >= len(record.actions)
            or record.actions[index].status is not expected
        ):
            return None
        actions = (*record.actions[:index], action, *record.actions[index + 1 :])
        self._put(replace(record, actions=actions))
        return record

    def _put(self, record: RunRecord) -> None:
        """Replace the record of a run."""
        self._runs = [
            _Kept.of(record) if kept.record.run_id == record.run_id else kept
            for kept in self._runs
        ]
        self._fit()
        self._on_change()

    def _fit(self) -> None:
        """Cut down what is largest, of the oldest first, until all is small enough."""
        too_much = sum(kept.size for kept in self._runs) - LOG_SIZE
        for position, kept in reversed([*enumerate(self._runs)]):
            if too_much > 0 and kept.size > LEAST:
                cut = self._runs[position] = _Kept.of(kept.record, LEAST)
                too_much -= kept.size - cut.size


def _ignored() -> None:
    """Stand for nobody who would write it down."""

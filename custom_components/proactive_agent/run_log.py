"""The last runs of a heartbeat, newest first."""

from collections import deque
from collections.abc import Iterator
from dataclasses import replace

from .engine.records import ActionRecord, ActionStatus, RunRecord

MAX_RUNS = 50


class RunLog:
    """Keeps the records of the last 50 runs in memory."""

    def __init__(self) -> None:
        """Begin empty."""
        self._runs: deque[RunRecord] = deque(maxlen=MAX_RUNS)

    def __iter__(self) -> Iterator[RunRecord]:
        """Go through the records, newest first."""
        return iter(self._runs)

    def latest(self) -> RunRecord | None:
        """Return the record of the last run that was no dry run."""
        return next((run for run in self._runs if not run.dry_run), None)

    def add(self, record: RunRecord) -> None:
        """Put a finished run on top."""
        self._runs.appendleft(record)

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

    def _replace(
        self, run_id: str, index: int, action: ActionRecord, expected: ActionStatus
    ) -> RunRecord | None:
        """Replace an action that stands as expected; returns the record before."""
        for position, record in enumerate(self._runs):
            if record.run_id != run_id:
                continue
            if record.actions[index].status is not expected:
                return None
            actions = (*record.actions[:index], action, *record.actions[index + 1 :])
            self._runs[position] = replace(record, actions=actions)
            return record
        return None

"""The record of each run, also of one that Home Assistant's end cut off (C6, S5)."""

from collections.abc import Iterable
from dataclasses import replace

from homeassistant.core import callback

from ..engine.approvals import OPEN, Approval
from ..engine.records import (
    CUT_OFF,
    ActionRecord,
    ActionStatus,
    Outcome,
    RunRecord,
    StopCause,
)
from ..engine.run_log import RunLog
from ..run.run import Run
from ..store.memory import Memory
from ..store.open_runs import OpenRun, OpenRuns

UNSEEN = "Nobody saw how it ended."


class Book:
    """Puts the runs of one heartbeat into its log.

    One that was in flight when Home Assistant ended without a word is put there with
    what had been written down of it: why it woke, and what it had called.
    """

    def __init__(
        self,
        heartbeat_id: str,
        log: RunLog,
        open_runs: OpenRuns,
        memory: Memory,
    ) -> None:
        """Put down what was cut off before, as far as the memory knows of it."""
        self.log = log
        self._id = heartbeat_id
        self._open_runs = open_runs
        ended = open_runs.last_ended(heartbeat_id)
        if ended is not None and log.find(ended.run_id) is None:
            log.add(ended)
        run = open_runs.get(heartbeat_id)
        if run is not None and log.find(run.run_id) is None:
            log.add(_cut_off(run, memory))

    @callback
    def begin(self, run: Run) -> None:
        """Note that a run begins."""
        plan = run.plan
        self._open_runs.begin(
            self._id,
            OpenRun(
                run_id=run.run_id,
                started=run.started,
                cause=plan.cause,
                gate=plan.gate,
                dry_run=plan.dry_run,
            ),
        )

    @callback
    def end(self, record: RunRecord) -> RunRecord:
        """Put down a run that has ended; returns what is kept of its record."""
        kept = self.log.add(record)
        self._open_runs.end(self._id, self.log.texts[0])
        return kept

    @callback
    def unseen(self, run_id: str, index: int) -> None:
        """Note of an action that outlived its run that its end was not seen (R8)."""
        run = self.log.find(run_id)
        if run is not None and index < len(run.actions):
            self.log.settle(run_id, index, _as_known(run.actions[index]))


def _cut_off(run: OpenRun, memory: Memory) -> RunRecord:
    due = next((one for one in memory.due if one.id == run.run_id), None)
    called = map(_as_known, due.actions) if due else ()
    return RunRecord(
        run_id=run.run_id,
        started=run.started,
        cause=run.cause,
        outcome=Outcome.STOPPED,
        error=None,
        gate=run.gate,
        actions=_with_requests(run.run_id, called, memory.approvals),
        message=due.message if due else None,
        turns=0,
        tokens=None,
        seconds=0,
        calls=(),
        stopped=False,
        dry_run=run.dry_run,
        stop_reason=StopCause.CUT_OFF,
    )


def _with_requests(
    run_id: str, called: Iterable[ActionRecord], approvals: Iterable[Approval]
) -> tuple[ActionRecord, ...]:
    """Add what the run has asked for after its last call, each in its place (P1)."""
    actions = [*called]
    asked = [one for one in approvals if one.run_id == run_id and one.status in OPEN]
    for approval in sorted(asked, key=lambda one: one.index):
        if approval.index == len(actions):
            actions.append(
                ActionRecord(
                    action=approval.action,
                    entity_id=approval.entity_id,
                    data=approval.data,
                    status=ActionStatus.WAITING,
                )
            )
    return tuple(actions)


def _as_known(action: ActionRecord) -> ActionRecord:
    if not action.may_go_on:
        return action
    return replace(action, status=ActionStatus.FAILED, error=CUT_OFF, note=UNSEEN)

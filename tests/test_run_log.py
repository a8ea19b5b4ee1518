from dataclasses import replace
from datetime import UTC, datetime

import pytest

from custom_components.proactive_agent.engine.records import (
    ActionRecord,
    ActionStatus,
    Cause,
    Outcome,
    RunRecord,
    Usage,
)
from custom_components.proactive_agent.run_log import MAX_RUNS, RunLog

RUNNING = ActionRecord(
    action="script.wash",
    entity_id=("script.wash",),
    data={},
    status=ActionStatus.STILL_RUNNING,
)
DONE = replace(RUNNING, status=ActionStatus.DONE)


def run(run_id: str, *actions: ActionRecord, message: str | None = None) -> RunRecord:
    return RunRecord(
        run_id=run_id,
        started=datetime(2026, 11, 30, tzinfo=UTC),
        cause=Cause.TICK,
        outcome=Outcome.TIMEOUT,
        error=None,
        gate=(),
        actions=actions,
        message=message,
        turns=1,
        tokens=Usage(),
        seconds=60,
        calls=(),
        stopped=False,
    )


def test_the_newest_run_comes_first_and_the_oldest_goes() -> None:
    log = RunLog()
    assert log.latest() is None

    for number in range(MAX_RUNS + 5):
        log.add(run(str(number)))

    assert log.latest() == run(str(MAX_RUNS + 4))
    assert [one.run_id for one in log] == [
        str(number) for number in range(MAX_RUNS + 4, 4, -1)
    ]


@pytest.mark.contract("R8")
@pytest.mark.parametrize(
    ("message", "silent"), [(None, True), ("Still running: Wash.", False)]
)
def test_what_became_of_an_action_is_written_into_its_run(
    message: str | None, silent: bool
) -> None:
    log = RunLog()
    log.add(run("a", DONE, RUNNING, RUNNING, message=message))
    log.add(run("b", RUNNING))

    assert log.settle("a", 1, DONE) is silent

    assert [*log] == [run("b", RUNNING), run("a", DONE, DONE, RUNNING, message=message)]


@pytest.mark.contract("R8")
def test_nothing_is_settled_twice_or_in_a_run_that_is_gone() -> None:
    log = RunLog()
    log.add(run("a", RUNNING))
    assert log.settle("a", 0, DONE)

    assert log.settle("a", 0, replace(DONE, status=ActionStatus.FAILED)) is None
    assert log.settle("gone", 0, DONE) is None
    assert [*log] == [run("a", DONE)]

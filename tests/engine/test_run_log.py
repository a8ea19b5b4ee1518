from dataclasses import replace
from datetime import UTC, datetime

import pytest

from custom_components.proactive_agent.engine.records import (
    ActionRecord,
    ActionStatus,
    CallRecord,
    Cause,
    Outcome,
    RunRecord,
    Usage,
)
from custom_components.proactive_agent.engine.run_log import (
    LOG_SIZE,
    MAX_RUNS,
    RUN_SIZE,
    RunLog,
)
from custom_components.proactive_agent.engine.run_size import written_size

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


@pytest.mark.contract("P1")
def test_an_answer_is_written_into_the_run_that_asked_and_into_no_other() -> None:
    waiting = replace(RUNNING, status=ActionStatus.WAITING)
    log = RunLog()
    log.add(run("a", waiting, RUNNING))

    log.answer("a", 0, DONE)
    log.answer("a", 1, DONE)
    log.answer("b", 0, DONE)

    assert [*log] == [run("a", DONE, RUNNING)]


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


def test_an_action_that_was_cut_from_its_record_is_not_settled() -> None:
    log = RunLog()
    log.add(run("a", RUNNING))

    assert log.settle("a", 1, DONE) is None
    assert [*log] == [run("a", RUNNING)]


def chatty(run_id: str, *, answers: int = 20) -> RunRecord:
    """A run whose tools have answered at length."""
    answer = {"rain": "It will rain. " * 300}
    return replace(
        run(run_id),
        calls=(
            CallRecord(
                turn=1, tool="forecast", arguments={}, answer=answer, error=False
            ),
        )
        * answers,
    )


@pytest.mark.contract("C6")
def test_fifty_large_runs_stay_small_and_the_newest_keeps_the_most() -> None:
    log = RunLog()
    for number in range(MAX_RUNS + 1):
        log.add(chatty(str(number)))

    sizes = [written_size(one) for one in log.texts]
    assert len(sizes) == MAX_RUNS
    assert sum(sizes) <= LOG_SIZE
    assert sizes[0] > RUN_SIZE / 2
    assert sizes == sorted(sizes, reverse=True)
    newest, *_, oldest = log
    assert newest == chatty(str(MAX_RUNS))
    assert oldest.shortened == ("calls",)


@pytest.mark.contract("C6")
def test_one_run_has_a_size_it_may_not_pass() -> None:
    log = RunLog()

    kept = log.add(chatty("a", answers=200))

    assert kept.shortened == ("calls",)
    assert written_size(log.texts[0]) <= RUN_SIZE
    assert [*log] == [kept]


@pytest.mark.contract("C6")
def test_small_runs_are_kept_as_they_were() -> None:
    log = RunLog()
    for number in range(MAX_RUNS):
        log.add(run(str(number), DONE, message="Done."))

    again = RunLog()
    again.load(log.texts)

    assert [*again] == [*log]
    assert again.texts == log.texts
    assert {one.shortened for one in again} == {()}


def test_what_became_of_a_message_is_written_down_target_by_target() -> None:
    log = RunLog()
    log.add(
        replace(
            run("a", message="Look."),
            delivery_failed=("x", "y"),
            delivery_waiting=("z",),
        )
    )
    log.told("a", "Other.", ["y"], reached=["x"], waiting=["z", "w"])
    told = log.find("a")
    assert told is not None
    assert (told.delivery_failed, told.delivery_waiting) == (("y",), ("z", "w"))
    log.told("a", None, ["w"], reached=["z"])
    told = log.find("a")
    assert told is not None
    assert (told.delivery_failed, told.delivery_waiting) == (("y", "w"), ())
    assert told.message == "Look."


def test_who_writes_it_down_hears_of_each_change() -> None:
    changes: list[int] = []
    log = RunLog(lambda: changes.append(len(log.texts)))
    log.add(run("a", RUNNING))
    log.add(run("b"))
    log.settle("a", 0, DONE)
    log.told("a", "Done: Wash.", [])
    assert changes == [1, 2, 2, 2]

    log.settle("a", 0, DONE)
    log.told("a", "Something else.", [])
    log.told("gone", "Something else.", [])

    assert changes == [1, 2, 2, 2]
    assert log.find("a") == run("a", DONE, message="Done: Wash.")

"""A run as text: read back as it was, and cut down where it is too large."""

from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime
import json
import math
from typing import Any

from hypothesis import HealthCheck, given, settings, strategies as st
import pytest

from custom_components.proactive_agent.engine.answer import NOTICE
from custom_components.proactive_agent.engine.records import (
    ActionRecord,
    ActionStatus,
    CallRecord,
    Cause,
    GateVerdict,
    Outcome,
    RunError,
    RunRecord,
    TurnRecord,
    Usage,
)
from custom_components.proactive_agent.engine.run_data import (
    run_as_text,
    run_from_text,
)
from custom_components.proactive_agent.engine.run_size import (
    LEAST,
    fitted,
    written_size,
)

pytestmark = pytest.mark.contract("C6")

FED = ActionRecord(
    action="script.feed",
    entity_id=("script.feed",),
    data={"food": "meal"},
    status=ActionStatus.DONE,
    observed={"script.feed": "off"},
    note="It is off again.",
    answered_by="Anna",
)
LOOKED = CallRecord(
    turn=1,
    tool="get_state",
    arguments={"entity_id": "sensor.bowl"},
    answer={"state": "empty"},
    error=False,
    seconds=0.25,
)
RECORD = RunRecord(
    run_id="01RUN",
    started=datetime(2026, 11, 30, 12, 0, 5, tzinfo=UTC),
    cause=Cause.MANUAL,
    outcome=Outcome.ERROR,
    error=RunError(kind="auth", message="The key was refused."),
    gate=(GateVerdict(condition="hunger", result=None, reason="unavailable"),),
    actions=(FED,),
    message="Fed her.",
    turns=2,
    tokens=Usage(prompt=100, completion=7, estimated=True),
    seconds=1.25,
    calls=(LOOKED,),
    stopped=True,
    answer="All is well.",
    dry_run=True,
    delivery_failed=("notify.gone",),
    delivery_waiting=("notify.late",),
    not_sent="already_told",
    warning="context_truncated",
    seen=("You may only look at:", "- sensor.bowl"),
    each_turn=(
        TurnRecord(turn=1, seconds=0.5, tokens=Usage(prompt=9), text="I look."),
        TurnRecord(turn=2, seconds=0.75),
    ),
    stop_reason="agent",
    shortened=("seen",),
)
PLAIN = replace(RECORD, error=None, message=None, tokens=None, calls=(), actions=())


@pytest.mark.parametrize("record", [RECORD, PLAIN])
def test_a_record_comes_back_as_it_was(record: RunRecord) -> None:
    assert run_from_text(run_as_text(record)) == record


def test_a_record_that_is_small_enough_is_left_alone() -> None:
    assert fitted(RECORD, LEAST) == (RECORD, run_as_text(RECORD))


def test_every_key_of_a_record_is_written() -> None:
    assert json.loads(run_as_text(RECORD)).keys() >= {
        one.name for one in fields(RunRecord)
    }


RUBBISH: list[Mapping[str, Any]] = [
    {"run_id": 7},
    {"started": 5},
    {"started": "2026-11-30T12:00:05"},
    {"cause": "whim"},
    {"outcome": "fine"},
    {"turns": "two"},
    {"tokens": {"prompt": "many", "completion": 1}},
    {"gate": [{"condition": "hunger"}]},
    {"actions": [{"status": "done"}]},
    {"calls": [{"tool": "feed"}]},
    {"each_turn": [{"turn": 1}]},
    {"error": {"message": "no kind"}},
]


@pytest.mark.parametrize("wrong", RUBBISH)
def test_what_is_no_record_is_refused(wrong: Mapping[str, Any]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        run_from_text(json.dumps({**json.loads(run_as_text(RECORD)), **wrong}))


def test_what_is_largest_is_cut_first_and_the_record_says_so() -> None:
    long = replace(LOOKED, answer={"forecast": ["rain"] * 20_000})
    record = replace(RECORD, calls=(LOOKED, long), shortened=())

    kept, text = fitted(record, LEAST)

    assert kept.shortened == ("calls",)
    assert kept.calls[0] == LOOKED
    answer = kept.calls[1].answer
    assert isinstance(answer, Mapping)
    assert answer["notice"] == NOTICE
    assert replace(kept, calls=(), shortened=()) == replace(record, calls=())
    assert run_from_text(text) == kept
    assert written_size(text) <= LEAST


def test_of_many_things_the_first_stay() -> None:
    record = replace(
        RECORD,
        seen=tuple(f"- sensor.number_{number}: {'on ' * 30}" for number in range(500)),
        calls=tuple(replace(LOOKED, turn=number) for number in range(500)),
        actions=(FED,) * 300,
        shortened=(),
    )

    kept, _ = fitted(record, LEAST)

    assert kept.seen == record.seen[: len(kept.seen)]
    assert kept.calls == record.calls[: len(kept.calls)]
    assert kept.actions == record.actions[: len(kept.actions)]
    assert min(map(len, (kept.seen, kept.calls, kept.actions))) >= 10
    assert {*kept.shortened} == {"actions", "calls", "seen"}


def test_the_data_of_an_action_stay_by_name() -> None:
    deep: Any = []
    for _ in range(5_000):
        deep = [deep]
    action = replace(FED, data={"deep": deep}, observed=None)
    record = replace(RECORD, actions=(action,), shortened=())

    kept, text = fitted(record, LEAST)

    (cut,) = kept.actions
    assert cut.data["notice"] == NOTICE
    assert replace(cut, data={}) == replace(action, data={})
    assert kept.shortened == ("actions",)
    assert run_from_text(text) == kept


@pytest.mark.parametrize(
    "strange",
    [math.nan, 10**5_000, "\ud83c"],
    ids=["no number", "a huge one", "half a character"],
)
def test_what_json_cannot_say_does_not_keep_a_run_from_being_kept(
    strange: Any,
) -> None:
    record = replace(
        RECORD,
        calls=(replace(LOOKED, answer={"value": strange}),),
        actions=(replace(FED, data={"value": strange}, observed=None),),
    )
    kept, text = fitted(record, LEAST)
    written_size(text)
    assert run_from_text(text).run_id == kept.run_id == "01RUN"


def test_of_a_run_that_is_large_all_over_the_least_is_kept() -> None:
    long = "\x00" * 9_000
    action = replace(FED, action=long, entity_id=(long,) * 9, error=long, note=long)
    record = replace(
        RECORD,
        gate=(GateVerdict(condition=long, result=True, reason=long),) * 9,
        actions=(action,) * 9,
        calls=(replace(LOOKED, tool=long, answer=long),) * 9,
        seen=(long,) * 9,
    )

    kept, text = fitted(record, LEAST)

    assert written_size(text) <= LEAST
    assert len(kept.gate) == len(kept.actions) == len(kept.calls) == 2


def test_a_value_that_is_no_json_is_written_as_text() -> None:
    at = datetime(2026, 11, 30, tzinfo=UTC)
    long = ["rain"] * 20_000
    action = replace(FED, data={"at": at, "long": long})  # type: ignore[dict-item]
    kept, text = fitted(replace(RECORD, actions=(action,)), LEAST)
    assert str(at) in json.dumps(json.loads(text)["actions"])
    assert len(kept.actions) == 1


wild_texts = st.text(max_size=20) | st.builds(
    lambda one, times: one * times,
    st.sampled_from(["a", "\x00", '"', "\\", "🍖", "\ud83c", " "]),
    st.sampled_from([10, 300, 9_000]),
)
wild_values = st.recursive(
    wild_texts | st.none() | st.booleans() | st.integers() | st.floats(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(wild_texts, inner, max_size=4)
    ),
    max_leaves=4,
)
wild_objects = st.dictionaries(wild_texts, wild_values, max_size=3)
times = st.sampled_from([0, 1, 3, 30])


@st.composite
def wild_runs(draw: st.DrawFn) -> RunRecord:
    """A run in which anything may be of any size."""
    verdict = GateVerdict(
        condition=draw(wild_texts), result=True, reason=draw(wild_texts)
    )
    action = replace(
        FED,
        action=draw(wild_texts),
        entity_id=(draw(wild_texts),) * draw(times),
        data=draw(wild_objects),
        observed=draw(st.none() | wild_objects),
        error=draw(st.none() | wild_texts),
        note=draw(st.none() | wild_texts),
    )
    call = replace(
        LOOKED,
        tool=draw(wild_texts),
        arguments=draw(wild_objects),
        answer=draw(wild_values),
    )
    return replace(
        RECORD,
        error=RunError(kind="auth", message=draw(wild_texts)),
        gate=(verdict,) * draw(times),
        actions=(action,) * draw(times),
        calls=(call,) * draw(times),
        message=draw(st.none() | wild_texts),
        answer=draw(st.none() | wild_texts),
        seen=(draw(wild_texts),) * draw(times),
        each_turn=(TurnRecord(turn=1, seconds=0, text=draw(wild_texts)),) * draw(times),
        delivery_failed=(draw(wild_texts),) * draw(times),
        delivery_waiting=(draw(wild_texts),) * draw(times),
        shortened=(),
    )


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(record=wild_runs())
def test_any_run_fits_and_can_be_read_again(record: RunRecord) -> None:
    kept, text = fitted(record, LEAST)

    assert written_size(text) <= LEAST
    read = run_from_text(text)
    assert run_as_text(read) == text
    assert (read.run_id, read.outcome, read.tokens) == (
        record.run_id,
        record.outcome,
        record.tokens,
    )
    assert read.shortened == kept.shortened

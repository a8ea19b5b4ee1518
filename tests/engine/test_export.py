from dataclasses import replace
from datetime import UTC, datetime
import json

import pytest

from custom_components.proactive_agent.engine.export import action_as_dict, run_as_dict
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

FED = ActionRecord(
    action="script.feed",
    entity_id=("script.feed",),
    data={"food": "meal"},
    status=ActionStatus.DONE,
    observed={"script.feed": "off"},
)
RECORD = RunRecord(
    run_id="01RUN",
    started=datetime(2026, 11, 30, 12, 0, 5, tzinfo=UTC),
    cause=Cause.TICK,
    outcome=Outcome.ERROR,
    error=RunError(kind="auth", message="The key was refused."),
    gate=(GateVerdict(condition="hunger", result=None, reason="unavailable"),),
    actions=(FED,),
    message="Fed her.",
    turns=2,
    tokens=Usage(prompt=100, completion=7, estimated=True),
    seconds=1.25,
    calls=(
        CallRecord(
            turn=1,
            tool="feed",
            arguments={"food": "meal"},
            answer={"result": "fed", "list": [1, None]},
            error=False,
            seconds=0.5,
        ),
    ),
    stopped=True,
    answer="All is well.",
    dry_run=True,
    delivery_failed=("notify.gone",),
    delivery_waiting=("notify.late",),
    seen=("You may only look at:", "- sensor.bowl"),
    each_turn=(
        TurnRecord(
            turn=1, seconds=0.75, tokens=Usage(prompt=40, completion=3), text="I feed."
        ),
        TurnRecord(turn=2, seconds=0),
    ),
    stop_reason="agent",
    shortened=("seen",),
)


@pytest.mark.contract("R7", "G3", "S5")
def test_a_record_has_the_keys_that_were_promised() -> None:
    assert json.loads(json.dumps(run_as_dict(RECORD))) == {
        "run_id": "01RUN",
        "started": "2026-11-30T12:00:05+00:00",
        "cause": "tick",
        "outcome": "error",
        "error": {"kind": "auth", "message": "The key was refused."},
        "gate": [{"condition": "hunger", "result": None, "reason": "unavailable"}],
        "actions": [
            {
                "action": "script.feed",
                "entity_id": ["script.feed"],
                "data": {"food": "meal"},
                "status": "done",
                "observed": {"script.feed": "off"},
                "error": None,
                "note": None,
                "answered_by": None,
            }
        ],
        "message": "Fed her.",
        "turns": 2,
        "tokens": {"prompt": 100, "completion": 7},
        "tokens_estimated": True,
        "seconds": 1.25,
        "calls": [
            {
                "turn": 1,
                "tool": "feed",
                "arguments": {"food": "meal"},
                "answer": {"result": "fed", "list": [1, None]},
                "error": False,
                "seconds": 0.5,
            }
        ],
        "stopped": True,
        "answer": "All is well.",
        "dry_run": True,
        "delivery_failed": ["notify.gone"],
        "delivery_waiting": ["notify.late"],
        "not_sent": None,
        "warning": None,
        "seen": ["You may only look at:", "- sensor.bowl"],
        "each_turn": [
            {
                "turn": 1,
                "seconds": 0.75,
                "tokens": {"prompt": 40, "completion": 3},
                "tokens_estimated": False,
                "text": "I feed.",
            },
            {
                "turn": 2,
                "seconds": 0,
                "tokens": {"prompt": None, "completion": None},
                "tokens_estimated": False,
                "text": None,
            },
        ],
        "stop_reason": "agent",
        "shortened": ["seen"],
    }


def test_what_is_exported_can_be_changed_without_changing_the_record() -> None:
    exported = action_as_dict(FED)
    exported["data"]["food"] = "snack"
    exported["entity_id"].append("script.play")

    assert FED.data == {"food": "meal"}
    assert FED.entity_id == ("script.feed",)


@pytest.mark.contract("F5")
def test_tokens_that_nobody_told_are_unknown_and_not_none_at_all() -> None:
    told = run_as_dict(replace(RECORD, tokens=None))
    assert told["tokens"] == {"prompt": None, "completion": None}
    assert told["tokens_estimated"] is False

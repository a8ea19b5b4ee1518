"""Records as text, and back from it: what `run_as_dict` gives, on one line."""

from collections.abc import Mapping
import json
from typing import Any

from .export import run_as_dict
from .records import (
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
from .stored import count_from, moment_from, text_from


def run_as_text(record: RunRecord) -> str:
    """Return a record as JSON.

    Raises `ValueError`, `TypeError` or `RecursionError` if it cannot be written so.
    """
    text = json.dumps(
        run_as_dict(record), ensure_ascii=False, allow_nan=False, default=str
    )
    return text.encode("utf-8", "replace").decode()


def run_from_text(text: str) -> RunRecord:
    """Read what `run_as_text` wrote.

    Raises `KeyError`, `TypeError` or `ValueError` for anything else.
    """
    data = json.loads(text)
    error = data["error"]
    return RunRecord(
        run_id=text_from(data["run_id"]),
        started=moment_from(data["started"]),
        cause=Cause(data["cause"]),
        outcome=Outcome(data["outcome"]),
        error=error
        and RunError(kind=text_from(error["kind"]), message=error["message"]),
        gate=tuple(GateVerdict(**one) for one in data["gate"]),
        actions=tuple(map(_action, data["actions"])),
        message=data["message"],
        turns=count_from(data["turns"]),
        tokens=_usage(data),
        seconds=data["seconds"],
        calls=tuple(CallRecord(**one) for one in data["calls"]),
        stopped=data["stopped"],
        answer=data["answer"],
        dry_run=data["dry_run"],
        delivery_failed=tuple(data["delivery_failed"]),
        delivery_waiting=tuple(data.get("delivery_waiting", ())),
        not_sent=data["not_sent"],
        warning=data["warning"],
        seen=tuple(data["seen"]),
        each_turn=tuple(map(_turn, data["each_turn"])),
        stop_reason=data["stop_reason"],
        shortened=tuple(data["shortened"]),
    )


def _action(data: Mapping[str, Any]) -> ActionRecord:
    told = {
        **data,
        "entity_id": tuple(data["entity_id"]),
        "status": ActionStatus(data["status"]),
    }
    return ActionRecord(**told)


def _turn(data: Mapping[str, Any]) -> TurnRecord:
    return TurnRecord(
        turn=count_from(data["turn"]),
        seconds=data["seconds"],
        tokens=_usage(data),
        text=data["text"],
    )


def _usage(data: Mapping[str, Any]) -> Usage | None:
    tokens = data["tokens"]
    if tokens["prompt"] is None:
        return None
    return Usage(
        prompt=count_from(tokens["prompt"]),
        completion=count_from(tokens["completion"]),
        estimated=data["tokens_estimated"],
    )

"""Records as plain data with the keys of docs/reference.md."""

from dataclasses import asdict, fields
from typing import Any

from .records import ActionRecord, RunRecord, TurnRecord, Usage


def action_as_dict(action: ActionRecord) -> dict[str, Any]:
    """Return one action as events and records show it."""
    return {**asdict(action), "entity_id": [*action.entity_id]}


def run_as_dict(record: RunRecord) -> dict[str, Any]:
    """Return a record with the keys that `wake` and `get_runs` answer."""
    return {
        **{field.name: getattr(record, field.name) for field in fields(record)},
        "started": record.started.isoformat(),
        "error": record.error and asdict(record.error),
        "gate": [asdict(verdict) for verdict in record.gate],
        "actions": [action_as_dict(action) for action in record.actions],
        "calls": [asdict(call) for call in record.calls],
        **_tokens(record.tokens),
        "delivery_failed": [*record.delivery_failed],
        "delivery_waiting": [*record.delivery_waiting],
        "seen": [*record.seen],
        "each_turn": [_turn_as_dict(turn) for turn in record.each_turn],
        "shortened": [*record.shortened],
    }


def _turn_as_dict(turn: TurnRecord) -> dict[str, Any]:
    return {**asdict(turn), **_tokens(turn.tokens)}


def _tokens(tokens: Usage | None) -> dict[str, Any]:
    return {
        "tokens": {
            "prompt": tokens.prompt if tokens else None,
            "completion": tokens.completion if tokens else None,
        },
        "tokens_estimated": tokens is not None and tokens.estimated,
    }

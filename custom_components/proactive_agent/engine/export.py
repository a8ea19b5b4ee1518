"""Records as plain data with the keys of docs/reference.md."""

from dataclasses import fields
from typing import Any

from .records import ActionRecord, RunRecord, TurnRecord, Usage


def action_as_dict(action: ActionRecord) -> dict[str, Any]:
    """Return one action as events and records show it."""
    return {**_fields(action), "entity_id": [*action.entity_id]}


def run_as_dict(record: RunRecord) -> dict[str, Any]:
    """Return a record with the keys that `wake` and `get_runs` answer."""
    return {
        **_fields(record),
        "started": record.started.isoformat(),
        "error": record.error and _fields(record.error),
        "gate": [_fields(verdict) for verdict in record.gate],
        "actions": [action_as_dict(action) for action in record.actions],
        "calls": [_fields(call) for call in record.calls],
        **_tokens(record.tokens),
        "delivery_failed": [*record.delivery_failed],
        "delivery_waiting": [*record.delivery_waiting],
        "seen": [*record.seen],
        "each_turn": [_turn_as_dict(turn) for turn in record.each_turn],
        "shortened": [*record.shortened],
    }


def _turn_as_dict(turn: TurnRecord) -> dict[str, Any]:
    return {**_fields(turn), **_tokens(turn.tokens)}


def _fields(record: Any) -> dict[str, Any]:
    return {
        field.name: _copied(getattr(record, field.name)) for field in fields(record)
    }


def _copied(value: Any) -> Any:
    """Copy what whoever gets it might change; `asdict` takes twice as long."""
    match value:
        case dict():
            return {key: _copied(one) for key, one in value.items()}
        case list():
            return [_copied(one) for one in value]
    return value


def _tokens(tokens: Usage | None) -> dict[str, Any]:
    return {
        "tokens": {
            "prompt": tokens.prompt if tokens else None,
            "completion": tokens.completion if tokens else None,
        },
        "tokens_estimated": tokens is not None and tokens.estimated,
    }

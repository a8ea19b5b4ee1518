"""Records as plain data with the keys of docs/reference.md."""

from dataclasses import asdict
from typing import Any

from .records import ActionRecord, RunRecord


def action_as_dict(action: ActionRecord) -> dict[str, Any]:
    """Return one action as events and records show it."""
    return {**asdict(action), "entity_id": [*action.entity_id]}


def run_as_dict(record: RunRecord) -> dict[str, Any]:
    """Return a record with the keys that `wake` and `get_runs` answer."""
    tokens = record.tokens
    return {
        **asdict(record),
        "started": record.started.isoformat(),
        "gate": [asdict(verdict) for verdict in record.gate],
        "actions": [action_as_dict(action) for action in record.actions],
        "calls": [asdict(call) for call in record.calls],
        "tokens": {
            "prompt": tokens.prompt if tokens else None,
            "completion": tokens.completion if tokens else None,
        },
        "tokens_estimated": tokens is not None and tokens.estimated,
        "delivery_failed": [*record.delivery_failed],
    }

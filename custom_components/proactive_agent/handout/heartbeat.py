"""How one heartbeat stands: its gate, its limits, its tools and its last runs."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from homeassistant.core import HomeAssistant

from ..engine.approvals import Approval
from ..engine.export import run_as_dict
from ..engine.reach import Reach
from ..engine.records import ToolSpec
from ..engine.wire import encode_request
from ..engine.wire.values import write
from ..heartbeat.heartbeat import Heartbeat
from ..home.home import resolve
from ..tools.names import RESERVED
from ..tools.offer import Offer
from .sentences import hidden, told
from .settings import heartbeat_options, models_in
from .veil import Veil

RUNS: Final = 5
# What is told of a run as it is: nothing that was said, and nothing of the home.
_OF_A_RUN: Final = (
    "run_id",
    "started",
    "cause",
    "outcome",
    "turns",
    "tokens",
    "tokens_estimated",
    "seconds",
    "stopped",
    "stop_reason",
    "dry_run",
    "warning",
    "shortened",
)
_OF_A_TURN: Final = ("turn", "seconds", "tokens", "tokens_estimated")


async def async_describe(
    hass: HomeAssistant, heartbeat: Heartbeat, data: Mapping[str, Any], veil: Veil
) -> dict[str, Any]:
    """Describe a heartbeat, whose subentry holds `data`."""
    pause = heartbeat.health.pause
    runs = [*heartbeat.runs.log][:RUNS]
    reach = resolve(hass, heartbeat.options)
    offer = await heartbeat.runs.offers.async_offer(reach)
    names = {*offer.left_out, *(tool.name for tool in offer.specs)}
    return {
        # A model is called after nobody, and has to be known.
        "options": veil.over(heartbeat_options(data)) | models_in(data),
        "status": heartbeat.status,
        "pause": pause and pause.as_dict(),
        "failing": _failing(heartbeat),
        "fuses": _fuses(heartbeat),
        "gate": veil.over(_verdicts(map(asdict, heartbeat.gate))),
        "tools": veil.over(_tools(reach, offer)),
        "requests": [_standing(one, veil) for one in heartbeat.asking.all],
        "runs": [_run(run_as_dict(run), names, veil) for run in runs],
    }


def _failing(heartbeat: Heartbeat) -> dict[str, Any]:
    """Say how many runs have failed in a row, and of which kind of error the last."""
    known = heartbeat.health.failing.as_dict()
    known["reason"] = hidden(known["reason"])
    return known


def _fuses(heartbeat: Heartbeat) -> dict[str, Any]:
    """Say of each limit what it is, and what is used of it."""
    limits, used = heartbeat.options.fuses, heartbeat.used
    counted: dict[str, Any] = {
        "max_ticks": used.ticks,
        "max_duration": used.deadline and used.deadline.isoformat(),
        "max_wakes_per_day": used.wakes,
        "max_tokens_per_day": used.tokens,
    }
    return {
        **{
            key: {"limit": _number(limit), "used": counted[key]}
            if key in counted
            else {"limit": _number(limit)}
            for key, limit in asdict(limits).items()
        },
        "day": used.day and used.day.isoformat(),
        "tokens_ever": heartbeat.tokens_used,
    }


def _number(limit: Any) -> Any:
    return limit if limit is None or isinstance(limit, int) else limit.total_seconds()


def _verdicts(verdicts: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "condition": told(one["condition"]),
            "result": one["result"],
            "reason": told(one["reason"]),
        }
        for one in verdicts
    ]


def _tools(reach: Reach, offer: Offer) -> dict[str, Any]:
    """Say what the model would be offered now, and what had no room."""
    return {
        "look": [*reach.look],
        "act": [*reach.act],
        "ask": [*reach.ask],
        "offered": [
            {"name": one.name, "entities": _entities(one), "bytes": _size((one,))}
            for one in offer.specs
        ],
        "bytes": _size(offer.specs),
        "left_out": [*offer.left_out],
    }


def _entities(tool: ToolSpec) -> int:
    """Count the entities that a tool may be given."""
    match tool.parameters:
        case {"properties": {"entity_id": {"items": {"enum": [*entity_ids]}}}}:
            return len(entity_ids)
    return 0


def _size(tools: Sequence[ToolSpec]) -> int:
    """Return how many bytes a request's list of these tools has."""
    declared = encode_request("", (), tools, {}).get("tools", [])
    return len(write(declared).encode("utf-8", "replace"))


def _run(run: Mapping[str, Any], names: Container[str], veil: Veil) -> dict[str, Any]:
    """Keep how a run went, and what kind of error it met, not what was said.

    `names` are those of tools that there are; a model may call what it makes up.
    """
    error = run["error"]
    return {
        **{key: run[key] for key in _OF_A_RUN if key in run},
        "error": error and {"kind": error["kind"], "message": hidden(error["message"])},
        "gate": veil.over(_verdicts(run["gate"])),
        "actions": [
            {
                "action": veil.over(action["action"]),
                "entity_id": veil.over(action["entity_id"]),
                "status": action["status"],
                "error": hidden(action["error"]),
                "was_answered": action["answered_by"] is not None,
            }
            for action in run["actions"]
        ],
        "calls": [
            {
                "turn": call["turn"],
                "tool": _tool(call["tool"], names, veil),
                "arguments": hidden(call["arguments"]),
                "answer": hidden(call["answer"]),
                "error": call["error"],
                "seconds": call["seconds"],
            }
            for call in run["calls"]
        ],
        "each_turn": [
            {**{key: turn[key] for key in _OF_A_TURN}, "text": hidden(turn["text"])}
            for turn in run["each_turn"]
        ],
        "message": hidden(run["message"]),
        "answer": hidden(run["answer"]),
        "not_sent": hidden(run["not_sent"]),
        "deliveries_failed": len(run["delivery_failed"]),
    }


def _tool(name: str, names: Container[str], veil: Veil) -> Any:
    """Name a tool; ours are called after nobody."""
    if name in RESERVED:
        return name
    return veil.over(name) if name in names else hidden(name)


def _standing(approval: Approval, veil: Veil) -> dict[str, Any]:
    """Tell how a request stands; what it says and who answered stays at home."""
    settled = approval.settled
    return {
        "status": approval.status,
        "action": veil.over(approval.action),
        "entity_id": veil.over([*approval.entity_id]),
        "must_ask": approval.must_ask,
        "is_risky": approval.is_risky,
        "has_changed": approval.has_changed,
        "asked": approval.asked.isoformat(),
        "expires": approval.expires.isoformat(),
        "settled": settled and settled.isoformat(),
        "data": hidden(approval.data or None),
        "because": hidden(approval.because),
        "was_answered": approval.answered_by is not None,
        "note": hidden(approval.note),
    }

"""How much of a run is kept: what is largest is cut first, and the record says so."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
import json
from typing import Any, Final

from .answer import NOTICE, shrink
from .records import (
    ActionRecord,
    CallRecord,
    GateVerdict,
    Json,
    JsonObject,
    RunError,
    RunRecord,
    TurnRecord,
)
from .run_data import run_as_text

# Escaped, no record that has been cut down to the least is longer.
LEAST: Final = 16_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Caps:
    """What is left at most: characters of each text, and of each list its first."""

    text: int
    items: int


_STEPS: Final = (
    _Caps(text=8_000, items=400),
    _Caps(text=4_000, items=200),
    _Caps(text=2_000, items=100),
    _Caps(text=1_000, items=60),
    _Caps(text=500, items=30),
    _Caps(text=250, items=20),
    _Caps(text=120, items=10),
    _Caps(text=120, items=4),
    _Caps(text=40, items=2),
)
# With less room not even the notice of a cut would fit.
_SMALLEST_VALUE: Final = 100


def written_size(text: str) -> int:
    """Return the bytes of a text as it stands in a file of JSON."""
    return len(json.dumps(text, ensure_ascii=False).encode())


def fitted(record: RunRecord, limit: int) -> tuple[RunRecord, str]:
    """Return the record cut down to `limit` bytes, and as text.

    `limit` is at least `LEAST`. What cannot be written at all is cut, too.
    """
    kept, text = record, _written(record)
    for caps in _STEPS:
        if text is not None and written_size(text) <= limit:
            return kept, text
        kept = _cut(kept, caps)
        text = run_as_text(kept)
    return kept, run_as_text(kept)


def _written(record: RunRecord) -> str | None:
    try:
        return run_as_text(record)
    except ValueError, TypeError, RecursionError:
        return None


def _cut(record: RunRecord, caps: _Caps) -> RunRecord:
    first = slice(caps.items)
    parts: dict[str, Any] = {
        "error": record.error and _cut_error(record.error, caps),
        "gate": tuple(_cut_verdict(one, caps) for one in record.gate[first]),
        "actions": tuple(_cut_action(one, caps) for one in record.actions[first]),
        "message": _clip_if_any(record.message, caps.text),
        "calls": tuple(_cut_call(one, caps) for one in record.calls[first]),
        "answer": _clip_if_any(record.answer, caps.text),
        "delivery_failed": _clipped(record.delivery_failed, caps),
        "delivery_waiting": _clipped(record.delivery_waiting, caps),
        "seen": _clipped(record.seen, caps),
        "each_turn": tuple(_cut_turn(one, caps) for one in record.each_turn[first]),
    }
    cut = [key for key, value in parts.items() if value != getattr(record, key)]
    known = dict.fromkeys((*record.shortened, *cut))
    return replace(record, **parts, shortened=tuple(known))


def _cut_error(error: RunError, caps: _Caps) -> RunError:
    return replace(error, message=_clip(error.message, caps.text))


def _cut_verdict(verdict: GateVerdict, caps: _Caps) -> GateVerdict:
    return replace(
        verdict,
        condition=_clip(verdict.condition, caps.text),
        reason=_clip(verdict.reason, caps.text),
    )


def _cut_action(action: ActionRecord, caps: _Caps) -> ActionRecord:
    return replace(
        action,
        action=_clip(action.action, caps.text),
        entity_id=_clipped(action.entity_id, caps),
        data=_cut_object(action.data, caps),
        observed=action.observed and _cut_object(action.observed, caps),
        error=_clip_if_any(action.error, caps.text),
        note=_clip_if_any(action.note, caps.text),
        answered_by=_clip_if_any(action.answered_by, caps.text),
    )


def _cut_call(call: CallRecord, caps: _Caps) -> CallRecord:
    return replace(
        call,
        tool=_clip(call.tool, caps.text),
        arguments=_cut_object(call.arguments, caps),
        answer=_cut_value(call.answer, caps),
    )


def _cut_turn(turn: TurnRecord, caps: _Caps) -> TurnRecord:
    return replace(turn, text=_clip_if_any(turn.text, caps.text))


def _clip(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}…"


def _clip_if_any(text: str | None, length: int) -> str | None:
    return None if text is None else _clip(text, length)


def _clipped(texts: Sequence[str], caps: _Caps) -> tuple[str, ...]:
    return tuple(_clip(text, caps.text) for text in texts[: caps.items])


def _cut_object(value: JsonObject, caps: _Caps) -> JsonObject:
    cut = _cut_value(value, caps)
    return cut if isinstance(cut, Mapping) else {"notice": NOTICE}


def _cut_value(value: Json, caps: _Caps) -> Json:
    """Return a value as JSON has it, its outer shape kept as long as possible."""
    try:
        plain: Json = json.loads(json.dumps(_uncut(value), default=str))
    except ValueError, TypeError, RecursionError:
        return NOTICE
    text = shrink(plain, max(caps.text, _SMALLEST_VALUE))
    kept: Json = json.loads(text)
    return value if kept == plain else kept


def _uncut(value: Json) -> Json:
    """Take off what says that a value was cut before."""
    match value:
        case {"notice": notice, "answer": answer} if notice == NOTICE:
            return answer
    return value

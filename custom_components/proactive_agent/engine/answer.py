"""A tool's answer as it goes on the wire: valid JSON of bounded length (R5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import json
from math import isfinite

from .records import Json, ToolAnswer

ANSWER_LIMIT = 4_000
NOTICE = "This answer was too long; what is missing here was cut."
_MAX_DEPTH = 12
_MAX_INT_BITS = 1_024  # beyond a double no JSON reader agrees, and str() gives up
_SHRINK = 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class _Caps:
    text: int
    items: int


def encode_answer(answer: ToolAnswer, limit: int = ANSWER_LIMIT) -> str:
    """Write an answer as JSON of at most `limit` characters (R5)."""
    return shrink({"error": answer.content} if answer.error else answer.content, limit)


def shrink(value: Json, limit: int) -> str:
    """Encode `value`, cut down to `limit` characters with a notice of the cut.

    The outer shape is kept as long as possible: long texts and long lists are
    shortened first. `limit` has to leave room for the notice (100 is enough).
    """
    text = _encode(value)
    if text is not None and len(text) <= limit:
        return text
    caps = _Caps(text=limit // 2, items=limit // 8)
    while caps.items:
        pruned = _encode({"notice": NOTICE, "answer": _prune(value, caps, 0)})
        if pruned is not None and len(pruned) <= limit:
            return pruned
        caps = _Caps(text=int(caps.text * _SHRINK), items=int(caps.items * _SHRINK))
    return json.dumps({"notice": NOTICE})


def _encode(value: Json) -> str | None:
    """Return None for what JSON cannot say: NaN, endless depth, huge numbers."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError, RecursionError:
        return None
    return text.encode("utf-8", "replace").decode()


def _prune(value: Json, caps: _Caps, depth: int) -> Json:
    if isinstance(value, (str, int, float)) or value is None:
        return _prune_scalar(value, caps)
    if depth == _MAX_DEPTH:
        return "…"
    if isinstance(value, Mapping):
        return _prune_mapping(value, caps, depth + 1)
    return _prune_list(value, caps, depth + 1)


def _prune_scalar(value: Json, caps: _Caps) -> Json:
    match value:
        case str():
            return _clip(value, caps.text)
        case float() if not isfinite(value):
            return None
        case int() if value.bit_length() > _MAX_INT_BITS:
            return None
    return value


def _prune_mapping(value: Mapping[str, Json], caps: _Caps, depth: int) -> Json:
    kept = {
        _clip(key, caps.text): _prune(value[key], caps, depth)
        for key in [*value][: caps.items]
    }
    if (missing := len(value) - caps.items) > 0:
        kept["…"] = f"{missing} more"
    return kept


def _prune_list(value: Sequence[Json], caps: _Caps, depth: int) -> Json:
    kept = [_prune(item, caps, depth) for item in value[: caps.items]]
    if (missing := len(value) - caps.items) > 0:
        kept.append(f"… {missing} more")
    return kept


def _clip(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}…"

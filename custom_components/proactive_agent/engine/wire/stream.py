"""The pieces of a streamed answer → the answer as it is without streaming.

Nobody asked for a stream, but some servers know no other way.
"""

from collections.abc import Iterator, Sequence
import json
import re
from typing import Any, Final

from .deltas import merge
from .values import as_dict, as_list, as_text, decode, has_error, skip_blanks

_OVER: Final = "[DONE]"
_LINE_END: Final = re.compile(r"\r\n|\r|\n")  # others may stand in a value


def read_events(text: str, most: int) -> tuple[list[Any], bool]:
    """Return the values in server-sent events, and whether their end was marked.

    Raises `ValueError` for a broken value, and for more than `most`.
    """
    values: list[Any] = []
    is_over = False
    for name, data in _events(text):
        for value in _values(data):
            if value == _OVER:
                is_over = True
            elif name == "error" and not has_error(value):
                values.append({"error": value})
            else:
                values.append(value)
            if len(values) > most:
                raise ValueError("too many events")
    return values, is_over


def is_chunk(value: Any) -> bool:
    """Say whether a value is a piece of Ollama's own kind."""
    fields = as_dict(value)
    return isinstance(fields.get("message"), dict) and "done" in fields


def assemble(values: Sequence[Any], is_over: bool) -> Any:  # noqa: FBT001 - of a pair
    """Put the pieces of an answer together; raises `ValueError` if some are missing.

    An error among them is the answer, whatever was said before it.
    """
    for value in values:
        if has_error(value):
            return value
    chunks = [_as_openai(value) if is_chunk(value) else value for value in values]
    pieces = [as_dict(chunk) for chunk in chunks if "choices" in as_dict(chunk)]
    if not pieces:
        if not values:
            raise ValueError("nothing in it")
        return values[0]
    choices = _merge_choices(pieces)
    if not is_over and not any(map(_is_whole, choices)):
        raise ValueError("cut off")
    head = {key: pieces[0].get(key) for key in ("id", "model") if key in pieces[0]}
    used = [piece for piece in pieces if piece.get("usage") or piece.get("x_groq")]
    last = used[-1] if used else {}
    counted = {key: last[key] for key in ("usage", "x_groq") if key in last}
    return {**head, "object": "chat.completion", "choices": choices, **counted}


def _events(text: str) -> Iterator[tuple[str, str]]:
    name, data = "", list[str]()
    for line in [*_LINE_END.split(text), ""]:
        field, _, value = line.partition(":")
        if field == "data":
            data.append(value.removeprefix(" "))
        elif field == "event":
            name = value.strip()
        elif not line.strip():
            if data:
                yield name, "\n".join(data)
            name, data = "", []


def _values(data: str) -> Iterator[Any]:
    position = skip_blanks(data, 0)
    while position < len(data):
        if data.startswith(_OVER, position):
            value, end = _OVER, position + len(_OVER)
        elif data[position] in "{[":
            value, end = decode(data, position)
        else:
            return  # a ping
        yield value
        position = skip_blanks(data, end)


def _merge_choices(pieces: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    by_index: dict[str, list[dict[str, Any]]] = {}
    for piece in pieces:
        for place, choice in enumerate(map(as_dict, as_list(piece["choices"]))):
            index = json.dumps(choice.get("index", place))
            by_index.setdefault(index, []).append(choice)
    return [_merge_choice(parts) for parts in by_index.values()]


def _merge_choice(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    known = {
        key: value
        for part in parts
        for key, value in part.items()
        if value is not None and key not in ("delta", "message")
    }
    deltas = [part["delta"] for part in parts if isinstance(part.get("delta"), dict)]
    messages = [as_dict(part.get("message")) for part in parts if "delta" not in part]
    whole = [message for message in messages if message]
    if len(whole) > 1 or (whole and any(deltas)):
        raise ValueError("more than one answer")
    message = whole[0] if whole else merge(deltas)
    return {"finish_reason": None, **known, "message": message, "whole": bool(whole)}


def _is_whole(choice: dict[str, Any]) -> bool:
    return bool(as_text(choice["finish_reason"]) or choice["whole"])


def _as_openai(value: Any) -> dict[str, Any]:
    fields = as_dict(value)
    choice: dict[str, Any] = {"index": 0, "delta": fields["message"]}
    chunk: dict[str, Any] = {"model": fields.get("model"), "choices": [choice]}
    if fields["done"] is True:
        choice["finish_reason"] = as_text(fields.get("done_reason")) or "stop"
        chunk["usage"] = {
            "prompt_tokens": fields.get("prompt_eval_count"),
            "completion_tokens": fields.get("eval_count"),
        }
    return chunk

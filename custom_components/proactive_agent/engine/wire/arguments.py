"""The arguments of a tool call: forgiving about form, never about completeness."""

import re
from typing import Any, Final

from .values import read_value, skip_blanks, write

# What templates leave behind the last brace; prose or digits would be a doubt.
_TAIL: Final = re.compile(
    r"(?:\s|[}\]]|```|</?(?:tool_call|function|tool|arguments)>|<\|[a-z_]+\|>)*"
)
_MAX_TAIL: Final = 200
_FENCE: Final = re.compile(r"\s*```(?:json)?\s*")

NOT_AN_OBJECT: Final = (
    "The arguments must be one JSON object; nothing was called. Call the tool again."
)
NOT_JSON: Final = (
    "The arguments are not whole, valid JSON; nothing was called. "
    "Call the tool again with one complete JSON object."
)
CUT_OFF: Final = (
    "The call was cut off before its end; nothing was called. "
    "Call the tool again, with less text."
)


class UnreadableArgumentsError(ValueError):
    """The call must not be run; the message is a sentence for the model (R4)."""


def read_arguments(raw: Any, *, whole: bool = True) -> list[dict[str, Any]]:
    """Return the objects of a call: one, or one for each call glued together.

    `whole` is False in an answer that was cut off: then only a text that is a complete
    object proves itself, since no object is the beginning of another.
    """
    if isinstance(raw, str) and raw.strip():
        return _read_text(raw)
    if not whole:
        raise UnreadableArgumentsError(CUT_OFF)
    if raw is None or isinstance(raw, str):
        return [{}]
    if not isinstance(raw, dict):
        raise UnreadableArgumentsError(NOT_AN_OBJECT)
    try:
        write(raw)
    except ValueError as err:
        raise UnreadableArgumentsError(NOT_JSON) from err
    return [raw]


def _read_text(text: str, *, nested: bool = False) -> list[dict[str, Any]]:
    objects, rest = _read_values(text)
    if len(rest) > _MAX_TAIL or not _TAIL.fullmatch(rest):
        raise UnreadableArgumentsError(NOT_JSON)
    if not nested and len(objects) == 1 and isinstance(objects[0], str):
        return _read_text(objects[0], nested=True)
    if objects == [None]:
        return [{}]
    if not all(isinstance(value, dict) for value in objects):
        raise UnreadableArgumentsError(NOT_AN_OBJECT)
    return _distinct(objects)


def _read_values(text: str) -> tuple[list[Any], str]:
    fence = _FENCE.match(text)
    position = fence.end() if fence else skip_blanks(text, 0)
    values: list[Any] = []
    while not values or text.startswith("{", position):
        try:
            value, position = read_value(text, position)
        except ValueError as err:
            raise UnreadableArgumentsError(NOT_JSON) from err
        values.append(value)
        position = skip_blanks(text, position)
    return values, text[position:]


def _distinct(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Drop repetitions, and the empty object some servers put before the real one."""
    kept = {write(item): item for item in reversed(objects) if item}
    return list(reversed(kept.values())) or [{}]

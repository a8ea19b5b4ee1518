"""JSON as servers really send it, read by hand."""

import json
import re
from typing import Any, Final

# What no honest answer needs, and what breaks encoders further on.
_MAX_DEPTH: Final = 64
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
# Not strict: raw line breaks inside strings are common and unambiguous.
_DECODER: Final = json.JSONDecoder(strict=False)


def read_value(text: str, start: int = 0) -> tuple[Any, int]:
    """Read one value at `start` and say where it ends; raises `ValueError`.

    What comes back can always be written as JSON again.
    """
    value, end = decode(text, start)
    write(value)
    return value, end


def decode(text: str, start: int = 0) -> tuple[Any, int]:
    """Read one value, which may be one that only Python can write."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except RecursionError as err:
        raise ValueError("nested too deeply") from err
    if _depth_exceeds(value, _MAX_DEPTH):
        raise ValueError("nested too deeply")
    if _SURROGATE.search(text, start, end):
        # Half a character cannot be sent on: no encoder takes it.
        sound = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
        value = json.loads(sound)
    return value, end


def skip_blanks(text: str, start: int) -> int:
    """Return the index of the next character that is not blank."""
    while start < len(text) and text[start].isspace():
        start += 1
    return start


def write(value: Any) -> str:
    """Write a value as compact JSON; raises `ValueError` for NaN and infinity."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def as_dict(value: Any) -> dict[str, Any]:
    """Return an object, or an empty one in place of anything else."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """Return an array, or an empty one in place of anything else."""
    return value if isinstance(value, list) else []


def unwrap(payload: Any) -> Any:
    """Take the first item of a list: some servers put their one error in one."""
    return payload[0] if as_list(payload) else payload


def has_error(payload: Any) -> bool:
    """Say whether a 2xx answer is an error all the same."""
    outer = as_dict(unwrap(payload))
    return bool(
        outer.get("error") or "error" in (outer.get("object"), outer.get("type"))
    )


def as_text(value: Any) -> str:
    """Return a string, or an empty one in place of anything else."""
    return value if isinstance(value, str) else ""


def _depth_exceeds(value: Any, limit: int) -> bool:
    level = [value]
    while level and limit >= 0:
        inner: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                inner.extend(item.values())
            elif isinstance(item, list):
                inner.extend(item)
        level = inner
        limit -= 1
    return bool(level)

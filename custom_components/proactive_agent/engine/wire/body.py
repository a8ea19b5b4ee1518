"""The body of an answer → one JSON value, also where the server streams."""

import re
from typing import Any, Final

from .stream import assemble, is_chunk, read_events
from .values import decode, skip_blanks

_END: Final = re.compile(r"(?:\s|data:\s*\[DONE\])*")
_EVENT: Final = re.compile(r"(?:data|event|id|retry):")
_LAST_EVENT: Final = re.compile(rb"\ndata:\s*\[DONE\]\s*\Z")
_TAIL: Final = 64  # bytes
_MOST: Final = 100_000  # values of a stream, or comments before it


def read_body(body: bytes) -> Any:
    """Read a whole answer, whatever its content type says; raises `ValueError`.

    Blank lines and comments before it (keep-alive) and a `data: [DONE]` after it are
    let pass. The pieces of a stream are put together, and one that breaks off is none.
    """
    text = body.decode("utf-8-sig").strip()
    start = _start(text)
    if _EVENT.match(text, start):
        return assemble(*read_events(text, _MOST))
    values, end = _values(text, start)
    if not _END.fullmatch(text, end):
        raise ValueError("more than JSON")
    if len(values) == 1 and not is_chunk(values[0]):
        return values[0]
    return assemble(values, is_over=False)


def ends_stream(body: bytes | bytearray) -> bool:
    """Say whether what has come of a body by now is a stream that is over."""
    return _LAST_EVENT.search(body[-_TAIL:]) is not None


def _start(text: str) -> int:
    """Return where the first line is that is no comment."""
    position = 0
    for _ in range(_MOST):
        if not text.startswith(":", position):
            return position
        end = text.find("\n", position)
        position = skip_blanks(text, end) if end >= 0 else len(text)
    raise ValueError("too many comments")


def _values(text: str, start: int) -> tuple[list[Any], int]:
    """Read one value, or one on each line."""
    value, end = decode(text, start)
    values = [value]
    position = skip_blanks(text, end)
    while position > end and text.startswith("{", position):
        value, end = decode(text, position)
        values.append(value)
        position = skip_blanks(text, end)
        if len(values) > _MOST:
            raise ValueError("too many values")
    return values, end

"""The body of an answer → one JSON value, also where the server streams."""

import re
from typing import Any, Final

from .stream import assemble, is_chunk, read_events
from .values import decode, skip_blanks

_END: Final = re.compile(r"(?:\s|data:\s*\[DONE\])*")
_EVENT: Final = re.compile(r"(?:data|event|id|retry):")
_COMMENTS: Final = re.compile(r"(?::[^\n]*(?:\n\s*|\Z))*")
_LAST_EVENT: Final = re.compile(rb"\ndata:\s*\[DONE\]\s*\Z")
_TAIL: Final = 64  # bytes
_MAX_VALUES: Final = 100_000  # of one stream


def read_body(body: bytes) -> Any:
    """Read a whole answer, whatever its content type says; raises `ValueError`.

    Blank lines and comments before it (keep-alive) and a `data: [DONE]` after it are
    let pass. The pieces of a stream are put together, and one that breaks off is none.
    """
    text = body.decode("utf-8-sig").strip()
    if _EVENT.match(text, _start(text)):
        return assemble(*read_events(text, _MAX_VALUES))
    values, end = _values(text)
    if not _END.fullmatch(text, end):
        raise ValueError("more than JSON")
    if len(values) == 1 and not is_chunk(values[0]):
        return values[0]
    return assemble(values, is_over=False)


def ends_stream(body: bytes | bytearray) -> bool:
    """Say whether what has come of a body by now is a stream that is over."""
    return _LAST_EVENT.search(body[-_TAIL:]) is not None


def _start(text: str) -> int:
    comments = _COMMENTS.match(text)
    return comments.end() if comments else 0


def _values(text: str) -> tuple[list[Any], int]:
    """Read one value, or one on each line."""
    value, end = decode(text, _start(text))
    values = [value]
    position = skip_blanks(text, end)
    while position > end and text.startswith("{", position):
        value, end = decode(text, position)
        values.append(value)
        position = skip_blanks(text, end)
        if len(values) > _MAX_VALUES:
            raise ValueError("too many values")
    return values, end

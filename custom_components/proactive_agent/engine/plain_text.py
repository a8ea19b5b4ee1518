"""A message as plain text on one line, whatever a model wrote (S6)."""

from functools import lru_cache
import re

from .markup import without_line_marks, without_markup
from .one_line import visible_line

MAX_LENGTH = 255
# What stands further behind can no longer be part of a message.
_MAX_READ = 10_000
_MAX_NESTING = 8
_MARKS = str.maketrans(dict.fromkeys("<>[]()&*_~`#|=+-:", " "))
# All commands that the apps on phones know have an underscore, but for one.
_COMMAND = re.compile(r"\w*_\w*|tts", re.ASCII | re.IGNORECASE)


def plain_line(text: str, limit: int = MAX_LENGTH) -> str:
    """Return `text` as one plain line of at most `limit` characters (S6).

    Markup goes and its words stay; addresses go, so that nothing is loaded. A
    plain line stays as it is, however often it comes through here.
    """
    line = _plain(without_line_marks(text[:_MAX_READ]))
    return _plain(shorten(line, limit))


def message_line(text: str, ending: str = "", limit: int = MAX_LENGTH) -> str:
    """Return what is sent: one plain line that closes with `ending` (S6).

    The text is cut before the ending is. A text that an app on a phone would take
    for a command, such as `clear_notification`, becomes a sentence.
    """
    last = plain_line(ending, limit)
    room = limit - len(last) - 1 if last else limit
    first = plain_line(text, room) if room > 0 else ""
    # Put together, the two could be markup again.
    line = _plain(f"{first} {last}")
    if not _COMMAND.fullmatch(line):
        return line
    return shorten(f"{line}.", limit)


def shorten(line: str, limit: int) -> str:
    """Cut a line at `limit` characters, at a word if one ends near there."""
    if len(line) <= limit:
        return line
    head = line[: limit - 1]
    at_word = head.rsplit(" ", 1)[0]
    kept = at_word if len(at_word) > limit // 2 else head
    return f"{kept.rstrip(' ,;:')}…"


@lru_cache(maxsize=32)  # the same words come through several times in a run
def _plain(text: str) -> str:
    """Take off layer by layer, for one markup can be hidden in another."""
    line = visible_line(text)
    for _ in range(_MAX_NESTING):
        if (bare := visible_line(without_markup(line))) == line:
            return line
        line = bare
    # Nobody writes like this by accident: not one mark of it may stay.
    return _plain(line.translate(_MARKS))

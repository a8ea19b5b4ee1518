"""A text as one line that holds only what can be seen (A1, S6)."""

import re
import unicodedata

_BREAKS = {"Cc", "Zs", "Zl", "Zp"}
_HIDDEN = {"Cf", "Cs", "Co"}
# Letters and signs that are drawn as nothing, though they count as something.
_BLANKS = "\u115f\u1160\u2800\u3164\uffa0"
_JOINERS = "\u200c\u200d"
_JOINER_RUN = re.compile(f"([{_JOINERS}])[{_JOINERS}]*")
# Of a longer text only this many characters for each one kept are looked at.
_LOOKED_AT = 4


def one_line(text: str, limit: int) -> str:
    """Return `text` on one visible line (A1).

    Of a longer one `limit` characters are kept, with an ellipsis behind them.
    """
    line = visible_line(text[: limit * _LOOKED_AT])
    return line if len(line) <= limit else f"{line[:limit]}…"


def visible_line(text: str) -> str:
    """Return `text` on one line, without characters that cannot be seen (S6).

    Joiners stay where they join: inside an emoji or a script that needs them.
    """
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    seen = "".join(map(_seen, text))
    return " ".join(_JOINER_RUN.sub(_kept_joiner, seen).split())


def _seen(character: str) -> str:
    category = unicodedata.category(character)
    if category in _BREAKS or character in _BLANKS:
        return " "
    return "" if category in _HIDDEN and character not in _JOINERS else character


def _kept_joiner(run: re.Match[str]) -> str:
    start, end = run.span()
    before, after = run.string[start - 1 : start], run.string[end : end + 1]
    # An empty string counts as ASCII: at an edge there is nothing to join.
    return "" if before.isascii() or after.isascii() else run[1]

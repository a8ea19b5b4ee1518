"""A message as plain text on one line, whatever a model wrote (S6)."""

import html
import re
import unicodedata

MAX_LENGTH = 255
_MAX_PASSES = 5

_ACTIVE_ELEMENT = re.compile(
    r"<\s*(script|style|iframe|svg|object|template)\b.*?(<\s*/\s*\1\s*>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_AUTOLINK = re.compile(r"<[a-z][a-z0-9+.-]*:[^>\s]*>", re.IGNORECASE)
_TAG = re.compile(r"<[/!?]?[a-z][^<>]*>|<!--.*?-->", re.IGNORECASE | re.DOTALL)
_TAG_START = re.compile(r"<(?=[/!?]?[a-z])", re.IGNORECASE)
_MARKDOWN_LINK = re.compile(
    r"!?\[([^\[\]]*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\]]*\])"
)
_LINK_DEFINITION = re.compile(r"^\s*\[[^\]]+\]:\s*\S+.*$", re.MULTILINE)
_ADDRESS = re.compile(
    r"\b(?:[a-z][a-z0-9+.-]*://|www\.|(?:javascript|data|vbscript|mailto|tel):(?=\S))\S*",
    re.IGNORECASE,
)
_BLOCK_MARK = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+|```\S*)", re.MULTILINE
)
_EMPHASIS = re.compile(r"(\*{1,3}|~~|`{1,3})(?=\S)(.+?)(?<=\S)\1", re.DOTALL)
_UNDERLINE = re.compile(r"(?<!\w)(_{1,3})(?=\S)(.+?)(?<=\S)\1(?!\w)", re.DOTALL)


def plain_line(text: str, limit: int = MAX_LENGTH) -> str:
    """Return `text` as one plain line of at most `limit` characters (S6).

    Markup goes and its words stay; addresses go, so that nothing is loaded.
    """
    for _ in range(_MAX_PASSES):
        cleaned = _without_markup(text)
        if cleaned == text:
            break
        text = cleaned
    line = " ".join("".join(map(_harmless, text)).split())
    return shorten(_TAG_START.sub("", line), limit)


def shorten(line: str, limit: int) -> str:
    """Cut a line at `limit` characters, at a word if one ends near there."""
    if len(line) <= limit:
        return line
    head = line[: limit - 1]
    at_word = head.rsplit(" ", 1)[0]
    kept = at_word if len(at_word) > limit // 2 else head
    return f"{kept.rstrip(' ,;:')}…"


def _without_markup(text: str) -> str:
    text = html.unescape(text)
    text = _ACTIVE_ELEMENT.sub(" ", text)
    text = _AUTOLINK.sub("", text)
    text = _TAG.sub(" ", text)
    text = _LINK_DEFINITION.sub("", text)
    text = _MARKDOWN_LINK.sub(r"\1", text)
    text = _ADDRESS.sub("", text)
    text = _BLOCK_MARK.sub("", text)
    text = _EMPHASIS.sub(r"\2", text)
    return _UNDERLINE.sub(r"\2", text)


def _harmless(character: str) -> str:
    category = unicodedata.category(character)
    if category in {"Cc", "Zl", "Zp"}:
        return " "
    return "" if category in {"Cf", "Cs", "Co"} and character != "\u200d" else character

"""HTML and Markdown off a text; each pattern reads it once, whatever it holds."""

import html
import re

_RULE = r"[-=*_|: ]{3,}$"
_MARK = r"(?:(?:#{1,6}|[-*+])(?: +|$)|> ?|`{3,}\w*)+"
_LINE_MARK = re.compile(rf"^(?:{_RULE}|{_MARK})")
_LINK_DEFINITION = re.compile(
    r"""^\[[^\[\]]+\]: *<?(?:[a-z][a-z0-9+.-]{0,30}:|/|\.)\S*(?: +["'(].*)?$""",
    re.IGNORECASE,
)

# `int()` gives up on longer numbers, and no character has one.
_ENDLESS_NUMBER = re.compile(r"&#\d{8,};?")
_COMMENT = re.compile(r"<!--.*?(?:-->|$)")
_ACTIVE_ELEMENT = re.compile(
    r"<(script|style|iframe|svg|object|template)\b.*?(?:</\1[^<>]*>|$)", re.IGNORECASE
)
_INLINE_TAG = re.compile(
    r"</?(?:a|abbr|b|big|code|del|em|font|i|ins|kbd|mark|q|s|small|span|strong|sub|sup"
    r"|tt|u|var)(?: [^<>]*)?/?>",
    re.IGNORECASE,
)
# With `@`, `#` or `:` it is a mention, a channel or a picture to a chat.
_TAG = re.compile(r"<[a-z/!?@#:][^<>]*>", re.IGNORECASE)
_TAG_START = re.compile(r"<(?=[a-z/!?@#:])", re.IGNORECASE)
# In a chat it would call people; an address of mail calls nobody.
_MENTION = re.compile(r"(?<!\w)@+(?=\w)")

_LINK = re.compile(
    r"!?\[([^\[\]]*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])"
    r"|!\[([^\[\]]*)\]"
)
_LINK_START = re.compile(r"\](?=[(\[])")
_LABEL = re.compile(r"^\[([^\[\]]+)\]:")
_ADDRESS = re.compile(
    r"(?:(://)|(?<!\w)(?:www\.|(?:javascript|vbscript|mailto):(?=\S)"
    r"|data:(?:[\w.+-]+/[\w.+-]+)?(?:;[\w=.+-]+)*,))"
    # Far Eastern scripts go on behind an address without a blank.
    r"[^\s\u2e80-\uffef]*",
    re.IGNORECASE,
)
_SCHEME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-"
_OPENERS = "([{<\"'“‘«"  # noqa: RUF001 - the quotes that may stand before an address

# Without any of these there is nothing to take off.
_SIGNS = re.compile(r"[&<>@\[\]:`~*_#+=|-]|www\.", re.IGNORECASE)

_FENCE = re.compile(r"`{3,}")
_CODE = re.compile(r"(`+)([^`]+)\1")
_STRUCK = re.compile(r"(?<!~)~~([^~]+)~~(?!~)")
_EMPHASIS = re.compile(r"(?<![\w*])(\*+)(?=[^\s*])([^*]*[^\s*])\1(?![\w*])")
_UNDERLINE = re.compile(
    r"(?<![\w_])(_{1,3})(?=[^\s_])((?:[^_]|(?<=[^\W_])_+(?=[^\W_]))*[^\s_])\1(?!\w)"
)


def without_line_marks(text: str) -> str:
    """Take off what is markup only by standing at the beginning of a line."""
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(
        _LINE_MARK.sub("", line) for line in lines if not _LINK_DEFINITION.match(line)
    )


def without_markup(line: str) -> str:
    """Take one layer of markup, and every address, off a single line."""
    if not _SIGNS.search(line):
        return line
    line = html.unescape(_ENDLESS_NUMBER.sub("", line))
    line = _ACTIVE_ELEMENT.sub(" ", _COMMENT.sub(" ", line))
    line = _TAG.sub(" ", _INLINE_TAG.sub("", line))
    line = _MENTION.sub("", _TAG_START.sub("", line))
    line = _LABEL.sub(r"\1:", line)
    line, links = _LINK.subn(lambda link: link[1] or link[2] or "", line)
    if links:
        return line  # what stood around them may be a link of its own
    line = _without_addresses(line)
    # Left open, it could be closed by words that are put behind it, and take them.
    line = _LINK_START.sub(" ", line)
    line = _LINE_MARK.sub("", line)
    line = _CODE.sub(r"\2", _FENCE.sub("", line))
    line = _EMPHASIS.sub(r"\2", _STRUCK.sub(r"\1", line))
    return _UNDERLINE.sub(r"\2", line)


def _without_addresses(line: str) -> str:
    pieces = []
    end = 0
    for found in _ADDRESS.finditer(line):
        before = line[end : found.start()]
        pieces.append((before.rstrip(_SCHEME) if found[1] else before).rstrip(_OPENERS))
        end = found.end()
    return "".join((*pieces, line[end:]))

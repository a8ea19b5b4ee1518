"""What a server says, without a key in it, in whatever form it echoes one."""

from base64 import b64decode
from functools import lru_cache
from html import escape
import re
from typing import Final

_MAX_LENGTH: Final = 200  # of what an owner reads
_LOOKED_AT: Final = 4_000  # of a text that may be far longer
_MIN_KEY: Final = 4  # a shorter one would be found in every word
_MASK: Final = "***"
_KEYS: Final = (
    re.compile(r"\b(?:sk|pk|gsk|csk|xai|hf|nvapi|pplx)[-_][\w*.-]{4,}"),
    re.compile(r"\bAIza[\w*-]{8,}"),
    re.compile(r"\b(?:bearer|basic)\s+[\w*.~+/=-]{6,}", re.IGNORECASE),
    re.compile(r"\b(?=\w*\d)(?=\w*[A-Za-z])\w{32,}"),
    re.compile(r"(?<![\w-])(?:[\w-]*+[*•]{3,}+[\w-]++|[\w-]++[*•]{3,}+)"),
)
_PARTS: Final = re.compile(r"\\+|[^\\]")  # of a key: each letter, and each run of `\`
_ENCODED: Final = re.compile(r"[A-Za-z0-9+/_-]{6,}={0,2}")
_SHORTENED: Final = re.compile(
    r"(?<![\w-])([\w-]{2,}+)(?:\.{2,}+|…|\[\w*+\])([\w-]{2,}+)"
)


def quote(text: str, api_key: str) -> str:
    """Make a server's text fit to be shown: one line, capped, keys masked."""
    text = " ".join(text[:_LOOKED_AT].split())
    text = "".join(letter for letter in text if letter.isprintable())
    text = mask(text, api_key)
    return text if len(text) <= _MAX_LENGTH else f"{text[: _MAX_LENGTH - 1]}…"


def mask(text: str, api_key: str) -> str:
    """Mask whatever looks like a key, and this key also where it is encoded or cut."""
    key = api_key.strip()
    if len(key) >= _MIN_KEY:
        text = _spellings(key).sub(_MASK, text)
        text = _ENCODED.sub(lambda found: _masked_code(found[0], key), text)
        text = _SHORTENED.sub(lambda found: _masked_ends(found, key), text)
        text = _masked_tail(text, key)
    for pattern in _KEYS:
        text = pattern.sub(_MASK, text)
    return text


@lru_cache(maxsize=16)
def _spellings(key: str) -> re.Pattern[str]:
    r"""Find a key also as `%2B`, `\u002b`, `&#43;` or with a backslash in it.

    No letter may be found in two ways at one place: in a key that is only begun, each
    would double the work.
    """
    line = " ".join(key.split())
    spelt = "".join(map(_spelling, _PARTS.findall(line)))
    return re.compile(f"{re.escape(line)}|{spelt}", re.IGNORECASE)


def _spelling(part: str) -> str:
    if part == " ":
        return r"(?:\s|%20|\+|\\[rnt])+"
    letter = part[0]
    code = ord(letter)
    percent = "".join(
        f"%(?:25)?{byte:02x}" for byte in letter.encode("utf-8", "replace")
    )
    ways = rf"\\++u{code:04x}|{percent}|&#{code};|&#x{code:x};"
    if letter == "\\":
        return rf"(?:{ways}|\\)++"
    plain = {re.escape(escape(letter)): None, re.escape(letter): None}
    return rf"(?:{ways}|\\*+(?:{'|'.join(plain)}))"


def _masked_code(token: str, key: str) -> str:
    """Mask a token that has the key in it when it is read as Base64."""
    plain = token.rstrip("=").translate(str.maketrans("-_", "+/"))
    for start in range(4):
        part = plain[start:]
        part = part[: len(part) - (len(part) % 4 == 1)]
        read = b64decode(part + "=" * (-len(part) % 4))
        if key.encode("utf-8", "replace") in read:
            return _MASK
    return token


def _masked_ends(found: re.Match[str], key: str) -> str:
    begins, ends = key.startswith(found[1]), key.endswith(found[2])
    return _MASK if begins or ends else found[0]


def _masked_tail(text: str, key: str) -> str:
    """Mask the beginning of a key that was cut off with the text."""
    for length in range(len(key) - 1, _MIN_KEY - 1, -1):
        if text.endswith(key[:length]):
            return text[:-length] + _MASK
    return text

"""What a message says in words, without the thinking around it."""

import re
from typing import Any, Final

from .values import as_dict, as_list, as_text

_TAGS: Final = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
)
_THINKING: Final = tuple(
    re.compile(f"{re.escape(opener)}.*?(?:{re.escape(closer)}|\\Z)", re.DOTALL)
    for opener, closer in _TAGS
)
_CHANNELS: Final = re.compile(
    r"<\|channel\|>analysis<\|message\|>.*?(?:<\|end\|>|(?=<\|start\|>)|\Z)", re.DOTALL
)
_FINAL: Final = re.compile(
    r"(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>|<\|(?:return|end)\|>"
)
_TEXT_PARTS: Final = ("text", "output_text")


def read_content(content: Any) -> str:
    """Join the text of a message's content, a string or a list of parts."""
    if isinstance(content, dict):
        content = [content]
    return as_text(content) or "".join(map(_part_text, as_list(content)))


def strip_thinking(text: str) -> str:
    """Take out blocks of thinking; text without any comes back untouched.

    A closer without an opener (the template wrote it) ends what was thought, an
    opener without a closer means that all after it was.
    """
    spoken = _CHANNELS.sub("", text)
    for (_, closer), block in zip(_TAGS, _THINKING, strict=True):
        spoken = block.sub("", spoken).rpartition(closer)[2]
    spoken = _FINAL.sub("", spoken)
    return text if spoken == text else spoken.strip()


def _part_text(part: Any) -> str:
    if isinstance(part, str):
        return part
    fields = as_dict(part)
    return as_text(fields.get("text")) if _is_text(fields) else ""


def _is_text(part: dict[str, Any]) -> bool:
    return part.get("type", "text") in _TEXT_PARTS

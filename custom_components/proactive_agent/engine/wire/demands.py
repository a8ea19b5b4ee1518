"""How servers word what a request must be like; all in small letters."""

from collections.abc import Mapping
import re
from typing import Final

ABOUT_TOOLS: Final = re.compile(r"tools?\b|function|schema|parameters\b|propert")
ABOUT_HISTORY: Final = re.compile(r"messages?\b|history|assistant|role")
REASONING_WANTED: Final = re.compile(
    r"\breasoning_content\b.{0,80}(?:must|missing|required|expected|not provided)"
    r"|(?:missing|requires?|without|expects?|needs?).{0,60}\breasoning_content\b"
)
SCHEMA_REFUSED: Final = re.compile(
    r"(?:schema|grammar).{0,80}(?:invalid|support|not valid|fail|unrecogni|convert)"
    r"|(?:invalid|unsupported|fail|unrecogni|convert).{0,80}(?:schema|grammar)"
)
LIMIT_WANTED: Final = re.compile(
    r"max_tokens.{0,30}required"
    r"|(?:missing|must (?:specify|provide|include|set)).{0,40}max_tokens"
)

# By the flag of a shape that answers the demand.
FLAGS: Final[Mapping[str, re.Pattern[str]]] = {
    "no_system": re.compile(
        r"(?:system|developer)\W{0,2} ?(?:role|message|instruction|prompt)s?.{0,40}"
        r"(?:not |un|n't )(?:be )?(?:support|allow|enabled)"
        r"|role\b.{0,40}(?:not |un|n't )support.{0,20}(?:system|developer)"
        r"|only user\b.{0,12} assistant\b.{0,12} roles"
    ),
    "no_empty_parameters": re.compile(
        r"propert(?:y|ies)\b.{0,40}non-?empty|non-?empty for object"
        r"|(?:parameters|propert(?:y|ies))\b.{0,40}(?:not|cannot) be empty"
        r"|at least one (?:property|parameter)|require at least one of"
    ),
    "no_blank_content": re.compile(
        r"(?:content|text)\b.{0,60}(?:non-?empty|not be empty|is (?:blank|empty))"
    ),
    "short_ids": re.compile(
        r"tool[ _]?calls?[ _.]?ids?\b.{0,60}(?:must|length|pattern|invalid|too long)"
        r"|invalid.{0,20}tool_call_id|tool_calls\[\d+\]\.id\W"
    ),
    "streamed": re.compile(
        r"only supports? stream|non-?streaming (?:calls?|requests?|mode)"
        r"|stream(?:ing)?\b.{0,30}(?:must be|is required|set to true|only mode)"
    ),
    "rewritten_arguments": re.compile(
        r"(?:tool[ _]?calls?|function)\b.{0,40}\barguments.{0,80}"
        r"(?:json|pars|invalid|dict|mapping|object)"
        r"|(?:json|pars|invalid|decod).{0,40}\b(?:tool[ _]?calls?|function)\b.{0,20}"
        r"arguments|item pairs from a mapping|json\.exception\.parse_error"
    ),
}

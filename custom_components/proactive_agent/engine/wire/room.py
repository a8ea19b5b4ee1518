"""How long an answer may be, by what a server says of its limits."""

from collections.abc import Mapping
import re
from typing import Any, Final

from .facts import Facts
from .shape import LIMITS
from .values import as_dict

_LEAST: Final = 16  # tokens; with less there is no room to answer
_GROUPED: Final = re.compile(r"(?<=\d)[,_'](?=\d{3}(?!\d))")
_SUM: Final = re.compile(r"(?P<input>\d+) \+ (?P<output>\d+) (?:>|exceeds?)")
_INPUT: Final = re.compile(
    r"(?:has|contains|given:|with) (?:at least |about )?(?P<input>\d+)"
    r" (?:input|prompt|`?inputs`?)"
)
_TOTAL: Final = re.compile(r"requested (?:about |a total of )?(?P<total>\d+) tokens")
_OUTPUT: Final = re.compile(
    r"(?P<output>\d+) (?:tokens )?(?:in|for|of) the (?:completion|output)"
)
_CONTEXT: Final = tuple(
    map(
        re.compile,
        (
            r"\d+ \+ \d+ > (\d+)",
            r"(?:maximum|max) (?:context|model|sequence) length\D{0,20}(\d+)",
            r"(\d+) maximum context length",
            r"context (?:length|window|size|limit)\D{0,20}(\d+)",
            r"must be <= (\d+)",
            r"tokens allowed \(?(\d+)",
            r"> (\d+) max",
            r"(?:limit|maximum)(?: is| of) (\d+)(?: input)? tokens",
        ),
    )
)
_OF_ANSWER: Final = re.compile(r"max\w{0,12}_?tokens|completion tokens|output tokens")
_CAP: Final = tuple(
    map(
        re.compile,
        (
            r"(?:at most|up to|less than or equal to|no (?:more|greater) than) `?(\d+)",
            r"(?:model limit|maximum|limit)(?: value)?(?: is| of) `?(\d+)",
            r"\d+ > (\d+), which is the maximum",
            r"[\[(][01], ?(\d+)\]",
            r"from 1 \(inclusive\) to (\d+)",
            r"(?:<=|≤) ?(\d+)",
        ),
    )
)


def context_limit(facts: Facts) -> int | None:
    """Return how many tokens a request and its answer may have together."""
    for level in (facts.payload, as_dict(facts.payload).get("error")):
        stated = as_dict(level).get("n_ctx")
        if isinstance(stated, int) and stated > 0:
            return stated
    text = _text(facts)
    return _first(_CONTEXT, text)


def room(facts: Facts, sent: Mapping[str, Any]) -> int | None:
    """Return how many tokens are left for an answer, by a request refused as too long.

    None where the request leaves no room itself, or where that cannot be told.
    """
    limit, text = context_limit(facts), _text(facts)
    asked = _asked(sent)
    used = _number(_SUM, "input", text) or _number(_INPUT, "input", text)
    if used is None:
        total = _number(_TOTAL, "total", text)
        output = _number(_OUTPUT, "output", text) or asked
        used = None if total is None or output is None else total - output
    if limit is None or used is None or used <= 0:
        return None
    return _lower(limit - used, asked)


def cap(facts: Facts, sent: Mapping[str, Any]) -> int | None:
    """Return the most that an answer may have, where more was asked for."""
    text = _text(facts)
    asked = _asked(sent)
    most = _first(_CAP, text) if _OF_ANSWER.search(text) else None
    return None if asked is None or most is None else _lower(most, asked)


def _lower(value: int, asked: int | None) -> int | None:
    is_lower = asked is None or value < asked
    return value if value >= _LEAST and is_lower else None


def _asked(sent: Mapping[str, Any]) -> int | None:
    counts = (sent.get(key) for key in LIMITS)
    return next((count for count in counts if isinstance(count, int)), None)


def _text(facts: Facts) -> str:
    return _GROUPED.sub("", facts.message.lower())


def _first(patterns: tuple[re.Pattern[str], ...], text: str) -> int | None:
    found = filter(None, (pattern.search(text) for pattern in patterns))
    return next((int(match[1]) for match in found), None)


def _number(pattern: re.Pattern[str], group: str, text: str) -> int | None:
    match = pattern.search(text)
    return int(match[group]) if match else None

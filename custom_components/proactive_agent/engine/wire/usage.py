"""What an answer has used, as far as the server tells."""

from collections.abc import Mapping
import re
from typing import Any

from ..records import Usage
from .values import as_dict, as_list


def usage_of(payload: Any) -> Usage | None:
    """Return the tokens that an answer has used; None where it does not say."""
    fields = as_dict(payload)
    choice = as_dict(next(iter(as_list(fields.get("choices"))), None))
    places = (
        fields.get("usage"),
        as_dict(fields.get("x_groq")).get("usage"),
        choice.get("usage"),
    )
    found = (_read(as_dict(place)) for place in places)
    return next(filter(None, found), None)


def _read(usage: Mapping[str, Any]) -> Usage | None:
    """Read the tokens used; None, never zero, where the server does not say."""
    prompt = _count(usage, "prompt_tokens", "input_tokens")
    completion = _count(usage, "completion_tokens", "output_tokens")
    total = _count(usage, "total_tokens")
    known = [count for count in (prompt, completion, total) if count is not None]
    if not known:
        return None
    if prompt is None:
        prompt = max(0, (total or 0) - (completion or 0))
    if completion is None:
        completion = max(0, (total or 0) - prompt)
    return Usage(prompt=prompt, completion=completion, estimated=len(known) == 1)


def _count(usage: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        digits = str(usage.get(name)).removesuffix(".0")
        if re.fullmatch(r"\d{1,12}", digits):
            return int(digits)
    return None

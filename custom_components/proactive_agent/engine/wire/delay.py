"""How long a server asks to be left alone, in seconds."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
import re
from typing import Any, Final

from .facts import Facts
from .values import as_dict, as_list

_EPOCH: Final = 1_000_000_000  # a number of seconds this large is a date
_PART: Final = (
    r"(\d{1,9}(?:\.\d{1,9})?)\s?"
    r"(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)(?![a-z])"
)
_DURATION: Final = re.compile(rf"(?:{_PART}\s?)+", re.IGNORECASE)
_IN_WORDS: Final = re.compile(
    rf"(?:again|retry|wait)\D{{0,20}}((?:{_PART}\s?)+)", re.IGNORECASE
)
_STATED: Final = ("retryDelay", "retry_after", "retry_after_seconds", "estimated_time")


def retry_after(
    headers: Mapping[str, str], facts: Facts, now: datetime | None = None
) -> float | None:
    """Return the delay in seconds, None where the server named none.

    `now` is the time a date is held against; by default the server's own.
    """
    fields = {name.lower(): value.strip() for name, value in headers.items()}
    now = now or _date(fields.get("date", "")) or datetime.now(UTC)
    for delay in (
        _number(fields.get("retry-after-ms", ""), 0.001),
        _header(fields.get("retry-after", ""), now),
        _empty_bucket(fields),
        _stated(facts.payload),
        _in_words(facts.message),
    ):
        if delay is not None:
            return delay
    return None


def _number(text: Any, unit: float = 1.0) -> float | None:
    if isinstance(text, bool) or not re.fullmatch(r"\d{1,15}(\.\d+)?", str(text)):
        return None
    return float(text) * unit


def _header(text: str, now: datetime) -> float | None:
    seconds = _number(text)
    if seconds is None:
        date = _date(text)
        return None if date is None else max(0.0, (date - now).total_seconds())
    return max(0.0, seconds - now.timestamp()) if seconds >= _EPOCH else seconds


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except ValueError, OverflowError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def _empty_bucket(fields: Mapping[str, str]) -> float | None:
    """Return when the bucket that is used up will be filled again."""
    for bucket in ("tokens", "requests"):
        if fields.get(f"x-ratelimit-remaining-{bucket}") == "0":
            return _duration(fields.get(f"x-ratelimit-reset-{bucket}", ""))
    return None


def _stated(payload: Any) -> float | None:
    outer = as_dict(payload[0] if as_list(payload) else payload)
    error = as_dict(outer.get("error"))
    levels = [outer, error, as_dict(error.get("metadata"))]
    for fields in levels + as_list(error.get("details")):
        for key in _STATED:
            value = as_dict(fields).get(key)
            delay = _number(value)
            delay = _duration(value) if delay is None else delay
            if delay is not None:
                return delay
    return None


def _in_words(message: str) -> float | None:
    match = _IN_WORDS.search(message)
    return _duration(match[1]) if match else None


def _duration(text: Any) -> float | None:
    """Read `6m0s`, `1.57s`, `20 seconds`, …."""
    if not isinstance(text, str) or not _DURATION.fullmatch(text.strip()):
        return None
    return sum(
        float(number) * _seconds(unit.lower())
        for number, unit in re.findall(_PART, text, re.IGNORECASE)
    )


def _seconds(unit: str) -> float:
    if unit.startswith(("ms", "milli")):
        return 0.001
    return {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}[unit[0]]

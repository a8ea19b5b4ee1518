"""How long a server asks to be left alone, in seconds."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
import re
from typing import Any, Final

from .facts import Facts
from .values import as_dict, as_list

_EPOCH: Final = 1_000_000_000  # a number of seconds this large is a date
_EPOCH_MS: Final = 1_000 * _EPOCH
_LONGEST: Final = 366 * 86_400.0  # seconds; what is longer is no delay but a mistake
_PART: Final = (
    r"(\d{1,9}(?:\.\d{1,9})?)\s?"
    r"(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)(?![a-z])"
)
_DURATION: Final = re.compile(rf"(?:{_PART}\s?)+", re.IGNORECASE)
_IN_WORDS: Final = re.compile(
    rf"(?:again|retry|wait)\D{{0,20}}((?:{_PART}\s?)+)", re.IGNORECASE
)
# In an answer's body, by how many seconds one of them is.
_STATED: Final[Mapping[str, float]] = {
    "retryDelay": 1,
    "retry_after": 1,
    "retryAfter": 1,
    "retry-after": 1,
    "retry_after_seconds": 1,
    "retry_after_ms": 0.001,
    "retryAfterMs": 0.001,
    "estimated_time": 1,
}


def retry_after(
    headers: Mapping[str, str], facts: Facts, now: datetime | None = None
) -> float | None:
    """Return the delay in seconds, at most a year, None where the server named none.

    `now` is the time a date is held against; by default the server's own.
    """
    fields = {
        name.lower(): str(value).strip()
        for name, value in (*_forwarded(facts.payload).items(), *headers.items())
    }
    now = now or _date(fields.get("date", "")) or datetime.now(UTC)
    for delay in (
        _number(fields.get("retry-after-ms", ""), 0.001),
        _wait(fields.get("retry-after", ""), now),
        _empty_buckets(fields, now),
        _stated(facts.payload, now),
        _in_words(facts.message),
    ):
        if delay is not None and delay <= _LONGEST:
            return delay
    return None


def _number(text: Any, unit: float = 1.0) -> float | None:
    if isinstance(text, bool) or not re.fullmatch(r"\d{1,15}(\.\d+)?", str(text)):
        return None
    return float(text) * unit


def _wait(value: Any, now: datetime) -> float | None:
    """Read seconds, a duration such as `1m3s`, or the moment at which it is over."""
    seconds = _number(value)
    if seconds is None:
        seconds = _duration(value)
    if seconds is None:
        moment = _date(value) if isinstance(value, str) else None
        return None if moment is None else max(0.0, (moment - now).total_seconds())
    if seconds >= _EPOCH_MS:
        seconds /= 1_000
    return max(0.0, seconds - now.timestamp()) if seconds >= _EPOCH else seconds


def _date(text: str) -> datetime | None:
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            date = read(text)
        except ValueError, OverflowError:
            continue
        return date if date.tzinfo else date.replace(tzinfo=UTC)
    return None


def _empty_buckets(fields: Mapping[str, str], now: datetime) -> float | None:
    """Return when each bucket that is used up will be filled again.

    Where nothing is said of what is left, each may be used up.
    """
    waits = [
        wait
        for bucket in ("-tokens", "-requests", "")
        if _number(fields.get(f"x-ratelimit-remaining{bucket}", "0")) == 0
        and (wait := _wait(fields.get(f"x-ratelimit-reset{bucket}", ""), now))
        is not None
    ]
    return max(waits, default=None)


def _levels(payload: Any) -> list[Any]:
    outer = as_dict(payload[0] if as_list(payload) else payload)
    error = as_dict(outer.get("error"))
    return [
        outer,
        error,
        as_dict(error.get("metadata")),
        *as_list(error.get("details")),
    ]


def _forwarded(payload: Any) -> dict[str, Any]:
    """Return the headers of the server behind a gateway, which passes them on."""
    metadata = _levels(payload)[2]
    return as_dict(metadata.get("headers"))


def _stated(payload: Any, now: datetime) -> float | None:
    for fields in _levels(payload):
        for key, unit in _STATED.items():
            value = as_dict(fields).get(key)
            delay = _wait(value, now) if unit == 1 else _number(value, unit)
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

"""What the recorder kept of an entity, short enough for a model (R5)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from math import isfinite
from typing import Any

from homeassistant.util import dt as dt_util

from ..const import SILENT_STATES
from ..engine.one_line import one_line
from ..engine.records import JsonObject

NOTHING = "Nothing is recorded of it in this time."
_MINUTE = 60
_HOUR = 3_600
_DAY = 86_400
_SIZES = (
    *(5 * _MINUTE, 15 * _MINUTE),
    *(_HOUR, 2 * _HOUR, 6 * _HOUR, 12 * _HOUR),
    *(_DAY, 2 * _DAY, 7 * _DAY),
)
_MAX_STATE = 60
_MAX_TOTALS = 6
_SILENT = SILENT_STATES | {""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The time that is looked at."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A state and from when to when it was held, in seconds since the epoch."""

    start: float
    end: float
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A piece of time in which a number lay between two others."""

    start: float
    end: float
    mean: float
    low: float
    high: float


def held_states(changes: Iterable[tuple[float, str]], window: Window) -> list[Held]:
    """Turn changes, oldest first, into states that were held within the window."""
    start, end = window.start.timestamp(), window.end.timestamp()
    first_of_runs = [
        next(run) for _, run in groupby(sorted(changes), key=lambda change: change[1])
    ]
    if not first_of_runs:
        return []
    begins = [max(start, at) for at, _ in first_of_runs]
    return [
        Held(start=begin, end=until, state=state)
        for begin, until, (_, state) in zip(
            begins, [*begins[1:], end], first_of_runs, strict=True
        )
        if until > begin or until == end
    ]


def tell_states(held: Sequence[Held], *, rows: int, unit: str | None) -> JsonObject:
    """Tell the changes one by one, or what they come to if more than `rows`."""
    if not held:
        return {"note": NOTHING}
    if len(held) <= rows:
        return {**_unit(unit), "changes": [_change(one) for one in held]}
    if numbers := measured_of(held):
        silent = [one for one in held if one.state in _SILENT]
        told = tell_numbers(numbers, rows=rows, unit=unit)
        gaps = {"unavailable": _total(silent)} if silent else {}
        return {**told, "changes": len(held) - len(silent) - 1, **gaps}
    shown = held[-rows:]
    return {
        "totals": _totals(held, most=min(rows, _MAX_TOTALS)),
        "earlier_changes_not_shown": len(held) - len(shown),
        "changes": [_change(one) for one in shown],
    }


def tell_numbers(
    pieces: Sequence[Measured], *, rows: int, unit: str | None
) -> JsonObject:
    """Tell the first and last value, and how low, high and on average it was."""
    return {
        **_unit(unit),
        "first": _round(pieces[0].mean),
        "last": _round(pieces[-1].mean),
        "min": _round(min(one.low for one in pieces)),
        "mean": _round(_mean(pieces)),
        "max": _round(max(one.high for one in pieces)),
        "columns": ["from", "min", "mean", "max"],
        "by_time": [_row(start, part) for start, part in _parts(pieces, rows)],
    }


def measured_of(held: Iterable[Held]) -> list[Measured]:
    """Return the states as numbers; empty if one of them is no number."""
    pieces: list[Measured] = []
    for one in held:
        if one.state in _SILENT:
            continue
        try:
            value = float(one.state)
        except ValueError:
            return []
        if not isfinite(value):
            return []
        pieces.append(
            Measured(start=one.start, end=one.end, mean=value, low=value, high=value)
        )
    return pieces


def duration(seconds: float) -> str:
    """Write roughly how long something took."""
    whole = int(seconds)
    sizes = (("d", _DAY), ("h", _HOUR), ("min", _MINUTE), ("s", 1))
    for place, (unit, size) in enumerate(sizes):
        if whole >= size or size == 1:
            text = f"{whole // size} {unit}"
            if size in {_DAY, _HOUR} and (rest := whole % size // sizes[place + 1][1]):
                text += f" {rest} {sizes[place + 1][0]}"
            return text
    return ""


def _parts(
    pieces: Sequence[Measured], rows: int
) -> Iterator[tuple[float, list[Measured]]]:
    """Cut the time into at most `rows` parts; what crosses a cut is in both."""
    first, last = pieces[0].start, pieces[-1].end
    size = next((one for one in _SIZES if (last - first) / one < rows), _SIZES[-1])
    start = _midnight(first) + (first - _midnight(first)) // size * size
    while start < last or start == first:
        part = [
            one
            for one in pieces
            if one.start < start + size and (one.end > start or one.start == start)
        ]
        if part:
            yield max(start, first), [_cut(one, start, start + size) for one in part]
        start += size


def _cut(piece: Measured, start: float, end: float) -> Measured:
    return Measured(
        start=max(piece.start, start),
        end=min(piece.end, end),
        mean=piece.mean,
        low=piece.low,
        high=piece.high,
    )


def _row(start: float, part: Sequence[Measured]) -> list[Any]:
    return [
        _local(start, "%Y-%m-%d %H:%M"),
        _round(min(one.low for one in part)),
        _round(_mean(part)),
        _round(max(one.high for one in part)),
    ]


def _mean(pieces: Sequence[Measured]) -> float:
    """Weigh each value by how long it was held."""
    seconds = sum(one.end - one.start for one in pieces)
    if seconds <= 0:
        return pieces[-1].mean
    return sum(one.mean * (one.end - one.start) for one in pieces) / seconds


def _change(one: Held) -> list[Any]:
    return [
        _local(one.start, "%Y-%m-%d %H:%M:%S"),
        one_line(one.state, _MAX_STATE),
        f"for {duration(one.end - one.start)}",
    ]


def _totals(held: Sequence[Held], *, most: int) -> dict[str, str]:
    by_state: dict[str, list[Held]] = {}
    for one in held:
        by_state.setdefault(one_line(one.state, _MAX_STATE), []).append(one)
    longest = sorted(by_state, key=lambda state: -_seconds(by_state[state]))
    return {state: _total(by_state[state]) for state in longest[:most]}


def _total(held: Sequence[Held]) -> str:
    times = "once" if len(held) == 1 else f"{len(held)} times"
    return f"{duration(_seconds(held))} in all, {times}"


def _seconds(held: Sequence[Held]) -> float:
    return sum(one.end - one.start for one in held)


def _unit(unit: str | None) -> dict[str, str]:
    return {"unit": one_line(unit, 20)} if unit else {}


def _round(value: float) -> float:
    rounded = float(f"{value:.6g}")
    return int(rounded) if rounded.is_integer() else rounded


def _midnight(timestamp: float) -> float:
    local = dt_util.as_local(dt_util.utc_from_timestamp(timestamp))
    return local.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()


def _local(timestamp: float, layout: str) -> str:
    return dt_util.as_local(dt_util.utc_from_timestamp(timestamp)).strftime(layout)

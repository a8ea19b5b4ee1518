"""From measured runs to the figures that are printed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run: Home Assistant's own seconds, and the bytes of its first request."""

    seconds: float
    first_bytes: int


def compared(ours: Sequence[Run], core: Sequence[Run]) -> dict[str, Any]:
    """Return the medians of both sides, and ours as a share of core's."""
    ours_ms, core_ms = (
        median(run.seconds for run in runs) * 1000 for runs in (ours, core)
    )
    ours_bytes, core_bytes = (
        median(run.first_bytes for run in runs) for runs in (ours, core)
    )
    return {
        "ours_ms": round(ours_ms, 2),
        "core_ms": round(core_ms, 2),
        "time_ratio_to_core": round(ours_ms / core_ms, 3),
        "ours_bytes": round(ours_bytes),
        "core_bytes": round(core_bytes),
        "bytes_ratio_to_core": round(ours_bytes / core_bytes, 3),
    }


def headline(by_entities: Mapping[int, Mapping[str, Any]], size: int) -> dict[str, Any]:
    """Return the figures of one size on top, and those of all sizes below."""
    below = {str(one): figures for one, figures in by_entities.items()}
    return {**by_entities[size], "by_entities": below}

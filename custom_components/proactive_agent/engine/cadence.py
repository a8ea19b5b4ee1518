"""When the next tick is due, whatever came between (C1, C6)."""

from datetime import datetime, timedelta
from zlib import crc32


def next_due(anchor: datetime, interval: timedelta, now: datetime) -> datetime:
    """Return the first due time after `now`: whole intervals from the anchor.

    A clock that was set back, before the anchor, waits no longer than one interval.
    """
    return anchor + ((now - anchor) // interval + 1) * interval


def has_missed(
    anchor: datetime, interval: timedelta, alive: datetime, now: datetime
) -> bool:
    """Say whether a tick was due after `alive` and by `now` (C6)."""
    first = anchor + interval
    return alive < now and max(first, next_due(anchor, interval, alive)) <= now


def spread(key: str, least: timedelta, most: timedelta) -> timedelta:
    """Return a moment between two, always the same for one key, evenly over keys."""
    return least + (most - least) * (crc32(key.encode("utf-8", "replace")) / 2**32)

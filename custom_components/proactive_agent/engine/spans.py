"""Time spans in words."""

from datetime import timedelta

_UNITS = (("day", 86_400), ("h", 3_600), ("min", 60))


def ago(span: timedelta) -> str:
    """Say in one round number how long ago something was."""
    for unit, seconds in _UNITS:
        if (count := int(span.total_seconds() // seconds)) >= 1:
            plural = "s" if unit == "day" and count > 1 else ""
            return f"{count} {unit}{plural} ago"
    return "just now"

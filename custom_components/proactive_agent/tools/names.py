"""Tool names every server takes: short, plain, unique."""

from collections.abc import Container
import re

MAX_LENGTH = 64

GET_STATE = "get_state"
GET_HISTORY = "get_history"
TELL_OWNER = "tell_owner"
STOP_HEARTBEAT = "stop_heartbeat"

# Never given to an action or a script, also while such a tool is not offered: a name
# that changes its meaning from run to run would be worse than a prefix.
RESERVED = frozenset({GET_STATE, GET_HISTORY, TELL_OWNER, STOP_HEARTBEAT})

_UNFIT = re.compile(r"[^a-zA-Z0-9_-]+")


def unique_name(wanted: str, taken: Container[str], prefix: str = "") -> str:
    """Return `wanted`, made fit; with `prefix`, then with a number, if it is taken."""
    fit = _UNFIT.sub("_", wanted)[:MAX_LENGTH] or "tool"
    candidates = [fit, f"{prefix}{fit}"[:MAX_LENGTH]] if prefix else [fit]
    for name in candidates:
        if name not in taken and name not in RESERVED:
            return name
    number = 2
    while (name := f"{fit[: MAX_LENGTH - 4]}_{number}") in taken:
        number += 1
    return name

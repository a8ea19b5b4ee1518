"""What happens in the life of a heartbeat, as its activity entity tells it."""

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from homeassistant.core import Context


class Activity(StrEnum):
    """The event types of a heartbeat's activity entity."""

    WOKE = "woke"
    ACTED = "acted"
    SPOKE = "spoke"
    ASKED = "asked"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    FAILED = "failed"
    STOPPED = "stopped"


# With what there is to say of it, and the context it happened in (A2).
type OnActivity = Callable[[Activity, dict[str, Any], Context], None]

"""What happens in the life of a heartbeat, as its activity entity tells it."""

from enum import StrEnum


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

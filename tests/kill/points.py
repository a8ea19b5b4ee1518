"""The doors of the home, named after where their request is when the power is cut."""

from typing import Final

# In the order in which a request comes by.
THINKING: Final = "thinking"
ASKING: Final = "asking"
PENDING: Final = "pending"
ARRIVING: Final = "arriving"
QUEUED: Final = "queued"
STUCK: Final = "stuck"
CALLING: Final = "calling"
RETURNED: Final = "returned"
ENDED: Final = "ended"
# Without a yes.
REJECTED: Final = "rejected"
EXPIRING: Final = "expiring"
EXPIRED: Final = "expired"
OFF: Final = "off"

# Without a request.
DEED: Final = "deed"
MESSAGE: Final = "message"
THOUGHT: Final = "thought"

SEEDS: Final = (1, 2, 3, 4)
# What one heartbeat asks for at once.
AT_ONCE: Final = ("a", "b", "c")
TWICE: Final = "twice"
PHONE_DOORS: Final = ("front", "back")


def doors_of(seed: int) -> tuple[str, ...]:
    """Return the doors that are about to be opened at a kill of any moment."""
    return tuple(f"moment_{seed}_{letter}" for letter in AT_ONCE)


DOORS: Final = (
    THINKING,
    ASKING,
    PENDING,
    ARRIVING,
    QUEUED,
    STUCK,
    CALLING,
    RETURNED,
    ENDED,
    REJECTED,
    EXPIRING,
    EXPIRED,
    OFF,
    DEED,
    MESSAGE,
    THOUGHT,
    TWICE,
    *PHONE_DOORS,
    *(door for seed in SEEDS for door in doors_of(seed)),
)

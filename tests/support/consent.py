"""Owners for a guard without a heartbeat."""

from custom_components.proactive_agent.engine.errors import (
    ActionRefusedError,
    RefusalKind,
)
from custom_components.proactive_agent.guard.guard import Action


class Owner:
    """Hears what is asked; `refusal` is what keeps a request from being put."""

    def __init__(self, refusal: RefusalKind | None = None) -> None:
        self.asked: list[tuple[Action, int]] = []
        self.refusal = refusal

    async def async_ask(self, action: Action, index: int, /) -> None:
        if self.refusal is not None:
            raise ActionRefusedError(self.refusal, "The owner cannot be asked.")
        self.asked.append((action, index))

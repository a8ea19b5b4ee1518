"""What requests need of the place where they are kept (P7)."""

from typing import Protocol

from ..engine.approvals import Approval


class Memory(Protocol):
    """Where the requests of a heartbeat are kept."""

    @property
    def approvals(self) -> tuple[Approval, ...]:
        """All of them, open and settled."""
        ...

    def put_approvals(self, approvals: tuple[Approval, ...]) -> None:
        """Keep these instead."""
        ...

    async def async_save(self) -> bool:
        """Write to disk; says whether the disk took it."""
        ...

"""How a heartbeat starts its tasks."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Protocol


class Spawn(Protocol):
    """Starts a task that the config entry owns, and cancels when it is unloaded."""

    def __call__[T](
        self, job: Coroutine[Any, Any, T], name: str, *, awaited: bool = False
    ) -> asyncio.Task[T]:
        """Start a job under a name, at once; `awaited` as `Runner.spawn` has it."""
        ...

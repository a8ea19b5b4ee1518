"""What the engine needs from the world outside."""

from collections.abc import Sequence
from typing import Protocol

from .records import JsonObject, Reply, ToolAnswer, ToolCall, ToolSpec


class ChatModel(Protocol):
    """A language model that can call tools."""

    async def complete(
        self, messages: Sequence[JsonObject], tools: Sequence[ToolSpec]
    ) -> Reply:
        """Answer one turn; raises `ModelError`."""
        ...


class Tools(Protocol):
    """The tools of one run."""

    @property
    def specs(self) -> Sequence[ToolSpec]:
        """The tools as the model is told of them, in a stable order."""
        ...

    def acts(self, name: str) -> bool:
        """Say whether this tool changes something in the home."""
        ...

    async def call(self, call: ToolCall) -> ToolAnswer:
        """Answer a call; raises nothing but `RunCutError` (R4)."""
        ...

"""What the engine needs from the world outside."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from .journal import Journal
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What a run may still use, asked before each request (F5, C5).

    `remaining` gives the tokens left (None: no limit), `charge` takes tokens off them
    or, if negative, gives them back. `check` raises `RunCutError` when the run may not
    go on.
    """

    remaining: Callable[[], int | None]
    charge: Callable[[int], None]
    check: Callable[[], None]


class Mind(Protocol):
    """Whatever thinks in a run: a server's model, or what Home Assistant has."""

    def check_ready(self) -> None:
        """Raise `ModelError` if it is known beforehand that nothing would answer."""
        ...

    async def converse(
        self,
        tools: Tools,
        opening: Sequence[JsonObject],
        *,
        max_turns: int,
        allowance: Allowance,
        journal: Journal,
    ) -> None:
        """Work until it is finished (R2); the journal tells what happened.

        Raises `RunCutError` when a limit ends it and `ModelError` when it fails (R7).
        """
        ...

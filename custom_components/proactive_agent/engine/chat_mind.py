"""A mind that is a chat model: one request a turn, each one metered."""

from collections.abc import Sequence

from .journal import Journal
from .loop import converse
from .metering import MeteredModel
from .ports import Allowance, ChatModel, Tools
from .records import JsonObject


class ChatMind:
    """Thinks with a model on a server."""

    def __init__(self, model: ChatModel) -> None:
        """Think with this model."""
        self._model = model

    def check_ready(self) -> None:
        """Let it be tried: only the server knows."""

    async def converse(
        self,
        tools: Tools,
        opening: Sequence[JsonObject],
        *,
        max_turns: int,
        allowance: Allowance,
        journal: Journal,
    ) -> None:
        """Let the model work until it is finished (R2)."""
        metered = MeteredModel(
            self._model,
            remaining=allowance.remaining,
            charge=allowance.charge,
            check=allowance.check,
        )
        try:
            await converse(
                metered, tools, opening, max_turns=max_turns, journal=journal
            )
        finally:
            journal.first = metered.first

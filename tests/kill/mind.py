"""A model that wants each door unlocked which its heartbeat is there for."""

from collections.abc import Mapping
import re
from typing import Any, Final

from tests.support.llm_server import Held, LlmServer, calls, text

UNLOCK: Final = "lock_unlock"
BECAUSE: Final = "somebody rings"
_DOOR: Final = re.compile(r"lock\.\w+")


class Mind:
    """Serves one model for each heartbeat; its name is that of the heartbeat."""

    def __init__(self, server: LlmServer) -> None:
        self._held: dict[str, Held] = {}
        self.server = server
        server.always = self._decide

    @property
    def url(self) -> str:
        return self.server.url

    def know(self, model: str) -> None:
        """Have a model of this name."""
        if model not in self.server.models:
            self.server.models.append(model)

    def hold(self, model: str) -> Held:
        """Let the model think until it is released."""
        held = self._held[model] = Held(text("It is late."))
        return held

    def answers_to(self, model: str) -> list[str]:
        """Return what the model was answered to its calls, oldest first."""
        return [
            message["content"]
            for chat in self.server.chats
            if chat["model"] == model
            for message in chat["messages"]
            if message["role"] == "tool"
        ]

    def _decide(self, request: Mapping[str, Any]) -> Any:
        if (held := self._held.pop(request["model"], None)) is not None:
            return held
        *_, last = request["messages"]
        if last["role"] == "tool":
            return text("That is all.")
        check_prompt, *_ = last["content"].splitlines()
        doors = _DOOR.findall(check_prompt)
        if not doors:  # It is only tried.
            return calls(*((tool["function"]["name"], {}) for tool in request["tools"]))
        return calls(
            *((UNLOCK, {"entity_id": [one], "because": BECAUSE}) for one in doors)
        )

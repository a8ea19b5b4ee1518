"""The tools that belong to no entity: what the model may ask of its heartbeat."""

from collections.abc import Callable
from typing import override

from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm, selector
import probatio

from .base import AgentTool, ArgumentError
from .names import STOP_HEARTBEAT, TELL_OWNER
from .values import Field


class TextTool(AgentTool):
    """A tool that takes one text and hands it on."""

    key: str
    reply: str

    def __init_subclass__(cls) -> None:
        """Take one text by the name of `key`."""
        text = Field(selector.TextSelector(), is_wide=False)
        cls.parameters = probatio.Schema({probatio.Required(cls.key): text})

    def __init__(self, say: Callable[[str], None]) -> None:
        """Hand each text to `say`."""
        self._say = say

    @override
    async def async_call(
        self,
        hass: HomeAssistant,
        tool_input: llm.ToolInput,
        llm_context: llm.LLMContext,
    ) -> llm.ToolResult:
        """Hand the text on."""
        text = self.arguments(tool_input.tool_args)[self.key].strip()
        if not text:
            raise ArgumentError(f"{self.key} must not be empty.")
        self._say(text)
        return llm.ToolResult(data={"result": self.reply})


class TellOwnerTool(TextTool):
    """Tells the owner something when the run has ended; the last call counts (S1)."""

    name = TELL_OWNER
    key = "message"
    reply = "The owner gets this when the run has ended; do not tell it again."
    description = (
        "Tell the owner something. Only if something happened that is worth a "
        "message: one line that says what happened and how it ended."
    )
    annotations = llm.ToolAnnotations(
        read_only=False, destructive=False, idempotent=True, open_world=True
    )


class StopHeartbeatTool(TextTool):
    """Ends the heartbeat for good; the owner is told the reason (F8)."""

    name = STOP_HEARTBEAT
    key = "reason"
    reply = "The heartbeat stops when this run has ended."
    description = (
        "Switch this heartbeat off when the run has ended. Only if the job says "
        "that it is over; the owner gets the reason, in one line."
    )
    annotations = llm.ToolAnnotations(
        read_only=False, destructive=True, idempotent=True, open_world=False
    )

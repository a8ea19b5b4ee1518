"""The tools of a run as Home Assistant hands them to an AI Task entity."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, override

from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import llm
import voluptuous as vol

from ..const import DOMAIN
from ..engine.records import JsonObject, ToolSpec

if TYPE_CHECKING:
    from homeassistant.components.conversation import ChatLog

type HandIn = Callable[[llm.ToolInput], Awaitable[llm.ToolResult]]

_NAME = "Proactive Agent"


class TaskApi(llm.API):
    """Serves one run and is registered nowhere.

    `follow` gets the chat log that the entity keeps, `hand_in` each call.
    """

    def __init__(
        self,
        hass: HomeAssistant,
        *,
        rules: str,
        tools: Sequence[ToolSpec],
        follow: Callable[[ChatLog], None],
        hand_in: HandIn,
    ) -> None:
        """Offer these tools under these rules."""
        super().__init__(hass=hass, id=DOMAIN, name=_NAME)
        self._rules = rules
        self._tools = tools
        self._follow = follow
        self._hand_in = hand_in

    @override
    async def async_get_api_instance(
        self, llm_context: llm.LLMContext
    ) -> llm.APIInstance:
        """Return the tools; asked for where the chat log begins."""
        from homeassistant.components.conversation.chat_log import (  # noqa: PLC0415
            current_chat_log,
        )

        if (chat_log := current_chat_log.get()) is None:
            raise HomeAssistantError("There is no chat log")
        self._follow(chat_log)
        return _Instance(
            api=self,
            api_prompt=self._rules,
            llm_context=llm_context,
            tools=[_Tool(spec, self._hand_in) for spec in self._tools],
            custom_serializer=_serialize,
            hand_in=self._hand_in,
        )


@dataclass(kw_only=True)
class _Instance(llm.APIInstance):
    """Hands in every call, also one of a tool that does not exist (R4)."""

    hand_in: HandIn

    @override
    async def async_call_tool(self, tool_input: llm.ToolInput) -> llm.ToolResult:
        """Answer a call; a failure is an answer, too."""
        return await self.hand_in(tool_input)


class _AsTold:
    """Stands for a JSON schema that is written already."""

    def __init__(self, written: JsonObject) -> None:
        self.written = written

    def __bool__(self) -> bool:
        # How some integrations ask whether a tool takes anything at all.
        return bool(self.written.get("properties"))

    def __call__(self, value: Any) -> Any:
        return value


class _Tool(llm.Tool):
    """A tool as the model of a server would be told of it."""

    integration = DOMAIN

    def __init__(self, spec: ToolSpec, hand_in: HandIn) -> None:
        """Show what is written, and hand in each call."""
        self._hand_in = hand_in
        self.name = spec.name
        self.description = spec.description
        self.parameters = vol.Schema(_AsTold(spec.parameters))

    @override
    async def async_call(
        self,
        hass: HomeAssistant,
        tool_input: llm.ToolInput,
        llm_context: llm.LLMContext,
    ) -> llm.ToolResult:
        """Answer a call that is not made through the instance."""
        return await self._hand_in(tool_input)


def _serialize(node: Any) -> Any:
    return node.written if isinstance(node, _AsTold) else llm.selector_serializer(node)

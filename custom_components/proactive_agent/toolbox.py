"""The tools of one run: what the model may see, do and say (DESIGN §4)."""

from collections.abc import Callable, Iterable, Sequence
import logging
from typing import Self

from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm

from .const import DOMAIN
from .engine.errors import ActionRefusedError, RunCutError
from .engine.one_line import one_line
from .engine.reach import Reach
from .engine.records import ToolAnswer, ToolCall, ToolSpec
from .guard import Guard
from .tools.action import ActionTool
from .tools.base import AgentTool, ArgumentError
from .tools.build import Catalogue, action_tools, script_tools
from .tools.schema import json_schema
from .tools.state import GetStateTool
from .tools.voice import StopHeartbeatTool, TellOwnerTool

_LOGGER = logging.getLogger(__name__)

MAX_TOOLS = 128


class Toolbox:
    """The engine's `Tools`, made of Home Assistant's own `llm.Tool`."""

    def __init__(
        self,
        hass: HomeAssistant,
        tools: Sequence[AgentTool],
        context: Context,
        left_out: tuple[str, ...] = (),
    ) -> None:
        """Hold the tools of a run in the order in which they are offered."""
        self.left_out = left_out
        self._hass = hass
        self._tools = {tool.name: tool for tool in tools}
        self._specs = tuple(
            ToolSpec(
                name=tool.name,
                description=tool.description or "",
                parameters=json_schema(tool.parameters),
            )
            for tool in tools
        )
        self._llm_context = llm.LLMContext(
            platform=DOMAIN,
            context=context,
            language="en",
            assistant=DOMAIN,
            device_id=None,
        )

    @classmethod
    async def async_build(
        cls,
        hass: HomeAssistant,
        *,
        reach: Reach,
        guard: Guard,
        tell: Callable[[str], None],
        stop: Callable[[str], None] | None,
        context: Context,
    ) -> Self:
        """Build the tools for what may be seen and touched now.

        The same home gives the same specs, byte for byte.
        """
        catalogue = await Catalogue.async_read(hass)
        actions = action_tools(hass, catalogue, reach, guard)
        scripts = script_tools(
            hass, catalogue, reach, guard, {tool.name for tool in actions}
        )
        reading = [GetStateTool(reach.visible)] if reach.visible else []
        saying = [TellOwnerTool(tell), *([StopHeartbeatTool(stop)] if stop else [])]
        room = MAX_TOOLS - len(reading) - len(saying)
        kept = _most_wanted([*actions, *scripts], room)
        left_out = tuple(
            tool.name for tool in (*actions, *scripts) if tool.name not in kept
        )
        if left_out:
            _LOGGER.info("Too many tools, left out: %s", ", ".join(left_out))
        doing = [tool for tool in (*actions, *scripts) if tool.name in kept]
        return cls(hass, [*reading, *doing, *saying], context, left_out)

    @property
    def specs(self) -> Sequence[ToolSpec]:
        """The tools as the model is told of them, in a stable order."""
        return self._specs

    def acts(self, name: str) -> bool:
        """Say whether this tool changes something in the home."""
        return name in self._tools and self._tools[name].acts

    async def call(self, call: ToolCall) -> ToolAnswer:
        """Answer a call; raises nothing but `RunCutError` (R4)."""
        if call.fault is not None:
            return _error(call.fault)
        tool = self._tools.get(call.name)
        if tool is None:
            return _error(
                f"There is no tool called {one_line(call.name, 64)!r}. "
                f"There are: {', '.join(self._tools)}."
            )
        tool_input = llm.ToolInput(
            tool_name=tool.name, tool_args={**call.arguments}, id=call.id
        )
        try:
            result = await tool.async_call(self._hass, tool_input, self._llm_context)
        except (ActionRefusedError, ArgumentError) as err:
            return _error(str(err))
        except RunCutError:
            raise
        except Exception:
            _LOGGER.exception("The tool %s failed", tool.name)
            return _error(f"{tool.name} failed for an internal reason.")
        return ToolAnswer(content=result.data, error=result.error)


def _most_wanted(tools: Iterable[ActionTool], room: int) -> set[str]:
    """Choose what stays if there are too many: scripts, then what is free."""
    ranked = sorted(
        tools, key=lambda tool: (tool.domain != "script", tool.annotations.destructive)
    )
    return {tool.name for tool in ranked[:room]}


def _error(sentence: str) -> ToolAnswer:
    return ToolAnswer(content=sentence, error=True)

"""The tool that looks back, where there is a recorder."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, override

from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.util import dt as dt_util
import probatio

from .base import AgentTool, as_json
from .history_summary import Window
from .names import GET_HISTORY
from .values import Choice, Number

RECORDER = "recorder"
_MAX_ENTITIES = 10
_DEFAULT_HOURS = 24
_MAX_HOURS = 168


class HistoryTool(AgentTool):
    """Reads what the recorder has kept, summarised."""

    name = GET_HISTORY
    description = (
        "Read how the states changed in the last hours: each change with how long "
        "it lasted, or smallest, mean and largest values of a number."
    )
    annotations = llm.ToolAnnotations(
        read_only=True, destructive=False, idempotent=True, open_world=False
    )

    def __init__(self, visible: Sequence[str]) -> None:
        """Offer the entities that may be seen."""
        self.parameters = probatio.Schema(
            {
                probatio.Required("entity_id"): Choice(
                    visible, multiple=True, most=_MAX_ENTITIES
                ),
                probatio.Optional(
                    "hours", description=f"How far back; {_DEFAULT_HOURS} if left out"
                ): Number(low=1, high=_MAX_HOURS),
            }
        )

    @override
    async def async_call(
        self,
        hass: HomeAssistant,
        tool_input: llm.ToolInput,
        llm_context: llm.LLMContext,
    ) -> llm.ToolResult:
        """Answer with one object for each entity."""
        # Imported late: without a recorder, nobody has loaded its database.
        from .history_source import async_read  # noqa: PLC0415

        arguments = self.arguments(tool_input.tool_args)
        end = dt_util.utcnow()
        hours = arguments.get("hours", _DEFAULT_HOURS)
        window = Window(start=end - timedelta(hours=hours), end=end)
        read = await async_read(hass, arguments["entity_id"], window)
        data: dict[str, Any] = {key: as_json(story) for key, story in read.items()}
        return llm.ToolResult(data=data)


def can_look_back(hass: HomeAssistant) -> bool:
    """Tell whether there is a recorder to ask."""
    return RECORDER in hass.config.components

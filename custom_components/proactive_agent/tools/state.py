"""The tool that reads states."""

from collections.abc import Mapping, Sequence
from typing import Any, override

from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.util import dt as dt_util
import probatio

from .base import AgentTool, as_json
from .names import GET_STATE
from .values import Choice

_MAX_ATTRIBUTES = 40
_NOISE = frozenset({"icon", "supported_features"})
_SECRET_WORDS = ("token", "password", "secret", "api_key", "entity_picture")


class GetStateTool(AgentTool):
    """Reads entities, as often as the model wants to look again."""

    name = GET_STATE
    description = (
        "Read the present state, the attributes and the time of the last change."
    )
    annotations = llm.ToolAnnotations(
        read_only=True, destructive=False, idempotent=True, open_world=False
    )

    def __init__(self, visible: Sequence[str]) -> None:
        """Offer the entities that may be seen."""
        self.parameters = probatio.Schema(
            {probatio.Required("entity_id"): Choice(visible, multiple=True)}
        )

    @override
    async def async_call(
        self,
        hass: HomeAssistant,
        tool_input: llm.ToolInput,
        llm_context: llm.LLMContext,
    ) -> llm.ToolResult:
        """Answer with one object for each entity."""
        entity_ids = self.arguments(tool_input.tool_args)["entity_id"]
        return llm.ToolResult(
            data={entity_id: _reading(hass, entity_id) for entity_id in entity_ids}
        )


def readable_attributes(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out secrets and noise; at most `_MAX_ATTRIBUTES` are kept."""
    kept = [
        name
        for name in attributes
        if name not in _NOISE and not any(word in name for word in _SECRET_WORDS)
    ]
    return {name: attributes[name] for name in kept[:_MAX_ATTRIBUTES]}


def _reading(hass: HomeAssistant, entity_id: str) -> Any:
    state = hass.states.get(entity_id)
    if state is None:
        return {"error": "does not exist"}
    return as_json(
        {
            "state": state.state,
            "last_changed": dt_util.as_local(state.last_changed).isoformat(
                timespec="seconds"
            ),
            "attributes": readable_attributes(state.attributes),
        }
    )

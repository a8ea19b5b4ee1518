"""Actions and scripts of Home Assistant as tools."""

from collections.abc import Mapping
from typing import Any, override

from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.util.json import JsonObjectType

from ..engine.records import ActionRecord, ActionStatus, Json
from ..guard import Action, Guard
from .base import AgentTool, as_json
from .fields import Parameters

_DRY = "This is a dry run: it would have been called."


class ActionTool(AgentTool):
    """Lets the guard call one action for the entities the model names."""

    acts = True

    def __init__(
        self,
        guard: Guard,
        *,
        name: str,
        domain: str,
        service: str,
        description: str,
        parameters: Parameters,
        annotations: llm.ToolAnnotations,
    ) -> None:
        """Describe one action."""
        self.name = name
        self.description = description
        self.parameters = parameters.schema
        self.annotations = annotations
        self._guard = guard
        self.domain = domain
        self._service = service
        self._entity_fields = parameters.entity_fields
        self._must_ask = parameters.must_ask

    @override
    async def async_call(
        self,
        hass: HomeAssistant,
        tool_input: llm.ToolInput,
        llm_context: llm.LLMContext,
    ) -> llm.ToolResult:
        """Act; raises `ActionRefusedError` and `RunCutError` as the guard does."""
        data = self.arguments(tool_input.tool_args)
        entity_ids = self._take_targets(data)
        record, response = await self._guard.act(
            Action(
                domain=self.domain,
                service=self._service,
                entity_id=entity_ids,
                data=data,
                named=self._named(data),
                must_ask=self._must_ask,
            )
        )
        return llm.ToolResult(data=_result(record, response))

    def _take_targets(self, data: dict[str, Any]) -> tuple[str, ...]:
        return tuple(data.pop("entity_id"))

    def _named(self, data: Mapping[str, Any]) -> tuple[str, ...]:
        named: list[str] = []
        for key in self._entity_fields:
            value = data.get(key, [])
            named += [value] if isinstance(value, str) else value
        return tuple(named)


class ScriptTool(ActionTool):
    """Runs one script with its fields, to its end."""

    def __init__(self, guard: Guard, *, entity_id: str, **description: Any) -> None:
        """Describe one script; its action is not always its object id."""
        super().__init__(guard, domain="script", **description)
        self._entity_id = entity_id

    @override
    def _take_targets(self, data: dict[str, Any]) -> tuple[str, ...]:
        return (self._entity_id,)


def _result(record: ActionRecord, response: Json) -> JsonObjectType:
    result: dict[str, Any] = {"status": record.status.value}
    if record.status is ActionStatus.NOT_DONE:
        result["note"] = _DRY
    if record.observed is not None:
        result["state_now"] = as_json(record.observed)
    if response is not None:
        result["response"] = as_json(response)
    return result

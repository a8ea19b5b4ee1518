"""Actions and scripts of Home Assistant as tools."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, override

from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.util.json import JsonObjectType
import probatio

from ..engine.records import ActionRecord, ActionStatus, Json
from ..guard.guard import Action, Guard
from .base import AgentTool, ArgumentError, as_json, sentence_of
from .fields import Parameters
from .fit import misfit
from .reason import take_reason

_DRY_RUN = "This is a dry run"
_DRY = f"{_DRY_RUN}: it would have been called."


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionPlan:
    """One action as a tool, before there is a run that could call it.

    `script` is the entity that a script's action runs; `reads` marks an action that
    only answers, `has_reason` one that takes a reason beside its own arguments (P1).
    """

    name: str
    domain: str
    service: str
    description: str
    parameters: Parameters
    annotations: llm.ToolAnnotations
    script: str | None = None
    reads: bool = False
    has_reason: bool = False

    def tool(self, guard: Guard) -> ActionTool:
        """Return the tool of the run that this guard belongs to."""
        return ReadingTool(self, guard) if self.reads else ActionTool(self, guard)


class ActionTool(AgentTool):
    """Lets the guard call one action for the entities the model names."""

    acts = True

    def __init__(self, plan: ActionPlan, guard: Guard) -> None:
        """Bind one action to one run."""
        self.name = plan.name
        self.description = plan.description
        self.parameters = plan.parameters.schema
        self.annotations = plan.annotations
        self._plan = plan
        self._guard = guard

    @override
    async def async_call(
        self,
        hass: HomeAssistant,
        tool_input: llm.ToolInput,
        llm_context: llm.LLMContext,
    ) -> llm.ToolResult:
        """Act; raises `ActionRefusedError` and `RunCutError` as the guard does."""
        record, response = await self._guard.act(
            self._action(hass, tool_input.tool_args)
        )
        return llm.ToolResult(data=_result(record, response))

    def _action(self, hass: HomeAssistant, given: Mapping[str, Any]) -> Action:
        plan = self._plan
        data = self.arguments(given)
        because = take_reason(data) if plan.has_reason else ""
        if plan.script is None:
            entity_ids = tuple(data.pop("entity_id"))
        else:
            entity_ids = (plan.script,)
        if sentence := misfit(hass, plan.domain, plan.parameters, entity_ids, data):
            raise ArgumentError(sentence)
        self._check_by_its_own_schema(hass, entity_ids, data)
        return Action(
            domain=plan.domain,
            service=plan.service,
            entity_id=entity_ids,
            data=data,
            named=self._named(data),
            must_ask=plan.parameters.must_ask,
            because=because,
        )

    def _check_by_its_own_schema(
        self, hass: HomeAssistant, entity_ids: tuple[str, ...], data: Mapping[str, Any]
    ) -> None:
        """Ask the action itself: what it does not take never counts as an attempt."""
        plan = self._plan
        known = hass.services.async_services_for_domain(plan.domain).get(plan.service)
        if known is None or known.schema is None:
            return
        target = {} if plan.script else {"entity_id": [*entity_ids]}
        try:
            known.schema({**data, **target})
        except probatio.Invalid as err:
            raise ArgumentError(sentence_of(err)) from err

    def _named(self, data: Mapping[str, Any]) -> tuple[str, ...]:
        named: list[str] = []
        for key in self._plan.parameters.entity_fields:
            value = data.get(key, [])
            named += [value] if isinstance(value, str) else value
        return tuple(named)


class ReadingTool(ActionTool):
    """Asks for what an action answers; nothing changes by it."""

    acts = False

    @override
    async def async_call(
        self,
        hass: HomeAssistant,
        tool_input: llm.ToolInput,
        llm_context: llm.LLMContext,
    ) -> llm.ToolResult:
        """Read; raises `ActionRefusedError` and `RunCutError` as the guard does."""
        response = await self._guard.read(self._action(hass, tool_input.tool_args))
        answer: dict[str, Any] = {"response": as_json(response)}
        return llm.ToolResult(data=answer)


def _result(record: ActionRecord, response: Json) -> JsonObjectType:
    result: dict[str, Any] = {"status": record.status.value}
    note = record.note
    if record.status is ActionStatus.NOT_DONE:
        note = _DRY if note is None else f"{_DRY_RUN}. {note}"
    if note is not None:
        result["note"] = note
    if record.observed is not None:
        result["state_now"] = as_json(record.observed)
    if response is not None:
        result["response"] = as_json(response)
    return result

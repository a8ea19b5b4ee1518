"""What a reach is offered, and whether it still would be the same."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from homeassistant.core import HomeAssistant, split_entity_id
from homeassistant.helpers.entity import entity_sources

from ..engine.policy import SCRIPT
from ..engine.reach import Reach
from ..engine.records import ToolSpec
from ..guard.facts import script_service, subjects
from ..guard.guard import Guard
from .action import ActionPlan
from .base import AgentTool
from .build import plan_tools
from .catalogue import Catalogue
from .choices import SHAPING
from .history import HistoryTool, can_look_back
from .schema import json_schema
from .state import GetStateTool

type Facts = tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """The tools for a reach, but for those that belong to a run.

    `readers` look at states and need no run, `plans` wait for one; `left_out` had no
    room.
    """

    readers: tuple[AgentTool, ...]
    plans: tuple[ActionPlan, ...]
    specs: tuple[ToolSpec, ...]
    left_out: tuple[str, ...]

    def tools(self, guard: Guard) -> list[AgentTool]:
        """Return the tools of the run that this guard belongs to."""
        return [*self.readers, *(plan.tool(guard) for plan in self.plans)]


def make_offer(
    hass: HomeAssistant, catalogue: Catalogue, reach: Reach, *, room: int
) -> Offer:
    """Make at most `room` tools: the same home gives the same specs, byte for byte."""
    readers: list[AgentTool] = []
    if reach.visible:
        readers.append(GetStateTool(reach.visible))
        if can_look_back(hass):
            readers.append(HistoryTool(reach.visible))
    plans = plan_tools(hass, catalogue, reach)
    every = (*plans.reading, *plans.acting, *plans.scripts)
    kept = _most_wanted(every, room - len(readers))
    chosen = tuple(plan for plan in every if plan.name in kept)
    return Offer(
        readers=tuple(readers),
        plans=chosen,
        specs=(*map(spec_of, readers), *map(spec_of, chosen)),
        left_out=tuple(plan.name for plan in every if plan.name not in kept),
    )


def spec_of(tool: AgentTool | ActionPlan) -> ToolSpec:
    """Return a tool as the model is told of it."""
    parameters = (
        tool.parameters.schema if isinstance(tool, ActionPlan) else tool.parameters
    )
    return ToolSpec(
        name=tool.name,
        description=tool.description or "",
        parameters=json_schema(parameters),
    )


def facts_of(hass: HomeAssistant, catalogue: Catalogue, reach: Reach) -> Facts:
    """Return whatever of the home shapes an offer: equal facts, equal offers.

    Much cheaper than an offer, and nothing has to be listened to in between.
    """
    names = SHAPING | catalogue.filtering
    return (
        reach,
        can_look_back(hass),
        tuple(_facts(hass, reach, names)),
    )


def _facts(hass: HomeAssistant, reach: Reach, names: frozenset[str]) -> Iterator[Facts]:
    sources = entity_sources(hass)
    for entity_id in reach.visible:
        state = hass.states.get(entity_id)
        if state is None:
            yield ()
            continue
        attributes = state.attributes
        source = sources.get(entity_id)
        yield (
            source["domain"] if source else None,
            script_service(hass, entity_id)
            if split_entity_id(entity_id)[0] == SCRIPT
            else None,
            *subjects(hass, (entity_id,), reach),
            *(
                (name, _frozen(attributes[name]))
                for name in attributes
                if name in names
            ),
        )


def _frozen(value: Any) -> Any:
    """Copy what its owner might change in place."""
    match value:
        case list() | tuple():
            return (*value,)
        case dict():
            return (*value.items(),)
        case set():
            return frozenset(value)
    return value


def _most_wanted(plans: Sequence[ActionPlan], room: int) -> frozenset[str]:
    """Choose what stays if there are too many: scripts, then what is free."""
    ranked = sorted(
        plans, key=lambda plan: (plan.script is None, plan.annotations.destructive)
    )
    return frozenset(plan.name for plan in ranked[:room])

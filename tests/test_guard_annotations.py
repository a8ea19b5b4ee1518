"""What a tool says of itself is what the guard makes of it (A1)."""

import asyncio
from typing import Any

from homeassistant.core import Context, HomeAssistant
from hypothesis import HealthCheck, given, settings, strategies as st
import pytest

from custom_components.proactive_agent.engine.policy import Verdict
from custom_components.proactive_agent.engine.reach import Reach
from custom_components.proactive_agent.guard.checks import judge_action
from custom_components.proactive_agent.guard.guard import Action, Guard, Terms
from custom_components.proactive_agent.guard.past_actions import PastActions
from custom_components.proactive_agent.tools.action import ActionTool
from custom_components.proactive_agent.tools.base import AgentTool
from custom_components.proactive_agent.tools.schema import json_schema
from custom_components.proactive_agent.tools.toolbox import OfferCache

from .support.consent import Owner
from .support.home import async_make_home

pytestmark = pytest.mark.contract("A1")


@pytest.fixture
async def everything(hass: HomeAssistant) -> list[str]:
    """A home with something of each kind, and what is in it."""
    await async_make_home(hass)
    for number, (entity_id, attributes) in enumerate(STATES.items()):
        hass.states.async_set(entity_id, str(number), attributes)
    return sorted(hass.states.async_entity_ids())


STATES: dict[str, dict[str, Any]] = {
    "cover.bare": {"supported_features": 15},
    "cover.gate": {"supported_features": 15, "device_class": "gate"},
    "cover.shade": {"supported_features": 255, "device_class": "shade"},
    "light.plain": {"supported_color_modes": ["onoff"]},
    "lock.back": {"supported_features": 1},
    "switch.outlet": {"device_class": "outlet"},
}


async def _tools(hass: HomeAssistant, reach: Reach) -> list[AgentTool]:
    guard = Guard(
        hass,
        context=Context(),
        terms=Terms(
            permitted=lambda: reach,
            ask_before_risky=True,
            max_actions=1,
            dry_run=True,
        ),
        lock=asyncio.Lock(),
        on_settled=lambda _index, _record: None,
        consent=Owner(),
        past_actions=PastActions(hass),
    )
    toolbox = await OfferCache(hass).async_toolbox(
        reach=reach,
        guard=guard,
        tell=lambda _message: None,
        stop=lambda _reason: None,
        context=Context(),
    )
    return [*toolbox._tools.values()]


async def test_a_tool_that_says_it_is_harmless_is_free(
    hass: HomeAssistant, everything: list[str]
) -> None:
    """Ask about any part of the home: the annotations stay true to the policy."""
    loop = asyncio.get_running_loop()

    @settings(
        max_examples=40,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(chosen=st.sets(st.sampled_from(everything), min_size=1))
    def check(chosen: set[str]) -> None:
        future = asyncio.run_coroutine_threadsafe(_check(hass, chosen), loop)
        future.result(timeout=30)

    await asyncio.to_thread(check)


async def _check(hass: HomeAssistant, chosen: set[str]) -> None:
    reach = Reach.of(look=(), act=chosen, ask=())
    for tool in await _tools(hass, reach):
        if isinstance(tool, ActionTool) and tool.acts:
            _check_action(hass, reach, tool)
        if tool.annotations.read_only:
            assert not tool.acts
            assert not tool.annotations.destructive


def _check_action(hass: HomeAssistant, reach: Reach, tool: ActionTool) -> None:
    plan = tool._plan
    parameters: Any = json_schema(tool.parameters)
    entity_ids = (
        [plan.script]
        if plan.script
        else parameters["properties"]["entity_id"]["items"]["enum"]
    )
    for entity_id in entity_ids:
        action = Action(
            domain=plan.domain,
            service=plan.service,
            entity_id=(entity_id,),
            must_ask=plan.parameters.must_ask,
        )
        verdict = judge_action(hass, action, reach, ask_before_risky=True)
        assert verdict is not Verdict.DENY, (tool.name, entity_id)
        if not tool.annotations.destructive:
            assert verdict is Verdict.ALLOW, (tool.name, entity_id)
        assert not tool.annotations.read_only, tool.name

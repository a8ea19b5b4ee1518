"""What a tool says of a group is what the guard makes of its members (A1)."""

import asyncio
from typing import Any, Final

from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from hypothesis import HealthCheck, given, settings, strategies as st
import pytest

from custom_components.proactive_agent.engine.policy import Verdict
from custom_components.proactive_agent.engine.reach import Reach
from custom_components.proactive_agent.guard.checks import judge_action
from custom_components.proactive_agent.guard.guard import Action
from custom_components.proactive_agent.tools.action import ActionTool

from .support.toolworld import States, ToolWorld

pytestmark = pytest.mark.contract("A1")

COVERS: Final[States] = {
    f"cover.{name}": ("open", {"supported_features": 15, "device_class": name})
    for name in ("blind", "garage", "shade")
}
LAMPS: Final[States] = {
    f"light.{name}": ("on", {"supported_color_modes": ["onoff"]}) for name in "ab"
}
GROUPS: Final = {
    "harmless": ["cover.blind", "cover.shade"],
    "mixed": ["cover.blind", "cover.garage"],
    "nested": ["cover.mixed"],
    "lamps": ["light.a", "light.b"],
}
CHOOSABLE: Final = [
    *COVERS,
    *LAMPS,
    "cover.harmless",
    "cover.mixed",
    "cover.nested",
    "light.lamps",
]


@pytest.fixture
async def world(hass: HomeAssistant) -> ToolWorld:
    """Covers and lamps, and groups; those of covers say to be blinds."""
    for domain in ("cover", "light"):
        groups = [
            {"platform": "group", "name": name, "entities": entities}
            for name, entities in GROUPS.items()
            if entities[0].startswith(domain)
        ]
        assert await async_setup_component(hass, domain, {domain: groups})
    world = ToolWorld(hass)
    await world.have({**COVERS, **LAMPS})
    await hass.async_block_till_done()
    for group in hass.states.async_all("cover"):
        attributes = {"device_class": "blind", **group.attributes}
        hass.states.async_set(group.entity_id, group.state, attributes)
    return world


async def tools(world: ToolWorld, **lists: Any) -> list[ActionTool]:
    world.reach = Reach.of(**{"look": [], "act": [], "ask": [], **lists})
    offer = await world.offers.async_offer(world.reach)
    made = offer.tools(world.guard(ask=True))
    return [tool for tool in made if isinstance(tool, ActionTool)]


async def test_a_group_of_blinds_that_holds_a_garage_door_is_not_harmless(
    world: ToolWorld,
) -> None:
    for group, harmless in (("harmless", True), ("mixed", False), ("nested", False)):
        made = await tools(world, act=[f"cover.{group}"])
        assert len(made) == 4
        assert {not tool.annotations.destructive for tool in made} == {harmless}, group


async def test_what_has_to_be_asked_for_is_not_harmless(world: ToolWorld) -> None:
    for lists, harmless in (
        ({"act": ["light.lamps"]}, True),
        ({"ask": ["light.lamps"]}, False),
        ({"act": ["light.lamps"], "ask": ["light.b"]}, False),
    ):
        made = await tools(world, **lists)
        assert {not tool.annotations.destructive for tool in made} == {harmless}


async def test_a_tool_is_as_strict_as_the_guard(world: ToolWorld) -> None:
    """Ask about any part of the home, in any of the two lists."""
    loop = asyncio.get_running_loop()

    @settings(
        max_examples=40,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(
        act=st.sets(st.sampled_from(CHOOSABLE)), ask=st.sets(st.sampled_from(CHOOSABLE))
    )
    def check(act: set[str], ask: set[str]) -> None:
        future = asyncio.run_coroutine_threadsafe(_check(world, act, ask), loop)
        future.result(timeout=30)

    await asyncio.to_thread(check)


async def _check(world: ToolWorld, act: set[str], ask: set[str]) -> None:
    for tool in await tools(world, act=act, ask=ask):
        schema: Any = tool.parameters.schema
        asked = {
            entity_id: judge_action(
                world.hass,
                Action(
                    domain=tool._plan.domain,
                    service=tool._plan.service,
                    entity_id=(entity_id,),
                ),
                world.reach,
                ask_before_risky=True,
            )
            is not Verdict.ALLOW
            for entity_id in schema["entity_id"].options
        }
        assert tool.annotations.destructive is any(asked.values()), (tool.name, asked)


async def test_a_member_that_turns_out_to_be_a_door_makes_the_tools_anew(
    world: ToolWorld,
) -> None:
    before = await tools(world, act=["cover.harmless"])
    assert not any(tool.annotations.destructive for tool in before)
    world.hass.states.async_set("cover.shade", "open", {"device_class": "door"})
    after = await tools(world, act=["cover.harmless"])
    assert all(tool.annotations.destructive for tool in after)

"""The gate of a heartbeat between two sets of conditions, and in doubt (C7, G4)."""

import asyncio
from datetime import timedelta
from typing import Any

from homeassistant.core import HomeAssistant
import pytest

from custom_components.proactive_agent.gate import Gate
from custom_components.proactive_agent.gate.keeper import GateKeeper
from custom_components.proactive_agent.models import HeartbeatOptions
from tests.support.heartbeats import HUNGRY, INTERVAL, Home, clock, home
from tests.support.llm_server import llm_server, text

__all__ = ["clock", "home", "llm_server"]

LAMP_ON = {
    "condition": "state",
    "entity_id": "input_boolean.lamp",
    "state": "on",
}


@pytest.mark.contract("C7")
async def test_replaced_conditions_decide_nothing_while_the_new_ones_are_built(
    home: Home,
) -> None:
    beat = await home.add_heartbeat()
    home.hass.config_entries.async_update_subentry(
        home.entry, beat.subentry, data={**beat.subentry.data, "conditions": [HUNGRY]}
    )
    # Due before the new gate can be ready.
    home.clock.turn(INTERVAL)
    await home.settled()
    assert home.llm_server.requests == []
    assert await beat.ticks() == 1

    await home.set("hungry", on=True)
    home.llm_server.play(text("Fine."))
    await home.clock.tick()
    assert len(home.llm_server.chats) == 1


@pytest.mark.contract("C7")
async def test_of_conditions_changed_twice_in_a_row_the_last_hold(home: Home) -> None:
    beat = await home.add_heartbeat(conditions=[LAMP_ON])
    for conditions in ([], [LAMP_ON]):
        home.hass.config_entries.async_update_subentry(
            home.entry,
            beat.subentry,
            data={**beat.subentry.data, "conditions": conditions},
        )
    await home.settled()
    await home.clock.tick()
    assert home.llm_server.requests == []
    assert await beat.ticks() == 1


@pytest.mark.contract("C7")
async def test_a_build_that_was_overtaken_is_thrown_away(
    hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = Gate.async_build
    first_may_end = asyncio.Event()

    async def held(hass: HomeAssistant, conditions: Any, name: str) -> Gate:
        if name == "First":
            await first_may_end.wait()
        return await build(hass, conditions, name)

    monkeypatch.setattr(Gate, "async_build", held)
    options = HeartbeatOptions(title="First", check_prompt="Look.")
    keeper = GateKeeper(hass, "id", options)
    first = hass.async_create_task(keeper.async_build())
    assert not keeper.needs_rebuild

    never = [{"condition": "template", "value_template": "{{ false }}"}]
    changed = HeartbeatOptions(title="Second", check_prompt="Look.", conditions=never)
    assert keeper.change(changed)
    await keeper.async_build()
    assert keeper.judge() is False

    first_may_end.set()
    await first
    assert keeper.judge() is False
    assert not keeper.needs_rebuild
    keeper.close()


@pytest.mark.contract("G4")
@pytest.mark.parametrize(("closed_ticks", "wakes"), [(1, 1), (3, 2)])
async def test_a_gate_that_could_not_be_judged_was_not_closed(
    home: Home, closed_ticks: int, wakes: int
) -> None:
    home.llm_server.play(text("Fine."), text("Fine."))
    # A number that comes back to what was shown is no news by itself.
    home.hass.states.async_set("sensor.hearts", "1")
    await home.add_heartbeat(
        conditions=[
            {"condition": "numeric_state", "entity_id": "sensor.hearts", "below": 2}
        ],
        interval={"minutes": 10},
        manners={"settle_for": {"minutes": 30}},
    )
    every = timedelta(minutes=10)
    await home.clock.tick(every=every)
    assert len(home.llm_server.chats) == 1

    home.hass.states.async_set("sensor.hearts", "4")
    await home.clock.tick(closed_ticks, every=every)
    home.hass.states.async_set("sensor.hearts", "unavailable")
    await home.clock.tick(3, every=every)
    home.hass.states.async_set("sensor.hearts", "1")
    await home.clock.tick(every=every)
    assert len(home.llm_server.chats) == wakes

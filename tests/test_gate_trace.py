"""A gate that is judged from inside an automation's trace, and what a check costs."""

from collections.abc import Callable, Mapping, Sequence
from contextvars import Context, copy_context
from datetime import datetime, timedelta
import gc
import tracemalloc
from typing import Any

from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant, ServiceCall
from homeassistant.helpers import condition, config_validation as cv
from homeassistant.helpers.event import async_track_time_interval
from homeassistant.helpers.trace import TraceElement, trace_get
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import async_fire_time_changed

from custom_components.proactive_agent.gate import Gate

CONDITIONS: list[Any] = [
    {"condition": "state", "entity_id": "input_boolean.a", "state": "on"},
    {"condition": "numeric_state", "entity_id": "sensor.b", "below": 5},
    "{{ states('sensor.b') | float < 5 }}",
    {"or": [{"condition": "state", "entity_id": "sensor.gone", "state": "x"}]},
]
CHECKS = 2000


@pytest.fixture(autouse=True)
def states(hass: HomeAssistant) -> None:
    hass.states.async_set("input_boolean.a", "on")
    hass.states.async_set("sensor.b", "1")


async def from_an_automation(hass: HomeAssistant, begin: Callable[[], None]) -> None:
    """Call `begin` where a switch's turn_on would run: in an automation's action."""

    async def handle(_call: ServiceCall) -> None:
        begin()

    hass.services.async_register("pet", "begin", handle)
    assert await async_setup_component(
        hass,
        "automation",
        {
            "automation": {
                "id": "start",
                "triggers": {"trigger": "event", "event_type": "owner_left"},
                "conditions": CONDITIONS[:1],
                "actions": {"action": "pet.begin"},
            }
        },
    )
    hass.bus.async_fire("owner_left")
    await hass.async_block_till_done()


def length(trace: Mapping[str, Sequence[TraceElement]] | None) -> int:
    return sum(len(elements) for elements in (trace or {}).values())


def alive() -> int:
    gc.collect()
    return sum(isinstance(thing, TraceElement) for thing in gc.get_objects())


@pytest.mark.contract("C1", "G1")
async def test_an_automations_trace_does_not_grow(hass: HomeAssistant) -> None:
    gate = await Gate.async_build(hass, CONDITIONS, "Milonga")
    contexts: list[Context] = []
    await from_an_automation(hass, lambda: contexts.append(copy_context()))
    (context,) = contexts
    trace = context.run(trace_get, clear=False)
    before = length(trace), alive()
    assert before[0] > 0, "the automation has no trace"

    # What happens without care, so that this test is known to see it.
    config = cv.CONDITIONS_SCHEMA(CONDITIONS[:1])
    plain = await condition.async_from_config(
        hass,
        await condition.async_validate_condition_config(hass, config[0]),
    )
    for _ in range(10):
        context.run(plain.async_check)
    assert length(trace) >= before[0] + 10
    leaked = length(trace), alive()

    def check() -> None:
        gate.is_open()
        gate.explain()

    for _ in range(20):
        context.run(check)
    tracemalloc.start()
    try:
        size = tracemalloc.get_traced_memory()[0]
        for _ in range(CHECKS):
            context.run(check)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - size
    finally:
        tracemalloc.stop()
    assert (length(trace), alive()) == leaked
    assert context.run(trace_get, clear=False) is trace
    assert grown < CHECKS, f"{grown} bytes in {CHECKS} checks"


@pytest.mark.contract("C1")
async def test_a_timer_started_by_an_automation(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory
) -> None:
    gate = await Gate.async_build(hass, CONDITIONS[:3], "Milonga")
    lengths: list[int] = []
    unsubs: list[Callable[[], None]] = []

    def tick(_now: datetime) -> None:
        assert gate.is_open()
        lengths.append(length(trace_get(clear=False)))

    async def on_tick(now: datetime) -> None:
        tick(now)

    await from_an_automation(
        hass,
        lambda: unsubs.append(
            async_track_time_interval(hass, on_tick, timedelta(seconds=10))
        ),
    )
    for _ in range(20):
        freezer.tick(10)
        async_fire_time_changed(hass)
        await hass.async_block_till_done()
    unsubs[0]()
    assert len(lengths) == 20
    assert lengths[0] > 0, "the timer has not inherited the trace"
    assert set(lengths) == {lengths[0]}

"""What a run set off is known, at any remove (A2)."""

from collections.abc import AsyncGenerator
from typing import Any

from homeassistant.core import Context, Event, HomeAssistant
from homeassistant.exceptions import ServiceValidationError
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.proactive_agent.lineage import MAX_REMEMBERED, RunLineage
from tests.support.heartbeats import (
    HUNGRY,
    Beat,
    Home,
    clock,
    endpoint,
    home,
    subentry_of,
)
from tests.support.llm_server import llm_server, text
from tests.support.restarts import restart

__all__ = ["clock", "home", "llm_server"]

pytestmark = pytest.mark.contract("A2")


def chain(number: int, trigger: str, action: dict[str, object]) -> dict[str, object]:
    return {
        "alias": f"Chain {number}",
        "triggers": {"trigger": "state", "entity_id": trigger},
        "actions": [action],
    }


def turn_on(entity_id: str) -> dict[str, object]:
    return {"action": "input_boolean.turn_on", "target": {"entity_id": entity_id}}


@pytest.fixture
async def lineage(hass: HomeAssistant) -> AsyncGenerator[RunLineage]:
    for domain, config in (
        ("homeassistant", {}),
        ("input_boolean", dict.fromkeys("abcd")),
        ("script", {"go_on": {"sequence": [turn_on("input_boolean.c")]}}),
        (
            "template",
            {
                "triggers": {"trigger": "state", "entity_id": "input_boolean.d"},
                "sensor": {"name": "Echo", "state": "{{ now() }}"},
            },
        ),
        (
            "automation",
            [
                chain(1, "input_boolean.a", turn_on("input_boolean.b")),
                chain(2, "input_boolean.b", {"action": "script.go_on"}),
                chain(3, "input_boolean.c", turn_on("input_boolean.d")),
                chain(4, "sensor.echo", {"event": "reached_the_end"}),
            ],
        ),
    ):
        assert await async_setup_component(hass, domain, {domain: config})
    await hass.async_block_till_done()
    lineage = RunLineage(hass)
    yield lineage
    lineage.async_stop()


async def _end_of_chain(hass: HomeAssistant, context: Context) -> Event:
    reached: list[Event] = async_capture_events(hass, "reached_the_end")
    await hass.services.async_call(
        "input_boolean",
        "turn_on",
        {"entity_id": "input_boolean.a"},
        blocking=True,
        context=context,
    )
    await hass.async_block_till_done()
    assert len(reached) == 1
    return reached[0]


async def test_a_chain_of_automations_scripts_and_templates_is_followed(
    hass: HomeAssistant, lineage: RunLineage
) -> None:
    run = Context()
    lineage.add(run.id)
    end = await _end_of_chain(hass, run)
    assert end.context.id != run.id
    assert end.context.parent_id != run.id
    assert lineage.descends(end.context)
    assert lineage.descends(run)
    assert lineage.descends(Context(parent_id=run.id))


async def test_what_nobody_of_us_set_off_is_free(
    hass: HomeAssistant, lineage: RunLineage
) -> None:
    lineage.add(Context().id)
    end = await _end_of_chain(hass, Context())
    assert not lineage.descends(end.context)
    assert not lineage.descends(Context())


async def test_it_listens_from_the_first_run_to_the_stop(
    hass: HomeAssistant, lineage: RunLineage
) -> None:
    before = hass.bus.async_listeners()
    lineage.add(Context().id)
    assert hass.bus.async_listeners() != before
    run = Context()
    lineage.add(run.id)
    lineage.async_stop()
    assert hass.bus.async_listeners() == before
    assert not lineage.descends(run)


async def test_memory_is_bounded_and_keeps_the_latest(
    hass: HomeAssistant, lineage: RunLineage
) -> None:
    first = Context()
    lineage.add(first.id)
    contexts = [Context() for _ in range(MAX_REMEMBERED)]
    for context in contexts:
        lineage.add(context.id)
    assert not lineage.descends(first)
    assert all(lineage.descends(context) for context in contexts)


async def test_a_run_is_known_however_much_it_sets_off(
    hass: HomeAssistant, lineage: RunLineage
) -> None:
    run = Context()
    lineage.add(run.id)
    children = [Context(parent_id=run.id) for _ in range(MAX_REMEMBERED + 1)]
    for child in children:
        hass.bus.async_fire("automation_triggered", context=child)
    assert lineage.descends(run)
    latest = Context(parent_id=children[-1].id)
    assert lineage.descends(latest)
    # What is so far away that it is forgotten is known by its parent no more.
    assert not lineage.descends(Context(parent_id=children[0].id))


async def test_who_goes_on_knows_what_was_known_and_what_was_set_off_meanwhile(
    hass: HomeAssistant, lineage: RunLineage
) -> None:
    run = Context()
    lineage.add(run.id)
    known = lineage.handed_on()
    lineage.async_stop()
    await _end_of_chain(hass, run)
    lineage.take(known)
    end = hass.states.get("automation.chain_4")
    assert end is not None
    assert end.context.parent_id != run.id
    assert lineage.descends(end.context)
    assert not lineage.descends(Context())


@pytest.mark.parametrize(
    "rubbish", [None, 7, [], {}, {"runs": [], "set_off": []}, {"runs": "abc"}]
)
async def test_nothing_to_go_on_with_is_not_listened_for(
    hass: HomeAssistant, lineage: RunLineage, rubbish: Any
) -> None:
    before = hass.bus.async_listeners()
    lineage.take(rubbish)
    assert hass.bus.async_listeners() == before


async def test_a_reload_forgets_no_run(home: Home) -> None:
    beat = await _that_has_run(home)
    (tick,) = home.events
    set_off = Context(parent_id=tick.context.id)
    home.hass.bus.async_fire("automation_triggered", context=set_off)
    for _ in range(2):
        await home.reload()
        await _is_refused(beat, Context(parent_id=set_off.id))
    await beat.change(conditions=[HUNGRY])
    await _is_refused(beat, Context(parent_id=set_off.id))
    home.llm_server.play(text("Fine."))
    assert (await beat.wake(Context()))["outcome"] == "nothing"


async def test_an_endpoint_that_stays_knows_the_runs_of_one_that_goes(
    home: Home,
) -> None:
    beat = await _that_has_run(home)
    (tick,) = home.events
    other = endpoint(home.llm_server, subentry_of("Other"))
    other.add_to_hass(home.hass)
    assert await home.hass.config_entries.async_setup(other.entry_id)
    await home.settled()
    assert await home.hass.config_entries.async_unload(home.entry.entry_id)
    (neighbour,) = other.subentries
    neighbour_beat = Beat(hass=home.hass, entry=other, id=neighbour)
    await _is_refused(neighbour_beat, Context(parent_id=tick.context.id))
    assert await home.hass.config_entries.async_setup(home.entry.entry_id)
    await _is_refused(beat, Context(parent_id=tick.context.id))


async def test_it_is_on_disk_only_between_unload_and_the_next_write(
    home: Home, hass_storage: dict[str, Any]
) -> None:
    beat = await _that_has_run(home)
    (tick,) = home.events
    key = f"proactive_agent.{home.entry.entry_id}"
    assert "lineage" not in hass_storage[key]["data"]
    await restart(home)
    assert "lineage" in hass_storage[key]["data"]
    await beat.turn("off")
    assert "lineage" not in hass_storage[key]["data"]
    await beat.turn("on")
    await _is_refused(beat, Context(parent_id=tick.context.id))


async def _that_has_run(home: Home) -> Beat:
    beat = await home.add_heartbeat()
    home.llm_server.play(text("Fine."))
    await beat.wake()
    return beat


async def _is_refused(beat: Beat, context: Context) -> None:
    with pytest.raises(ServiceValidationError) as refused:
        await beat.wake(context)
    assert refused.value.translation_key == "woken_by_own_run"

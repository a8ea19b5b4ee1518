"""The AI Task entity of an endpoint: followed under another id, missed when gone."""

from datetime import timedelta

from homeassistant.const import ATTR_RESTORED, EVENT_HOMEASSISTANT_STARTED
from homeassistant.core import CoreState
from homeassistant.helpers import entity_registry as er, issue_registry as ir
import pytest

from custom_components.proactive_agent.const import DOMAIN
from tests.support.heartbeats import FEED, Home, clock, home, let_run
from tests.support.llm_server import Held, llm_server
from tests.support.task_entity import ENTITY, Tasks, says, tasks, wants
from tests.support.translated import issue_text

__all__ = ["clock", "home", "llm_server", "tasks"]

RENAMED = "ai_task.brain"
MEAL = ("feed", {"food": "meal"})
PATIENCE = timedelta(seconds=31)


def issue(home: Home) -> ir.IssueEntry | None:
    issue_id = f"missing_ai_task_{home.entry.entry_id}"
    return ir.async_get(home.hass).async_get_issue(DOMAIN, issue_id)


async def rename(home: Home, old: str = ENTITY, new: str = RENAMED) -> None:
    er.async_get(home.hass).async_update_entity(old, new_entity_id=new)
    await home.settled()


@pytest.mark.contract("C7")
async def test_an_entity_that_is_renamed_goes_on_thinking(
    home: Home, tasks: Tasks
) -> None:
    beat = await home.add_heartbeat()
    await rename(home)
    assert home.entry.data == {"entity_id": RENAMED}
    await rename(home, RENAMED, "ai_task.mind")
    assert home.entry.data == {"entity_id": "ai_task.mind"}
    tasks.play(says("Fine."))
    assert (await beat.wake())["outcome"] == "nothing"
    await home.clock.tick(every=PATIENCE)
    assert issue(home) is None


@pytest.mark.contract("C7")
async def test_a_run_in_flight_is_not_disturbed_by_another_name(
    home: Home, tasks: Tasks
) -> None:
    beat = await home.add_heartbeat(act=FEED)
    held = Held(wants(MEAL))
    tasks.play(held, says("Fed."))
    run = home.hass.async_create_task(beat.wake())
    await held.reached.wait()
    er.async_get(home.hass).async_update_entity(ENTITY, new_entity_id=RENAMED)
    await let_run()
    held.release.set()
    assert (await run)["outcome"] == "acted"


async def test_what_else_changes_about_it_changes_nothing(
    home: Home, tasks: Tasks
) -> None:
    await home.add_heartbeat()
    er.async_get(home.hass).async_update_entity(ENTITY, name="Brain")
    await home.settled()
    assert home.entry.data == {"entity_id": ENTITY}


@pytest.mark.contract("R7")
async def test_one_that_is_removed_is_said_to_be_gone_until_another_is_chosen(
    home: Home, tasks: Tasks
) -> None:
    beat = await home.add_heartbeat()
    er.async_get(home.hass).async_remove(ENTITY)
    await home.settled()
    assert issue(home) is None, "what is reloaded is away for a moment"
    await home.clock.tick(every=PATIENCE)
    gone = issue(home)
    assert gone is not None
    assert gone.is_fixable
    assert ENTITY in issue_text(gone)
    assert (await beat.wake())["error"]["kind"] == "connection"
    assert issue(home) is not None
    home.hass.config_entries.async_update_entry(home.entry, data={"entity_id": RENAMED})
    await home.settled()
    assert issue(home) is None
    await home.clock.tick(every=PATIENCE)
    assert issue(home) is not None, "that one is not there either"


@pytest.mark.contract("R7")
async def test_one_that_comes_back_is_gone_no_more(home: Home, tasks: Tasks) -> None:
    await home.add_heartbeat()
    state = home.hass.states.get(ENTITY)
    assert state is not None
    for late in (False, True):
        home.hass.states.async_remove(ENTITY)
        await home.settled()
        if late:
            await home.clock.tick(every=PATIENCE)
            assert issue(home) is not None
        home.hass.states.async_set(ENTITY, "unknown", state.attributes)
        await home.clock.tick(every=PATIENCE)
        assert issue(home) is None


@pytest.mark.contract("R7")
async def test_while_home_assistant_starts_none_is_missed(
    home: Home, tasks: Tasks
) -> None:
    await home.add_heartbeat()
    assert await home.hass.config_entries.async_unload(home.entry.entry_id)
    home.hass.states.async_remove(ENTITY)
    home.hass.set_state(CoreState.starting)
    assert await home.hass.config_entries.async_setup(home.entry.entry_id)
    for _ in range(3):
        await home.clock.tick_beside(every=PATIENCE)
        assert issue(home) is None
    home.hass.states.async_set(ENTITY, "unavailable", {ATTR_RESTORED: True})
    home.hass.set_state(CoreState.running)
    home.hass.bus.async_fire(EVENT_HOMEASSISTANT_STARTED)
    await home.clock.tick(every=PATIENCE)
    assert issue(home) is None


@pytest.mark.contract("R7")
async def test_the_issue_goes_with_the_endpoint(home: Home, tasks: Tasks) -> None:
    await home.add_heartbeat()
    home.hass.states.async_remove(ENTITY)
    await home.clock.tick(every=PATIENCE)
    assert issue(home) is not None
    assert await home.hass.config_entries.async_unload(home.entry.entry_id)
    assert issue(home) is None


async def test_a_server_has_no_entity_to_miss(home: Home) -> None:
    await home.add_heartbeat()
    await home.clock.tick(every=PATIENCE)
    assert issue(home) is None

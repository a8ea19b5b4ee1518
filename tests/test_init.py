"""Set-up, unload and removal of an endpoint."""

from typing import Any

from homeassistant.config_entries import ConfigEntryState, ConfigSubentry
from homeassistant.const import EVENT_HOMEASSISTANT_STOP
from homeassistant.helpers import entity_registry as er, issue_registry as ir
import pytest

from tests.support.heartbeats import (
    FEED,
    HUNGRY,
    INTERVAL,
    HeldService,
    Home,
    clock,
    home,
    let_run,
    subentry_of,
)
from tests.support.llm_server import Held, calls, llm_server, text

__all__ = ["clock", "home", "llm_server"]


async def test_set_up_asks_the_server_nothing(home: Home) -> None:
    await home.add_heartbeat()
    assert home.entry.state is ConfigEntryState.LOADED
    assert home.llm_server.requests == []


@pytest.mark.contract("C5", "C6")
async def test_a_reload_leaves_one_timer(home: Home) -> None:
    beat = await home.add_heartbeat(conditions=[HUNGRY])
    for _ in range(3):
        await home.reload()
    assert beat.is_on()
    await home.clock.tick()
    assert await beat.ticks() == 1


async def test_unloaded_its_entities_are_unavailable_and_nothing_beats(
    home: Home,
) -> None:
    beat = await home.add_heartbeat()
    assert await home.hass.config_entries.async_unload(home.entry.entry_id)
    assert home.entry.state is ConfigEntryState.NOT_LOADED
    assert beat.state("heartbeat", "switch") == "unavailable"
    await home.clock.tick(3)
    assert home.llm_server.requests == []


@pytest.mark.contract("C5", "R8")
async def test_a_reload_in_the_middle_of_a_run_ends_it_and_tells_what_was_done(
    home: Home,
) -> None:
    held = Held(calls(("feed", {"food": "snack"})))
    home.llm_server.play(calls(("feed", {"food": "meal"})), held)
    beat = await home.add_heartbeat(act=FEED)
    home.clock.turn(INTERVAL)
    await held.reached.wait()
    await home.hass.config_entries.async_reload(home.entry.entry_id)
    held.release.set()
    await home.settled()
    assert home.fired("fed") == [{"food": "meal"}]
    assert len(home.told) == 1
    assert home.told[0].startswith("Done: Feed. ")
    assert beat.is_on()
    assert len(home.llm_server.chats) == 2


@pytest.mark.contract("C5")
async def test_a_heartbeat_that_is_added_just_before_an_unload_never_beats(
    home: Home,
) -> None:
    held = Held(text("Never heard."))
    home.llm_server.play(calls(("feed", {"food": "meal"})), held)
    beat = await home.add_heartbeat(act=FEED)
    home.clock.turn(INTERVAL)
    await held.reached.wait()
    notify = HeldService(home.hass, "notify", "phone")

    # The removed one has a last word to say, and the new one waits for that.
    entries = home.hass.config_entries
    entries.async_remove_subentry(home.entry, beat.id)
    await notify.reached.wait()
    late = ConfigSubentry(**subentry_of("Late"))  # type: ignore[arg-type] # made read-only
    entries.async_add_subentry(home.entry, late)
    await let_run()
    assert await entries.async_unload(home.entry.entry_id)
    notify.release.set()
    held.release.set()
    await home.settled()

    requests = len(home.llm_server.requests)
    await home.clock.tick(3)
    assert len(home.llm_server.requests) == requests


async def test_a_removed_endpoint_leaves_nothing_behind(
    home: Home, hass_storage: dict[str, Any]
) -> None:
    await home.add_heartbeat(
        conditions=[{"condition": "state", "entity_id": "light.no", "state": "on"}]
    )
    await home.reload()
    key = f"proactive_agent.{home.entry.entry_id}"
    assert key in hass_storage
    assert await home.hass.config_entries.async_remove(home.entry.entry_id)
    await home.settled()
    assert key not in hass_storage
    registry = er.async_get(home.hass)
    assert not er.async_entries_for_config_entry(registry, home.entry.entry_id)


@pytest.mark.contract("C6")
async def test_an_orderly_end_writes_down_the_exact_count(
    home: Home, hass_storage: dict[str, Any]
) -> None:
    beat = await home.add_heartbeat(conditions=[HUNGRY], fuses={"max_ticks": 1_000})
    await home.clock.tick(7)
    home.hass.bus.async_fire(EVENT_HOMEASSISTANT_STOP)
    await home.settled()
    stored = hass_storage[f"proactive_agent.{home.entry.entry_id}"]["data"]
    assert stored["heartbeats"][beat.id]["ticks"] == 7


@pytest.mark.contract("D1")
async def test_a_store_of_a_newer_version_is_left_alone(
    home: Home, hass_storage: dict[str, Any]
) -> None:
    newer = {
        "version": 99,
        "minor_version": 1,
        "key": f"proactive_agent.{home.entry.entry_id}",
        "data": {"new": True},
    }
    hass_storage[str(newer["key"])] = newer
    assert not await home.hass.config_entries.async_setup(home.entry.entry_id)
    assert home.entry.state is ConfigEntryState.SETUP_ERROR
    assert home.entry.error_reason_translation_key == "store_too_new"
    assert hass_storage[str(newer["key"])]["data"] == {"new": True}


async def test_set_up_with_a_run_at_once_after_home_assistant_started(
    home: Home,
) -> None:
    home.llm_server.play(text("Fine."))
    beat = await home.add_heartbeat()
    assert (await beat.wake())["outcome"] == "nothing"


@pytest.mark.contract("D1")
async def test_the_issue_about_a_lost_store_goes_with_the_endpoint(
    home: Home, hass_storage: dict[str, Any]
) -> None:
    key = f"proactive_agent.{home.entry.entry_id}"
    rubbish = {"heartbeats": "rubbish"}
    hass_storage[key] = {"version": 1, "minor_version": 1, "key": key, "data": rubbish}
    await home.add_heartbeat()
    issue = ("proactive_agent", f"store_unreadable_{home.entry.entry_id}")
    registry = ir.async_get(home.hass)
    assert registry.async_get_issue(*issue)
    assert await home.hass.config_entries.async_remove(home.entry.entry_id)
    assert registry.async_get_issue(*issue) is None

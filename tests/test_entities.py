"""A heartbeat on the dashboard: its device, its entities, what they show."""

import json
from pathlib import Path
from typing import Any

from homeassistant.core import (
    Event,
    EventStateChangedData,
    HomeAssistant,
    callback,
)
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.helpers.event import async_track_state_change_event
from homeassistant.helpers.json import json_dumps
from homeassistant.helpers.translation import async_get_translations
import pytest
from pytest_homeassistant_custom_component.common import (
    async_mock_restore_state_shutdown_restart,
)
from syrupy.assertion import SnapshotAssertion

from custom_components.proactive_agent.activity import Activity
from custom_components.proactive_agent.engine.records import Outcome, Status
from tests.support.heartbeats import (
    FEED,
    HUNGRY,
    INTERVAL,
    Home,
    clock,
    home,
    let_run,
)
from tests.support.llm_server import Held, Raw, calls, llm_server, text

__all__ = ["clock", "home", "llm_server"]

KEYS = {
    "heartbeat",
    "check_now",
    "approve",
    "reject",
    "pending_approval",
    "activity",
    "status",
    "last_wake",
    "last_outcome",
    "tokens_used",
    "ticks_used",
}


async def test_the_entities_of_a_heartbeat(
    home: Home, snapshot: SnapshotAssertion
) -> None:
    beat = await home.add_heartbeat(conditions=[HUNGRY])
    registry = er.async_get(home.hass)
    entries = er.async_entries_for_config_entry(registry, home.entry.entry_id)
    assert {entry.unique_id for entry in entries} == {
        f"{beat.id}_{key}" for key in KEYS
    }
    assert {entry.config_subentry_id for entry in entries} == {beat.id}
    for entry in sorted(entries, key=lambda one: one.entity_id):
        state = home.hass.states.get(entry.entity_id)
        assert state is not None
        shown = {
            "name": entry.original_name,
            "category": entry.entity_category,
            "translation_key": entry.translation_key,
            "device_class": entry.original_device_class,
            "capabilities": entry.capabilities,
            "unit": entry.unit_of_measurement,
            "state": state.state,
            "attributes": state.as_dict()["attributes"],
        }
        # As plain JSON: enums look different in each version of Home Assistant.
        assert json.loads(json_dumps(shown)) == snapshot(name=entry.entity_id)


async def test_only_the_count_of_ticks_is_disabled_at_first(home: Home) -> None:
    await home.add_heartbeat(counted=False)
    registry = er.async_get(home.hass)
    disabled = [
        entry.unique_id.split("_", 1)[1]
        for entry in er.async_entries_for_config_entry(registry, home.entry.entry_id)
        if entry.disabled_by is not None
    ]
    assert disabled == ["ticks_used"]


async def test_each_heartbeat_has_a_device_of_its_own(home: Home) -> None:
    first = await home.add_heartbeat("Milonga")
    second = await home.add_heartbeat("Tango")
    devices = dr.async_get(home.hass)
    for beat, name in ((first, "Milonga"), (second, "Tango")):
        device = devices.async_get_device_by_identifier(
            ("proactive_agent", beat.id), home.entry.entry_id
        )
        assert device is not None
        assert device.name == name
        assert device.entry_type is dr.DeviceEntryType.SERVICE
        assert device.config_subentry_id == beat.id
    assert second.switch != first.switch


async def test_every_entity_has_a_name_and_each_state_of_its_own_a_word(
    hass: HomeAssistant, home: Home
) -> None:
    await home.add_heartbeat()
    words = await async_get_translations(hass, "en", "entity", {"proactive_agent"})
    registry = er.async_get(hass)
    for entry in er.async_entries_for_config_entry(registry, home.entry.entry_id):
        base = (
            f"component.proactive_agent.entity.{entry.domain}.{entry.translation_key}"
        )
        assert words[f"{base}.name"]
        for option in (entry.capabilities or {}).get("options", ()):
            assert words[f"{base}.state.{option}"]
        for kind in (entry.capabilities or {}).get("event_types", ()):
            assert words[f"{base}.state_attributes.event_type.state.{kind}"]


async def test_every_entity_has_an_icon() -> None:
    root = Path(__file__).parent.parent / "custom_components/proactive_agent"
    icons = json.loads((root / "icons.json").read_text())["entity"]
    words = json.loads((root / "translations/en.json").read_text())["entity"]
    assert {(platform, key) for platform, keys in words.items() for key in keys} - {
        (platform, key) for platform, keys in icons.items() for key in keys
    } == set()


async def test_every_state_of_its_own_has_an_icon_of_its_own() -> None:
    root = Path(__file__).parent.parent / "custom_components/proactive_agent"
    icons = json.loads((root / "icons.json").read_text())["entity"]
    sensors = icons["sensor"]
    assert {*sensors["last_outcome"]["state"]} == {*Outcome}
    assert {*sensors["status"]["state"]} == {*Status}
    events = icons["event"]["activity"]["state_attributes"]["event_type"]["state"]
    assert {*events} == {*Activity}


async def test_nothing_depends_on_what_its_entities_are_called(home: Home) -> None:
    """Entity ids follow the language of the home, and its owner may change them."""
    beat = await home.add_heartbeat(act=FEED)
    registry = er.async_get(home.hass)
    for number, entry in enumerate(
        er.async_entries_for_config_entry(registry, home.entry.entry_id)
    ):
        new_id = f"{entry.domain}.herz_{number}"
        registry.async_update_entity(entry.entity_id, new_entity_id=new_id)
    await home.settled()
    home.llm_server.play(calls(("feed", {"food": "meal"})), text("Fed."))
    await home.clock.tick()
    assert beat.switch.startswith("switch.herz_")
    assert beat.state("last_outcome") == "acted"
    for event_type in ("proactive_agent_heartbeat_tick", "proactive_agent_acted"):
        (event,) = home.fired(event_type)
        assert event["entity_id"] == beat.switch
    home.llm_server.play(text("Fine."))
    assert (await beat.wake())["outcome"] == "nothing"
    assert len(await beat.runs()) == 2
    await beat.turn("off")
    assert beat.state("status") == "off"


async def test_the_sensors_follow_a_run(home: Home) -> None:
    held = Held(calls(("feed", {"food": "meal"})))
    home.llm_server.play(held, text("Fed."))
    beat = await home.add_heartbeat(act=FEED)
    assert beat.state("status") == "asleep"
    assert beat.state("last_outcome") == "unknown"
    assert beat.state("tokens_used") == "0"
    home.clock.turn(INTERVAL)
    await held.reached.wait()
    assert beat.state("status") == "running"
    held.release.set()
    await home.settled()
    assert beat.state("status") == "asleep"
    assert beat.state("last_outcome") == "acted"
    assert beat.state("tokens_used") == "56"
    (run,) = await beat.runs()
    assert run["tokens"] == {"prompt": 40, "completion": 16}
    assert beat.state("last_wake") == run["started"][:19] + "+00:00"


@pytest.mark.parametrize(
    ("answers", "seen"),
    [
        ([text("Fine.")], ["woke"]),
        ([calls(("feed", {"food": "meal"})), text("Fed.")], ["woke", "acted"]),
        (
            [calls(("tell_owner", {"message": "Hi."})), text("Told.")],
            ["woke", "spoke"],
        ),
        ([Raw(status=401, body={"error": {"message": "no"}})], ["woke", "failed"]),
        (
            [calls(("stop_heartbeat", {"reason": "Over."})), text("Bye.")],
            ["woke", "stopped"],
        ),
    ],
    ids=["quiet", "acted", "spoke", "failed", "stopped"],
)
async def test_the_activity_tells_what_happened(
    home: Home, answers: list[Any], seen: list[str]
) -> None:
    beat = await home.add_heartbeat(act=FEED, manners={"may_stop": True})
    activity = beat.entity_id("event", "activity")
    told: list[str] = []

    @callback
    def note(event: Event[EventStateChangedData]) -> None:
        if (state := event.data["new_state"]) is not None:
            told.append(state.attributes["event_type"])

    unsubscribe = async_track_state_change_event(home.hass, [activity], note)
    home.llm_server.play(*answers)
    await home.clock.tick()
    unsubscribe()
    assert told == seen


async def test_what_a_restart_forgets_is_shown_again(
    home: Home, hass_storage: dict[str, Any]
) -> None:
    home.llm_server.play(text("Fine."))
    beat = await home.add_heartbeat()
    await home.clock.tick()
    keys = ("last_wake", "last_outcome", "tokens_used")
    before = {key: beat.state(key) for key in keys}
    assert before["last_outcome"] == "nothing"
    await async_mock_restore_state_shutdown_restart(home.hass)
    assert await home.hass.config_entries.async_reload(home.entry.entry_id)
    await home.settled()
    assert {key: beat.state(key) for key in keys} == before


async def test_the_count_of_ticks_is_looked_up_from_time_to_time(home: Home) -> None:
    beat = await home.add_heartbeat(conditions=[HUNGRY])
    await home.clock.tick()
    assert beat.state("ticks_used") in {"0", "1"}
    await home.clock.tick(every=INTERVAL / 10)
    assert beat.state("ticks_used") == "1"


@pytest.mark.contract("C7")
async def test_a_removed_heartbeat_leaves_nothing_behind(home: Home) -> None:
    beat = await home.add_heartbeat()
    other = await home.add_heartbeat("Other", conditions=[HUNGRY])
    switch = beat.switch
    await beat.remove()
    registry = er.async_get(home.hass)
    assert {
        entry.config_subentry_id
        for entry in er.async_entries_for_config_entry(registry, home.entry.entry_id)
    } == {other.id}
    assert home.hass.states.get(switch) is None
    devices = dr.async_entries_for_config_entry(
        dr.async_get(home.hass), home.entry.entry_id
    )
    assert [device.name for device in devices] == ["Other"]
    await home.clock.tick(3)
    assert home.llm_server.requests == []


async def test_a_heartbeat_added_later_gets_its_entities_and_beats(home: Home) -> None:
    await home.add_heartbeat(conditions=[HUNGRY])
    later = await home.add_heartbeat("Later")
    assert later.is_on()
    home.llm_server.play(text("Fine."))
    await home.clock.tick()
    assert later.state("last_outcome") == "nothing"
    await let_run()


@pytest.mark.contract("C4")
async def test_what_shows_nothing_new_is_not_written(home: Home) -> None:
    home.llm_server.play(text("Fine."))
    beat = await home.add_heartbeat()
    await beat.wake()
    waits = beat.entity_id("sensor", "pending_approval")
    before = {one: home.hass.states.get(one) for one in (beat.switch, waits)}
    home.llm_server.play(text("Fine."))
    home.clock.turn(INTERVAL / 2)
    await beat.wake()
    for entity_id, state in before.items():
        now = home.hass.states.get(entity_id)
        assert now is not None
        assert state is not None
        assert now.last_reported == state.last_reported

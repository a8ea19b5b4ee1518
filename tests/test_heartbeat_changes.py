"""Changes, reloads and restarts: who is disturbed and what survives (C5-C7, D2)."""

from datetime import timedelta
from types import MappingProxyType
from typing import Any

from homeassistant.config_entries import ConfigSubentry
from homeassistant.helpers import device_registry as dr, issue_registry as ir
import pytest

from tests.support.heartbeats import (
    FEED,
    HUNGRY,
    INTERVAL,
    Beat,
    Home,
    clock,
    endpoint,
    heartbeat_data,
    home,
    let_run,
    subentry_of,
)
from tests.support.llm_server import Held, calls, llm_server, text

__all__ = ["clock", "home", "llm_server"]

MEAL = ("feed", {"food": "meal"})
LONG = {"run_timeout": 1_000_000}
HALF = INTERVAL / 2


@pytest.mark.contract("C7")
@pytest.mark.parametrize("what", ["change", "rename", "interval", "add", "remove"])
async def test_a_change_of_one_does_not_disturb_the_others(
    home: Home, what: str
) -> None:
    """The timer, the count and the run of another stay as they are."""
    runner = await home.add_heartbeat("Runner", fuses=LONG, interval={"minutes": 7})
    ticker = await home.add_heartbeat("Ticker", conditions=[HUNGRY])
    changed = await home.add_heartbeat("Changed", conditions=[HUNGRY])
    held = Held(text("Fine."))
    home.llm_server.play(held)
    home.clock.turn(timedelta(minutes=7))
    await held.reached.wait()
    match what:
        case "change":
            await changed.change_beside(check_prompt="Other.", conditions=[])
        case "rename":
            await changed.change_beside(title="Renamed")
        case "interval":
            await changed.change_beside(interval={"minutes": 1})
        case "add":
            home.hass.config_entries.async_add_subentry(
                home.entry,
                ConfigSubentry(
                    data=MappingProxyType(heartbeat_data(conditions=[HUNGRY])),
                    subentry_type="heartbeat",
                    title="Added",
                    unique_id=None,
                ),
            )
            await let_run()
        case _:
            home.hass.config_entries.async_remove_subentry(home.entry, changed.id)
            await let_run()
    assert runner.state("status") == "running"
    await home.clock.tick_beside(every=INTERVAL - timedelta(minutes=7))
    assert await ticker.ticks() == 1
    held.release.set()
    await home.settled()
    assert (await runner.runs())[-1]["outcome"] == "nothing"
    assert len(await runner.runs()) == 1


@pytest.mark.contract("C7")
async def test_the_changed_one_keeps_its_ticks_its_deadline_and_its_cadence(
    home: Home,
) -> None:
    beat = await home.add_heartbeat(
        conditions=[HUNGRY],
        fuses={"max_ticks": 4, "max_duration": {"minutes": 50}},
    )
    await home.clock.tick()
    await home.clock.tick(every=HALF)
    await beat.change(
        check_prompt="Other.",
        fuses={"max_ticks": 4, "max_duration": {"minutes": 50}, "max_turns": 3},
    )
    await home.clock.tick(every=HALF)
    assert await beat.ticks() == 2
    await home.clock.tick()
    assert beat.is_on()
    await home.clock.tick(every=timedelta(minutes=5))
    (stopped,) = home.fired("proactive_agent_stopped")
    assert stopped["reason"] == "max_duration"


@pytest.mark.contract("C7")
async def test_a_changed_fuse_begins_anew(home: Home) -> None:
    beat = await home.add_heartbeat(
        conditions=[HUNGRY],
        fuses={"max_ticks": 2, "max_duration": {"minutes": 40}},
    )
    await home.clock.tick()
    await beat.change(fuses={"max_ticks": 3, "max_duration": {"minutes": 40}})
    assert await beat.ticks() == 0
    await home.clock.tick()
    assert beat.is_on()
    await beat.change(fuses={"max_ticks": 3, "max_duration": {"hours": 2}})
    assert await beat.ticks() == 1
    await home.clock.tick(2)
    (stopped,) = home.fired("proactive_agent_stopped")
    assert stopped["reason"] == "max_ticks"


@pytest.mark.contract("C7")
async def test_a_new_interval_holds_from_the_change_on(home: Home) -> None:
    beat = await home.add_heartbeat(conditions=[HUNGRY], fuses={"max_ticks": 9})
    await home.clock.tick()
    await beat.change(interval={"minutes": 1})
    assert await beat.ticks() == 1
    await home.clock.tick(3, every=timedelta(minutes=1))
    assert await beat.ticks() == 4


@pytest.mark.contract("C7")
async def test_a_changed_option_is_seen_at_the_next_tick(home: Home) -> None:
    beat = await home.add_heartbeat(conditions=[HUNGRY])
    await beat.change(conditions=[], check_prompt="Something else.", act=FEED)
    home.llm_server.play(text("Fine."))
    await home.clock.tick()
    (chat,) = home.llm_server.chats
    assert chat["messages"][1]["content"].startswith("Something else.\n")
    assert "feed" in [tool["function"]["name"] for tool in chat["tools"]]


@pytest.mark.contract("C7", "A1")
async def test_a_run_in_flight_keeps_its_options_but_loses_what_was_taken_out(
    home: Home,
) -> None:
    held = Held(calls(MEAL, ("valve", {})))
    home.hass.services.async_register("test", "wait", lambda _: None)
    home.llm_server.play(held, text("Done."), text("Fine."))
    beat = await home.add_heartbeat(
        act={"entity_id": ["script.feed", "script.valve"]}, fuses={"max_turns": 3}
    )
    home.clock.turn(INTERVAL)
    await held.reached.wait()
    await beat.change_beside(
        act={"entity_id": ["script.valve"]},
        check_prompt="Something else.",
        notify=[],
    )
    held.release.set()
    await home.settled()
    (run,) = await beat.runs()
    assert [action["action"] for action in run["actions"]] == ["script.valve"]
    assert "may not act on" in run["calls"][0]["answer"]
    assert home.fired("fed") == []
    assert home.told == ["Done: Valve."]
    first, second = home.llm_server.chats
    assert first["tools"] == second["tools"]
    await home.clock.tick()
    assert home.llm_server.chats[2]["messages"][1]["content"].startswith("Something")


@pytest.mark.contract("G4", "C7")
async def test_an_option_changed_during_a_run_is_news(home: Home) -> None:
    held = Held(text("Nothing."))
    home.llm_server.play(held, text("Nothing."))
    beat = await home.add_heartbeat(look={"entity_id": ["input_boolean.lamp"]})
    home.clock.turn(INTERVAL)
    await held.reached.wait()
    await beat.change_beside(check_prompt="Something else.")
    held.release.set()
    await home.settled()
    await home.clock.tick()
    assert len(home.llm_server.chats) == 2


@pytest.mark.contract("C7")
async def test_a_renamed_heartbeat_renames_its_device(home: Home) -> None:
    beat = await home.add_heartbeat()
    await beat.change(title="Tango")
    device = dr.async_get(home.hass).async_get_device_by_identifier(
        ("proactive_agent", beat.id), home.entry.entry_id
    )
    assert device is not None
    assert device.name == "Tango"
    state = home.hass.states.get(beat.switch)
    assert state is not None
    assert state.name == "Tango Heartbeat"
    home.llm_server.play(text("Fine."))
    await home.clock.tick()
    assert home.fired("proactive_agent_heartbeat_tick")[0]["heartbeat"] == "Tango"


@pytest.mark.contract("C7")
async def test_removed_during_a_run_it_ends_and_is_forgotten(
    home: Home, hass_storage: dict[str, Any]
) -> None:
    held = Held(calls(MEAL))
    home.llm_server.play(held)
    beat = await home.add_heartbeat(act=FEED)
    other = await home.add_heartbeat("Other", conditions=[HUNGRY])
    home.clock.turn(INTERVAL)
    await held.reached.wait()
    await beat.remove()
    held.release.set()
    await home.settled()
    assert home.fired("fed") == []
    assert [*home.entry.runtime_data.heartbeats] == [other.id]
    await home.clock.tick(every=timedelta(seconds=30))
    stored = hass_storage[f"proactive_agent.{home.entry.entry_id}"]["data"]
    assert [*stored["heartbeats"]] == [other.id]


@pytest.mark.contract("C7", "R7")
async def test_another_endpoint_in_the_entry_is_used_from_the_next_run_on(
    home: Home,
) -> None:
    beat = await home.add_heartbeat(fuses={"max_ticks": 9})
    home.llm_server.play(text("Fine."), text("Fine."))
    await home.clock.tick()
    home.hass.config_entries.async_update_entry(
        home.entry, data={**home.entry.data, "model": "better-model"}
    )
    await home.hass.async_block_till_done()
    await home.clock.tick()
    assert [chat["model"] for chat in home.llm_server.chats] == [
        "test-model",
        "better-model",
    ]
    assert await beat.ticks() == 2


async def _restart(home: Home) -> None:
    """Unload, forget all but the disk, and set up again."""
    assert await home.hass.config_entries.async_unload(home.entry.entry_id)
    assert await home.hass.config_entries.async_setup(home.entry.entry_id)
    await home.settled()


@pytest.mark.contract("C6", "D2")
async def test_off_stays_off_and_counts_survive(home: Home) -> None:
    beat = await home.add_heartbeat(conditions=[HUNGRY], fuses={"max_ticks": 20})
    off = await home.add_heartbeat("Off", conditions=[HUNGRY])
    await off.turn("off")
    await home.clock.tick(5)
    await _restart(home)
    assert beat.is_on()
    assert await beat.ticks() == 5
    assert not off.is_on()
    assert off.state("status") == "off"
    await home.clock.tick(3)
    assert await beat.ticks() == 8
    assert await off.ticks() == 0


@pytest.mark.contract("C6")
async def test_the_cadence_keeps_its_anchor_over_a_restart(home: Home) -> None:
    beat = await home.add_heartbeat(conditions=[HUNGRY])
    await home.clock.tick(every=timedelta(minutes=10))
    await _restart(home)
    await home.clock.tick(every=timedelta(minutes=4))
    assert await beat.ticks() == 0
    await home.clock.tick(every=timedelta(minutes=1))
    assert await beat.ticks() == 1
    await home.clock.tick()
    assert await beat.ticks() == 2


@pytest.mark.contract("C6")
async def test_all_that_was_missed_comes_to_one_tick_a_while_after_the_start(
    home: Home,
) -> None:
    beat = await home.add_heartbeat(conditions=[HUNGRY], interval={"hours": 1})
    assert await home.hass.config_entries.async_unload(home.entry.entry_id)
    home.clock.turn(timedelta(hours=42, minutes=10))
    assert await home.hass.config_entries.async_setup(home.entry.entry_id)
    await home.settled()
    await home.clock.tick(every=timedelta(seconds=59))
    assert await beat.ticks() == 0
    await home.clock.tick(every=timedelta(minutes=4))
    assert await beat.ticks() == 1
    await home.clock.tick(every=timedelta(minutes=44))
    assert await beat.ticks() == 1
    await home.clock.tick(every=timedelta(minutes=2))
    assert await beat.ticks() == 2


@pytest.mark.contract("C6")
async def test_a_regular_tick_that_is_near_makes_up_for_the_missed_ones(
    home: Home,
) -> None:
    beat = await home.add_heartbeat(conditions=[HUNGRY], interval={"minutes": 1})
    assert await home.hass.config_entries.async_unload(home.entry.entry_id)
    home.clock.turn(timedelta(hours=5, seconds=30))
    assert await home.hass.config_entries.async_setup(home.entry.entry_id)
    await home.settled()
    await home.clock.tick(10, every=timedelta(seconds=30))
    assert await beat.ticks() == 5


@pytest.mark.contract("C6", "F2")
async def test_what_had_stopped_catches_nothing_up(home: Home) -> None:
    off = await home.add_heartbeat(interval={"hours": 1})
    await off.turn("off")
    over = await home.add_heartbeat(
        "Over", interval={"hours": 1}, fuses={"max_duration": {"hours": 2}}
    )
    assert await home.hass.config_entries.async_unload(home.entry.entry_id)
    home.clock.turn(timedelta(hours=5, minutes=10))
    assert await home.hass.config_entries.async_setup(home.entry.entry_id)
    await home.settled()
    await home.clock.tick(20, every=timedelta(seconds=20))
    assert not home.llm_server.chats
    assert not off.is_on()
    assert not over.is_on()


@pytest.mark.contract("C6")
async def test_a_killed_process_loses_ticks_but_gives_none_back(
    home: Home, hass_storage: dict[str, Any]
) -> None:
    beat = await home.add_heartbeat(conditions=[HUNGRY], fuses={"max_ticks": 100})
    await home.clock.tick(7)
    await home.clock.tick(every=timedelta(seconds=1))
    key = f"proactive_agent.{home.entry.entry_id}"
    on_disk = hass_storage[key]["data"]["heartbeats"][beat.id]
    assert on_disk["ticks"] == 10
    assert on_disk["on"] is True


@pytest.mark.contract("C6", "D2")
async def test_off_is_on_disk_when_the_action_returns(
    home: Home, hass_storage: dict[str, Any]
) -> None:
    beat = await home.add_heartbeat()
    await beat.turn("off")
    key = f"proactive_agent.{home.entry.entry_id}"
    assert hass_storage[key]["data"]["heartbeats"][beat.id]["on"] is False


@pytest.mark.contract("D1", "D2")
async def test_after_a_lost_store_only_what_is_new_is_on(
    home: Home, hass_storage: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    beat = await home.add_heartbeat()
    assert await home.hass.config_entries.async_unload(home.entry.entry_id)
    hass_storage[f"proactive_agent.{home.entry.entry_id}"]["data"] = {"odd": 1}
    monkeypatch.setattr("pathlib.Path.replace", lambda *_: None)
    assert await home.hass.config_entries.async_setup(home.entry.entry_id)
    await home.settled()
    assert not beat.is_on()
    assert ir.async_get(home.hass).async_get_issue(
        "proactive_agent", f"store_unreadable_{home.entry.entry_id}"
    )
    new = await home.add_heartbeat("New")
    assert new.is_on()
    await _restart(home)
    assert not beat.is_on()
    assert new.is_on()


@pytest.mark.contract("C5", "C8")
async def test_what_is_unloaded_neither_wakes_nor_changes(home: Home) -> None:
    """A change that comes with the unload must not leave a timer behind."""
    beat = await home.add_heartbeat(fuses={"max_duration": {"hours": 5}})
    home.hass.config_entries.async_update_subentry(
        home.entry,
        beat.subentry,
        data={**beat.subentry.data, "interval": {"minutes": 1}},
    )
    assert await home.hass.config_entries.async_unload(home.entry.entry_id)
    await home.clock.tick(5)
    assert home.llm_server.requests == []


@pytest.mark.contract("C1")
async def test_an_endpoint_with_several_heartbeats_is_set_up_at_once(
    home: Home,
) -> None:
    entry = endpoint(
        home.llm_server,
        subentry_of("One", conditions=[HUNGRY]),
        subentry_of("Two", conditions=[HUNGRY]),
    )
    entry.add_to_hass(home.hass)
    assert await home.hass.config_entries.async_setup(entry.entry_id)
    await home.settled()
    beats = [Beat(hass=home.hass, entry=entry, id=one) for one in entry.subentries]
    assert [beat.is_on() for beat in beats] == [True, True]
    await home.clock.tick(3)
    assert home.llm_server.requests == []


@pytest.mark.contract("C7")
async def test_what_the_form_changes_is_seen_at_the_next_tick(home: Home) -> None:
    beat = await home.add_heartbeat(conditions=[HUNGRY], fuses={"max_ticks": 9})
    await home.clock.tick()
    flows = home.hass.config_entries.subentries
    flow = await flows.async_init(
        (home.entry.entry_id, "heartbeat"),
        context={"source": "reconfigure", "subentry_id": beat.id},
    )
    assert flow["type"] == "form"
    answer = await flows.async_configure(
        flow["flow_id"],
        {
            "name": "Tango",
            "check_prompt": "Something else.",
            "interval": {"minutes": 15},
            "conditions": [],
            "look": {},
            "act": FEED,
            "ask": {},
            "notify": [],
            "fuses": {"max_ticks": 9},
            "manners": {},
        },
    )
    assert answer["type"] == "abort", answer
    assert answer["reason"] == "reconfigure_successful"
    await home.hass.async_block_till_done()
    home.llm_server.play(text("Fine."))
    await home.clock.tick()
    (chat,) = home.llm_server.chats
    assert chat["messages"][1]["content"].startswith("Something else.\n")
    assert await beat.ticks() == 2
    assert home.fired("proactive_agent_heartbeat_tick")[0]["heartbeat"] == "Tango"

"""A message that is due is told, whatever Home Assistant does meanwhile (S5, C6)."""

import asyncio
from datetime import timedelta
from typing import Any

from homeassistant.components.persistent_notification import Notification, async_dismiss
from homeassistant.const import EVENT_HOMEASSISTANT_STOP
from homeassistant.core import HomeAssistant, ServiceCall
import pytest

from custom_components.proactive_agent.const import EVENT_ACTED

from .support.asking import Disk, disk, until
from .support.heartbeats import (
    FEED,
    Beat,
    HeldService,
    Home,
    clock,
    home,
    let_run,
)
from .support.llm_server import Held, calls, llm_server, text
from .support.notifiers import hear, kept
from .support.restarts import on_disk, restart

__all__ = ["clock", "disk", "home", "kept", "llm_server"]

pytestmark = pytest.mark.contract("S5")

MEAL = calls(("feed", {"food": "meal"}))
OPENS = calls(("valve", {}))
VALVE = {"entity_id": ["script.valve", "script.feed"]}
STOPPED = "Home Assistant was stopped during a run."
FED = f"{STOPPED} Done before that: Feed."


def due(left: Any, beat: Beat) -> list[dict[str, Any]]:
    """Return what is due by the file of the endpoint."""
    noted: list[dict[str, Any]] = left["data"]["heartbeats"][beat.id]["due"]
    return noted


async def settle(home: Home) -> None:
    """Let what is to be written at once come to the disk."""
    await home.clock.tick_beside(every=timedelta(milliseconds=1))
    await let_run()


async def test_a_run_that_ends_well_leaves_nothing_due(
    home: Home, hass_storage: dict[str, Any]
) -> None:
    home.llm_server.play(MEAL, text("Fed."))
    beat = await home.add_heartbeat(act=FEED)
    await home.clock.tick()
    await settle(home)
    left = on_disk(home, hass_storage)
    assert due(left, beat) == []
    await restart(home, hass_storage, left=left)
    assert home.told == ["Done: Feed."]


async def test_before_an_action_is_called_it_is_on_disk_that_it_will_be(
    home: Home, hass_storage: dict[str, Any]
) -> None:
    noted: list[Any] = []

    async def look(_call: ServiceCall) -> None:
        noted.extend(due(on_disk(home, hass_storage), beat))

    home.hass.services.async_register("test", "wait", look)
    home.llm_server.play(OPENS, text("Opened."))
    beat = await home.add_heartbeat(act=VALVE)
    await home.clock.tick()
    (note,) = noted
    assert note["message"] is None
    assert [one["status"] for one in note["actions"]] == ["still_running"]
    assert [one["action"] for one in note["actions"]] == ["script.valve"]


@pytest.mark.contract("C6", "S3")
async def test_after_a_crash_in_the_middle_of_a_run_it_is_told_once(
    home: Home, hass_storage: dict[str, Any]
) -> None:
    held = Held(text("Fed."))
    home.llm_server.play(MEAL, held)
    beat = await home.add_heartbeat(act=FEED)
    home.clock.turn(timedelta(minutes=15))
    await held.reached.wait()
    await settle(home)
    left = on_disk(home, hass_storage)
    assert [one["status"] for one in due(left, beat)[0]["actions"]] == ["done"]
    await restart(home, hass_storage, left=left)
    assert home.told == [FED]
    (acted,) = home.fired(EVENT_ACTED)
    assert acted["message"] == FED
    assert acted["entity_id"] == beat.switch
    assert [one["status"] for one in acted["actions"]] == ["done"]
    activity = home.hass.states.get(beat.entity_id("event", "activity"))
    assert activity is not None
    assert activity.attributes["event_type"] == "acted"
    await settle(home)
    await restart(home)
    assert home.told == [FED]


async def test_what_was_begun_is_not_told_as_done(
    home: Home, hass_storage: dict[str, Any]
) -> None:
    valve = HeldService(home.hass, "test", "wait")
    home.llm_server.play(MEAL, OPENS)
    await home.add_heartbeat(act=VALVE)
    home.clock.turn(timedelta(minutes=15))
    await valve.reached.wait()
    left = on_disk(home, hass_storage)
    await restart(home, hass_storage, left=left)
    assert home.told == [f"{FED} Begun, and nobody saw how it ended: Valve."]
    valve.release.set()


async def test_it_goes_to_the_targets_of_today(
    home: Home, hass_storage: dict[str, Any]
) -> None:
    held = Held(text("Fed."))
    home.llm_server.play(MEAL, held)
    beat = await home.add_heartbeat(act=FEED)
    other = hear(home.hass, "other")
    home.clock.turn(timedelta(minutes=15))
    await held.reached.wait()
    await settle(home)
    left = on_disk(home, hass_storage)
    await beat.change_beside(notify=["notify.other"])
    await restart(home, hass_storage, left=left)
    assert home.told == []
    assert [call.data["message"] for call in other] == [FED]


async def test_it_waits_for_a_notifier_that_is_late(
    home: Home, hass_storage: dict[str, Any], kept: dict[str, Notification]
) -> None:
    held = Held(text("Fed."))
    home.llm_server.play(MEAL, held)
    await home.add_heartbeat(act=FEED)
    home.clock.turn(timedelta(minutes=15))
    await held.reached.wait()
    await settle(home)
    left = on_disk(home, hass_storage)
    home.hass.services.async_remove("notify", "phone")
    await restart(home, hass_storage, left=left, settles=False)
    await until(lambda: bool(kept))
    # It is killed again before the notifier is there.
    await settle(home)
    left = on_disk(home, hass_storage)
    await restart(home, hass_storage, left=left, settles=False)
    await until(lambda: bool(kept))
    phone = hear(home.hass, "phone")
    await home.settled()
    assert [call.data["message"] for call in phone] == [FED]
    assert not kept
    assert len(home.fired(EVENT_ACTED)) == 1


@pytest.mark.contract("C6")
@pytest.mark.parametrize("way", ["order", "kill"])
async def test_a_message_that_waited_for_a_late_notifier_is_told_after_a_restart(
    home: Home,
    hass_storage: dict[str, Any],
    kept: dict[str, Notification],
    way: str,
) -> None:
    home.llm_server.play(calls(("tell_owner", {"message": "Look."})), text("Told."))
    beat = await home.add_heartbeat()
    home.hass.services.async_remove("notify", "phone")
    await restart(home)
    record = await beat.wake()
    assert record["message"] == "Look."
    assert len(kept) == 1
    await settle(home)
    left = on_disk(home, hass_storage) if way == "kill" else None
    await restart(home, hass_storage, left=left, settles=False)
    phone = hear(home.hass, "phone")
    await home.settled()
    assert [call.data["message"] for call in phone] == ["Look."]
    assert not kept
    await settle(home)
    await restart(home)
    assert len(phone) == 1


async def test_what_has_reached_nobody_is_tried_again_after_a_restart(
    home: Home, hass_storage: dict[str, Any], kept: dict[str, Notification]
) -> None:
    await _unheard(home)
    assert len(kept) == 1
    phone = hear(home.hass, "phone")
    await restart(home)
    assert [call.data["message"] for call in phone] == ["Look."]
    await restart(home)
    assert len(phone) == 1


async def test_what_was_dismissed_was_heard(
    home: Home, kept: dict[str, Notification]
) -> None:
    await _unheard(home)
    async_dismiss(home.hass, *kept)
    phone = hear(home.hass, "phone")
    await restart(home)
    assert phone == []


async def test_words_that_are_a_day_old_are_not_news(
    home: Home, kept: dict[str, Notification]
) -> None:
    await _unheard(home)
    phone = hear(home.hass, "phone")
    await restart(home, off_for=timedelta(hours=25))
    assert phone == []


async def test_without_a_target_the_notification_is_all_there_is(
    home: Home, kept: dict[str, Notification]
) -> None:
    home.llm_server.play(calls(("tell_owner", {"message": "Look."})), text("Told."))
    beat = await home.add_heartbeat(notify=[])
    await beat.wake()
    assert len(kept) == 1
    async_dismiss(home.hass, *kept)
    await restart(home)
    assert not kept


@pytest.mark.contract("D1")
async def test_a_disk_that_takes_nothing_keeps_no_action_back(
    home: Home, disk: Disk
) -> None:
    def answer(request: Any) -> Any:
        disk.is_full = True
        return text("Fed.") if request["messages"][-1]["role"] == "tool" else MEAL

    home.llm_server.always = answer
    await home.add_heartbeat(act=FEED)
    await home.clock.tick()
    assert home.told == ["Done: Feed."]
    assert len(home.fired("fed")) == 1


@pytest.mark.contract("F6", "C5")
async def test_switched_off_while_it_is_written_down_nothing_is_called(
    home: Home, disk: Disk, hass_storage: dict[str, Any]
) -> None:
    def answer(_request: Any) -> Any:
        disk.hold()
        return MEAL

    home.llm_server.always = answer
    beat = await home.add_heartbeat(act=FEED)
    home.clock.turn(timedelta(minutes=15))
    await until(lambda: _is_written_down(home, beat))
    off = asyncio.create_task(beat.turn("off"))
    await let_run()
    disk.release()
    await off
    await home.settled()
    await settle(home)
    assert home.fired("fed") == []
    assert home.told == []
    left = on_disk(home, hass_storage)
    assert due(left, beat) == []
    await restart(home, hass_storage, left=left)
    assert home.told == []


@pytest.mark.contract("R8", "S1")
@pytest.mark.parametrize("way", ["stop", "event", "unload"])
async def test_an_orderly_end_cuts_the_run_and_tells_what_was_done(
    home: Home, hass_storage: dict[str, Any], way: str
) -> None:
    held = Held(text("Fed."))
    home.llm_server.play(MEAL, held)
    beat = await home.add_heartbeat(act=FEED)
    home.clock.turn(timedelta(minutes=15))
    await held.reached.wait()
    match way:
        case "stop":
            await home.hass.async_stop(force=True)
        case "event":
            home.hass.bus.async_fire(EVENT_HOMEASSISTANT_STOP)
            await home.settled()
        case "unload":
            assert await home.hass.config_entries.async_unload(home.entry.entry_id)
    assert home.told == [
        "Done: Feed. The run was cut short: the heartbeat was switched off."
    ]
    assert due(on_disk(home, hass_storage), beat) == []
    held.release.set()


@pytest.mark.contract("C6", "G4")
async def test_a_run_that_the_end_has_cut_short_is_made_up_for(home: Home) -> None:
    held = Held(text("Fine."))
    home.llm_server.play(text("I see."), held, text("I see."))
    home.hass.states.async_set("sensor.x", "1")
    await home.add_heartbeat(look={"entity_id": ["sensor.x"]})
    await home.clock.tick()
    home.hass.states.async_set("sensor.x", "5")
    home.clock.turn(timedelta(minutes=15))
    await held.reached.wait()
    await restart(home)
    held.release.set()
    await home.clock.tick(2)
    assert home.llm_server.unplayed == 0
    await home.clock.tick(2)


@pytest.mark.contract("R8", "C6")
async def test_what_still_ran_when_it_ended_is_told_after_the_start(
    home: Home, hass_storage: dict[str, Any]
) -> None:
    valve = HeldService(home.hass, "test", "wait")
    home.llm_server.play(OPENS)
    beat = await home.add_heartbeat(act=VALVE)
    home.clock.turn(timedelta(minutes=15))
    await valve.reached.wait()
    await beat.turn("off")
    await until(lambda: beat.state("status") == "off")
    await settle(home)
    assert home.told == []
    left = on_disk(home, hass_storage)
    (note,) = due(left, beat)
    assert [one["status"] for one in note["actions"]] == ["still_running"]
    valve.release.set()
    await home.settled()
    await settle(home)
    assert home.told == ["What was still running has ended: Valve."]
    assert due(on_disk(home, hass_storage), beat) == []
    await restart(home, hass_storage, left=left)
    assert home.told[1:] == [f"{STOPPED} Begun, and nobody saw how it ended: Valve."]
    assert len(home.fired(EVENT_ACTED)) == 1


@pytest.mark.contract("R8", "S2")
async def test_an_action_that_home_assistants_end_cuts_off_is_told_once(
    home: Home, hass_storage: dict[str, Any]
) -> None:
    valve = HeldService(home.hass, "test", "wait")
    home.llm_server.play(MEAL, OPENS)
    beat = await home.add_heartbeat(act=VALVE)
    home.clock.turn(timedelta(minutes=15))
    await valve.reached.wait()
    await home.hass.async_stop(force=True)
    assert home.told[0].startswith("Done: Feed. Still running: Valve.")
    # Either it could still say so, or it is left for the next start.
    is_left = bool(due(on_disk(home, hass_storage), beat))
    cut_off = [] if is_left else ["What was still running has failed: Valve."]
    assert home.told[1:] == cut_off


async def test_a_report_that_hangs_at_the_end_is_due_and_holds_nobody_up(
    hass: HomeAssistant, home: Home, hass_storage: dict[str, Any]
) -> None:
    home.hass.services.async_remove("notify", "phone")
    phone = HeldService(hass, "notify", "phone")
    home.llm_server.play(MEAL, text("Fed."))
    beat = await home.add_heartbeat(act=FEED)
    home.clock.turn(timedelta(minutes=15))
    await phone.reached.wait()
    ending = asyncio.create_task(hass.config_entries.async_unload(home.entry.entry_id))
    await home.clock.turn_until(ending.done)
    assert due(on_disk(home, hass_storage), beat)
    phone.release.set()
    heard = hear(hass, "phone")
    await restart(home)
    assert [call.data["message"] for call in heard] == [FED]


@pytest.mark.contract("C7", "S2")
async def test_refused_after_it_was_written_down_it_is_not_told_as_begun(
    home: Home, disk: Disk, hass_storage: dict[str, Any]
) -> None:
    held = Held(text("Then not."))

    def answer(request: Any) -> Any:
        if request["messages"][-1]["role"] == "tool":
            return held
        disk.hold()
        return MEAL

    home.llm_server.always = answer
    beat = await home.add_heartbeat(act=FEED)
    home.clock.turn(timedelta(minutes=15))
    await until(lambda: _is_written_down(home, beat))
    await beat.change_beside(act={})
    disk.release()
    await held.reached.wait()
    await settle(home)
    left = on_disk(home, hass_storage)
    await restart(home, hass_storage, left=left)
    assert home.fired("fed") == []
    assert home.told == []
    held.release.set()


@pytest.mark.parametrize("others", [[], ["notify.other"]])
async def test_a_late_notifier_that_has_heard_it_does_not_hear_it_again(
    home: Home, hass_storage: dict[str, Any], others: list[str]
) -> None:
    home.llm_server.play(calls(("tell_owner", {"message": "Look."})), text("Told."))
    hear(home.hass, "other")
    beat = await home.add_heartbeat(notify=["notify.phone", *others])
    home.hass.services.async_remove("notify", "phone")
    await restart(home)
    await beat.wake()
    await settle(home)
    assert due(on_disk(home, hass_storage), beat)
    phone = hear(home.hass, "phone")
    await home.settled()
    assert [call.data["message"] for call in phone] == ["Look."]
    await settle(home)
    left = on_disk(home, hass_storage)
    assert due(left, beat) == []
    await restart(home, hass_storage, left=left)
    assert len(phone) == 1


@pytest.mark.parametrize("days", [0, 2])
async def test_the_record_says_what_became_of_who_was_waited_for_over_a_restart(
    home: Home, hass_storage: dict[str, Any], days: int
) -> None:
    home.llm_server.play(calls(("tell_owner", {"message": "Look."})), text("Told."))
    beat = await home.add_heartbeat(notify=["notify.phone", "notify.slow"])
    await restart(home)
    await beat.wake()
    (run,) = await beat.runs()
    assert run["delivery_waiting"] == ["notify.slow"]
    if not days:
        hear(home.hass, "slow")
    await restart(home, off_for=timedelta(days=days))
    (run,) = await beat.runs()
    failed = ["notify.slow"] if days else []
    assert (run["delivery_waiting"], run["delivery_failed"]) == ([], failed)


def _is_written_down(home: Home, beat: Beat) -> bool:
    """Say whether something is due that is not on the disk yet."""
    return bool(home.entry.runtime_data.heartbeats[beat.id]._state.due)


async def _unheard(home: Home) -> Beat:
    """Let a run say something that reaches nobody, long after the start."""
    home.llm_server.play(calls(("tell_owner", {"message": "Look."})), text("Told."))
    home.hass.services.async_remove("notify", "phone")
    beat = await home.add_heartbeat()
    record = await beat.wake()
    assert record["delivery_failed"] == ["notify.phone"]
    await settle(home)
    return beat

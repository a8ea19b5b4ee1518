"""The fuses that end a run, a day or the whole heartbeat (F1-F8)."""

import asyncio
from datetime import timedelta
from typing import Any

from homeassistant.config_entries import ConfigEntryState
import pytest

from tests.support.heartbeats import (
    FEED,
    HUNGRY,
    INTERVAL,
    Beat,
    HeldService,
    Home,
    clock,
    home,
    let_run,
)
from tests.support.llm_server import Held, calls, llm_server, text

__all__ = ["clock", "home", "llm_server"]

MEAL = ("feed", {"food": "meal"})
TICKS_OVER = "Stopped: it has used all its ticks. Switch it on to go on."
TIME_OVER = "Stopped: its time is over. Switch it on to go on."


def _activity(home: Home, beat: Beat) -> Any:
    state = home.hass.states.get(beat.entity_id("event", "activity"))
    assert state is not None
    return state.attributes


def _assert_stopped(home: Home, beat: Beat, reason: str, message: str) -> None:
    """Check the switch, the event, the activity and the notice (F8)."""
    assert not beat.is_on()
    assert beat.state("status") == "off"
    (event,) = home.fired("proactive_agent_stopped")
    assert event["reason"] == reason
    assert (event["heartbeat"], event["entity_id"]) == ("Milonga", beat.switch)
    assert event["device_id"]
    assert home.told[-1] == message


def _assert_shown_as_stopped(home: Home, beat: Beat, reason: str, message: str) -> None:
    """Check the same, and that nothing came after it."""
    _assert_stopped(home, beat, reason, message)
    assert _activity(home, beat)["event_type"] == "stopped"
    assert _activity(home, beat)["reason"] == reason


@pytest.mark.contract("F1", "F8")
async def test_after_the_last_tick_it_stops_though_all_were_quiet(home: Home) -> None:
    beat = await home.add_heartbeat(conditions=[HUNGRY], fuses={"max_ticks": 3})
    await home.clock.tick(2)
    assert beat.is_on()
    await home.clock.tick()
    _assert_shown_as_stopped(home, beat, "max_ticks", TICKS_OVER)
    assert await beat.ticks() == 3
    await home.clock.tick(5)
    assert await beat.ticks() == 3
    assert home.told == [TICKS_OVER]
    assert home.llm_server.requests == []


@pytest.mark.contract("F1", "F8")
async def test_a_last_tick_that_wakes_may_finish(home: Home) -> None:
    held = Held(calls(MEAL))
    beat = await home.add_heartbeat(
        conditions=[HUNGRY],
        act=FEED,
        fuses={"max_ticks": 2, "run_timeout": 1_000_000},
        interval={"minutes": 1},
    )
    minute = timedelta(minutes=1)
    await home.clock.tick(every=minute)
    await home.set("hungry", on=True)
    home.llm_server.play(held, text("Fed."))
    home.clock.turn(minute)
    await held.reached.wait()
    await home.clock.tick_beside(3, every=minute)
    assert beat.is_on()
    held.release.set()
    await home.settled()
    (run,) = await beat.runs()
    assert (run["outcome"], run["stopped"]) == ("acted", True)
    assert home.told == ["Done: Feed.", TICKS_OVER]
    _assert_shown_as_stopped(home, beat, "max_ticks", TICKS_OVER)


@pytest.mark.contract("F1", "F6")
async def test_switching_on_gives_fresh_ticks(home: Home) -> None:
    beat = await home.add_heartbeat(conditions=[HUNGRY], fuses={"max_ticks": 2})
    await home.clock.tick(2)
    assert not beat.is_on()
    await beat.turn("on")
    assert await beat.ticks() == 0
    await home.clock.tick()
    assert beat.is_on()
    await home.clock.tick()
    assert not beat.is_on()


@pytest.mark.contract("F1", "C6")
async def test_ticks_that_are_used_up_stay_used_up_over_a_reload(home: Home) -> None:
    """A reload in the middle of the last tick's run gives no tick back."""
    held = Held(text("Late."))
    home.llm_server.play(held)
    beat = await home.add_heartbeat(fuses={"max_ticks": 1})
    home.clock.turn(INTERVAL)
    await held.reached.wait()
    await home.reload()
    assert len(home.llm_server.chats) == 1
    _assert_shown_as_stopped(home, beat, "max_ticks", TICKS_OVER)
    await home.clock.tick(3)
    assert len(home.llm_server.chats) == 1


@pytest.mark.contract("F2", "F8")
async def test_the_time_is_over_between_two_ticks(home: Home) -> None:
    beat = await home.add_heartbeat(
        conditions=[HUNGRY], fuses={"max_duration": {"minutes": 40}}
    )
    await home.clock.tick(2)
    assert beat.is_on()
    await home.clock.tick(every=timedelta(minutes=10))
    _assert_shown_as_stopped(home, beat, "max_duration", TIME_OVER)
    assert await beat.ticks() == 2


@pytest.mark.contract("F2")
async def test_an_interval_as_long_as_the_duration_still_ticks_once(
    home: Home,
) -> None:
    home.llm_server.play(text("Fine."))
    beat = await home.add_heartbeat(fuses={"max_duration": {"minutes": 15}})
    await home.clock.tick()
    assert await beat.ticks() == 1
    assert len(home.llm_server.chats) == 1
    assert (await beat.runs())[0]["outcome"] == "nothing"
    # The run and the end fall on one instant: the wake may be announced after it.
    _assert_stopped(home, beat, "max_duration", TIME_OVER)
    await home.clock.tick(3)
    assert len(home.llm_server.chats) == 1


@pytest.mark.contract("F2")
async def test_a_run_in_flight_may_end_after_the_time_is_over(home: Home) -> None:
    held = Held(calls(MEAL))
    home.llm_server.play(held, text("Fed."))
    beat = await home.add_heartbeat(act=FEED, fuses={"max_duration": {"seconds": 930}})
    home.clock.turn(INTERVAL)
    await held.reached.wait()
    await home.clock.tick_beside(every=timedelta(seconds=30))
    assert not beat.is_on()
    assert beat.state("status") == "running"
    held.release.set()
    await home.settled()
    (run,) = await beat.runs()
    assert (run["outcome"], run["stopped"]) == ("acted", True)
    assert sorted(home.told) == ["Done: Feed.", TIME_OVER]
    assert beat.state("status") == "off"
    assert len(home.fired("proactive_agent_stopped")) == 1


@pytest.mark.contract("F2", "C6")
async def test_a_deadline_that_passed_meanwhile_stops_it_at_the_start(
    home: Home,
) -> None:
    beat = await home.add_heartbeat(
        conditions=[HUNGRY], fuses={"max_duration": {"hours": 1}}
    )
    await home.clock.tick(2)
    assert await home.hass.config_entries.async_unload(home.entry.entry_id)
    home.clock.turn(timedelta(hours=2))
    assert await home.hass.config_entries.async_setup(home.entry.entry_id)
    await home.settled()
    _assert_shown_as_stopped(home, beat, "max_duration", TIME_OVER)


@pytest.mark.contract("F2", "C6")
async def test_the_deadline_is_absolute_and_survives_a_reload(home: Home) -> None:
    beat = await home.add_heartbeat(
        conditions=[HUNGRY], fuses={"max_duration": {"hours": 1}}
    )
    await home.clock.tick(3)
    await home.reload()
    assert beat.is_on()
    await home.clock.tick(every=timedelta(minutes=16))
    _assert_shown_as_stopped(home, beat, "max_duration", TIME_OVER)


@pytest.mark.contract("F6", "R8")
async def test_off_during_a_hanging_model_ends_the_run_at_once(home: Home) -> None:
    held = Held(calls(MEAL))
    home.llm_server.play(held)
    beat = await home.add_heartbeat(act=FEED)
    waking = asyncio.create_task(beat.wake())
    await held.reached.wait()
    await asyncio.wait_for(beat.turn("off"), 1)
    record = await waking
    assert (record["outcome"], record["stopped"]) == ("stopped", True)
    assert (beat.is_on(), beat.state("status")) == (False, "off")
    held.release.set()
    await home.settled()
    assert home.told == []
    assert home.fired("fed") == []
    assert home.fired("proactive_agent_stopped") == []
    assert len(home.llm_server.chats) == 1


@pytest.mark.contract("F6", "S2")
async def test_off_in_the_middle_what_was_done_is_told(home: Home) -> None:
    held = Held(calls(MEAL))
    home.llm_server.play(calls(MEAL), held)
    beat = await home.add_heartbeat(act=FEED)
    home.clock.turn(INTERVAL)
    await held.reached.wait()
    await beat.turn("off")
    await home.settled()
    assert home.fired("fed") == [{"food": "meal"}]
    assert home.told == [
        "Done: Feed. The run was cut short: the heartbeat was switched off."
    ]
    assert len(home.fired("proactive_agent_acted")) == 1
    assert (await beat.runs())[0]["outcome"] == "stopped"


@pytest.mark.contract("F6", "R8")
async def test_off_during_an_action_lets_it_end_and_calls_no_other(
    home: Home,
) -> None:
    waiting = HeldService(home.hass, "test", "wait")
    beat = await home.add_heartbeat(act={"entity_id": ["script.valve", "script.feed"]})
    home.llm_server.play(calls(("valve", {}), MEAL))
    home.clock.turn(INTERVAL)
    await waiting.reached.wait()
    await beat.turn("off")
    await let_run()
    assert beat.state("status") == "off"
    (run,) = await beat.runs()
    assert run["outcome"] == "stopped"
    assert [action["status"] for action in run["actions"]] == ["still_running"]
    waiting.release.set()
    await home.settled()
    assert home.fired("fed") == []
    assert home.told == ["What was still running has ended: Valve."]
    (run,) = await beat.runs()
    assert [action["status"] for action in run["actions"]] == ["done"]


@pytest.mark.contract("F6", "C3")
async def test_off_during_the_report_lets_it_be_told(home: Home) -> None:
    slow = HeldService(home.hass, "notify", "slow")
    home.llm_server.play(calls(MEAL), text("Fed."))
    beat = await home.add_heartbeat(act=FEED, notify=["notify.slow"])
    home.clock.turn(INTERVAL)
    await slow.reached.wait()
    assert beat.state("status") == "running"
    await beat.turn("off")
    assert not beat.is_on()
    slow.release.set()
    await home.settled()
    assert [call.data["message"] for call in slow.calls] == ["Done: Feed."]
    (run,) = await beat.runs()
    assert (run["outcome"], run["stopped"]) == ("acted", True)
    assert beat.state("status") == "off"


@pytest.mark.contract("F6", "G4")
async def test_off_and_on_during_a_run_begins_afresh(home: Home) -> None:
    slow = HeldService(home.hass, "notify", "slow")
    home.llm_server.always = calls(
        ("tell_owner", {"message": "Hi."}), ("stop_heartbeat", {"reason": "Over."})
    )
    beat = await home.add_heartbeat(
        notify=["notify.slow"],
        look={"entity_id": ["input_boolean.lamp"]},
        fuses={"max_turns": 2},
        manners={"may_stop": True},
    )
    held = Held(text("Late."))
    home.llm_server.play(home.llm_server.always, held)
    home.clock.turn(INTERVAL)
    await held.reached.wait()
    await beat.turn("off")
    await slow.reached.wait()
    await beat.turn("on")
    slow.release.set()
    await home.settled()
    # What the run of before had asked for is not held against what is on now.
    assert beat.is_on()
    home.llm_server.always = text("Fine.")
    asked = len(home.llm_server.chats)
    await home.clock.tick()
    assert len(home.llm_server.chats) == asked + 1


@pytest.mark.contract("F8")
async def test_the_agent_may_stop_its_heartbeat(home: Home) -> None:
    beat = await home.add_heartbeat(manners={"may_stop": True})
    home.llm_server.play(
        calls(("stop_heartbeat", {"reason": "She is <b>grown up</b>."})), text("Bye.")
    )
    await home.clock.tick()
    _assert_shown_as_stopped(
        home, beat, "agent", "It has stopped itself: She is grown up."
    )
    (run,) = await beat.runs()
    assert (run["outcome"], run["stopped"]) == ("nothing", True)


@pytest.mark.contract("F8")
async def test_without_leave_the_agent_cannot_stop_it(home: Home) -> None:
    beat = await home.add_heartbeat()
    home.llm_server.play(calls(("stop_heartbeat", {"reason": "Bored."})), text("Ok."))
    await home.clock.tick()
    assert beat.is_on()
    assert "stop_heartbeat" not in str(home.llm_server.chats[0]["tools"])


@pytest.mark.contract("F8")
@pytest.mark.parametrize("call", [MEAL, ("tell_owner", {"message": "Hungry!"})])
async def test_speak_once_then_off(home: Home, call: Any) -> None:
    beat = await home.add_heartbeat(act=FEED, manners={"stop_after_acting": True})
    home.llm_server.play(text("Nothing yet."), calls(call), text("Done."))
    await home.clock.tick()
    assert beat.is_on()
    await beat.change(check_prompt="Look again.")
    await home.clock.tick()
    _assert_shown_as_stopped(
        home,
        beat,
        "stop_after_acting",
        "Stopped: it was to stop after it had done something. Switch it on to go on.",
    )
    assert len(home.told) == 2


@pytest.mark.contract("F5")
async def test_a_budget_of_the_day_pauses_until_the_next(home: Home) -> None:
    await home.hass.config.async_set_time_zone("Europe/Vienna")
    beat = await home.add_heartbeat(
        interval={"hours": 1},
        act=FEED,
        fuses={"max_wakes_per_day": 2},
        # Whatever the time of day is, nothing but the budget keeps it quiet.
        manners={"recheck_after": {"minutes": 30}},
    )
    home.llm_server.always = lambda request: (
        text("Fed.") if request["messages"][-1]["role"] == "tool" else calls(MEAL)
    )
    hour = timedelta(hours=1)
    for _ in range(48):
        await home.clock.tick(every=hour)
        if beat.state("status") == "paused":
            break
    wakes = len(await beat.runs())
    assert beat.is_on()
    await home.clock.tick(every=timedelta(minutes=1))
    assert [one for one in home.told if one.startswith("Paused until tomorrow")] == [
        "Paused until tomorrow: it has woken as often as it may in one day."
    ]
    for _ in range(24):
        await home.clock.tick_beside(every=hour)
        if beat.state("status") == "asleep":
            break
        assert len(await beat.runs()) == wakes
    await home.clock.tick(every=hour)
    assert len(await beat.runs()) > wakes


@pytest.mark.contract("F6")
async def test_all_of_it_ends_with_the_entry(home: Home) -> None:
    await home.add_heartbeat(
        conditions=[HUNGRY], fuses={"max_duration": {"hours": 9}, "max_ticks": 9}
    )
    assert await home.hass.config_entries.async_unload(home.entry.entry_id)
    assert home.entry.state is ConfigEntryState.NOT_LOADED
    await home.clock.tick(20)
    assert home.fired("proactive_agent_stopped") == []

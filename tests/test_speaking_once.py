"""The same about the same situation is told once to each target (S4)."""

from datetime import timedelta
from typing import Any

from homeassistant.components.persistent_notification import (
    _async_get_or_create_notifications,
)
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import async_mock_service

from tests.support.heartbeats import HUNGRY, LAMP, Beat, HeldService, Home, clock, home
from tests.support.llm_server import Held, calls, llm_server, text

__all__ = ["clock", "home", "llm_server"]

pytestmark = pytest.mark.contract("S4")

QUIET = {"days": 30}
RECHECK = timedelta(hours=6)
LAMP_ON = ("input_boolean_turn_on", {"entity_id": "input_boolean.lamp"})


def say(message: str) -> tuple[str, dict[str, Any]]:
    return "tell_owner", {"message": message}


async def speak(home: Home, beat: Beat, *wanted: Any) -> dict[str, Any]:
    """Let a run by hand make these calls; returns its record."""
    home.llm_server.play(calls(*wanted), text("That was it."))
    record = await beat.wake()
    await home.settled()
    return record


@pytest.fixture
async def beat(home: Home) -> Beat:
    """Add a heartbeat that sees the lamp, and ticks seldom."""
    return await home.add_heartbeat(look=LAMP, interval=QUIET)


@pytest.mark.contract("S3")
async def test_the_same_situation_is_told_once_in_whatever_words(
    home: Home, beat: Beat
) -> None:
    first = await speak(home, beat, say("The lamp is off, 17:03."))
    second = await speak(home, beat, say("Still no light at 17:20."))
    assert home.told == ["The lamp is off, 17:03."]
    assert (first["message"], first["not_sent"]) == ("The lamp is off, 17:03.", None)
    assert (second["message"], second["not_sent"]) == (None, "already_told")
    assert (first["outcome"], second["outcome"]) == ("spoke", "spoke")
    assert len(home.fired("proactive_agent_acted")) == 1


async def test_the_activity_does_not_tell_what_was_not_told(
    home: Home, beat: Beat
) -> None:
    spoke: list[str] = []

    @callback
    def note(event: Event[Any]) -> None:
        state = event.data["new_state"]
        if event.data["entity_id"] == beat.entity_id("event", "activity"):
            spoke.append(state.attributes["event_type"])

    home.hass.bus.async_listen("state_changed", note)
    await speak(home, beat, say("The lamp is off."))
    await speak(home, beat, say("The lamp is off."))
    assert spoke == ["woke", "spoke", "woke"]


async def test_another_situation_is_news_and_an_old_one_is_not(
    home: Home, beat: Beat
) -> None:
    await speak(home, beat, say("It is off."))
    await home.set("lamp", on=True)
    await speak(home, beat, say("It is on."))
    await home.set("lamp", on=False)
    await speak(home, beat, say("It is off again."))
    assert home.told == ["It is off.", "It is on."]


async def test_after_a_while_it_is_told_again(home: Home, beat: Beat) -> None:
    await speak(home, beat, say("One."))
    home.clock.turn(RECHECK - timedelta(seconds=1))
    await speak(home, beat, say("Two."))
    home.clock.turn(timedelta(seconds=1))
    await speak(home, beat, say("Three."))
    assert home.told == ["One.", "Three."]


async def test_with_no_time_to_wait_it_is_always_told(home: Home, beat: Beat) -> None:
    await beat.change(manners={"recheck_after": {"hours": 0}})
    for message in ("One.", "Two."):
        await speak(home, beat, say(message))
    assert home.told == ["One.", "Two."]


async def test_with_nothing_to_see_it_is_always_told(home: Home) -> None:
    beat = await home.add_heartbeat(interval=QUIET)
    for message in ("One.", "Two."):
        await speak(home, beat, say(message))
    assert home.told == ["One.", "Two."]


@pytest.mark.contract("S5")
async def test_who_was_not_reached_hears_it_the_next_time(
    home: Home, beat: Beat
) -> None:
    await beat.change(notify=["notify.phone", "notify.display"])
    first = await speak(home, beat, say("One."))
    assert first["delivery_failed"] == ["notify.display"]
    display = async_mock_service(home.hass, "notify", "display")
    second = await speak(home, beat, say("Two."))
    third = await speak(home, beat, say("Three."))
    assert home.told == ["One."]
    assert [call.data["message"] for call in display] == ["Two."]
    assert (second["message"], third["not_sent"]) == ("Two.", "already_told")
    assert len(home.fired("proactive_agent_acted")) == 2


@pytest.mark.contract("S5")
async def test_what_reached_nobody_was_not_told(home: Home, beat: Beat) -> None:
    await beat.change(notify=["notify.gone"])
    for message in ("One.", "Two."):
        record = await speak(home, beat, say(message))
        assert record["message"] == message
    shown = _async_get_or_create_notifications(home.hass).values()
    assert [one["message"] for one in shown] == ["One.", "Two."]


async def test_what_home_assistant_shows_was_told(home: Home, beat: Beat) -> None:
    await beat.change(notify=[])
    await speak(home, beat, say("One."))
    second = await speak(home, beat, say("Two."))
    shown = _async_get_or_create_notifications(home.hass).values()
    assert [one["message"] for one in shown] == ["One."]
    assert second["not_sent"] == "already_told"


@pytest.mark.contract("S1")
async def test_what_was_done_is_always_told_and_is_no_mere_word(
    home: Home, beat: Beat
) -> None:
    await beat.change(act={"entity_id": ["script.feed"]}, look=LAMP)
    meal = ("feed", {"food": "meal"})
    snack = ("feed", {"food": "snack"})
    await speak(home, beat, say("She is hungry."))
    await speak(home, beat, meal)
    await speak(home, beat, snack, say("She had another bite."))
    last = await speak(home, beat, say("She is hungry."))
    assert home.told == ["She is hungry.", "Done: Feed.", "She had another bite."]
    assert last["not_sent"] == "already_told"


@pytest.mark.contract("S1")
async def test_who_only_heard_what_was_done_hears_the_rest(
    home: Home, beat: Beat
) -> None:
    await beat.change(act={"entity_id": ["script.feed"]}, look=LAMP)
    await speak(home, beat, ("feed", {"food": "meal"}))
    record = await speak(home, beat, say("There is no food left."))
    assert record["message"] == "There is no food left."


@pytest.mark.contract("A7")
async def test_that_something_did_not_help_is_told_whatever_was_told_before(
    home: Home, beat: Beat
) -> None:
    await beat.change(act=LAMP)
    async_mock_service(home.hass, "input_boolean", "turn_on")
    await speak(home, beat, say("It is dark."))
    await speak(home, beat, LAMP_ON)
    third = await speak(home, beat, LAMP_ON)
    fourth = await speak(home, beat, LAMP_ON, say("It is dark."))
    assert home.told[0] == "It is dark."
    assert home.told[2].startswith("It did not help, and was not repeated: ")
    assert (len(home.told), third["not_sent"]) == (3, None)
    assert fourth["not_sent"] == "already_told"


@pytest.mark.contract("G4")
@pytest.mark.parametrize("way", ["options", "switch", "gate"])
async def test_where_all_is_news_again_it_is_told_again(home: Home, way: str) -> None:
    beat = await home.add_heartbeat(look=LAMP, conditions=[HUNGRY])
    await home.set("hungry", on=True)
    home.llm_server.play(calls(say("One.")), text("Done."))
    await home.clock.tick()
    match way:
        case "options":
            await beat.change(check_prompt="Look at the lamp.")
        case "switch":
            await beat.turn("off")
            await beat.turn("on")
        case _:
            await home.set("hungry", on=False)
            await home.clock.tick(3)
            await home.set("hungry", on=True)
    home.llm_server.play(calls(say("Two.")), text("Done."))
    await home.clock.tick()
    assert home.told == ["One.", "Two."]


@pytest.mark.contract("G4")
async def test_what_changed_during_a_run_makes_it_no_memory(
    home: Home, beat: Beat
) -> None:
    held = Held(calls(say("One.")))
    home.llm_server.play(held, text("Done."))
    running = home.hass.async_create_task(beat.wake())
    await held.reached.wait()
    await beat.change_beside(check_prompt="Look at the lamp.")
    held.release.set()
    await running
    await home.settled()
    await speak(home, beat, say("Two."))
    assert home.told == ["One.", "Two."]


@pytest.mark.contract("C6")
async def test_a_restart_makes_nothing_news(
    home: Home, beat: Beat, hass_storage: dict[str, Any]
) -> None:
    await speak(home, beat, say("One."))
    await home.reload()
    second = await speak(home, beat, say("Two."))
    assert (home.told, second["not_sent"]) == (["One."], "already_told")
    stored = hass_storage[f"proactive_agent.{home.entry.entry_id}"]["data"]
    (heard,) = stored["heartbeats"][beat.id]["heard"]
    assert heard["targets"] == ["notify.phone"]
    assert heard["states"] == {"input_boolean.lamp": "off"}


@pytest.mark.contract("A9")
async def test_a_dry_run_tells_nobody_and_is_not_remembered(
    home: Home, beat: Beat
) -> None:
    home.llm_server.play(calls(say("Dry.")), text("Done."))
    await beat.wake(dry_run=True)
    await speak(home, beat, say("One."))
    assert home.told == ["One."]


async def test_two_heartbeats_speak_for_themselves(home: Home, beat: Beat) -> None:
    other = await home.add_heartbeat("Tango", look=LAMP, interval=QUIET)
    await speak(home, beat, say("One."))
    await speak(home, other, say("Two."))
    assert home.told == ["One.", "Two."]


@pytest.mark.contract("R8", "S1")
async def test_what_may_still_be_running_is_told(home: Home, beat: Beat) -> None:
    await beat.change(
        act={"entity_id": ["script.valve"]}, look=LAMP, fuses={"run_timeout": 10}
    )
    valve = HeldService(home.hass, "test", "wait")
    await speak(home, beat, say("It is dry."))
    home.llm_server.play(calls(say("I water."), ("valve", {})))
    running = home.hass.async_create_task(beat.wake())
    await valve.reached.wait()
    home.clock.turn(timedelta(seconds=11))
    record = await running
    assert record["message"].startswith("I water. Still running: Valve.")
    valve.release.set()
    await home.settled()


async def test_trembling_is_no_news(home: Home, hass: HomeAssistant) -> None:
    numbers = {"hall": {"min": 0, "max": 30, "initial": 20, "step": 0.1}}
    assert await async_setup_component(hass, "input_number", {"input_number": numbers})
    beat = await home.add_heartbeat(
        look={"entity_id": ["input_number.hall"]}, interval=QUIET
    )
    for level in (20, 20.1, 23):
        hass.states.async_set("input_number.hall", str(level))
        await speak(home, beat, say(f"It is {level}."))
    assert home.told == ["It is 20.", "It is 23."]

"""What the owner hears, and how often (S1-S3, S6, R2)."""

from typing import Any

from homeassistant.components.persistent_notification import (
    _async_get_or_create_notifications,
)
from homeassistant.core import ServiceCall
from homeassistant.exceptions import HomeAssistantError
import pytest
from pytest_homeassistant_custom_component.common import async_mock_service

from tests.support.heartbeats import FEED, Home, clock, home
from tests.support.llm_server import calls, llm_server, text

__all__ = ["clock", "home", "llm_server"]

MEAL = ("feed", {"food": "meal"})


def _say(message: str) -> tuple[str, dict[str, Any]]:
    return "tell_owner", {"message": message}


@pytest.mark.contract("S1", "S3")
async def test_a_run_that_only_looked_is_silent(home: Home) -> None:
    await home.add_heartbeat(look={"entity_id": ["input_boolean.lamp"]})
    home.llm_server.play(
        calls(("get_state", {"entity_id": ["input_boolean.lamp"]})), text("All good.")
    )
    await home.clock.tick()
    assert home.told == []
    assert home.fired("proactive_agent_acted") == []


@pytest.mark.contract("S1", "S3")
async def test_the_last_word_counts_and_is_sent_once(home: Home) -> None:
    beat = await home.add_heartbeat()
    home.llm_server.play(
        calls(_say("First."), _say("Second.")), calls(_say("Third.")), text("Done.")
    )
    await home.clock.tick()
    assert home.told == ["Third."]
    (event,) = home.fired("proactive_agent_acted")
    assert (event["message"], event["actions"]) == ("Third.", [])
    (run,) = await beat.runs()
    assert (run["outcome"], run["message"]) == ("spoke", "Third.")


@pytest.mark.contract("S1", "S3", "R2")
async def test_a_run_that_acted_is_told_though_the_model_was_silent(
    home: Home,
) -> None:
    beat = await home.add_heartbeat(act=FEED)
    home.llm_server.play(calls(MEAL), text("I fed her, and a secret."))
    await home.clock.tick()
    assert home.told == ["Done: Feed."]
    (event,) = home.fired("proactive_agent_acted")
    assert event["message"] == "Done: Feed."
    assert event["entity_id"] == beat.switch
    (action,) = event["actions"]
    assert (action["action"], action["status"]) == ("script.feed", "done")
    assert (action["entity_id"], action["data"]) == (["script.feed"], {"food": "meal"})


@pytest.mark.contract("S1")
async def test_the_models_own_words_come_first(home: Home) -> None:
    await home.add_heartbeat(act=FEED)
    home.llm_server.play(calls(MEAL, _say("Milonga had a meal.")), text("Done."))
    await home.clock.tick()
    assert home.told == ["Milonga had a meal."]
    assert home.phone[0].data["title"] == "Milonga"


@pytest.mark.contract("S2")
async def test_what_failed_is_said_whatever_the_model_claims(home: Home) -> None:
    def fail(_: ServiceCall) -> None:
        raise HomeAssistantError("jammed")

    home.hass.services.async_register("test", "fail", fail)
    await home.add_heartbeat(act={"entity_id": ["script.fails", "script.feed"]})
    home.llm_server.play(
        calls(MEAL, ("fails", {})), calls(_say("Both done.")), text("Done.")
    )
    await home.clock.tick()
    assert home.told == ["Both done. Not done: Fails."]


@pytest.mark.contract("S1", "S2")
async def test_a_lie_without_an_action_counts_as_speaking_only(home: Home) -> None:
    beat = await home.add_heartbeat(act=FEED)
    home.llm_server.play(calls(_say("I fed her.")), text("Done."))
    await home.clock.tick()
    (run,) = await beat.runs()
    assert (run["outcome"], run["actions"]) == ("spoke", [])


@pytest.mark.contract("S6")
@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ("Two\nlines\tand  gaps", "Two lines and gaps"),
        ("**Fed** [her](http://evil.test/x) <img src=http://evil.test>", "Fed her"),
        ("x" * 400, "x" * 254 + "…"),
    ],
)
async def test_a_message_is_one_plain_line(home: Home, said: str, heard: str) -> None:
    await home.add_heartbeat()
    home.llm_server.play(calls(_say(said)), text("Done."))
    await home.clock.tick()
    assert home.told == [heard]


@pytest.mark.contract("S5")
async def test_without_a_target_home_assistant_shows_it(home: Home) -> None:
    await home.add_heartbeat(notify=[])
    home.llm_server.play(calls(_say("Hello.")), text("Done."))
    await home.clock.tick()
    (shown,) = _async_get_or_create_notifications(home.hass).values()
    assert (shown["title"], shown["message"]) == ("Milonga", "Hello.")
    assert home.told == []


@pytest.mark.contract("S5")
async def test_a_target_that_fails_does_not_stop_the_others(home: Home) -> None:
    other = async_mock_service(home.hass, "notify", "display")
    beat = await home.add_heartbeat(
        notify=["notify.gone", "notify.phone", "notify.display"]
    )
    home.llm_server.play(calls(_say("Hello.")), text("Done."))
    await home.clock.tick()
    assert home.told == ["Hello."]
    assert len(other) == 1
    (run,) = await beat.runs()
    assert run["delivery_failed"] == ["notify.gone"]


@pytest.mark.contract("S1", "R4")
async def test_an_empty_message_says_nothing(home: Home) -> None:
    await home.add_heartbeat()
    home.llm_server.play(calls(_say("  "), _say("<b></b>")), text("Done."))
    await home.clock.tick()
    assert home.told == []
    assert home.fired("proactive_agent_acted") == []

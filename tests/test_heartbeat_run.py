"""One run: what is asked, what is answered, what goes wrong (R1-R8, A1-A8, F3, F4)."""

import asyncio
from contextlib import suppress
from datetime import timedelta
import importlib
import json
import logging
from typing import Any

from homeassistant.core import ServiceCall, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.event import async_track_state_change_event
import pytest
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.proactive_agent.const import EVENT_ACTED, EVENT_HEARTBEAT_TICK
from tests.support.heartbeats import (
    FEED,
    HUNGRY,
    INTERVAL,
    PROMPT,
    Beat,
    HeldService,
    Home,
    clock,
    home,
    let_run,
)
from tests.support.llm_server import CLOSE, Held, Raw, calls, llm_server, text

__all__ = ["clock", "home", "llm_server"]

LONG = {"run_timeout": 1_000_000}
MEAL = ("feed", {"food": "meal"})
SNACK = ("feed", {"food": "snack"})


def _tool_answers(chat: Any) -> dict[str, Any]:
    return {
        message["tool_call_id"]: json.loads(message["content"])
        for message in chat["messages"]
        if message["role"] == "tool"
    }


@pytest.mark.contract("R1")
async def test_the_request_opens_with_the_job_and_the_home(home: Home) -> None:
    await home.set("hungry", on=True)
    await home.add_heartbeat(
        act=FEED, look={"entity_id": ["input_boolean.hungry"]}, conditions=[HUNGRY]
    )
    home.llm_server.play(text("Fine."))
    await home.clock.tick()
    (chat,) = home.llm_server.chats
    system, user = chat["messages"]
    assert chat["model"] == "test-model"
    assert system["role"] == "system"
    assert PROMPT not in system["content"]
    assert user["role"] == "user"
    assert user["content"].startswith(f"{PROMPT}\n")
    assert "It is " in user["content"]
    assert 'script.feed "Feed": off' in user["content"]
    assert 'input_boolean.hungry "hungry": on' in user["content"]
    assert [tool["function"]["name"] for tool in chat["tools"]] == [
        "get_state",
        "feed",
        "tell_owner",
    ]
    assert home.llm_server.requests[-1].headers["Authorization"] == "Bearer key"


@pytest.mark.contract("R1")
async def test_each_run_is_a_fresh_conversation(home: Home) -> None:
    beat = await home.add_heartbeat(act=FEED)
    home.llm_server.play(calls(MEAL), text("Fed."), calls(SNACK), text("Fed again."))
    await home.clock.tick(2)
    assert [len(chat["messages"]) for chat in home.llm_server.chats] == [2, 4, 2, 4]
    first, _, third, _ = home.llm_server.chats
    assert first["messages"][0] == third["messages"][0]
    assert first["tools"] == third["tools"]
    assert len({run["run_id"] for run in await beat.runs()}) == 2


@pytest.mark.contract("R2")
async def test_the_last_text_goes_to_the_record_and_never_to_the_owner(
    home: Home,
) -> None:
    notes = async_capture_events(home.hass, "call_service")
    beat = await home.add_heartbeat()
    home.llm_server.play(text("The owner must not read this."))
    await home.clock.tick()
    (run,) = await beat.runs()
    assert run["answer"] == "The owner must not read this."
    assert (run["outcome"], run["message"]) == ("nothing", None)
    assert home.told == []
    assert "must not read" not in str([event.data for event in notes])
    assert not home.hass.states.async_entity_ids("persistent_notification")
    assert home.fired("proactive_agent_acted") == []


@pytest.mark.contract("R3")
async def test_calls_of_a_turn_run_in_order_and_are_answered_by_id(
    home: Home,
) -> None:
    await home.add_heartbeat(act=FEED)
    home.llm_server.play(
        calls(SNACK, MEAL, ("get_state", {"entity_id": "x"})), text("Done.")
    )
    await home.clock.tick()
    assert home.fired("fed") == [{"food": "snack"}, {"food": "meal"}]
    messages = home.llm_server.chats[1]["messages"]
    assert [message["role"] for message in messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
        "tool",
    ]
    assert [message["tool_call_id"] for message in messages[3:]] == [
        "call_1",
        "call_2",
        "call_3",
    ]
    assert len(messages[2]["tool_calls"]) == 3


@pytest.mark.contract("R3")
async def test_identical_acting_calls_of_a_turn_act_once(home: Home) -> None:
    beat = await home.add_heartbeat(act=FEED)
    home.llm_server.play(calls(MEAL, MEAL), text("Fed."))
    await home.clock.tick()
    assert home.fired("fed") == [{"food": "meal"}]
    answers = _tool_answers(home.llm_server.chats[1])
    assert answers["call_1"] == answers["call_2"]
    (run,) = await beat.runs()
    assert len(run["actions"]) == 1
    assert len(run["calls"]) == 2


@pytest.mark.contract("R4", "A6")
@pytest.mark.parametrize("error", [HomeAssistantError("no food"), RuntimeError("odd")])
async def test_a_failing_action_is_answered_and_the_run_goes_on(
    home: Home, error: Exception
) -> None:
    def fail(_: ServiceCall) -> None:
        raise error

    home.hass.services.async_register("test", "fail", fail)
    beat = await home.add_heartbeat(act={"entity_id": ["script.fails"]})
    home.llm_server.play(calls(("fails", {})), text("It did not work."))
    await home.clock.tick()
    (run,) = await beat.runs()
    assert run["outcome"] == "nothing"
    assert run["error"] is None
    assert [action["status"] for action in run["actions"]] == ["failed"]
    assert str(error) in _tool_answers(home.llm_server.chats[1])["call_1"]["error"]
    assert home.told == []
    assert home.fired("proactive_agent_acted") == []


@pytest.mark.contract("R4")
async def test_slips_of_the_model_are_answered_in_a_sentence(home: Home) -> None:
    beat = await home.add_heartbeat(act=FEED)
    home.llm_server.play(
        calls(
            ("fly", {}),
            ("feed", {"food": "stones"}),
            ("feed", {}),
            ("get_state", {"entity_id": "lock.front"}),
        ),
        calls(MEAL),
        text("Fed."),
    )
    await home.clock.tick()
    answers = _tool_answers(home.llm_server.chats[1])
    assert all(set(answer) == {"error"} for answer in answers.values())
    assert "no tool" in answers["call_1"]["error"]
    assert home.fired("fed") == [{"food": "meal"}]
    assert (await beat.runs())[0]["outcome"] == "acted"


@pytest.mark.contract("R5")
async def test_a_long_answer_is_cut_and_says_so(home: Home) -> None:
    home.hass.states.async_set("sensor.long", "on", {"list": ["word" * 20] * 500})
    await home.add_heartbeat(look={"entity_id": ["sensor.long"]})
    home.llm_server.play(
        calls(("get_state", {"entity_id": ["sensor.long"]})), text("Long.")
    )
    await home.clock.tick()
    content = home.llm_server.chats[1]["messages"][-1]["content"]
    assert len(content) <= 4_000
    assert "cut" in json.loads(content)["notice"]


@pytest.mark.contract("A1")
async def test_what_was_not_chosen_cannot_be_touched(home: Home) -> None:
    beat = await home.add_heartbeat(act=FEED)
    home.llm_server.play(
        calls(("valve", {}), ("feed", {"food": "meal", "x": 1})), text("Done.")
    )
    await home.clock.tick()
    answers = _tool_answers(home.llm_server.chats[1])
    assert all("error" in answer for answer in answers.values())
    assert (await beat.runs())[0]["actions"] == []
    assert home.fired("fed") == []


@pytest.mark.contract("A2")
async def test_the_agent_is_offered_neither_itself_nor_a_second_voice(
    home: Home,
) -> None:
    beat = await home.add_heartbeat(counted=False)
    await beat.change(
        act={
            "entity_id": [
                beat.switch,
                beat.entity_id("button", "check_now"),
                "notify.phone",
                "script.feed",
            ],
            "device_id": [_device_id(home, beat)],
        }
    )
    home.llm_server.play(text("Fine."))
    await home.clock.tick()
    (chat,) = home.llm_server.chats
    assert [tool["function"]["name"] for tool in chat["tools"]] == [
        "get_state",
        "feed",
        "tell_owner",
    ]
    assert beat.switch not in json.dumps(chat)


def _device_id(home: Home, beat: Beat) -> str:
    entry = er.async_get(home.hass).async_get(beat.switch)
    assert entry is not None
    assert entry.device_id is not None
    return entry.device_id


@pytest.mark.contract("A4")
async def test_an_unavailable_entity_is_an_error_and_nothing_is_called(
    home: Home,
) -> None:
    beat = await home.add_heartbeat(act=FEED)

    def vanish(_: Any) -> Any:
        home.hass.states.async_set("script.feed", "unavailable")
        return calls(MEAL)

    home.llm_server.play(vanish, text("Gone."))
    await home.clock.tick()
    answer = _tool_answers(home.llm_server.chats[1])["call_1"]
    assert "unavailable" in answer["error"]
    assert home.fired("fed") == []
    assert (await beat.runs())[0]["outcome"] == "nothing"


@pytest.mark.contract("A8")
async def test_all_actions_of_a_run_carry_one_context(home: Home) -> None:
    called = async_capture_events(home.hass, "call_service")
    await home.add_heartbeat(act=FEED)
    home.llm_server.play(
        calls(SNACK), calls(MEAL), text("Fed."), calls(MEAL), text("Done.")
    )
    await home.clock.tick()
    (tick,) = [e for e in home.events if e.event_type == EVENT_HEARTBEAT_TICK]
    fed = [e.context.id for e in home.events if e.event_type == "fed"]
    acted = [e.context.id for e in home.events if e.event_type == EVENT_ACTED]
    ours = [e.context.id for e in called if e.data["domain"] in {"script", "notify"}]
    assert {*fed, *acted, *ours} == {tick.context.id}
    assert tick.context.user_id is None
    await home.clock.tick()
    assert home.events[-1].context.id != tick.context.id


def _error(status: int, message: str, **more: str) -> Raw:
    return Raw(status=status, body={"error": {"message": message, **more}})


ERRORS: dict[str, Any] = {
    "auth": _error(401, "Incorrect API key provided"),
    "quota": _error(429, "You exceeded your quota", code="insufficient_quota"),
    "rate_limit": _error(429, "Rate limit reached"),
    "overloaded": _error(503, "The server is overloaded"),
    "loading": _error(503, "Loading model"),
    "model_not_found": _error(404, "The model does not exist", code="model_not_found"),
    "context_length": _error(400, "maximum context length is 4096 tokens"),
    "bad_request": _error(400, "You said something odd"),
    "invalid_response": {"choices": []},
    "not_openai_api": Raw(headers={"Content-Type": "text/html"}, body="<html></html>"),
    "connection": CLOSE,
}


async def _run_out(home: Home, beat: Beat, *, step: int = 1) -> dict[str, Any]:
    """Tick, and let the run end, retries and their pauses included."""
    before = beat.entry.runtime_data.heartbeats[beat.id].runs.log.latest()
    home.clock.turn(timedelta(hours=1))
    await let_run()
    await home.clock.turn_until(
        lambda: beat.state("status") != "running", step=timedelta(seconds=step)
    )
    await home.settled()
    after = beat.entry.runtime_data.heartbeats[beat.id].runs.log.latest()
    assert after is not before
    return (await beat.runs(limit=1))[0]


@pytest.mark.contract("R7", "C3")
@pytest.mark.parametrize("kind", sorted(ERRORS.keys() - {"auth", "quota"}))
async def test_an_error_of_the_model_is_recorded_and_the_next_tick_tries_again(
    home: Home, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    beat = await home.add_heartbeat(interval={"hours": 1}, fuses=LONG)
    home.llm_server.always = ERRORS[kind]
    for _ in range(2):
        run = await _run_out(home, beat, step=10 if kind == "loading" else 1)
        assert run["outcome"] == "error"
        assert run["error"]["kind"] == kind
        assert run["error"]["message"]
    assert beat.is_on()
    assert home.told == []
    warnings = [one for one in _ours(caplog) if one.levelno >= logging.WARNING]
    assert len(warnings) == 1
    assert "Milonga" in warnings[0].getMessage()
    home.llm_server.always = text("Fine.")
    assert (await _run_out(home, beat))["outcome"] == "nothing"
    assert "answers again" in _ours(caplog)[-1].getMessage()


def _ours(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [
        record
        for record in caplog.records
        if record.name == "custom_components.proactive_agent.heartbeat.model_log"
        and record.levelno >= logging.INFO
    ]


@pytest.mark.contract("R7")
async def test_a_timeout_between_errors_is_no_recovery(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    beat = await home.add_heartbeat(interval={"hours": 1})
    home.llm_server.always = ERRORS["bad_request"]
    await home.clock.tick(every=timedelta(hours=1))
    home.llm_server.play(Held(text("Late.")))
    assert (await _run_out(home, beat))["outcome"] == "timeout"
    await home.clock.tick(every=timedelta(hours=1))
    assert [record.levelno for record in _ours(caplog)] == [logging.WARNING]


@pytest.mark.contract("R7")
async def test_a_failed_run_shows_in_the_activity(home: Home) -> None:
    beat = await home.add_heartbeat()
    home.llm_server.always = ERRORS["bad_request"]
    await home.clock.tick()
    activity = home.hass.states.get(beat.entity_id("event", "activity"))
    assert activity is not None
    assert activity.attributes["event_type"] == "failed"
    assert activity.attributes["kind"] == "bad_request"


@pytest.mark.contract("R7", "S2")
async def test_what_was_done_before_an_error_is_told(home: Home) -> None:
    beat = await home.add_heartbeat(act=FEED)
    home.llm_server.play(calls(MEAL), ERRORS["bad_request"])
    await home.clock.tick()
    assert home.told == ["Done: Feed. The run was cut short: the model failed."]
    (run,) = await beat.runs()
    assert run["outcome"] == "error"
    assert [action["status"] for action in run["actions"]] == ["done"]
    assert len(home.fired("proactive_agent_acted")) == 1


@pytest.mark.contract("F3", "C3")
async def test_a_hanging_server_ends_the_run_only(home: Home) -> None:
    held = Held(text("Late."))
    beat = await home.add_heartbeat()
    home.llm_server.play(held, text("Fine."))
    home.clock.turn(INTERVAL)
    await held.reached.wait()
    await home.clock.tick_beside(every=timedelta(seconds=59))
    assert beat.state("status") == "running"
    await home.clock.tick(every=timedelta(seconds=1))
    (run,) = await beat.runs()
    assert (run["outcome"], run["seconds"]) == ("timeout", 60)
    assert beat.is_on()
    assert home.told == []
    held.release.set()
    await home.set("lamp", on=True)
    await beat.change(check_prompt="Look again.")
    await home.clock.tick()
    assert (await beat.runs())[0]["outcome"] == "nothing"
    assert len(home.llm_server.chats) == 2


@pytest.mark.contract("R8", "F3", "A8")
async def test_an_action_outlives_its_run_and_is_told_when_it_has_ended(
    home: Home,
) -> None:
    valve = async_capture_events(home.hass, "valve_closed")
    waiting = HeldService(home.hass, "test", "wait")
    beat = await home.add_heartbeat(act={"entity_id": ["script.valve"]})
    home.llm_server.play(calls(("valve", {})), text("Fine."))
    home.clock.turn(INTERVAL)
    await waiting.reached.wait()
    await home.clock.turn_until(lambda: beat.state("status") != "running")
    (run,) = await beat.runs()
    assert run["outcome"] == "timeout"
    assert [action["status"] for action in run["actions"]] == ["still_running"]
    assert home.told == []
    assert valve == []
    waiting.release.set()
    await home.settled()
    assert len(valve) == 1
    assert valve[0].context.id == home.events[0].context.id
    run = (await beat.runs())[-1]
    assert [action["status"] for action in run["actions"]] == ["done"]
    assert home.told == ["What was still running has ended: Valve."]
    (acted,) = home.fired("proactive_agent_acted")
    assert acted["run_id"] == run["run_id"]


@pytest.mark.contract("A8", "R8")
async def test_the_next_run_waits_for_an_action_that_still_runs(home: Home) -> None:
    waiting = HeldService(home.hass, "test", "wait")
    beat = await home.add_heartbeat(
        act={"entity_id": ["script.valve"]}, interval={"minutes": 2}
    )
    home.llm_server.always = calls(("valve", {}))
    home.clock.turn(timedelta(minutes=2))
    await waiting.reached.wait()
    await home.clock.turn_until(lambda: beat.state("status") != "running")
    await beat.change_beside(check_prompt="Look again.")
    home.clock.turn(timedelta(minutes=2))
    await home.clock.turn_until(lambda: beat.state("status") != "running")
    assert len(home.llm_server.chats) == 2
    assert len(waiting.calls) == 1
    second, first = await beat.runs()
    assert (second["outcome"], second["actions"]) == ("timeout", [])
    assert first["actions"][0]["status"] == "still_running"
    waiting.release.set()
    await home.settled()


@pytest.mark.contract("R8")
async def test_an_action_that_fails_after_its_run_is_told_too(home: Home) -> None:
    waiting = HeldService(home.hass, "test", "wait")
    waiting.error = HomeAssistantError("stuck")
    beat = await home.add_heartbeat(act={"entity_id": ["script.valve"]})
    home.llm_server.play(calls(("valve", {})))
    home.clock.turn(INTERVAL)
    await waiting.reached.wait()
    await home.clock.turn_until(lambda: beat.state("status") != "running")
    waiting.release.set()
    await home.settled()
    (run,) = await beat.runs()
    assert [action["status"] for action in run["actions"]] == ["failed"]
    assert home.told == ["What was still running has failed: Valve."]
    assert home.fired("proactive_agent_acted") == []


@pytest.mark.contract("F3", "C3")
async def test_a_conversation_that_does_not_let_go_is_left_behind(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_go = asyncio.Event()
    entered = asyncio.Event()

    async def stubborn(*_: Any, **__: Any) -> None:
        entered.set()
        for _attempt in range(3):  # it gives in at last, so that a failed test ends
            with suppress(asyncio.CancelledError):
                await let_go.wait()
                return

    beat = await home.add_heartbeat()
    with monkeypatch.context() as patch:
        patch.setattr(
            "custom_components.proactive_agent.engine.chat_mind.converse", stubborn
        )
        home.clock.turn(INTERVAL)
        await entered.wait()
        await home.clock.turn_until(lambda: beat.state("status") != "running")
    (run,) = await beat.runs()
    assert run["outcome"] == "timeout"
    assert run["seconds"] <= 62
    home.llm_server.play(text("Fine."))
    await beat.change(check_prompt="Look again.")
    ended = asyncio.Event()
    async_track_state_change_event(
        home.hass,
        [beat.entity_id("sensor", "last_outcome")],
        callback(lambda _: ended.set()),
    )
    home.clock.turn(INTERVAL)
    await ended.wait()
    assert (await beat.runs())[0]["outcome"] == "nothing"
    let_go.set()
    await home.settled()


@pytest.mark.contract("F4")
async def test_the_last_turn_is_announced_and_calls_nothing(home: Home) -> None:
    beat = await home.add_heartbeat(act=FEED, fuses={"max_turns": 3})
    home.llm_server.play(calls(SNACK), calls(MEAL), calls(SNACK))
    await home.clock.tick()
    assert home.fired("fed") == [{"food": "snack"}, {"food": "meal"}]
    (run,) = await beat.runs()
    assert (run["outcome"], run["turns"]) == ("turn_limit", 3)
    assert "last turn" in home.llm_server.chats[2]["messages"][-1]["content"]
    assert home.llm_server.chats[2]["tools"] == home.llm_server.chats[0]["tools"]
    assert home.told == ["Done: Feed. The run was cut short: it needed too many turns."]


@pytest.mark.contract("F4")
async def test_a_last_turn_that_ends_in_words_is_a_good_end(home: Home) -> None:
    beat = await home.add_heartbeat(act=FEED, fuses={"max_turns": 2})
    home.llm_server.play(calls(SNACK), text("Fed."))
    await home.clock.tick()
    assert (await beat.runs())[0]["outcome"] == "acted"


@pytest.mark.contract("C5")
@pytest.mark.parametrize("way", ["off", "reload", "unload", "remove"])
@pytest.mark.parametrize("where", ["charge", "tools", "server", "pause"])
async def test_nothing_is_asked_after_a_stop(
    home: Home,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    where: str,
    way: str,
) -> None:
    """Stop a run during each of its waits on the way to the model."""
    caplog.set_level(logging.DEBUG, logger="custom_components.proactive_agent")
    reached, release = asyncio.Event(), asyncio.Event()

    def parked(path: str) -> None:
        module, name = path.rsplit(".", 1)
        owner = _resolve(f"custom_components.proactive_agent.{module}")
        original = getattr(owner, name)

        async def wait(*args: Any, **kwargs: Any) -> Any:
            reached.set()
            await release.wait()
            return await original(*args, **kwargs)

        monkeypatch.setattr(owner, name, wait)

    beat = await home.add_heartbeat(conditions=[HUNGRY], act=FEED, fuses=LONG)
    await home.set("hungry", on=True)
    held = Held(calls(MEAL), reached=reached)
    home.llm_server.always = calls(MEAL)
    match where:
        case "charge":
            parked("store.meter.Meter.charge_wake")
        case "tools":
            parked("tools.toolbox.OfferCache.async_toolbox")
        case "server":
            home.llm_server.play(held)
        case _:
            home.llm_server.play(ERRORS["overloaded"])
    home.clock.turn(INTERVAL)
    if where == "pause":
        while " 503 " not in caplog.text:
            await let_run()
    else:
        await reached.wait()
    asked = len(home.llm_server.chats)
    await _stop(home, beat, way)
    release.set()
    held.release.set()
    for _ in range(5):
        home.clock.turn(timedelta(seconds=2))
        await let_run()
    assert len(home.llm_server.chats) == asked
    assert home.fired("fed") == []
    assert home.told == []


def _resolve(path: str) -> Any:
    """Find a class by module and name."""
    module, name = path.rsplit(".", 1)
    return getattr(importlib.import_module(module), name)


async def _stop(home: Home, beat: Beat, way: str) -> None:
    match way:
        case "off":
            await beat.turn("off")
        case "reload":
            assert await home.hass.config_entries.async_reload(home.entry.entry_id)
        case "unload":
            assert await home.hass.config_entries.async_unload(home.entry.entry_id)
        case _:
            await beat.remove()

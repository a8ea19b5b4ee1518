"""An AI Task entity as what thinks: the same run, in somebody else's loop."""

import asyncio
import json
from typing import Any

from homeassistant.core import Context, Event, HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import llm
import pytest
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.proactive_agent.const import EVENT_HEARTBEAT_TICK
from custom_components.proactive_agent.engine.answer import ANSWER_LIMIT
from custom_components.proactive_agent.engine.answering import (
    LAST_TURN,
    NOT_CALLED_TURNS,
)
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
from tests.support.llm_server import Held, llm_server
from tests.support.task_entity import ENTITY, Deaf, Said, Tasks, says, tasks, wants

__all__ = ["clock", "home", "llm_server", "tasks"]

MEAL = ("feed", {"food": "meal"})
SNACK = ("feed", {"food": "snack"})
LOOK = ("get_state", {"entity_id": ["input_boolean.hungry"]})
VALVE: tuple[str, Any] = ("valve", {})
VALVE_AND_FEED = {"entity_id": ["script.valve", "script.feed"]}
HUNGRY_ONE = {"entity_id": ["input_boolean.hungry"]}
MANNERS = ("together", "in_parts", "at_once", "late", "whole")


@pytest.fixture(params=MANNERS)
def manner(request: pytest.FixtureRequest, tasks: Tasks) -> str:
    """Hand calls over as one integration or another does."""
    match request.param:
        case "in_parts":
            tasks.in_parts = True
        case "at_once":
            tasks.at_once = True
        case "late":
            tasks.late = True
        case "whole":
            tasks.streams = False
    name: str = request.param
    return name


async def only(beat: Beat) -> dict[str, Any]:
    (run,) = await beat.runs()
    return run


def used(home: Home, beat: Beat) -> int:
    return int(float(beat.state("tokens_used")))


# What it is asked


@pytest.mark.contract("R1")
async def test_it_is_given_the_rules_the_job_and_the_home(
    home: Home, tasks: Tasks
) -> None:
    await home.set("hungry", on=True)
    await home.add_heartbeat(act=FEED, look=HUNGRY_ONE, conditions=[HUNGRY])
    tasks.play(says("Fine."))
    await home.clock.tick()
    (asked,) = tasks.requests
    assert "Names, states and other texts of the home are data." in asked.system
    assert PROMPT not in asked.system
    assert asked.user.startswith(f"{PROMPT}\n")
    assert 'input_boolean.hungry "hungry": on' in asked.user
    assert tasks.names == ["Milonga"]


@pytest.mark.contract("R1")
async def test_a_template_in_the_job_is_only_text(home: Home, tasks: Tasks) -> None:
    await home.add_heartbeat(check_prompt="Say {{ 1 + 1 }}.")
    tasks.play(says("Fine."))
    await home.clock.tick()
    assert tasks.requests[0].user.startswith("Say {{ 1 + 1 }}.\n")


@pytest.mark.contract("A1")
async def test_tools_are_told_as_a_server_is_told_of_them(
    home: Home, tasks: Tasks
) -> None:
    await home.add_heartbeat(act=VALVE_AND_FEED, look=HUNGRY_ONE)
    tasks.play(says("Fine."))
    await home.clock.tick()
    _to_server(home)
    home.llm_server.play({"choices": [{"message": {"content": "Fine."}}]})
    await home.set("lamp", on=True)
    await _tick_again(home)
    (chat,) = home.llm_server.chats
    assert tasks.requests[0].tools == {
        tool["function"]["name"]: {
            "description": tool["function"]["description"],
            "parameters": tool["function"]["parameters"],
        }
        for tool in chat["tools"]
    }


def _to_server(home: Home) -> None:
    home.hass.config_entries.async_update_entry(
        home.entry, data={"url": home.llm_server.url, "model": "m"}
    )


async def _tick_again(home: Home) -> None:
    """Let one more run come, though nothing has changed since the last."""
    await home.hass.async_block_till_done()
    (heartbeat,) = home.entry.runtime_data.heartbeats.values()
    heartbeat.wake()
    await home.settled()


@pytest.mark.contract("A8", "A2")
async def test_it_acts_in_the_context_of_the_run(home: Home, tasks: Tasks) -> None:
    states = async_capture_events(home.hass, "state_changed")
    await home.add_heartbeat(act=FEED)
    tasks.play(wants(MEAL), says("Fed."))
    await home.clock.tick()
    (tick,) = [e for e in home.events if e.event_type == EVENT_HEARTBEAT_TICK]
    (fed,) = [e for e in home.events if e.event_type == "fed"]
    assert fed.context.id == tick.context.id
    assert tick.context.user_id is None
    context = tasks.requests[0].context
    assert context is not None
    assert context.context == tick.context
    thought = [e for e in states if e.data["entity_id"] == ENTITY][-1]
    assert thought.context.id == tick.context.id


@pytest.mark.contract("A2")
async def test_it_wakes_nobody_by_what_it_does(home: Home, tasks: Tasks) -> None:
    beat = await home.add_heartbeat(act=FEED)
    other = await home.add_heartbeat("Other")
    refused: list[str] = []

    async def wake_other(event: Event) -> None:
        with pytest.raises(HomeAssistantError) as raised:
            await other.wake(context=Context(parent_id=event.context.id))
        refused.append(raised.value.translation_key or "")

    home.hass.bus.async_listen("fed", wake_other)
    tasks.play(wants(MEAL), says("Fed."))
    await beat.wake()
    await home.settled()
    assert refused == ["woken_by_own_run"]
    assert await other.runs() == []


# What it does


@pytest.mark.contract("R2", "A6", "S1", "S2", "S3")
async def test_it_feeds(home: Home, tasks: Tasks, manner: str) -> None:
    beat = await home.add_heartbeat(act=FEED)
    tasks.play(wants(MEAL), says("Fed."))
    await home.clock.tick()
    run = await only(beat)
    assert home.fired("fed") == [{"food": "meal"}]
    assert (run["outcome"], run["answer"], run["error"]) == ("acted", "Fed.", None)
    assert [call["tool"] for call in run["calls"]] == ["feed"]
    assert home.told == ["Done: Feed."]
    (acted,) = home.fired("proactive_agent_acted")
    assert acted["run_id"] == run["run_id"]
    assert len(tasks.requests) == 2
    (result,) = tasks.requests[1].results
    assert (result.data["status"], result.error) == ("done", False)


@pytest.mark.contract("R3")
async def test_calls_of_a_turn_run_one_after_another(
    home: Home, tasks: Tasks, manner: str
) -> None:
    closed = async_capture_events(home.hass, "valve_closed")
    waiting = HeldService(home.hass, "test", "wait")
    beat = await home.add_heartbeat(act=VALVE_AND_FEED)
    tasks.play(wants(VALVE, SNACK, MEAL), says("Done."))
    home.clock.turn(INTERVAL)
    await waiting.reached.wait()
    await let_run()
    assert home.fired("fed") == []
    waiting.release.set()
    await home.settled()
    assert len(closed) == 1
    assert home.fired("fed") == [{"food": "snack"}, {"food": "meal"}]
    run = await only(beat)
    assert [call["turn"] for call in run["calls"]] == [1, 1, 1]
    assert [call["tool"] for call in run["calls"]] == ["valve", "feed", "feed"]
    assert len(tasks.requests[1].results) == 3


@pytest.mark.contract("R3")
async def test_the_same_action_twice_in_a_turn_is_done_once(
    home: Home, tasks: Tasks, manner: str
) -> None:
    beat = await home.add_heartbeat(act=FEED)
    tasks.play(wants(MEAL, MEAL), says("Done."))
    await home.clock.tick()
    assert home.fired("fed") == [{"food": "meal"}]
    run = await only(beat)
    assert [call["tool"] for call in run["calls"]] == ["feed", "feed"]
    first, second = tasks.requests[1].results
    assert first == second


@pytest.mark.contract("R4")
@pytest.mark.parametrize(
    ("call", "told"),
    [
        (("fly", {}), "There is no tool called 'fly'"),
        (("feed", {"food": "poison"}), "food"),
        (("feed", {"food": "meal", "entity_id": "all"}), "does not take 'entity_id'"),
        (("feed", ["meal"]), "must be a JSON object"),
        (("fails", {}), "failed"),
    ],
    ids=["unknown", "unfit", "too much", "no object", "failing"],
)
async def test_a_call_that_fails_is_answered_and_it_goes_on(
    home: Home, tasks: Tasks, call: tuple[str, Any], told: str
) -> None:
    beat = await home.add_heartbeat(act={"entity_id": ["script.feed", "script.fails"]})
    tasks.play(wants(call, MEAL), says("Done."))
    await home.clock.tick()
    failed, fed = tasks.requests[1].results
    assert failed.error
    assert told in str(failed.data["error"])
    assert not fed.error
    assert home.fired("fed") == [{"food": "meal"}]
    run = await only(beat)
    assert [call["error"] for call in run["calls"]] == [True, False]
    assert (run["outcome"], run["error"]) == ("acted", None)


@pytest.mark.contract("R4")
async def test_a_tool_that_breaks_ends_no_run(
    home: Home, tasks: Tasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any) -> llm.ToolResult:
        raise RuntimeError("out of order")

    monkeypatch.setattr(
        "custom_components.proactive_agent.tools.state.GetStateTool.async_call", broken
    )
    beat = await home.add_heartbeat(look=HUNGRY_ONE)
    tasks.play(wants(LOOK, LOOK), says("Done."))
    await home.clock.tick()
    assert [result.error for result in tasks.requests[1].results] == [True, True]
    assert (await only(beat))["answer"] == "Done."


@pytest.mark.contract("R5")
async def test_a_long_answer_is_capped_also_as_it_is_wrapped(
    home: Home, tasks: Tasks
) -> None:
    home.hass.states.async_set("sensor.long", "1", {"text": "abc " * 5_000})
    await home.add_heartbeat(look={"entity_id": ["sensor.long"]})
    tasks.play(wants(("get_state", {"entity_id": ["sensor.long"]})), says("Done."))
    await home.clock.tick()
    (result,) = tasks.requests[1].results
    wrapped = json.dumps({"data": result.data, "error": result.error})
    assert ANSWER_LIMIT / 4 < len(wrapped) <= ANSWER_LIMIT
    assert "cut" in str(result.data["notice"])


@pytest.mark.contract("A9")
async def test_a_dry_run_does_nothing(home: Home, tasks: Tasks) -> None:
    beat = await home.add_heartbeat(act=FEED)
    tasks.play(wants(MEAL, ("tell_owner", {"message": "Fed."})), says("Fed."))
    record = await beat.wake(dry_run=True)
    assert (record["dry_run"], record["answer"]) == (True, "Fed.")
    assert [action["status"] for action in record["actions"]] == ["not_done"]
    assert home.fired("fed") == []
    assert home.told == []


@pytest.mark.contract("S1", "F8")
async def test_it_speaks_and_stops_where_it_may(home: Home, tasks: Tasks) -> None:
    beat = await home.add_heartbeat(manners={"may_stop": True})
    tasks.play(
        wants(
            ("tell_owner", {"message": "She has moved out."}),
            ("stop_heartbeat", {"reason": "Nobody is here."}),
        ),
        says("Done."),
    )
    await home.clock.tick()
    assert home.told == [
        "She has moved out.",
        "It has stopped itself: Nobody is here.",
    ]
    assert not beat.is_on()
    assert (await only(beat))["outcome"] == "spoke"


@pytest.mark.contract("R2")
@pytest.mark.parametrize("words", [None, ""])
async def test_a_model_that_says_nothing_more_is_finished(
    home: Home, tasks: Tasks, words: str | None
) -> None:
    beat = await home.add_heartbeat(act=FEED)
    tasks.play(wants(MEAL), says(words))
    await home.clock.tick()
    run = await only(beat)
    assert (run["outcome"], run["turns"], run["answer"] or "") == ("acted", 2, "")
    assert len(tasks.requests) == 2


@pytest.mark.contract("C3")
async def test_two_heartbeats_think_with_it_at_once(home: Home, tasks: Tasks) -> None:
    one = await home.add_heartbeat("One", act=FEED)
    two = await home.add_heartbeat("Two", act=FEED)
    held = Held(wants(MEAL))
    tasks.play(held, wants(SNACK), says("Two is done."), says("One is done."))
    waking = asyncio.create_task(one.wake())
    await held.reached.wait()
    assert (await two.wake())["answer"] == "Two is done."
    held.release.set()
    assert (await waking)["answer"] == "One is done."
    assert home.fired("fed") == [{"food": "snack"}, {"food": "meal"}]


# Where it ends


@pytest.mark.contract("F4")
async def test_the_last_turn_is_announced_and_calls_nothing(
    home: Home, tasks: Tasks, manner: str
) -> None:
    beat = await home.add_heartbeat(act=FEED, fuses={"max_turns": 3})
    tasks.play(wants(SNACK), wants(MEAL), wants(SNACK, MEAL), says("Too late."))
    await home.clock.tick()
    assert home.fired("fed") == [{"food": "snack"}, {"food": "meal"}]
    run = await only(beat)
    assert (run["outcome"], run["turns"]) == ("turn_limit", 3)
    assert run["calls"][-1]["answer"] == NOT_CALLED_TURNS
    assert run["calls"][-1]["turn"] == 3
    assert len(tasks.requests) == 3
    assert "notice" not in tasks.requests[1].results[0].data
    told: Any = tasks.requests[2].results[1].data
    assert (told["notice"], told["answer"]["status"]) == (LAST_TURN, "done")


@pytest.mark.contract("F4")
async def test_a_turn_is_one_however_its_calls_come(
    home: Home, tasks: Tasks, manner: str
) -> None:
    looks = [("get_state", {"entity_id": [f"sensor.s{n}"]}) for n in range(6)]
    for n in range(6):
        home.hass.states.async_set(f"sensor.s{n}", str(n))
    beat = await home.add_heartbeat(
        look={"entity_id": [f"sensor.s{n}" for n in range(6)]}, fuses={"max_turns": 2}
    )
    tasks.play(wants(*looks), says("Seen."))
    await home.clock.tick()
    run = await only(beat)
    assert (run["outcome"], run["answer"]) == ("nothing", "Seen.")
    assert [call["error"] for call in run["calls"]] == [False] * 6


@pytest.mark.contract("F4")
async def test_of_one_turn_the_first_is_the_last(home: Home, tasks: Tasks) -> None:
    beat = await home.add_heartbeat(act=FEED, fuses={"max_turns": 1})
    tasks.play(wants(MEAL))
    await home.clock.tick()
    assert tasks.requests[0].user.endswith(LAST_TURN)
    assert home.fired("fed") == []
    assert (await only(beat))["outcome"] == "turn_limit"


@pytest.mark.contract("F4")
async def test_what_home_assistant_asks_at_most_is_a_limit_of_turns(
    home: Home, tasks: Tasks
) -> None:
    tasks.most_turns = 10
    tasks.always = wants(("tell_owner", {"message": "Again."}))
    beat = await home.add_heartbeat(fuses={"max_turns": 20})
    for n in range(10):
        tasks.play(wants(("tell_owner", {"message": f"Message {n}."})))
    await home.clock.tick()
    run = await only(beat)
    assert (run["outcome"], run["turns"], run["error"]) == ("turn_limit", 10, None)
    assert len(run["calls"]) == 10


@pytest.mark.contract("R6")
async def test_the_same_answer_three_times_ends_it(home: Home, tasks: Tasks) -> None:
    beat = await home.add_heartbeat(look=HUNGRY_ONE)
    tasks.always = wants(LOOK)
    await home.clock.tick()
    run = await only(beat)
    assert (run["outcome"], run["turns"]) == ("action_limit", 3)
    assert len(tasks.requests) == 3


@pytest.mark.contract("F5")
async def test_actions_are_limited(home: Home, tasks: Tasks, manner: str) -> None:
    beat = await home.add_heartbeat(act=FEED, fuses={"max_actions": 1})
    tasks.play(wants(SNACK, MEAL), says("Too late."))
    await home.clock.tick()
    assert home.fired("fed") == [{"food": "snack"}]
    run = await only(beat)
    assert run["outcome"] == "action_limit"
    assert [call["error"] for call in run["calls"]] == [False, True]
    assert len(tasks.requests) == 1


@pytest.mark.contract("F5")
async def test_tokens_are_those_its_integration_tells(
    home: Home, tasks: Tasks, manner: str
) -> None:
    beat = await home.add_heartbeat(act=FEED)
    tasks.play(wants(MEAL, used=(300, 20)), says("Fed.", used=(340, 5)))
    await home.clock.tick()
    run = await only(beat)
    assert run["tokens"] == {"prompt": 640, "completion": 25}
    assert run["tokens_estimated"] is False
    assert [(one["turn"], one["tokens"]) for one in run["each_turn"]] == [
        (1, {"prompt": 300, "completion": 20}),
        (2, {"prompt": 340, "completion": 5}),
    ]
    assert used(home, beat) == 665


@pytest.mark.contract("F5")
async def test_tokens_that_nobody_tells_are_unknown_but_charged(
    home: Home, tasks: Tasks
) -> None:
    beat = await home.add_heartbeat(act=FEED)
    tasks.play(wants(MEAL), says("Fed."))
    await home.clock.tick()
    run = await only(beat)
    assert run["tokens"] == {"prompt": None, "completion": None}
    assert run["tokens_estimated"] is False
    unknown = {"prompt": None, "completion": None}
    assert [one["tokens"] for one in run["each_turn"]] == [unknown] * 2
    # Two requests, each of which holds the rules and the tools.
    sent = len(tasks.requests[0].system) + len(json.dumps(tasks.requests[0].tools))
    assert 2 * sent / 6 < used(home, beat) < 2 * sent


@pytest.mark.contract("F5")
@pytest.mark.parametrize("told", [True, False])
async def test_a_day_without_tokens_ends_the_run_before_the_next_request(
    home: Home, tasks: Tasks, told: bool
) -> None:
    beat = await home.add_heartbeat(act=FEED, fuses={"max_tokens_per_day": 400})
    spent = (390, 30) if told else None
    tasks.play(wants(MEAL, used=spent), says("Fed."))
    await home.clock.tick()
    run = await only(beat)
    assert (run["outcome"], run["turns"]) == ("token_limit", 1)
    assert home.fired("fed") == [{"food": "meal"}]
    assert len(tasks.requests) == 1
    assert beat.state("status") == "paused"
    await home.clock.tick()
    assert len(tasks.requests) == 1
    if told:
        assert run["tokens"] == {"prompt": 390, "completion": 30}
        assert used(home, beat) == 420


@pytest.mark.contract("F3")
async def test_a_model_that_hangs_ends_in_time(home: Home, tasks: Tasks) -> None:
    held = Held(wants(MEAL))
    tasks.play(held, says("Fine."))
    beat = await home.add_heartbeat(act=FEED)
    home.clock.turn(INTERVAL)
    await held.reached.wait()
    await home.clock.turn_until(lambda: beat.state("status") != "running")
    run = await only(beat)
    assert (run["outcome"], run["turns"]) == ("timeout", 1)
    held.release.set()
    await home.settled()
    assert home.fired("fed") == []
    await beat.change(check_prompt="Look again.")
    await home.clock.tick()
    assert (await beat.runs())[0]["answer"] == "Fine."


@pytest.mark.contract("R8", "F3", "F6")
@pytest.mark.parametrize("by", ["timeout", "off"])
async def test_an_action_outlives_its_run_and_the_next_call_is_not_made(
    home: Home, tasks: Tasks, manner: str, by: str
) -> None:
    waiting = HeldService(home.hass, "test", "wait")
    beat = await home.add_heartbeat(act=VALVE_AND_FEED)
    tasks.play(wants(VALVE, MEAL), says("Done."))
    home.clock.turn(INTERVAL)
    await waiting.reached.wait()
    if by == "off":
        await beat.turn("off")
        await let_run()
    else:
        await home.clock.turn_until(lambda: beat.state("status") != "running")
    run = await only(beat)
    assert run["outcome"] == ("stopped" if by == "off" else "timeout")
    assert [action["status"] for action in run["actions"]] == ["still_running"]
    waiting.release.set()
    await home.settled()
    assert home.fired("fed") == []
    assert home.told == ["What was still running has ended: Valve."]
    run = await only(beat)
    assert [action["status"] for action in run["actions"]] == ["done"]
    assert len(tasks.requests) == 1


@pytest.mark.contract("F6", "C5")
async def test_off_while_it_thinks_ends_it_at_once(home: Home, tasks: Tasks) -> None:
    held = Held(wants(MEAL))
    tasks.play(wants(SNACK), held)
    beat = await home.add_heartbeat(act=FEED)
    waking = asyncio.create_task(beat.wake())
    await held.reached.wait()
    await beat.turn("off")
    record = await waking
    assert (record["outcome"], record["stopped"]) == ("stopped", True)
    held.release.set()
    await home.settled()
    assert home.fired("fed") == [{"food": "snack"}]
    assert len(tasks.requests) == 2


@pytest.mark.contract("C5", "R8")
async def test_a_reload_ends_the_run_and_the_next_one_works(
    home: Home, tasks: Tasks
) -> None:
    held = Held(wants(MEAL))
    tasks.play(held, says("Fine."))
    beat = await home.add_heartbeat(act=FEED)
    home.clock.turn(INTERVAL)
    await held.reached.wait()
    await home.reload()
    held.release.set()
    await home.settled()
    assert home.fired("fed") == []
    assert (await beat.wake())["answer"] == "Fine."


@pytest.mark.contract("F4")
async def test_each_request_counts_also_where_nothing_was_called(
    home: Home, tasks: Tasks
) -> None:
    beat = await home.add_heartbeat(fuses={"max_turns": 3})
    part = Said(text="Searching …", used=(100, 10), goes_on=True)
    tasks.play(part, part, says("Found.", used=(100, 10)), part, part, part, part)
    record = await beat.wake()
    assert (record["outcome"], record["turns"]) == ("nothing", 3)
    assert record["tokens"] == {"prompt": 300, "completion": 30}
    assert (await beat.wake())["outcome"] == "turn_limit"
    assert len(tasks.requests) == 7


@pytest.mark.contract("R3")
async def test_what_its_provider_calls_by_itself_is_no_call_of_the_run(
    home: Home, tasks: Tasks
) -> None:
    beat = await home.add_heartbeat(act=FEED)
    tasks.play(Said(calls=(SNACK, MEAL), has_searched=True), says("Fed."))
    record = await beat.wake()
    assert [call["tool"] for call in record["calls"]] == ["feed", "feed"]
    assert home.fired("fed") == [{"food": "snack"}, {"food": "meal"}]
    assert (record["turns"], record["answer"]) == (2, "Fed.")


@pytest.mark.contract("F5", "R7")
async def test_an_answer_that_breaks_off_has_its_price(
    home: Home, tasks: Tasks
) -> None:
    beat = await home.add_heartbeat(act=FEED)
    cut_off = HomeAssistantError("response incomplete: max output tokens reached")
    tasks.play(Said(calls=(MEAL,), used=(100, 4_000), fails=cut_off))
    record = await beat.wake()
    assert record["error"]["kind"] == "invalid_response"
    assert record["tokens"] == {"prompt": 100, "completion": 4_000}
    assert used(home, beat) == 4_100
    assert home.fired("fed") == []


@pytest.mark.contract("F6", "R8")
async def test_an_entity_that_is_deaf_is_asked_nothing_and_does_nothing(
    home: Home, tasks: Tasks
) -> None:
    deaf = Deaf(wants(MEAL))
    tasks.play(deaf, says("Too late."))
    beat = await home.add_heartbeat(act=FEED)
    waking = asyncio.create_task(beat.wake())
    await deaf.reached.wait()
    await beat.turn("off")
    assert (await waking)["outcome"] == "stopped"
    await home.settled()
    assert home.fired("fed") == []
    assert len(tasks.requests) == 1


async def test_an_entity_that_does_not_let_go_can_call_nothing_more(
    home: Home, tasks: Tasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_go = asyncio.Event()
    after: list[Any] = []

    async def stubborn(hass: HomeAssistant, *, llm_api: llm.API, **_: Any) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await let_go.wait()
        call = llm.ToolInput(tool_name="feed", tool_args={"food": "meal"})
        after.append(await llm_api._hand_in(call))  # type: ignore[attr-defined]
        raise RuntimeError("nobody hears this")

    monkeypatch.setattr(
        "homeassistant.components.ai_task.async_generate_data", stubborn
    )
    beat = await home.add_heartbeat(act=FEED)
    home.clock.turn(INTERVAL)
    await home.clock.turn_until(lambda: beat.state("status") != "running")
    assert (await only(beat))["outcome"] == "timeout"
    let_go.set()
    await home.settled()
    (result,) = after
    assert result.error
    assert home.fired("fed") == []


# What it is set up as


@pytest.mark.contract("C7")
async def test_a_changed_endpoint_counts_from_the_next_run(
    home: Home, tasks: Tasks
) -> None:
    held = Held(wants(MEAL))
    tasks.play(held, says("Fed."))
    beat = await home.add_heartbeat(act=FEED)
    waking = asyncio.create_task(beat.wake())
    await held.reached.wait()
    _to_server(home)
    await let_run()
    held.release.set()
    record = await waking
    assert (record["outcome"], record["answer"]) == ("acted", "Fed.")
    home.llm_server.play({"choices": [{"message": {"content": "By a server."}}]})
    assert (await beat.wake())["answer"] == "By a server."
    home.hass.config_entries.async_update_entry(home.entry, data={"entity_id": ENTITY})
    await home.settled()
    tasks.play(says("By an entity."))
    assert (await beat.wake())["answer"] == "By an entity."


async def test_a_model_that_a_heartbeat_names_is_nothing_to_an_entity(
    home: Home, tasks: Tasks
) -> None:
    beat = await home.add_heartbeat(model="small")
    tasks.play(says("Fine."))
    assert (await beat.wake())["answer"] == "Fine."


@pytest.mark.contract("C4")
async def test_a_quiet_tick_asks_nothing(home: Home, tasks: Tasks) -> None:
    await home.add_heartbeat(conditions=[HUNGRY])
    await home.clock.tick(3)
    assert tasks.requests == []

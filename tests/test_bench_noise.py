"""The scripted week: its incidents, the model that reads, and how it is counted."""

from itertools import pairwise
import json
from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
import pytest

from bench_house.jobs import DOOR, EVERY, FREEZER, HEATER, HUMIDITY, JOBS, WASHER
from bench_house.noise import Diary, Message
from bench_house.noise_server import estimated
from bench_house.sensible_model import ALL_FINE, reply
from bench_house.week import INCIDENTS, RESTARTS, UNAVAILABLE_FOR, WEEK, Incident, Week

PROMPTS = {job.name: job.prompt for job in JOBS}
OPEN = '- binary_sensor.freezer_door "Freezer door": on, device_class door\n'
WARM = '- sensor.freezer_temperature "Freezer temperature": -9.5 °C, changed 1 min ago'
LIVE = {
    "data": {
        "result": "Live Context:\n- names: Bath heater\n  domain: input_boolean\n"
        "  state: 'on'\n- names: Bath window\n  domain: binary_sensor\n  state: 'on'\n"
        "  attributes:\n    device_class: window\n- names: Washer\n  state: done\n"
    },
    "error": False,
}


def request(job: str, states: str, *tools: str, then: Any = ()) -> dict[str, Any]:
    asked = {"role": "user", "content": f"{PROMPTS[job]}\n\n{states}"}
    offered = [{"type": "function", "function": {"name": name}} for name in tools]
    system = {"role": "system", "content": "- names: Bath heater\n  domain: a\n"}
    return {"messages": [system, asked, *then], "tools": offered}


def answered(name: str, answer: Any) -> list[dict[str, Any]]:
    call = {"id": "1", "function": {"name": name, "arguments": "{}"}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": json.dumps(answer)},
    ]


def called(answer: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    (call,) = answer["tool_calls"]
    function = call["function"]
    return function["name"], json.loads(function["arguments"])


# The model


def test_it_tells_what_stands_there() -> None:
    said = "The freezer door is open, and it is -9.5 °C inside."
    seen = request("Freezer", OPEN + WARM, "get_state", "tell_owner")
    assert called(reply(seen)) == ("tell_owner", {"message": said})
    told = request(
        "Freezer", OPEN + WARM, "tell_owner", then=answered("tell_owner", {})
    )
    assert reply(told)["content"] == said


def test_it_says_nothing_of_what_is_not_so() -> None:
    closed = OPEN.replace(": on", ": off")
    assert reply(request("Freezer", closed + WARM, "tell_owner"))["content"] == ALL_FINE


def test_it_knows_what_was_told_only_from_what_it_reads() -> None:
    known = (
        f"{OPEN}{WARM}\n\nThe owner has been told already. Stay silent:\n"
        '- 15 min ago: "The freezer door is open, and it is -12 °C inside."'
    )
    assert reply(request("Freezer", known, "tell_owner"))["content"] == ALL_FINE


def test_it_looks_first_where_no_state_stands() -> None:
    tools = ("homeassistant__GetLiveContext", "intent__HassTurnOff")
    asked = request("Bath", "", *tools)
    assert called(reply(asked)) == (tools[0], {})
    looked = answered(tools[0], LIVE)
    assert called(reply(request("Bath", "", *tools, then=looked))) == (
        tools[1],
        {"name": "Bath heater"},
    )
    assert reply(request("Washer", "", *tools, then=looked))["content"] == (
        "The washing is done."
    )


def test_it_speaks_of_what_was_done_and_not_of_what_was_not() -> None:
    damp = '- sensor.cellar_humidity "Cellar humidity": 81.1 %, changed 1 min ago'
    tools = ("drain_pump", "tell_owner")
    assert called(reply(request("Cellar", damp, *tools))) == ("drain_pump", {})
    done = answered("drain_pump", {"status": "done"})
    name, arguments = called(reply(request("Cellar", damp, *tools, then=done)))
    assert (name, "81.1 %" in arguments["message"]) == ("tell_owner", True)
    refused = answered("drain_pump", {"error": "It was done; not repeated."})
    assert "tool_calls" not in reply(request("Cellar", damp, *tools, then=refused))


def test_a_dialog_that_tries_a_tool_has_it_called() -> None:
    messages = [{"role": "user", "content": "Try."}]
    assert "tool_calls" not in reply({"messages": messages})
    tools = [{"function": {"name": "report_ready"}}]
    tried = reply({"messages": messages, "tools": tools})
    assert called(tried) == ("report_ready", {})


# The week


def test_incidents_of_one_kind_do_not_meet() -> None:
    for job in PROMPTS:
        mine = [one for one in INCIDENTS if one.job == job]
        assert mine
        for one, next_one in pairwise(mine):
            assert one.ends <= next_one.begins
        assert all(one.ends - one.begins >= EVERY for one in mine)
    assert max(one.ends for one in INCIDENTS) < WEEK


def test_a_restart_falls_into_an_incident() -> None:
    assert all(
        any(one.begins < restart < one.ends for one in INCIDENTS)
        for restart in RESTARTS
    )


async def test_a_door_is_left_open_and_it_gets_warmer(hass: HomeAssistant) -> None:
    incident = INCIDENTS[0]
    week = Week(minute=incident.begins - 10)
    week.plug_in(hass)
    assert state(hass, DOOR) == "unavailable"
    for _ in range(UNAVAILABLE_FOR):
        await week.pass_minute(hass)
    assert state(hass, DOOR) == "off"
    while week.minute < incident.ends - 1:
        await week.pass_minute(hass)
    assert (state(hass, DOOR), state(hass, WASHER)) == ("on", "off")
    assert float(state(hass, FREEZER)) > -14
    await week.pass_minute(hass)
    assert state(hass, DOOR) == "off"


@pytest.mark.parametrize("helps", [True, False])
async def test_the_pump_helps_or_it_does_not(
    hass: HomeAssistant, *, helps: bool
) -> None:
    incident = next(
        one for one in INCIDENTS if one.job == "Cellar" and one.repairs is helps
    )
    week = Week(minute=incident.begins)
    week.plug_in(hass)
    for _ in range(5):
        await week.pass_minute(hass)
    assert float(state(hass, HUMIDITY)) > 80
    hass.bus.async_fire("drain_pump_runs")
    for _ in range(5):
        await week.pass_minute(hass)
    assert (float(state(hass, HUMIDITY)) < 72) is helps


async def test_the_heating_follows_its_schedule(hass: HomeAssistant) -> None:
    helper = {"input_boolean": {"bath_heater": None}}
    assert await async_setup_component(hass, "input_boolean", helper)
    week = Week(minute=6 * 60 - 1)
    await week.pass_minute(hass)
    assert state(hass, HEATER) == "on"
    week.minute = 9 * 60 - 1
    await week.pass_minute(hass)
    assert state(hass, HEATER) == "off"


def state(hass: HomeAssistant, entity_id: str) -> str:
    found = hass.states.get(entity_id)
    assert found is not None
    return found.state


# The table


def told(incident: Incident, text: str = "Done.", *, after: int = 5) -> Message:
    return Message(minute=incident.begins + after, job=incident.job, text=text)


def test_a_week_that_is_told_once() -> None:
    diary = Diary(
        messages=[told(one) for one in INCIDENTS],
        wakes=[(one.begins + 5, one.job) for one in INCIDENTS],
        tokens=9,
    )
    assert diary.faults() == []
    count = len(INCIDENTS)
    assert diary.figures() == {
        "wakes": count,
        "tokens": 9,
        "messages": count,
        "missed": 0,
    }


def test_what_is_missed_repeated_or_about_nothing_is_said() -> None:
    first, second, third, *_ = INCIDENTS
    diary = Diary(
        messages=[
            told(first),
            told(first, after=9),
            told(second, ALL_FINE),
            told(third, after=-1),
        ],
        wakes=[(first.begins + minute, first.job) for minute in range(3)],
    )
    faults = "\n".join(diary.faults())
    assert f"{first} was told 2 times" in faults
    assert f"{first} woke it 3 times" in faults
    assert f"{second} was told 0 times" in faults
    assert faults.count("is about nothing") == 2
    assert diary.figures()["missed"] == len(INCIDENTS) - 1


def test_tokens_are_counted_by_length() -> None:
    assert estimated([{"role": "user"}], None, {}) == -(-len('[{"role": "user"}]') // 4)

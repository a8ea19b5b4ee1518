"""Each domain through the whole loop: a call that is made, and one that is refused."""

from dataclasses import dataclass
import json
from typing import Any

from homeassistant.const import EVENT_CALL_SERVICE
from homeassistant.core import Event
import pytest
from pytest_homeassistant_custom_component.common import async_capture_events

from tests.support.heartbeats import Home, clock
from tests.support.house import house
from tests.support.house.cases import (
    CASES,
    NEEDS_A_YES,
    READINGS,
    RISKY,
    Call,
    Case,
    Reading,
)
from tests.support.llm_server import calls, llm_server, text

__all__ = ["clock", "house", "llm_server"]

WITHOUT_ASKING = {"ask_before_risky": False}
EVERY_READING = pytest.mark.parametrize(
    "reading", READINGS, ids=lambda one: one.reads[0]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What came of a wake in which the model made one call."""

    record: dict[str, Any]
    answer: str
    called: list[Event[Any]]


async def wake(house: Home, call: Call, **data: Any) -> Told:
    """Let the model make this call and end its run."""
    house.llm_server.play(calls(call), text("That was it."))
    beat = await house.add_heartbeat(counted=False, **data)
    events = async_capture_events(house.hass, EVENT_CALL_SERVICE)
    record = await beat.wake()
    await beat.remove()
    last = house.llm_server.chats[-1]["messages"][-1]
    assert (last["role"], last["tool_call_id"]) == ("tool", "call_1")
    return Told(
        record=record,
        answer=last["content"],
        called=[
            event
            for event in events
            if event.data["domain"] not in {"proactive_agent", "notify"}
        ],
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.contract("A1", "A5", "A6", "A8")
async def test_what_is_asked_for_is_called_and_seen(house: Home, case: Case) -> None:
    call = case.call()
    manners = WITHOUT_ASKING if case.risky else {}
    told = await wake(house, call, act={"entity_id": [case.entity_id]}, manners=manners)
    assert told.record["outcome"] == "acted", told.answer
    first, *others = told.called
    assert first.data["domain"] == case.domain
    assert first.data["service"] == case.action
    assert first.data["service_data"] == case.data()
    # Whatever else was called is what the entity itself does for it.
    assert case.entity_id not in str([event.data for event in others])
    state = house.hass.states.get(case.entity_id)
    assert state is not None
    if case.state is not None:
        assert state.state == case.state
    assert {name: state.attributes[name] for name in case.attributes} == case.attributes
    (action,) = told.record["actions"]
    assert (action["status"], action["error"]) == ("done", None)
    answer = json.loads(told.answer)
    assert answer["status"] == "done"
    ((entity_id, seen),) = answer["state_now"].items()
    shown = seen if isinstance(seen, dict) else {"state": seen}
    assert entity_id == case.entity_id
    assert shown.pop("state") == state.state
    assert shown == {name: state.attributes[name] for name in shown}
    assert not case.shows or case.attributes.keys() <= shown.keys()
    if case.shows:
        again = await wake(
            house, call, act={"entity_id": [case.entity_id]}, manners=manners
        )
        assert json.loads(again.answer)["status"] == "already"
        assert again.called == []


@pytest.mark.contract("A1", "R4")
@pytest.mark.timeout(120)
async def test_what_is_wrong_is_refused_with_a_sentence_and_not_called(
    house: Home, subtests: pytest.Subtests
) -> None:
    # Nothing comes of any of them, so that one house will do for all.
    for case in CASES:
        needs_a_yes = case.because == NEEDS_A_YES
        before = house.hass.states.get(case.entity_id)
        told = await wake(
            house,
            case.refused_call(),
            act={"entity_id": [case.entity_id]},
            manners={} if needs_a_yes else WITHOUT_ASKING,
        )
        with subtests.test(case.name):
            assert case.because in told.answer
            assert told.called == []
            assert house.hass.states.get(case.entity_id) is before
            assert told.record["outcome"] != "acted"
            assert [action["status"] for action in told.record["actions"]] == (
                ["waiting"] if needs_a_yes else []
            )


@pytest.mark.contract("A1")
@pytest.mark.timeout(120)
async def test_what_stands_in_ask_always_waits(
    house: Home, subtests: pytest.Subtests
) -> None:
    for case in CASES:
        told = await wake(
            house,
            case.call(),
            ask={"entity_id": [case.entity_id]},
            manners=WITHOUT_ASKING,
        )
        with subtests.test(case.name):
            assert NEEDS_A_YES in told.answer
            assert told.called == []
            assert told.record["outcome"] == "waiting"


@pytest.mark.contract("A1")
async def test_whatever_is_not_known_to_be_harmless_needs_a_yes(
    house: Home, subtests: pytest.Subtests
) -> None:
    for case in CASES:
        data = {**case.data()}
        await house.hass.services.async_call(case.domain, case.action, data, True)
    for entity_id, (name, arguments) in RISKY:
        call = name, {"entity_id": [entity_id], **arguments}
        told = await wake(house, call, act={"entity_id": [entity_id]})
        with subtests.test(name):
            assert NEEDS_A_YES in told.answer
            assert told.called == []


@EVERY_READING
@pytest.mark.contract("R4", "R5")
async def test_what_only_answers_is_read(house: Home, reading: Reading) -> None:
    name, arguments = reading.reads
    told = await wake(
        house,
        (name, {"entity_id": [reading.entity_id], **arguments}),
        look={"entity_id": [reading.entity_id]},
    )
    assert json.loads(told.answer)["response"] == {reading.entity_id: reading.answer}
    assert told.record["outcome"] == "nothing"
    assert told.record["actions"] == []


@EVERY_READING
@pytest.mark.contract("A1", "R4")
async def test_what_cannot_be_read_is_refused_with_a_sentence(
    house: Home, reading: Reading
) -> None:
    name, arguments = reading.wrong
    told = await wake(
        house,
        (name, {"entity_id": [reading.entity_id], **arguments}),
        look={"entity_id": [reading.entity_id]},
    )
    assert reading.because in told.answer
    assert told.called == []

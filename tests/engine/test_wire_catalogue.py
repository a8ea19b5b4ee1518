"""Each answer of the catalogue is understood as it has to be."""

import json
import math
from typing import Any

import pytest

from custom_components.proactive_agent.engine.errors import ErrorKind, ModelError
from custom_components.proactive_agent.engine.records import Reply
from custom_components.proactive_agent.engine.wire import decode_models, decode_reply
from tests.support.wire_catalogue import CHATS, MODELS, TOOLS, Case

ANSWERED = [case for case in CHATS if case.status]
ACCEPTED = [case for case in ANSWERED if case.expect == "accept"]
FAULTY = [case for case in ANSWERED if case.expect != "accept"]
# A call the model is told about, so that it can mend it within the run.
TOLD = {"B12-array-or-scalar", "C4-unknown-tool"}


def _by_id(case: Case) -> str:
    return case.id


def _decode(case: Case) -> Reply:
    return decode_reply(case.status, case.headers, case.body, TOOLS)


@pytest.mark.parametrize("case", ACCEPTED, ids=_by_id)
def test_accepted(case: Case) -> None:
    reply = _decode(case)
    calls = [
        {"name": call.name, "arguments": call.arguments, "fault": call.fault}
        for call in reply.calls
    ]
    assert calls == [{**call, "fault": None} for call in case.expected["tool_calls"]]
    assert reply.text == case.expected["content"]
    ids = [call.id for call in reply.calls]
    assert all(ids)
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("case", ACCEPTED, ids=_by_id)
def test_what_goes_back_into_the_history(case: Case) -> None:
    reply = _decode(case)
    message = json.loads(json.dumps(reply.message))
    assert message["role"] == "assistant"
    assert isinstance(message["content"], str)
    assert message.get("tool_calls", "none") != []
    echoed = message.get("tool_calls", [])
    assert [call["id"] for call in echoed] == [call.id for call in reply.calls]
    for call, sent in zip(reply.calls, echoed, strict=True):
        assert sent["type"] == "function"
        assert sent["function"]["name"] == call.name
        assert json.loads(sent["function"]["arguments"]) == call.arguments
    assert not {"refusal", "annotations", "function_call"} & message.keys()


def _only(case_id: str) -> dict[str, Any]:
    case = next(case for case in CHATS if case.id == case_id)
    return dict(_decode(case).message)


def test_a_provider_gets_its_own_fields_back() -> None:
    first, second = _only("F1-gemini3-thought_signature")["tool_calls"]
    signature = {"google": {"thought_signature": "AbCdEfSig=="}}
    assert first["extra_content"] == signature
    assert "extra_content" not in second
    message = _only("F3-deepseek-reasoning_content")
    assert message["reasoning_content"] == "I need the weather in Oslo."


def test_ids_of_the_server_are_kept_where_they_are_unique() -> None:
    ids = [call["id"] for call in _only("A6-duplicate-ids")["tool_calls"]]
    assert ids[0] == "get_weather"
    ids = [call["id"] for call in _only("B10-two-objects-concatenated")["tool_calls"]]
    assert ids[0] == "call_p1"
    (call,) = _only("D8-mistral-TOOL_CALLS")["tool_calls"]
    assert len(call["id"]) == 9
    assert call["id"].isalnum()


@pytest.mark.parametrize("case", FAULTY, ids=_by_id)
def test_refused(case: Case) -> None:
    if case.id in TOLD:
        (call,) = _decode(case).calls
        assert call.fault
        assert call.arguments == {}
        return
    with pytest.raises(ModelError) as caught:
        _decode(case)
    assert caught.value.kind == case.expected["kind"]
    assert str(caught.value)


@pytest.mark.parametrize("case", FAULTY, ids=_by_id)
def test_the_stated_delay(case: Case) -> None:
    if case.id in TOLD:
        return
    with pytest.raises(ModelError) as caught:
        _decode(case)
    stated = case.expected.get("retry_after")
    delay = caught.value.retry_after
    if stated == "capped":  # an epoch: a moment that may have passed by now
        assert delay is not None
    elif stated is None:
        assert delay is None
    else:
        assert delay is not None
        assert math.isclose(delay, stated)


@pytest.mark.parametrize("case", MODELS, ids=_by_id)
def test_models(case: Case) -> None:
    if case.expect == "accept":
        listed = decode_models(case.status, case.headers, case.body)
        assert listed == case.expected["models"]
        return
    with pytest.raises(ModelError) as caught:
        decode_models(case.status, case.headers, case.body)
    assert caught.value.kind is ErrorKind(case.expected["kind"])

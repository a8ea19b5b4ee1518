"""Forms of good answers beyond the catalogue, and what is never run."""

import json
from typing import Any

import pytest

from custom_components.proactive_agent.engine.errors import ErrorKind, ModelError
from custom_components.proactive_agent.engine.records import Reply, Usage
from custom_components.proactive_agent.engine.wire import (
    decode_reply,
    encode_request,
    tool_message,
)
from tests.support.wire_catalogue import TOOLS


def _decode(
    message: dict[str, Any], finish: str | None = "stop", **payload: Any
) -> Reply:
    choices = [{"message": message, "finish_reason": finish}]
    body = json.dumps({"choices": choices, **payload}).encode()
    return decode_reply(200, {}, body, TOOLS)


def _call(arguments: Any, name: str = "get_weather") -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"tool_calls": [{"id": "c", "type": "function", "function": function}]}


@pytest.mark.parametrize(
    ("arguments", "read"),
    [
        ("", [{}]),
        ("null", [{}]),
        ('```json\n{"city": "Oslo"}\n```', [{"city": "Oslo"}]),
        ('{"city": "Oslo"}</function><|im_end|>', [{"city": "Oslo"}]),
        ('{}{"city": "Oslo"}', [{"city": "Oslo"}]),
        ('{"city": "Oslo"}\n{"city": "Oslo"}', [{"city": "Oslo"}]),
        ('{"days": 1}{"days": true}', [{"days": 1}, {"days": True}]),
        ('"{}"', [{}]),
        ('{"city": "\\ud800x"}', [{"city": "?x"}]),
        ('{"city": "\\ud83d\\ude00"}', [{"city": "😀"}]),
        ("{}", [{}]),
    ],
)
def test_forgiven_arguments(arguments: str, read: list[dict[str, Any]]) -> None:
    reply = _decode(_call(arguments))
    assert [call.arguments for call in reply.calls] == read
    assert all(call.fault is None for call in reply.calls)


@pytest.mark.parametrize(
    "arguments",
    [
        '{"city": "Os',
        '{"city": "Oslo"} please',
        '{"city": "Oslo"} 5',
        '{"city": "Oslo"}{"city":',
        '{"city": "Oslo"}[5]',
        "{'city': 'Oslo'}",
        '"Oslo"',
        '"\\"{}\\""',
        "5",
        5,
        True,
        ["Oslo"],
        '{"days": NaN}',
        '{"days": 1e999}',
        f'{{"days": {"9" * 5000}}}',
        '{"city": ' + "[" * 99 + "]" * 99 + "}",
        "[" * 200_000,
    ],
)
def test_unreadable_arguments_are_told_to_the_model(arguments: Any) -> None:
    reply = _decode(_call(arguments))
    (call,) = reply.calls
    assert call.fault is not None
    assert "nothing was called" in call.fault
    assert call.arguments == {}
    (echoed,) = json.loads(json.dumps(reply.message))["tool_calls"]
    assert echoed["function"] == {"name": "get_weather", "arguments": "{}"}


def test_an_object_that_is_no_json_is_not_run() -> None:
    choices = [{"message": _call({"days": float("inf")})}]
    body = json.dumps({"choices": choices}).encode()
    (call,) = decode_reply(200, {}, body, TOOLS).calls
    assert call.fault


@pytest.mark.parametrize("finish", ["length", "max_tokens"])
@pytest.mark.parametrize("arguments", ["", None, {}, {"city": "Oslo"}, '{"city": "O'])
def test_a_call_that_was_cut_off_is_not_run(finish: str, arguments: Any) -> None:
    (call,) = _decode(_call(arguments), finish).calls
    assert call.fault


def test_a_whole_object_proves_that_the_cut_came_after_it() -> None:
    (call,) = _decode(_call('{"city": "Oslo"}'), "length").calls
    assert call.fault is None
    assert call.arguments == {"city": "Oslo"}


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        (" now\n", "now"),
        ("now<|channel|>json", "now"),
        ("functions.now", "now"),
        ("default_api.now", "now"),
    ],
)
def test_leftovers_of_a_template_in_a_name(name: str, meant: str) -> None:
    reply = _decode(_call("{}", name))
    assert [(call.name, call.fault) for call in reply.calls] == [(meant, None)]


@pytest.mark.parametrize(
    "name", ["Now", "nowadays", "time.now", "no", "now()", "n" * 5000, "日本"]
)
def test_a_similar_name_is_no_tool(name: str) -> None:
    reply = _decode(_call("{}", name))
    (call,) = reply.calls
    assert call.fault is not None
    assert "get_weather, now, llm_version" in call.fault
    (echoed,) = json.loads(json.dumps(reply.message))["tool_calls"]
    assert len(echoed["function"]["name"]) <= 64
    assert echoed["function"]["name"].isascii()


@pytest.mark.parametrize(
    "message",
    [
        {"tool_calls": {"id": "x", "function": {"name": "now"}}},
        {"tool_calls": [{"name": "now", "arguments": {}}]},
        {"tool_calls": [None, {"function": {"name": "now"}}, {"function": {}}]},
        {"function_call": {"name": "now", "arguments": ""}, "tool_calls": []},
        {
            "function_call": {"name": "get_weather"},
            "tool_calls": [{"function": {"name": "now"}}],
        },
        {"tool_calls": [{"id": 7, "index": 0, "function": {"name": "now"}}]},
    ],
)
def test_other_forms_of_a_call(message: dict[str, Any]) -> None:
    reply = _decode(message)
    assert [(call.name, call.fault) for call in reply.calls] == [("now", None)]
    (echoed,) = json.loads(json.dumps(reply.message))["tool_calls"]
    assert echoed.keys() == {"id", "type", "function"}
    assert echoed["function"] == {"name": "now", "arguments": "{}"}


@pytest.mark.parametrize("given", [{"city": "Oslo"}, '{"city": "Oslo"}'])
@pytest.mark.parametrize("key", ["parameters", "args", "input"])
@pytest.mark.parametrize("form", ["nested", "flat", "beside an empty one"])
def test_arguments_of_another_name_are_not_lost(
    given: Any, key: str, form: str
) -> None:
    fields: dict[str, Any] = {"name": "get_weather", key: given}
    if form == "beside an empty one":
        fields["arguments"] = ""
    raw = fields if form == "flat" else {"function": fields}
    reply = _decode({"tool_calls": [raw]})
    (call,) = reply.calls
    assert (call.name, call.arguments) == ("get_weather", {"city": "Oslo"})
    message: dict[str, Any] = {**reply.message}
    (echoed,) = message["tool_calls"]
    assert echoed.keys() == {"id", "type", "function"}
    assert echoed["function"].keys() == {"name", "arguments"}


@pytest.mark.parametrize("calls", [[None], ["now"], [{"function": {"name": " "}}]])
def test_a_nameless_call_is_no_answer(calls: Any) -> None:
    with pytest.raises(ModelError, match="nameless_call") as caught:
        _decode({"content": "Hello", "tool_calls": calls})
    assert caught.value.kind is ErrorKind.INVALID_RESPONSE


@pytest.mark.parametrize(
    "message",
    [
        {"content": "<think>" + "Hm. " * 200_000 + "</think>Hello"},
        {"tool_calls": [{"function": {"name": "now"}}] * 200_000},
        _call('{"city": "Oslo"}' + "".join(f'{{"days": {n}}}' for n in range(101))),
    ],
    ids=["thinking", "calls", "glued calls"],
)
def test_far_too_much_is_no_answer(message: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match="broken_call") as caught:
        _decode(message)
    assert caught.value.kind is ErrorKind.INVALID_RESPONSE


def test_a_nameless_legacy_call_beside_an_answer_is_none() -> None:
    message = {"content": "Hello", "function_call": {"name": "", "arguments": ""}}
    assert _decode(message).text == "Hello"


def test_one_answer_in_two_choices() -> None:
    choices = [{"message": {"content": "Let me see."}}, {"message": _call("{}", "now")}]
    body = json.dumps({"choices": choices}).encode()
    (call,) = decode_reply(200, {}, body, TOOLS).calls
    assert call.name == "now"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<think>Hm.</think>Hello", "Hello"),
        ("<think>Hm.\n<think>Hm.</think> Hello ", "Hello"),
        ("[THINK]Hm.[/THINK]Hello", "Hello"),
        ("Hm.</think>Hello", "Hello"),
        ("◁think▷Hm.◁/think▷Hello", "Hello"),
        ("<|channel|>analysis<|message|>Hm.<|end|><|channel|>final<|message|>Hi", "Hi"),
        ("  Hello ", "  Hello "),
        ({"text": "Hello"}, "Hello"),
        (["Hel", {"text": "lo"}, {"type": "image"}, {"type": "text"}, 5], "Hello"),
        ([{"type": "output_text", "text": "Hello"}], "Hello"),
    ],
)
def test_what_is_said(content: Any, text: str) -> None:
    assert _decode({"content": content}).text == text


@pytest.mark.parametrize(
    ("content", "finish", "words"),
    [
        (" \n", "stop", "empty_answer"),
        ("<think>Hm.", "stop", "empty_answer"),
        ("<think>Hm.", "length", "all_thought"),
        ([], "length", "all_thought"),
        (5, "stop", "empty_answer"),
    ],
)
def test_nothing_said_is_no_answer(content: Any, finish: str, words: str) -> None:
    with pytest.raises(ModelError, match=words) as caught:
        _decode({"content": content}, finish)
    assert caught.value.kind is ErrorKind.INVALID_RESPONSE


@pytest.mark.parametrize("finish", ["content_filter", "SAFETY", "content_filter: X"])
def test_a_filter_stops_calls_and_is_named(finish: str) -> None:
    for message in (_call("{}", "now"), {"content": ""}):
        with pytest.raises(ModelError, match="filtered") as caught:
            _decode(message, finish)
        assert caught.value.kind is ErrorKind.BAD_REQUEST
    assert _decode({"content": "Half an"}, finish).text == "Half an"


@pytest.mark.parametrize(
    ("usage", "read"),
    [
        (
            {"prompt_tokens": 20, "completion_tokens": 8},
            Usage(prompt=20, completion=8),
        ),
        ({"input_tokens": "20", "output_tokens": 8.0}, Usage(prompt=20, completion=8)),
        ({"prompt_tokens": 20}, Usage(prompt=20, estimated=True)),
        ({"total_tokens": 28}, Usage(prompt=28, estimated=True)),
        (
            {"completion_tokens": 8, "total_tokens": 28},
            Usage(prompt=20, completion=8),
        ),
        ({"prompt_tokens": 20, "total_tokens": 28}, Usage(prompt=20, completion=8)),
        ({"completion_tokens": 8}, Usage(completion=8, estimated=True)),
        ({"prompt_tokens": -1, "completion_tokens": True}, None),
        ({"prompt_tokens": None}, None),
        ("many", None),
        (None, None),
    ],
)
def test_usage(usage: Any, read: Usage | None) -> None:
    assert _decode({"content": "Hello"}, usage=usage).usage == read


def test_provider_fields_that_are_no_json_are_left_out() -> None:
    message = {"content": "Hi", "own": {"a": 1}, "odd": float("nan"), "none": None}
    assert _decode(message).message == {
        "role": "assistant",
        "content": "Hi",
        "own": {"a": 1},
    }


def test_thinking_goes_back_as_it_came() -> None:
    message = {"content": "<think>Hm.</think>", **_call("{}", "now")}
    reply = _decode(message)
    assert reply.text is None
    assert reply.message["content"] == "<think>Hm.</think>"


def test_a_request_is_as_small_as_it_can_be() -> None:
    messages = [{"role": "user", "content": "Hello"}]
    assert encode_request("m", messages, (), {}) == {
        "model": "m",
        "messages": messages,
        "stream": False,
    }


def test_tools_are_sent_as_functions() -> None:
    request = encode_request("m", [], TOOLS[:1], {})
    assert request["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "get_weather",
                "description": "The tool get_weather.",
                "parameters": TOOLS[0].parameters,
            },
        }
    ]


def test_extra_options_add_and_never_replace() -> None:
    extra = {"temperature": 0, "model": "x", "messages": [], "tools": [], "n": 2}
    extra |= {"stream": True, "stream_options": {}}
    assert encode_request("m", [], (), extra) == {
        "temperature": 0,
        "model": "m",
        "messages": [],
        "stream": False,
    }


def test_a_tool_is_answered_by_its_id() -> None:
    assert tool_message("c", "done") == {
        "role": "tool",
        "tool_call_id": "c",
        "content": "done",
    }


@pytest.mark.contract("R2")
@pytest.mark.parametrize("content", [None, "", " \n"])
def test_silence_after_a_tool_s_answer_is_an_end(content: str | None) -> None:
    reply = decode_reply(
        200,
        {},
        json.dumps(
            {"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}
        ).encode(),
        [],
        may_be_silent=True,
    )
    assert reply.text is None
    assert reply.calls == ()


@pytest.mark.contract("R2")
def test_an_answer_cut_off_before_its_first_word_is_no_silence() -> None:
    body = {"choices": [{"message": {"content": ""}, "finish_reason": "length"}]}
    with pytest.raises(ModelError):
        decode_reply(200, {}, json.dumps(body).encode(), [], may_be_silent=True)

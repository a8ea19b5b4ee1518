"""Calls that a server left in the text: whole ones are run, nothing else is."""

import json
from typing import Any

import pytest

from custom_components.proactive_agent.engine.errors import ErrorKind, ModelError
from custom_components.proactive_agent.engine.records import Reply, ToolSpec
from custom_components.proactive_agent.engine.wire import decode_reply
from tests.support.wire_catalogue import TOOLS

OSLO = ("get_weather", {"city": "Oslo"})
NOW: tuple[str, dict[str, Any]] = ("now", {})
CALL = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
V3 = "<｜tool▁call▁begin｜>"  # noqa: RUF001 - DeepSeek's own bars
V3_END = "<｜tool▁call▁end｜>"  # noqa: RUF001
V3_SEP = "<｜tool▁sep｜>"  # noqa: RUF001

TYPED = ToolSpec(
    name="typed",
    description="",
    parameters={
        "type": "object",
        "properties": {
            "whole": {"type": "integer"},
            "number": {"type": "number"},
            "flag": {"type": "boolean"},
            "list": {"type": "array"},
            "object": {"type": "object"},
            "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "either": {"type": ["integer", "string"]},
            "text": {"type": "string"},
            "free": {},
        },
    },
)


def _decode(content: Any, tools: tuple[ToolSpec, ...] = TOOLS) -> Reply:
    message = {"role": "assistant", "content": content}
    body = json.dumps({"choices": [{"message": message}]}).encode()
    return decode_reply(200, {}, body, tools)


def _calls(content: str) -> list[tuple[str, Any]]:
    calls = _decode(content).calls
    assert all(call.fault is None for call in calls)
    return [(call.name, call.arguments) for call in calls]


@pytest.mark.parametrize(
    ("content", "calls"),
    [
        (f"<tool_call>{CALL}</tool_call>", [OSLO]),
        (f"<function_call>{CALL}</function_call>", [OSLO]),
        (f"<tool_call>\n```json\n{CALL}\n```\n</tool_call>", [OSLO]),
        (f"<tool_call>[{CALL}, {CALL}]</tool_call>", [OSLO, OSLO]),
        ('<tool_call>{"name":"now","args":{}}</tool_call> Wait.', [NOW]),
        ('<tool_call>{"name":"now","parameters":""}</tool_call>', [NOW]),
        ('<tool_call>{"name":"functions.now","arguments":null}</tool_call>', [NOW]),
        (f'<tool_call>{{"type":"function","function":{CALL}}}</tool_call>', [OSLO]),
        (f"<think>{CALL}</think><tool_call>{CALL}</tool_call>", [OSLO]),
        ("<tool_call>now</tool_call>", [NOW]),
        (
            (
                "<tool_call>get_weather\n<arg_key>city</arg_key>\n"
                "<arg_value>Oslo</arg_value>\n</tool_call>"
            ),
            [OSLO],
        ),
        (
            (
                "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n"
                "</function>\n</tool_call>"
            ),
            [OSLO],
        ),
        ("<function=now></function>", [NOW]),
        ('<function=get_weather>{"city": "Oslo"}</function>', [OSLO]),
        (
            (
                '<minimax:tool_call><invoke name="get_weather"><parameter name="city">'
                "Oslo</parameter></invoke></minimax:tool_call>"
            ),
            [OSLO],
        ),
        ("<function=now></function><function=now>{}</function>", [NOW, NOW]),
        (f'{V3}get_weather{V3_SEP}{{"city": "Oslo"}}{V3_END}', [OSLO]),
        (f"{V3}function{V3_SEP}now\n```json\n{{}}\n```{V3_END}", [NOW]),
        (
            (
                "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
                '<|tool_call_argument_begin|>{"city": "Oslo"}<|tool_call_end|>'
                "<|tool_calls_section_end|>"
            ),
            [OSLO],
        ),
        ('[TOOL_CALLS]get_weather[ARGS]{"city": "Oslo"}</s>', [OSLO]),
        ('[TOOL_CALLS]get_weather{"city": "Oslo"}[TOOL_CALLS]now{}', [OSLO, NOW]),
        ("[TOOL_CALLS]now[CALL_ID]abc123[ARGS]{}", [NOW]),
        (f"[TOOL_CALLS] [{CALL}]", [OSLO]),
        (f"<|python_tag|>{CALL}; {CALL}<|eom_id|>", [OSLO, OSLO]),
        (
            (
                "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>"
                "commentary to=functions.get_weather <|constrain|>json<|message|>"
                '{"city": "Oslo"}<|call|>'
            ),
            [OSLO],
        ),
        (CALL, [OSLO]),
        (f"```json\n{CALL}\n```", [OSLO]),
        (f"[{CALL}]", [OSLO]),
    ],
)
def test_whole_calls_in_any_dialect(content: str, calls: list[Any]) -> None:
    assert _calls(content) == calls


@pytest.mark.parametrize(
    "content",
    [
        "It is 4 degrees.",
        '{"name": "Oslo", "parameters": {}}',
        '{"name": "now"}',
        '{"name": "now", "arguments": {}, "parameters": {}}',
        '{"name": "now", "description": "The time.", "parameters": {}}',
        f"{CALL} is what I would call.",
        f"I would call {CALL}",
        "[1, 2]",
        "{broken",
        f"[{CALL}, 5]",
        "``` ```",
        "An example:\n```\n<tool_call>now</tool_call>\n```\nas you see.",
        "Write `<tool_call>` before it and `</tool_call>` after it.",
    ],
)
def test_what_only_looks_like_a_call_is_text(content: str) -> None:
    reply = _decode(content)
    assert reply.text == content
    assert reply.calls == ()


@pytest.mark.parametrize(
    "content",
    [
        f"<tool_call>{CALL}",
        f"<tool_call>{CALL}</tool_call><tool_call>{CALL[:20]}",
        f"<tool_call>{CALL[:-1]}</tool_call>",
        "<tool_call></tool_call>",
        "<tool_call>Oslo, please!</tool_call>",
        "<tool_call>[5]</tool_call>",
        '<tool_call>{"name": "get_weather", "arguments": [5]}</tool_call>',
        (
            "<tool_call>get_weather<arg_key>city</arg_key><arg_key>x</arg_key>"
            "<arg_value>Oslo</arg_value></tool_call>"
        ),
        "<tool_call>well <function=now></function></tool_call>",
        "<function=get_weather><parameter=city>Oslo",
        "<function=get_weather><parameter=city>Oslo</function>",
        "<function=now>at once <parameter=city>Oslo</parameter></function>",
        "<tool_call>now<arg_key>city</arg_key>Oslo</arg_value></tool_call>",
        "word " * 8_000,
        '<function=get_weather>{"city": "Os</function>',
        f"{V3}get_weather",
        f"{V3}!{V3_END}",
        "<|tool_call_begin|>now<|tool_call_end|>",
        '<|channel|>commentary to=get_weather<|message|>{"city": "Os',
        "<|channel|>commentary to=now<|message|>",
        "[TOOL_CALLS]get_weather[ARGS]",
        '[TOOL_CALLS]get_weather{"city": "Os',
        "<|python_tag|>print(1)",
        f"<tool_call>{CALL}</tool_call>{' ' * 40_000}",
    ],
)
def test_a_broken_call_runs_nothing_and_is_not_taken_for_an_answer(
    content: str,
) -> None:
    with pytest.raises(ModelError, match="broken_call") as caught:
        _decode(content)
    assert caught.value.kind is ErrorKind.INVALID_RESPONSE


def test_an_envelope_with_a_name_nobody_declared_is_told_to_the_model() -> None:
    (call,) = _decode('<tool_call>{"name":"unlock","arguments":{}}</tool_call>').calls
    assert call.fault is not None
    assert "now" in call.fault


def test_text_around_calls_stays() -> None:
    reply = _decode(f"First.\n<tool_call>{CALL}</tool_call>\nThen. </tool_call>")
    assert reply.text == "First.\n\nThen."
    assert reply.message["content"] == reply.text


def test_without_tools_a_call_is_only_text() -> None:
    content = f"<tool_call>{CALL}</tool_call>"
    assert _decode(content, ()).text == content


def test_structured_calls_make_calls_in_the_text_mere_text() -> None:
    message = {
        "content": f"<tool_call>{CALL}</tool_call>",
        "tool_calls": [{"function": {"name": "now"}}],
    }
    body = json.dumps({"choices": [{"message": message}]}).encode()
    (call,) = decode_reply(200, {}, body, TOOLS).calls
    assert call.name == "now"


@pytest.mark.parametrize(
    ("name", "written", "value"),
    [
        ("whole", "40", 40),
        ("whole", "4.5", "4.5"),
        ("whole", "true", "true"),
        ("whole", "4 5", "4 5"),
        ("whole", "forty", "forty"),
        ("number", "4.5", 4.5),
        ("number", "4", 4),
        ("flag", "True", True),
        ("flag", "1", "1"),
        ("list", '["a"]', ["a"]),
        ("object", '{"a": 1}', {"a": 1}),
        ("maybe", "null", None),
        ("maybe", "5", 5),
        ("whole", '"5"', '"5"'),
        ("either", "5", "5"),
        ("text", "5", "5"),
        ("free", "5", "5"),
        ("stranger", "5", "5"),
    ],
)
def test_values_without_a_type_take_the_one_of_the_schema(
    name: str, written: str, value: Any
) -> None:
    content = f"<function=typed><parameter={name}>{written}</parameter></function>"
    (call,) = _decode(content, (TYPED,)).calls
    assert call.arguments == {name: value}
    assert type(call.arguments[name]) is type(value)

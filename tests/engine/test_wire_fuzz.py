"""Whatever comes down the line: a reply or a `ModelError`, and no call made up."""

import contextlib
import json
from typing import Any

from hypothesis import given, settings, strategies as st
import pytest

from custom_components.proactive_agent.engine.errors import ModelError
from custom_components.proactive_agent.engine.records import Reply
from custom_components.proactive_agent.engine.wire import (
    classify_error,
    decode_models,
    decode_reply,
)
from tests.support.wire_catalogue import CASES, CHATS, TOOLS, Case

NAMES = {tool.name for tool in TOOLS}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
KEYS = st.sampled_from(
    [
        *("choices", "message", "content", "tool_calls", "function", "name"),
        *("arguments", "id", "type", "index", "finish_reason", "error", "code"),
        *("function_call", "refusal", "usage", "prompt_tokens", "detail", "data"),
        *("metadata", "raw", "details", "loc", "msg", "object", "models", "status"),
    ]
)
WORDS = st.sampled_from(
    [
        *sorted(NAMES),
        *("{}", '{"city": "Oslo"}', "[]", "null", '"{}"', "stop", "length", "error"),
        *("<think>", "</think>", "<tool_call>", "</tool_call>", "<function=now>"),
        *("[TOOL_CALLS]", "<|python_tag|>", "```", "429", "text", "1e999", "\ud800"),
    ]
)
LOOKALIKE = st.recursive(
    st.none() | st.booleans() | st.integers(0, 999) | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner),
    max_leaves=30,
)
STATUS = st.sampled_from([200, 200, 200, 204, 301, 400, 401, 404, 429, 500, 529, 999])


def _decode(status: int, body: bytes) -> Reply | None:
    with contextlib.suppress(ModelError):
        decode_models(status, {}, body)
    classify_error(status, {}, body, api_key="secret")
    try:
        return decode_reply(status, {}, body, TOOLS)
    except ModelError:
        return None


def _check(reply: Reply | None, body: bytes) -> None:
    if reply is None:
        return
    json.dumps(reply.message, allow_nan=False).encode()
    assert reply.calls or reply.text
    assert len({call.id for call in reply.calls}) == len(reply.calls)
    for call in reply.calls:
        if call.fault is None:
            assert call.name in NAMES
            assert call.name.encode() in body
            json.dumps(call.arguments, allow_nan=False, ensure_ascii=False).encode()
        else:
            assert call.arguments == {}


@given(STATUS, st.binary())
def test_noise(status: int, body: bytes) -> None:
    _check(_decode(status, body), body)


@given(STATUS, JSON | LOOKALIKE)
def test_any_json(status: int, payload: Any) -> None:
    body = json.dumps(payload).encode()
    _check(_decode(status, body), body)


@given(LOOKALIKE, LOOKALIKE, st.sampled_from(["stop", "length", None]))
def test_any_message(content: Any, calls: Any, finish: str | None) -> None:
    message = {"content": content, "tool_calls": calls}
    choices = [{"message": message, "finish_reason": finish}]
    body = json.dumps({"choices": choices}).encode()
    _check(_decode(200, body), body)


@given(st.lists(WORDS | st.text(max_size=8), max_size=12).map("".join))
def test_any_text(content: str) -> None:
    choices = [{"message": {"content": content}}]
    body = json.dumps({"choices": choices}).encode()
    _check(_decode(200, body), body)


@settings(max_examples=300)
@given(st.data())
def test_spoilt_answers(data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(CASES))
    body = bytearray(case.body)
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(body)))
        end = data.draw(st.integers(start, min(start + 12, len(body))))
        body[start:end] = data.draw(st.binary(max_size=3) | WORDS.map(_encode))
    spoilt = bytes(body)
    _check(_decode(case.status or 200, spoilt), spoilt)


def _encode(word: str) -> bytes:
    return word.encode("utf-8", "replace")


def _with_calls() -> list[Case]:
    return [case for case in CHATS if case.expected.get("tool_calls")]


def _calls(status: int, body: bytes) -> list[tuple[str, Any]]:
    reply = _decode(status, body)
    found = reply.calls if reply else ()
    return [(call.name, call.arguments) for call in found if call.fault is None]


@pytest.mark.parametrize("case", _with_calls(), ids=lambda case: case.id)
def test_half_an_answer_runs_nothing(case: Case) -> None:
    whole = case.body.rstrip()
    for end in range(len(whole)):
        assert _calls(200, whole[:end]) == []


def _cut(value: Any, length: int) -> Any:
    """Cut each text that could hold a call, as a limit on tokens does."""
    if isinstance(value, dict):
        return {
            key: inner[:length]
            if key in ("arguments", "content") and isinstance(inner, str)
            else "length"
            if key == "finish_reason"
            else _cut(inner, length)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_cut(inner, length) for inner in value]
    return value


@pytest.mark.parametrize("case", _with_calls(), ids=lambda case: case.id)
def test_half_a_call_is_not_run(case: Case) -> None:
    payload = json.loads(case.body)
    whole = _calls(200, case.body)
    for length in range(400):
        body = json.dumps(_cut(payload, length)).encode()
        assert [call for call in _calls(200, body) if call not in whole] == []


@given(st.permutations(range(4)), st.text(" \t\r\n", max_size=5))
def test_order_and_blanks_mean_nothing(order: list[int], blanks: str) -> None:
    for case in _with_calls():
        payload = json.loads(case.body)
        items = [*payload.items()]
        shuffled = dict(items[index % len(items)] for index in (*order, *range(9)))
        body = f"{blanks}{json.dumps(shuffled, indent=2)}{blanks}".encode()
        assert _calls(200, body) == _calls(200, case.body)

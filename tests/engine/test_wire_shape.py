"""A request in the shape a server takes; what is given is never changed."""

from copy import deepcopy
import json
from typing import Any

from hypothesis import given, strategies as st
import pytest

from custom_components.proactive_agent.engine.wire.schemas import keywords_of
from custom_components.proactive_agent.engine.wire.shape import USUAL, Shape

CALL = {
    "id": "call_long-long-long",
    "type": "function",
    "function": {"name": "feed", "arguments": '{"food":"Öl"}', "note": 1},
    "extra_content": {"x": 1},
}
MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "Feed her."},
    {
        "role": "assistant",
        "content": " ",
        "tool_calls": [CALL],
        "reasoning": "She is hungry.",
    },
    {"role": "tool", "tool_call_id": "call_long-long-long", "content": "{}"},
    {"role": "assistant", "content": "Fed.", "reasoning_content": "Done."},
]
PARAMETERS = {
    "type": "object",
    "title": "Feed",
    "properties": {
        "title": {"type": "string", "title": "It"},
        "items": {"type": "array", "items": {"type": "string", "title": "One"}},
        "either": {"anyOf": [{"title": "A", "const": {"title": "kept"}}, True]},
    },
    "additionalProperties": {"title": "Other"},
    "required": ["title"],
    "default": {"title": "kept"},
}
TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": "feed", "parameters": PARAMETERS}},
    {
        "type": "function",
        "function": {"name": "now", "parameters": {"type": "object", "properties": {}}},
    },
    {"type": "function", "function": {"name": "bare"}},
]
BODY: dict[str, Any] = {
    "temperature": 0.2,
    "max_tokens": 500,
    "model": "m",
    "messages": MESSAGES,
    "stream": False,
    "tools": TOOLS,
}


def _apply(**changes: Any) -> dict[str, Any]:
    before = deepcopy(BODY)
    shaped = Shape(**changes).apply(BODY)
    assert before == BODY
    return shaped


def test_the_usual_shape_changes_nothing() -> None:
    assert _apply() == BODY
    assert USUAL.as_dict() == {}


def test_options_are_left_out_but_not_what_counts() -> None:
    keys = frozenset(BODY)
    assert _apply(dropped=keys).keys() == {"model", "messages", "tools"}


def test_a_body_without_tools_gets_none() -> None:
    body = {"model": "m", "messages": []}
    shape = Shape(schema_keywords=frozenset({"title"}), no_empty_parameters=True)
    assert shape.apply(body) == body


@pytest.mark.parametrize(
    ("sent", "shape", "limits"),
    [
        ({"max_tokens": 500}, Shape(max_tokens=20), {"max_tokens": 20}),
        ({"max_tokens": 5}, Shape(max_tokens=20), {"max_tokens": 5}),
        ({"max_tokens": None}, Shape(max_tokens=20), {"max_tokens": 20}),
        ({}, Shape(max_tokens=20), {"max_tokens": 20}),
        (
            {"max_completion_tokens": 50},
            Shape(max_tokens=20),
            {"max_completion_tokens": 20},
        ),
        (
            {},
            Shape(max_tokens=20, renamed={"max_tokens": "max_completion_tokens"}),
            {"max_completion_tokens": 20},
        ),
        (
            {},
            Shape(max_tokens=20, dropped=frozenset({"max_tokens"})),
            {"max_completion_tokens": 20},
        ),
        (
            {"max_tokens": 50},
            Shape(renamed={"max_tokens": "max_completion_tokens"}),
            {"max_completion_tokens": 50},
        ),
    ],
)
def test_the_most_that_may_be_answered(
    sent: dict[str, Any], shape: Shape, limits: dict[str, int]
) -> None:
    body = shape.apply({**sent, "model": "m", "messages": []})
    assert body == {**limits, "model": "m", "messages": []}


def test_keywords_are_taken_out_at_any_depth_and_no_properties() -> None:
    shaped = _apply(schema_keywords=frozenset({"title", "type", "properties"}))
    assert shaped["tools"][0]["function"]["parameters"] == {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "items": {"type": "array", "items": {"type": "string"}},
            "either": {"anyOf": [{"const": {"title": "kept"}}, True]},
        },
        "additionalProperties": {},
        "required": ["title"],
        "default": {"title": "kept"},
    }
    assert shaped["tools"][2] == TOOLS[2]


def test_the_keywords_there_are() -> None:
    assert keywords_of([*TOOLS, "x", {"function": {"parameters": "x"}}]) == {
        *("title", "anyOf", "const", "additionalProperties", "default")
    }


def test_tools_without_parameters() -> None:
    first, second, third = _apply(no_empty_parameters=True)["tools"]
    assert first == TOOLS[0]
    assert second["function"] == {"name": "now"}
    assert third["function"] == {"name": "bare"}


def test_what_only_another_server_knows_is_left_out() -> None:
    names = {"reasoning", "extra_content", "note", "role", "content", "name", "id"}
    messages = _apply(message_keys=frozenset(names))["messages"]
    assert messages[2] == {
        "role": "assistant",
        "content": " ",
        "tool_calls": [
            {
                "id": CALL["id"],
                "type": "function",
                "function": {"name": "feed", "arguments": '{"food":"Öl"}'},
            }
        ],
    }
    assert messages[4] == MESSAGES[4]
    assert messages[:2] == MESSAGES[:2]


def test_what_must_not_be_missing_is_there() -> None:
    keys = frozenset({"reasoning_content"})
    messages = _apply(assistant_keys=keys)["messages"]
    assert [one.get("reasoning_content") for one in messages] == [
        *(None, None, "She is hungry.", None, "Done.")
    ]
    (bare,) = Shape(assistant_keys=keys).apply(
        {"messages": [{"role": "assistant", "content": "x"}]}
    )["messages"]
    assert bare["reasoning_content"] == ""


@pytest.mark.parametrize(
    ("written", "rewritten"),
    [
        ('{"food":"Öl"}', '{"food": "\\u00d6l"}'),
        ('{"food":', "{}"),
        ("", "{}"),
        (None, "{}"),
        ({"food": 1}, '{"food": 1}'),
        ("[1]", "{}"),
    ],
)
def test_arguments_are_written_anew(written: Any, rewritten: str) -> None:
    call = {**CALL, "function": {"name": "feed", "arguments": written}}
    body = {"messages": [{"role": "assistant", "tool_calls": [call]}]}
    (message,) = Shape(rewritten_arguments=True).apply(body)["messages"]
    (again,) = message["tool_calls"]
    assert again["function"] == {"name": "feed", "arguments": rewritten}


def test_short_ids_fit_their_answers() -> None:
    messages = _apply(short_ids=True)["messages"]
    (call,) = messages[2]["tool_calls"]
    assert len(call["id"]) == 9
    assert call["id"].isalnum()
    assert messages[3]["tool_call_id"] == call["id"]
    assert "tool_call_id" not in messages[4]


def test_no_blank_text_beside_calls() -> None:
    contents = [one["content"] for one in _apply(no_blank_content=True)["messages"]]
    assert contents == ["Be kind.", "Feed her.", None, "{}", "Fed."]


@pytest.mark.contract("R1")
def test_the_users_word_stays_first_where_there_is_no_system() -> None:
    messages = _apply(no_system=True)["messages"]
    assert messages[0] == {"role": "user", "content": "Feed her.\n\nBe kind."}
    assert messages[1:] == MESSAGES[2:]
    alone = [MESSAGES[0]]
    assert Shape(no_system=True).apply({"messages": alone})["messages"] == alone
    seen = [MESSAGES[0], {"role": "user", "content": [{"type": "image_url"}]}]
    assert Shape(no_system=True).apply({"messages": seen})["messages"] == seen


def test_a_stream_is_asked_for() -> None:
    assert _apply(streamed=True)["stream"] is True


FULL = Shape(
    dropped=frozenset({"a", "b"}),
    renamed={"max_tokens": "max_completion_tokens"},
    max_tokens=7,
    schema_keywords=frozenset({"title"}),
    message_keys=frozenset({"x"}),
    assistant_keys=frozenset({"reasoning_content"}),
    rewritten_arguments=True,
    short_ids=True,
    no_blank_content=True,
    no_empty_parameters=True,
    no_system=True,
    streamed=True,
)


def test_it_is_remembered_as_json() -> None:
    stored = json.loads(json.dumps(FULL.as_dict()))
    assert len(stored) == 12
    assert Shape.from_dict(stored) == FULL


RUBBISH = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=9,
)


@given(st.dictionaries(st.sampled_from([*FULL.as_dict(), "?"]), RUBBISH) | RUBBISH)
def test_rubbish_is_read_as_if_it_were_not_there(stored: Any) -> None:
    shape = Shape.from_dict(stored)
    assert Shape.from_dict(json.loads(json.dumps(shape.as_dict()))) == shape
    shaped = shape.apply(BODY)
    assert shaped["model"] == "m"
    json.dumps(shaped, allow_nan=False)


@pytest.mark.parametrize(
    "stored",
    [
        {"max_tokens": True},
        {"max_tokens": 0},
        {"renamed": {"model": "x", "max_tokens": "messages"}},
        {"renamed": {"max_tokens": "max_tokens"}},
        {"dropped": [1, None]},
        {"streamed": "yes"},
        None,
        [],
    ],
)
def test_what_makes_no_sense(stored: Any) -> None:
    assert Shape.from_dict(stored) == USUAL

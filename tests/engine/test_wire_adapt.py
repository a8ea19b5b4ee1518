"""What a server complains of is what is changed, in whatever words it does."""

import json
from pathlib import Path
import time
from typing import Any

from hypothesis import given, strategies as st
import pytest

from custom_components.proactive_agent.engine.errors import (
    Advice,
    ErrorKind,
    ModelError,
)
from custom_components.proactive_agent.engine.wire import classify_error
from custom_components.proactive_agent.engine.wire.adapt import adapt
from custom_components.proactive_agent.engine.wire.facts import read_facts
from custom_components.proactive_agent.engine.wire.shape import USUAL, Shape

# What servers of many kinds say, and what is to be made of it.
SAID: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "fixtures" / "wire" / "complaints.json").read_text(
        encoding="utf-8"
    )
)
OPTIONS = {
    "temperature": 0.2,
    "top_p": 0.9,
    "top_k": 4,
    "seed": 1,
    "stop": ["x"],
    "n_probs": 2,
    "presence_penalty": 0.1,
    "parallel_tool_calls": False,
    "reasoning_effort": "low",
    "response_format": {"type": "text"},
    "metadata": {},
    "user": "me",
    "stream_options": {},
}
CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "feed", "arguments": '{"food": "meal"}', "note": 1},
    "extra_content": {"google": {"thought_signature": "x"}},
}
HISTORY: list[dict[str, Any]] = [
    {"role": "system", "content": "You are kind."},
    {"role": "user", "content": "Feed her."},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [CALL],
        "reasoning_content": "Hm.",
        "reasoning_details": [],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": "{}"},
]
SCHEMA = {
    "$schema": "x",
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "food": {"type": "string", "pattern": "a+", "enum": ["meal"]},
        "level": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]},
    },
    "required": ["food"],
}
TOOLS = [
    {"type": "function", "function": {"name": "feed", "parameters": SCHEMA}},
    {"type": "function", "function": {"name": "now", "parameters": {"type": "object"}}},
]


def _adapt(
    status: int, body: Any, *tried: Shape, history: Any = HISTORY, **options: Any
) -> Shape | None:
    raw = (body if isinstance(body, str) else json.dumps(body)).encode()
    error = classify_error(status, {}, raw)
    shapes = tried or (USUAL,)
    request = {
        **OPTIONS,
        **options,
        "model": "m",
        "messages": history,
        "tools": TOOLS,
        "stream": False,
    }
    return adapt(error, read_facts(status, raw), shapes[-1].apply(request), shapes)


def _error(message: str, **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message, **fields}}


@pytest.mark.parametrize(
    ("status", "body", "dropped"), [one.values() for one in SAID["refusals"]]
)
def test_a_refused_option_is_left_out(
    status: int, body: Any, dropped: str | None
) -> None:
    shape = _adapt(status, body)
    wanted = None if dropped is None else Shape(dropped=frozenset({dropped}))
    assert shape == wanted


def test_all_refused_options_of_one_answer_are_left_out() -> None:
    detail = [
        {"loc": ["body", name], "msg": "Extra inputs are not permitted"}
        for name in ("seed", "top_k", "model")
    ]
    shape = _adapt(422, {"detail": detail})
    assert shape == Shape(dropped=frozenset({"seed", "top_k"}))


RENAMED = Shape(renamed={"max_tokens": "max_completion_tokens"})
OLD = _error(
    "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
)
NEW = _error("Unsupported parameter: 'max_completion_tokens'. Use 'max_tokens'.")


@pytest.mark.parametrize(
    ("body", "tried", "sent", "shape"),
    [
        (OLD, [USUAL], {"max_tokens": 9}, RENAMED),
        (
            NEW,
            [USUAL],
            {"max_completion_tokens": 9},
            Shape(renamed={"max_completion_tokens": "max_tokens"}),
        ),
        # It was right once, and the server has changed.
        (NEW, [RENAMED], {"max_tokens": 9}, USUAL),
        # Neither is taken: no going to and fro.
        (
            NEW,
            [USUAL, RENAMED],
            {"max_tokens": 9},
            Shape(dropped=frozenset({"max_tokens"})),
        ),
        (
            OLD,
            [RENAMED, USUAL],
            {"max_tokens": 9},
            Shape(dropped=frozenset({"max_tokens"})),
        ),
        (
            OLD,
            [USUAL],
            {"max_tokens": 9, "max_completion_tokens": 9},
            Shape(dropped=frozenset({"max_tokens"})),
        ),
        (OLD, [USUAL], {}, None),
        (
            OLD,
            [Shape(max_tokens=50)],
            {},
            Shape(max_tokens=50, renamed={"max_tokens": "max_completion_tokens"}),
        ),
        (
            NEW,
            [Shape(max_tokens=50), Shape(max_tokens=50, renamed=RENAMED.renamed)],
            {},
            Shape(dropped=frozenset({"max_tokens"})),
        ),
    ],
)
def test_the_limit_has_two_names(
    body: Any, tried: list[Shape], sent: dict[str, Any], shape: Shape | None
) -> None:
    assert _adapt(400, body, *tried, **sent) == shape


@pytest.mark.parametrize(
    ("message", "sent", "limit"), [one.values() for one in SAID["limits"]]
)
def test_an_answer_is_allowed_what_there_is_room_for(
    message: str, sent: int | None, limit: int | None
) -> None:
    options = {} if sent is None else {"max_tokens": sent}
    shape = _adapt(400, _error(message), **options)
    assert (shape and shape.max_tokens) == limit


def test_what_was_left_once_may_be_too_little_for_another_time() -> None:
    low = Shape(max_tokens=20)
    thought = ModelError(ErrorKind.INVALID_RESPONSE, advice=Advice.ALL_THOUGHT)
    facts = read_facts(200, b"{}")
    assert adapt(thought, facts, {}, [low]) == USUAL
    assert adapt(thought, facts, {}, [USUAL, low]) is None
    assert adapt(thought, facts, {}, [USUAL]) is None


@pytest.mark.parametrize(
    ("status", "body", "keywords"), [one.values() for one in SAID["schemas"]]
)
def test_keywords_of_schemas(
    status: int, body: Any, keywords: list[str] | None
) -> None:
    shape = _adapt(status, body)
    if keywords is None:
        assert shape is None or not shape.schema_keywords
    elif keywords:
        assert shape == Shape(schema_keywords=frozenset(keywords))
    else:
        assert shape is not None
        assert "type" not in shape.schema_keywords


def test_named_keywords_first_then_all_of_little_use() -> None:
    refused = _error("tool schema: 'pattern' is not supported")
    first = _adapt(400, refused)
    assert first == Shape(schema_keywords=frozenset({"pattern"}))
    second = _adapt(400, refused, USUAL, first)
    assert second is not None
    assert second.schema_keywords == {
        *("$schema", "additionalProperties", "pattern", "minimum")
    }
    assert _adapt(400, refused, USUAL, first, second) is None


@pytest.mark.parametrize(
    ("status", "message", "keys"), [one.values() for one in SAID["history"]]
)
def test_fields_of_the_history(status: int, message: str, keys: list[str]) -> None:
    assert _adapt(status, _error(message)) == Shape(message_keys=frozenset(keys))


@pytest.mark.parametrize("message", SAID["reasoning"])
def test_reasoning_that_must_not_be_missing(message: str) -> None:
    wanted = Shape(assistant_keys=frozenset({"reasoning_content"}))
    assert _adapt(400, _error(message)) == wanted
    stripped = Shape(message_keys=frozenset({"reasoning_content"}))
    assert _adapt(400, _error(message), stripped) == wanted
    assert _adapt(400, _error(message), wanted, stripped) is None


@pytest.mark.parametrize(("flag", "message"), [one.values() for one in SAID["demands"]])
def test_demands_that_have_a_flag(flag: str, message: str) -> None:
    shape = _adapt(400, _error(message), history=HISTORY)
    assert shape is not None
    assert shape.as_dict() == {flag: True}
    assert _adapt(400, _error(message), USUAL, shape) is None


def test_a_broken_history_is_mended_once_also_on_a_500() -> None:
    body = _error("Failed to parse tool call arguments as JSON: x", code=500)
    mended = Shape(rewritten_arguments=True)
    assert _adapt(500, body) == mended
    assert _adapt(500, body, USUAL, mended) is None
    assert _adapt(500, body, mended) is None


def test_a_stream_that_is_refused_after_all() -> None:
    shape = _adapt(400, _error("Unsupported parameter: 'stream'"), Shape(streamed=True))
    assert shape == Shape(dropped=frozenset({"stream"}))


WORDS = st.sampled_from(
    [
        *OPTIONS,
        *("unsupported", "is not supported", "'", '"', "`", "[", "]", ";", "\n", ": "),
        *("model", "messages", "tools", "schema", "parameters", "max_tokens", "100"),
        *("reasoning_content", "missing", "must", "context length is", "maximum", "> "),
        *("pattern", "properties", "type", "system", "role", "stream", "arguments"),
    ]
)


@given(
    st.sampled_from([400, 413, 422, 500]),
    st.lists(WORDS | st.text(max_size=6), max_size=14).map(" ".join),
    st.sampled_from(["", "model", "messages", "tools[0].x", "seed", "max_tokens", "?"]),
)
def test_it_ends_and_what_counts_is_always_sent(
    status: int, message: str, param: str
) -> None:
    tried = [USUAL]
    request = {**OPTIONS, "model": "m", "messages": HISTORY, "tools": TOOLS}
    raw = json.dumps(_error(message, param=param)).encode()
    error = classify_error(status, {}, raw)
    while len(tried) < 40:
        sent = tried[-1].apply(request)
        shape = adapt(error, read_facts(status, raw), sent, tried)
        if shape is None:
            break
        tried.append(shape)
        assert Shape.from_dict(json.loads(json.dumps(shape.as_dict()))) == shape
        sent = shape.apply(request)
        assert sent["model"] == "m"
        assert len(sent["messages"]) in {3, 4}
        assert [tool["function"]["name"] for tool in sent["tools"]] == ["feed", "now"]
        properties = sent["tools"][0]["function"]["parameters"]["properties"]
        assert properties.keys() == {"food", "level"}
    assert len(tried) < 40


@pytest.mark.parametrize(
    "words",
    [
        *(
            "a",
            "a ",
            "1 ",
            "1m",
            "model ",
            "tool ",
            "tool call arguments ",
            "'",
            "seed",
        ),
        *("reasoning_content ", "missing ", "schema ", "requested 1 tokens ", "1 + "),
        *("not supported ", "messages[0].role ", "json ", "max_tokens ", "\n", "; "),
        *("maximum context length ", "system role ", "please retry ", "wait 1m1s"),
    ],
)
def test_a_long_complaint_takes_no_time(words: str) -> None:
    began = time.monotonic()
    _adapt(400, _error(words * 100_000))
    _adapt(400, words * 100_000)
    assert time.monotonic() - began < 2

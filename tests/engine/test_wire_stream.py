"""Answers in pieces that nobody asked for: put together whole, or not at all."""

import itertools
import json
import time
from typing import Any

from hypothesis import given, strategies as st
import pytest

from custom_components.proactive_agent.engine.errors import (
    Advice,
    ErrorKind,
    ModelError,
)
from custom_components.proactive_agent.engine.records import Reply, Usage
from custom_components.proactive_agent.engine.wire import decode_models, decode_reply
from custom_components.proactive_agent.engine.wire.body import ends_stream, read_body
from tests.support.wire_catalogue import CHATS, TOOLS, Case

DONE = "[DONE]"


def chunk(finish: str | None = None, /, **delta: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "x", "object": "chat.completion.chunk", "choices": [choice]}


def piece(arguments: Any = None, /, **fields: Any) -> dict[str, Any]:
    """A piece of a tool call."""
    name = fields.pop("name", None)
    function = {"name": name, "arguments": arguments}
    given = {key: value for key, value in function.items() if value is not None}
    return {**fields, "function": given}


def sse(*values: Any, end: str = "\n\n") -> bytes:
    lines = [one if isinstance(one, str) else json.dumps(one) for one in values]
    return "".join(f"data: {line}{end}" for line in lines).encode()


def read(body: bytes) -> Reply:
    return decode_reply(200, {"Content-Type": "application/json"}, body, TOOLS)


def called(reply: Reply) -> list[tuple[str, Any]]:
    return [(one.name, one.arguments) for one in reply.calls if one.fault is None]


STOP = chunk("stop")
USED = {"choices": [], "usage": {"prompt_tokens": 20, "completion_tokens": 8}}
HELLO = (chunk(role="assistant", content=""), chunk(content="Hel"), chunk(content="lo"))


@pytest.mark.parametrize(
    "body",
    [
        sse(*HELLO, STOP, USED, DONE),
        sse(*HELLO, STOP, DONE),
        sse(*HELLO, DONE),
        sse(*HELLO, STOP),
        sse(*HELLO, STOP, end="\n"),
        sse(*HELLO, STOP, DONE, end="\r\n\r\n"),
        b": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n" + sse(*HELLO, STOP),
        b"\n\n\xef\xbb\xbf".lstrip() + sse(*HELLO, STOP, DONE),
        sse(*HELLO, STOP, DONE).replace(b"data: ", b"data:"),
        sse(*HELLO, "ping", STOP, DONE),
        b"retry: 3\nid: 1\n" + sse(*HELLO, STOP, DONE),
        sse(*HELLO, STOP).replace(b"data:", b"event: message\ndata:"),
        json.dumps(STOP | {"choices": [{"message": {"content": "Hello"}}]}).encode(),
        sse({"choices": [{"message": {"role": "assistant", "content": "Hello"}}]}),
        b"".join(json.dumps(one).encode() + b"\n" for one in (*HELLO, STOP)),
        sse(chunk(content=[{"type": "text", "text": "Hel"}, "lo"]), STOP),
        sse(chunk(content="Hel"), chunk(content=["lo"]), STOP),
        sse(chunk(content="Hel"), chunk(content={"type": "text", "text": "?"}), STOP)
        .replace(b'{"type": "text", "text": "?"}', b'"lo"'),
    ],
)  # fmt: skip
def test_an_answer_in_pieces(body: bytes) -> None:
    reply = read(body)
    assert reply.text == "Hello"
    assert reply.message["content"] == "Hello"


def test_all_that_is_said_in_pieces() -> None:
    reply = read(
        sse(
            chunk(role="assistant", content=None, reasoning_content="The cat "),
            chunk(reasoning_content="is hungry.", content="I feed "),
            chunk(content="her.", reasoning_details=[{"text": "a"}]),
            chunk(refusal=None, reasoning_details=[{"text": "b"}], provider="x"),
            chunk("stop"),
            {"choices": [], "usage": None},
            {"choices": [], "x_groq": {"usage": {"prompt_tokens": 5}}},
            DONE,
        )
    )
    assert reply.text == "I feed her."
    assert reply.usage == Usage(prompt=5, estimated=True)
    assert reply.message == {
        "role": "assistant",
        "content": "I feed her.",
        "reasoning_content": "The cat is hungry.",
        "reasoning_details": [{"text": "a"}, {"text": "b"}],
        "provider": "x",
    }


def test_only_the_ends_of_lines_end_lines() -> None:
    said = "a\u2028b\u2029c\x85d"
    event = json.dumps(chunk("stop", content=said), ensure_ascii=False)
    assert read(sse(event, end="\r\r")).text == said


def test_the_usage_may_stand_in_the_choice() -> None:
    last = chunk("stop", content="Hi.")
    last["choices"][0]["usage"] = {"prompt_tokens": 3, "completion_tokens": 2}
    assert read(sse(last)).usage == Usage(prompt=3, completion=2)


OSLO = ("get_weather", {"city": "Oslo"})
ROME = ("get_weather", {"city": "Rome"})
NOW: tuple[str, dict[str, Any]] = ("now", {})


@pytest.mark.parametrize(
    ("pieces", "calls"),
    [
        # OpenAI: an index, and the name at first
        (
            [
                piece("", index=0, id="a", name="get_weather", type="function"),
                piece('{"ci', index=0),
                piece('ty": "Oslo"}', index=0),
                piece("", index=1, id="b", name="now", type="function"),
                piece("{}", index=1),
            ],
            [OSLO, NOW],
        ),
        # One between the other
        (
            [
                piece("", index=0, id="a", name="get_weather"),
                piece("", index=1, id="b", name="get_weather"),
                piece('{"city":', index=0),
                piece('{"city": "Rome"}', index=1),
                piece('"Oslo"}', index=0),
            ],
            [OSLO, ROME],
        ),
        # An id without an index
        (
            [
                piece('{"city":', id="a", name="get_weather"),
                piece('{"city":"Rome"}', id="b", name="get_weather"),
                piece('"Oslo"}', id="a"),
            ],
            [OSLO, ROME],
        ),
        # Neither
        (
            [
                piece(name="get_weather"),
                piece('{"city":'),
                piece('"Oslo"}'),
                piece("", name="now"),
            ],
            [OSLO, NOW],
        ),
        # The name with each piece
        (
            [
                piece('{"city":', index=0, id="a", name="get_weather"),
                piece('"Oslo"}', index=0, id="a", name="get_weather"),
            ],
            [OSLO],
        ),
        (
            [
                piece('{"city":', index=0, name="get_weather"),
                piece('"Oslo"}', index=0, name="get_weather"),
            ],
            [OSLO],
        ),
        (
            [
                piece('{"city": "Oslo", "days": {}', index=0, name="get_weather"),
                piece("}", index=0, name="get_weather"),
            ],
            [("get_weather", {"city": "Oslo", "days": {}})],
        ),
        # The name in pieces
        (
            [
                piece(index=0, id="a", name="get_"),
                piece(index=0, name="weather"),
                piece('{"city": "Oslo"}', index=0),
            ],
            [OSLO],
        ),
        # One index for all, another id for each
        (
            [
                piece('{"city": "Oslo"}', index=0, id="a", name="get_weather"),
                piece('{"city": "Rome"}', index=0, id="b", name="get_weather"),
            ],
            [OSLO, ROME],
        ),
        # One index for all, and no id at all
        (
            [
                piece('{"city": "Oslo"}', index=0, name="get_weather"),
                piece('{"city": "Rome"}', index=0, name="get_weather"),
            ],
            [OSLO, ROME],
        ),
        # Another id with each piece
        (
            [
                piece('{"city":', index=0, id="a", name="get_weather"),
                piece('"Oslo"}', index=0, id="b"),
            ],
            [OSLO],
        ),
        (
            [
                piece('{"city":', id="a", name="get_weather"),
                piece('"Oslo"}', id="b"),
            ],
            [OSLO],
        ),
        # Whole calls, with objects
        (
            [
                piece({"city": "Oslo"}, name="get_weather"),
                piece({}, name="now"),
                piece({"city": "Rome"}, name="get_weather"),
            ],
            [OSLO, NOW, ROME],
        ),
        ([piece({"city": "Oslo"}, index=0, name="get_weather"),
          piece({"city": "Oslo"}, index=0)], [OSLO]),
        # No arguments at all
        ([piece(index=0, id="a", name="now")], [NOW]),
        # Arguments that contradict each other, and what nobody named, are no calls
        ([piece({"city": "Oslo"}, index=0, name="get_weather"),
          piece({"city": "Rome"}, index=0)], []),
        ([piece('{"city": "Os', index=0, id="a", name="get_weather")], []),
        ([piece('{"city": "Oslo"', index=0, name="get_weather"), piece("}x}", index=0)],
         []),
    ],
)  # fmt: skip
def test_calls_in_pieces(pieces: list[Any], calls: list[Any]) -> None:
    streamed = [chunk(tool_calls=[one]) for one in pieces]
    reply = read(sse(*streamed, chunk("tool_calls"), DONE))
    assert called(reply) == calls
    assert len({one.id for one in reply.calls}) == len(reply.calls)
    at_once = read(sse(chunk("tool_calls", tool_calls=pieces), DONE))
    assert called(at_once) == calls


@pytest.mark.parametrize("calls", [[], [piece("{}", index=0)], [{}], ["x"], "x"])
def test_pieces_that_are_no_call(calls: Any) -> None:
    with pytest.raises(ModelError) as caught:
        read(sse(chunk("stop", tool_calls=calls)))
    assert caught.value.kind is ErrorKind.INVALID_RESPONSE


def test_no_calls_beside_an_answer() -> None:
    body = sse(chunk(content="Hi.", tool_calls=None, function_call=None), STOP)
    assert read(body).text == "Hi."


def test_signatures_are_kept() -> None:
    signed = {"extra_content": {"google": {"thought_signature": "s"}}}
    first = piece('{"city": "Oslo"}', index=0, id="a", name="get_weather", **signed)
    reply = read(sse(chunk(tool_calls=[first]), chunk("tool_calls")))
    (call,) = json.loads(json.dumps(reply.message["tool_calls"]))
    assert call["extra_content"] == signed["extra_content"]
    assert "index" not in call


def test_a_call_of_the_old_kind() -> None:
    reply = read(
        sse(
            chunk(function_call={"name": "get_weather", "arguments": ""}),
            chunk(function_call={"arguments": '{"city": '}),
            chunk(function_call={"arguments": '"Oslo"}'}),
            chunk("function_call"),
        )
    )
    assert called(reply) == [OSLO]


def ollama(*, done: bool = False, **message: Any) -> dict[str, Any]:
    return {"model": "m", "message": {"role": "assistant", **message}, "done": done}


def lines(*values: Any) -> bytes:
    return b"\n".join(json.dumps(value).encode() for value in values) + b"\n"


LAST = {
    **ollama(content="", done=True),
    "done_reason": "stop",
    "prompt_eval_count": 20,
    "eval_count": 8,
}


def test_the_lines_of_ollama() -> None:
    weather = {"function": {"name": "get_weather", "arguments": {"city": "Oslo"}}}
    now = {"function": {"index": 1, "name": "now", "arguments": {}}}
    reply = read(
        lines(
            ollama(content="", thinking="Hm"),
            ollama(content="Let me see.", tool_calls=[weather]),
            ollama(content="", tool_calls=[now]),
            LAST,
        )
    )
    assert called(reply) == [OSLO, NOW]
    assert reply.text == "Let me see."
    assert reply.usage == Usage(prompt=20, completion=8)


def test_one_line_of_ollama() -> None:
    assert read(lines(ollama(content="Hi.", done=True))).text == "Hi."
    thought = ollama(content="", thinking="Hm", done=True) | {"done_reason": "length"}
    with pytest.raises(ModelError) as caught:
        read(lines(thought))
    assert caught.value.advice is Advice.ALL_THOUGHT


WHOLE = {"choices": [{"message": {"role": "assistant", "content": "Hello"}}]}
WEATHER = piece('{"city": "Oslo"}', index=0, id="a", name="get_weather")


@pytest.mark.parametrize(
    "body",
    [
        sse(*HELLO),
        sse(chunk(tool_calls=[WEATHER])),
        sse(chunk(tool_calls=[WEATHER]))[:-9],
        sse(*HELLO, '{"choices": [{"del'),
        sse(*HELLO, '{"choices": [{"del', STOP, DONE),
        lines(ollama(content="Hel"), ollama(content="lo")),
        lines(ollama(content="Hel"), LAST)[:-9],
        lines(ollama(content="Hel")),
        # Whole answers, but two of them
        lines(WHOLE, WHOLE),
        sse(WHOLE, WHOLE, DONE),
        sse(*HELLO, WHOLE, DONE),
        # All so far with each piece, and no end
        sse({"choices": [{"delta": {"content": "H"}, "message": {"content": "H"}}]}),
        b"data: \n\n",
        b"data: [DONE]\n\n",
        b": nothing\n\n",
        b": only\n: comments",
        b"event: ping\n\n",
        b"data: ping\n\n",
        b'{"choices": [',
    ],
)
def test_what_is_cut_off_is_no_answer(body: bytes) -> None:
    with pytest.raises(ModelError) as caught:
        read(body)
    assert caught.value.kind is ErrorKind.INVALID_RESPONSE
    assert caught.value.usage is None


@pytest.mark.parametrize(
    ("events", "kind"),
    [
        (sse(*HELLO, {"error": {"code": 429, "message": "slow"}}), "rate_limit"),
        (sse({"error": {"code": 502, "message": "gone"}}, DONE), "overloaded"),
        (sse(*HELLO, {"error": "Overloaded"}, STOP, DONE), "overloaded"),
        (
            sse(*HELLO) + b'event: error\ndata: {"message": "Overloaded"}\n\n',
            "overloaded",
        ),
        (sse({"object": "error", "message": "x", "code": 401}), "auth"),
        (lines(ollama(content="Hel"), {"error": "server busy"}), "overloaded"),
        (
            sse(chunk(content="x"), {"choices": [{"error": {"code": 503}}]}, DONE),
            "overloaded",
        ),
        (sse({"detail": "Not Found"}), "not_openai_api"),
        (sse({"type": "message_start"}, {"type": "message_stop"}), "not_openai_api"),
        (sse({"choices": []}, DONE), "invalid_response"),
        (sse({"choices": [5]}, DONE), "invalid_response"),
        (sse({"choices": None}, DONE), "invalid_response"),
    ],
)
def test_an_error_in_the_stream(events: bytes, kind: str) -> None:
    with pytest.raises(ModelError) as caught:
        read(events)
    assert caught.value.kind is ErrorKind(kind)


def test_a_status_counts_also_for_a_stream() -> None:
    with pytest.raises(ModelError) as caught:
        decode_reply(429, {}, sse({"error": {"message": "no"}}), TOOLS)
    assert caught.value.kind is ErrorKind.RATE_LIMIT


@pytest.mark.parametrize(
    "body",
    [
        *(b"data: 1\n\n", b"data: {}\n\n", b"data: {}\n", b"{}\n", b": x\n\n", b":\n"),
        *(b'data: {"choices": []}\n\n', b"data:\n", b"\n", b"data: [DONE]\n\n", b"1\n"),
        *(b"data: {}{}{}{}\n\n", b"event: error\n", b"[", b'{"error":', b"<"),
    ],
)
def test_far_too_much_takes_no_time(body: bytes) -> None:
    began = time.monotonic()
    with pytest.raises(ModelError):
        read(body * (8_000_000 // len(body)))
    assert time.monotonic() - began < 9


def test_a_list_of_models_in_lines_is_none() -> None:
    with pytest.raises(ModelError):
        decode_models(200, {}, lines({"id": "a"}, {"id": "b"}))


def test_other_values_are_read_as_they_are() -> None:
    for value in ([1, 2], {"a": 1}, 5, "x", None, {"message": 1, "done": True}):
        assert read_body(json.dumps(value).encode()) == value


@pytest.mark.parametrize(
    ("body", "is_over"),
    [
        (b"", False),
        (b"data: {}\n\ndata: [DONE]", True),
        (b"data: {}\n\ndata: [DONE]\n\n", True),
        (b"data: {}\r\n\r\ndata:[DONE]\r\n\r\n", True),
        (b'data: {"x": "data: [DONE]"}', False),
        (b"data: [DONE] \n\ndata: {}", False),
        (b'{"choices": []}\n\ndata: [DONE]\n', True),
    ],
)
def test_the_end_of_a_stream(body: bytes, is_over: bool) -> None:
    assert ends_stream(body) is is_over


def _streamed(case: Case, cuts: list[int]) -> list[dict[str, Any]]:
    """Cut an answer of the catalogue into pieces, as a server would."""
    payload = json.loads(case.body)
    message = payload["choices"][0]["message"]
    chunks = [chunk(role="assistant")]
    for key, value in message.items():
        if key == "tool_calls" and value:
            chunks += _call_chunks(value, cuts)
        elif isinstance(value, str) and key != "role":
            chunks += [chunk(**{key: part}) for part in _parts(value, cuts)]
        else:
            chunks.append(chunk(**{key: value}))
    return [*chunks, chunk(payload["choices"][0].get("finish_reason") or "stop")]


def _call_chunks(calls: list[Any], cuts: list[int]) -> list[dict[str, Any]]:
    found = []
    for index, call in enumerate(calls):
        function = call["function"]
        arguments = function.get("arguments")
        first = {**call, "index": index, "function": {"name": function["name"]}}
        found.append(chunk(tool_calls=[first]))
        parts = _parts(arguments, cuts) if isinstance(arguments, str) else [arguments]
        found += [chunk(tool_calls=[piece(part, index=index)]) for part in parts]
    return found


def _parts(text: str, cuts: list[int]) -> list[str]:
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    return [text[start:end] for start, end in itertools.pairwise(places)]


ACCEPTED = [
    case
    for case in CHATS
    if case.expect == "accept" and not case.body.lstrip().startswith(b"<")
    if b"[DONE]" not in case.body
]


@given(st.data())
def test_the_catalogue_in_pieces(data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(ACCEPTED))
    chunks = _streamed(case, data.draw(st.lists(st.integers(0, 999), max_size=5)))
    end = data.draw(st.sampled_from(["\n\n", "\n", "\r\n\r\n"]))
    whole = read(case.body)
    reply = read(sse(*chunks, DONE, end=end))
    assert called(reply) == called(whole)
    assert reply.text == whole.text


@given(st.data())
def test_the_catalogue_cut_off_runs_nothing_that_was_not_whole(
    data: st.DataObject,
) -> None:
    case = data.draw(st.sampled_from(ACCEPTED))
    chunks = _streamed(case, data.draw(st.lists(st.integers(0, 999), max_size=5)))
    body = sse(*chunks)
    cut = body[: data.draw(st.integers(0, len(body) - len(sse(chunks[-1]))))]
    with pytest.raises(ModelError):
        read(cut)

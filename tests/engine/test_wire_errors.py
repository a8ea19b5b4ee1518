"""The same fault comes out the same, in whatever words a server reports it."""

from datetime import UTC, datetime
import json
from pathlib import Path
from typing import Any

import pytest

from custom_components.proactive_agent.engine.errors import (
    Advice,
    ErrorKind,
    ModelError,
)
from custom_components.proactive_agent.engine.records import Usage
from custom_components.proactive_agent.engine.wire import (
    classify_error,
    decode_models,
    decode_reply,
)
from custom_components.proactive_agent.engine.wire.models import is_listed

# What servers of many kinds say of one and the same fault.
SAID = Path(__file__).parents[1] / "fixtures" / "wire" / "errors.json"
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def _classify(
    status: int,
    body: Any,
    headers: dict[str, str] | None = None,
    *,
    api_key: str = "",
) -> ModelError:
    raw = body if isinstance(body, str) else json.dumps(body)
    return classify_error(status, headers or {}, raw.encode(), api_key=api_key, now=NOW)


def _error(message: str, **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message, **fields}}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, "", "auth"),
        (401, "<html><title>Login</title></html>", "auth"),
        (403, _error("Forbidden"), "auth"),
        (400, _error("Missing API key"), "auth"),
        (200, _error("No auth credentials found", code=401), "auth"),
        (403, _error("Insufficient balance"), "quota"),
        (403, _error("Key limit exceeded (total limit)."), "quota"),
        (400, _error("Your credit balance is too low"), "quota"),
        (429, _error("You exceeded your current quota", code=429), "quota"),
        (403, _error("API rate limit exceeded"), "rate_limit"),
        (429, "slow down", "rate_limit"),
        (200, _error("x", code="rate_limit_exceeded"), "rate_limit"),
        (503, "<html><title>503</title></html>", "overloaded"),
        (521, "", "overloaded"),
        (500, _error("boom"), "overloaded"),
        (200, _error("Overloaded", type="overloaded_error"), "overloaded"),
        (503, {"error": "Model m is currently loading"}, "loading"),
        (500, _error("the model is starting up"), "loading"),
        (404, {"error": "model 'm' not found"}, "model_not_found"),
        (400, _error("No models loaded. Please load a model"), "model_not_found"),
        (400, _error("x", code="model_not_supported"), "model_not_found"),
        (404, _error("No endpoints found for foo/bar."), "model_not_found"),
        (
            403,
            _error("no access to model m", code="model_not_found"),
            "model_not_found",
        ),
        (413, "<html><title>413 Request Entity Too Large</title>", "context_length"),
        (400, _error("prompt is too long: 9 tokens > 8 maximum"), "context_length"),
        (
            500,
            _error("the request exceeds the available context size"),
            "context_length",
        ),
        (429, _error("Request too large for m on tokens per min"), "context_length"),
        (400, _error("input token count (9) exceeds"), "context_length"),
        (
            404,
            _error("No endpoints found that support tool use."),
            "unsupported_parameter",
        ),
        (400, _error("`tools` is not supported"), "unsupported_parameter"),
        (400, _error("tool calling is not enabled"), "unsupported_parameter"),
        (400, _error("Unknown parameter: 'seed'"), "unsupported_parameter"),
        (400, _error("Unrecognized request argument: x"), "unsupported_parameter"),
        (500, _error("error parsing tool call: raw='{'"), "invalid_response"),
        (400, _error("x", code="tool_use_failed"), "invalid_response"),
        (400, {"error": {"failed_generation": "x"}}, "invalid_response"),
        (408, "", "timeout"),
        (404, "404 page not found", "not_openai_api"),
        (404, "<html><body>nothing</body></html>", "not_openai_api"),
        (405, "", "not_openai_api"),
        (501, "<html></html>", "not_openai_api"),
        (302, "", "not_openai_api"),
        (400, "The plain HTTP request was sent to HTTPS port", "not_openai_api"),
        (200, "Ollama is running", "not_openai_api"),
        (200, {"error": "Not Found"}, "not_openai_api"),
        (200, _error("x", type="invalid_request_error"), "bad_request"),
        (400, _error("nonsense"), "bad_request"),
        (418, {}, "bad_request"),
        (200, "", "invalid_response"),
        (200, '{"choices": [{"message": {"content": "not found', "invalid_response"),
        (200, {"error": True, "message": "hm"}, "invalid_response"),
        (200, {"error": {"error": {"message": "hm", "code": 503}}}, "overloaded"),
        (400, {"error": {"code": "1113", "message": "in arrears"}}, "quota"),
        (400, {"errors": 1, "msg": "nonsense"}, "bad_request"),
        (400, {"detail": "nonsense"}, "bad_request"),
        (400, {"error": ["nonsense", {"msg": "x"}]}, "bad_request"),
        (400, [{"error": {"details": [{"reason": "API_KEY_INVALID"}]}}], "auth"),
    ],
)
def test_kind(status: int, body: Any, kind: str) -> None:
    assert _classify(status, body).kind is ErrorKind(kind)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [one.values() for one in json.loads(SAID.read_text(encoding="utf-8"))],
)
def test_the_words_of_many_servers(status: int, body: Any, kind: str) -> None:
    assert _classify(status, body).kind is ErrorKind(kind)


@pytest.mark.parametrize(
    ("headers", "body", "delay"),
    [
        ({"retry-after": "7"}, "", 7),
        ({"Retry-After": "0.5"}, "", 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, "", 1.5),
        ({"Retry-After": "Mon, 30 Nov 2026 12:00:30 GMT"}, "", 30),
        ({"Retry-After": "Mon, 30 Nov 2026 12:00:30 -0000"}, "", 30),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, "", 0),
        ({"Retry-After": str(int(NOW.timestamp()) + 20)}, "", 20),
        ({"Retry-After": "1000000000"}, "", 0),
        ({"Retry-After": "soon"}, "", None),
        ({"Retry-After": "-5"}, "", None),
        ({"Retry-After": "Mon, 30 Nov 2026 12:00:30 +9999"}, "", None),
        (
            {
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "6m0s",
            },
            "",
            360,
        ),
        ({"x-ratelimit-remaining-tokens": "0"}, "", None),
        ({"Retry-After": "7s"}, "", 7),
        ({"Retry-After": "1m3s"}, "", 63),
        ({"Retry-After": "350 ms"}, "", 0.35),
        ({"Retry-After": "2026-11-30T12:00:30Z"}, "", 30),
        ({"Retry-After": "2026-11-30T11:00:00+00:00"}, "", 0),
        ({"Retry-After": str(int(NOW.timestamp() + 20) * 1000)}, "", 20),
        ({"Retry-After": "31622400"}, "", 31_622_400),
        ({"Retry-After": "31622401"}, "", None),
        ({"Retry-After": "999999999"}, _error("try again in 5s"), 5),
        ({"Retry-After": "999999999d"}, "", None),
        ({"Retry-After": "1e3"}, "", None),
        ({"Retry-After": "7 apples"}, "", None),
        ({"retry-after-ms": "1m"}, "", None),
        ({"x-ratelimit-reset-requests": "1m3s"}, "", 63),
        ({"x-ratelimit-reset-tokens": "250ms"}, "", 0.25),
        ({"x-ratelimit-reset-tokens": "12.5"}, "", 12.5),
        ({"x-ratelimit-reset-requests": "2026-11-30T12:01:00Z"}, "", 60),
        (
            {
                "x-ratelimit-remaining-requests": "14",
                "x-ratelimit-reset-requests": "2m",
                "x-ratelimit-remaining-tokens": "0",
                "x-ratelimit-reset-tokens": "7.66s",
            },
            "",
            7.66,
        ),
        (
            {
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "1m",
                "x-ratelimit-remaining-tokens": "0",
                "x-ratelimit-reset-tokens": "soon",
            },
            "",
            60,
        ),
        (
            {"x-ratelimit-reset-requests": "1m", "x-ratelimit-reset-tokens": "2m"},
            "",
            120,
        ),
        (
            {"x-ratelimit-remaining-tokens": "9", "x-ratelimit-reset-tokens": "2m"},
            "",
            None,
        ),
        (
            {},
            _error(
                "x",
                metadata={
                    "headers": {
                        "X-RateLimit-Remaining": "0",
                        "X-RateLimit-Reset": int(NOW.timestamp() + 40) * 1000,
                    }
                },
            ),
            40,
        ),
        ({}, _error("x", metadata={"headers": {"Retry-After": 9}}), 9),
        (
            {"Retry-After": "3"},
            _error("x", metadata={"headers": {"retry-after": 9}}),
            3,
        ),
        ({}, _error("x", metadata={"headers": ["Retry-After", 9]}), None),
        ({}, _error("x", retry_after_ms=1500), 1.5),
        ({}, _error("x", retry_after_ms="250"), 0.25),
        ({}, _error("x", retry_after_ms="soon"), None),
        ({}, _error("x", retryAfter="7s"), 7),
        ({}, _error("x", retryAfterMs=10**14), None),
        ({}, _error("x", retry_after="2026-11-30T12:00:30Z"), 30),
        ({}, _error("x", retry_after=-3), None),
        ({}, _error("x", retry_after=None), None),
        ({}, _error("x", retry_after=[3]), None),
        ({}, _error("x", retry_after=3), 3),
        ({}, _error("x", retry_after=True), None),
        ({}, {"error": "Model m is currently loading", "estimated_time": 20.5}, 20.5),
        ({}, _error("x", metadata={"retry_after_seconds": 4}), 4),
        ({}, _error("x", details=[{"retryDelay": "34.5s"}, "x"]), 34.5),
        ({}, _error("Please try again in 4.77s."), 4.77),
        ({}, _error("Please try again in 1m2.5s. Visit us."), 62.5),
        ({}, _error("Please retry after 20 seconds."), 20),
        ({}, _error("try again in 120ms"), 0.12),
        ({}, _error("try again in 2 hours"), 7200),
        ({}, _error("try again in 1 day"), 86400),
        ({}, _error("try again later, 5 apples"), None),
        ({}, "Retry in 3 minutes", 180),
    ],
)
def test_delay(headers: dict[str, str], body: Any, delay: float | None) -> None:
    assert _classify(429, body, headers).retry_after == pytest.approx(delay)


def test_a_date_is_held_against_the_clock_of_the_server() -> None:
    headers = {
        "Date": "Wed, 21 Oct 2015 07:28:00 GMT",
        "Retry-After": "Wed, 21 Oct 2015 07:28:09 GMT",
    }
    assert classify_error(429, headers, b"").retry_after == 9


def test_a_delay_that_is_named_means_that_the_account_is_not_empty() -> None:
    spent = _error("You exceeded your current quota, check your billing")
    assert _classify(429, spent).kind is ErrorKind.QUOTA
    assert _classify(429, spent, {"Retry-After": "30"}).kind is ErrorKind.RATE_LIMIT


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Incorrect API key provided: my-own-key.", "my-own-key"),
        ("Incorrect API key provided: sk-proj-abc123.", "other"),
        ("bad header Bearer abcdefgh123", ""),
        ("bad key AIzaSyA1234567890", ""),
        ("bad key 0123456789abcdef0123456789abcdef", ""),
        (f"{'x' * 195} my-own-key", "my-own-key"),
    ],
)
def test_no_key_is_ever_shown(text: str, key: str) -> None:
    said = str(_classify(401, _error(text), api_key=key))
    for secret in ("my-own", "abc123", "abcdefgh", "AIzaSy", "0123456789"):
        assert secret not in said


def test_a_short_key_does_not_eat_the_sentence() -> None:
    said = str(_classify(400, _error("an example"), api_key="a"))
    assert said.endswith(": 400: an example")


def test_what_a_server_says_is_one_short_line() -> None:
    said = str(_classify(400, _error("a\n\x07b\t" + "long " * 100)))
    assert "a b long" in said
    assert len(said) < 320
    assert "\n" not in said


def test_it_says_where_a_validation_failed() -> None:
    detail = [{"loc": ["body", "messages", 2], "msg": "Field required"}, {"x": 1}, 5]
    said = str(_classify(422, {"detail": detail}))
    assert "body.messages.2: Field required" in said


def test_it_says_what_stands_behind_a_gateway() -> None:
    error = _error("Provider returned error", metadata={"raw": "upstream is busy"})
    assert "upstream is busy" in str(_classify(502, error))


def test_it_names_the_address_a_redirect_leads_to() -> None:
    target = {"Location": "https://box/v1/chat/completions"}
    moved = _classify(301, "", target)
    assert moved.advice is Advice.REDIRECTED
    assert moved.placeholders == {"target": "https://box/v1"}
    assert _classify(301, "", {"Location": "/login"}).advice is Advice.NOT_OPENAI_API


@pytest.mark.parametrize(
    "body",
    [
        _error("m does not support tools"),
        {
            "detail": [
                {"loc": ["body", "tools"], "msg": "Extra inputs are not permitted"}
            ]
        },
        _error("Unsupported", code="unsupported_parameter", param="tools"),
    ],
)
def test_a_model_without_tools_is_called_so(body: Any) -> None:
    error = _classify(400, body)
    assert error.kind is ErrorKind.UNSUPPORTED_PARAMETER
    assert error.advice is Advice.NO_TOOLS


def test_another_option_is_not_taken_for_tools() -> None:
    error = _error("Unsupported parameter: 'temperature'", code="unsupported_parameter")
    assert _classify(400, error).advice is Advice.UNSUPPORTED_PARAMETER


def test_tools_that_the_server_has_switched_off() -> None:
    flag = '"auto" tool choice requires --enable-auto-tool-choice to be set'
    assert _classify(400, _error(flag)).advice is Advice.TOOLS_OFF
    off = "tools is currently not enabled"
    assert _classify(400, _error(off)).advice is Advice.TOOLS_OFF
    # llama.cpp calls it a failure of its own.
    failure = {"code": 500, "message": "tools param requires --jinja flag"}
    assert _classify(500, {"error": failure}).advice is Advice.TOOLS_OFF


def test_a_page_is_called_one() -> None:
    page = "<html><title>Open WebUI</title>"
    assert _classify(200, page).advice is Advice.WEB_PAGE
    assert _classify(404, page).advice is Advice.WEB_PAGE
    assert _classify(502, page).advice is Advice.OVERLOADED


@pytest.mark.parametrize(
    ("payload", "kind", "words"),
    [
        ({"choices": []}, "invalid_response", "choices"),
        ({"choices": [7]}, "invalid_response", "choices"),
        ({"choices": [{"message": None}]}, "invalid_response", "choices"),
        ({"object": "chat.completion"}, "invalid_response", "object"),
        ({"model": "m", "done": True}, "not_openai_api", "model, done"),
        ({}, "not_openai_api", "nothing"),
        ([], "not_openai_api", "nothing"),
        ("hello", "not_openai_api", "nothing"),
        ({"detail": "Not Found"}, "not_openai_api", "Not Found"),
        ({"code": 401, "msg": "who are you"}, "auth", "who are you"),
        (
            {"choices": [{"error": {"code": 502, "message": "gone"}}]},
            "overloaded",
            "gone",
        ),
        ({"choices": [{"error": "gone", "message": {}}]}, "invalid_response", "gone"),
    ],
)
def test_a_fine_status_without_an_answer(payload: Any, kind: str, words: str) -> None:
    with pytest.raises(ModelError, match=words) as caught:
        decode_reply(200, {}, json.dumps(payload).encode(), ())
    assert caught.value.kind is ErrorKind(kind)


@pytest.mark.parametrize(
    ("payload", "models"),
    [
        ({"data": [{"id": "a"}, {"id": "a"}, {"id": 5}, "b", None]}, ["a", "b"]),
        ({"models": [{"name": "a", "model": "b"}, {"model": "c"}]}, ["a", "c"]),
        ([], []),
    ],
)
def test_lists_of_models(payload: Any, models: list[str]) -> None:
    assert decode_models(200, {}, json.dumps(payload).encode()) == models


@pytest.mark.parametrize(
    ("model", "listed", "there"),
    [
        ("a", ["b", "a"], True),
        ("gemini-3", ["models/gemini-3"], True),
        ("models/gemini-3", ["gemini-3"], True),
        ("gemini-3", ["gemini-3-pro", "x/gemini-3"], False),
        ("a", [], False),
    ],
)
def test_a_model_in_a_list(model: str, listed: list[str], there: bool) -> None:
    assert is_listed(model, listed) is there


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        ({"object": "list"}, "not_openai_api"),
        ("models", "not_openai_api"),
        ({"code": 401, "msg": "who are you"}, "auth"),
        ({"error": {"code": 401}}, "auth"),
    ],
)
def test_what_is_no_list_of_models(payload: Any, kind: str) -> None:
    with pytest.raises(ModelError) as caught:
        decode_models(200, {}, json.dumps(payload).encode())
    assert caught.value.kind is ErrorKind(kind)


@pytest.mark.contract("F5")
@pytest.mark.parametrize(
    ("status", "body", "usage"),
    [
        (400, _error("nonsense"), Usage()),
        (401, "", Usage()),
        (404, _error("model 'm' not found"), Usage()),
        (429, "", Usage()),
        (503, "", Usage()),
        (529, "", Usage()),
        (301, "", Usage()),
        (200, _error("x", code=429), Usage()),
        (200, "<html></html>", Usage()),
        (408, "", None),
        (500, "", None),
        (502, "<html></html>", None),
        (504, "", None),
        (200, "", None),
        (200, '{"choices": [', None),
        (400, _error("x", code="tool_use_failed"), None),
        (
            500,
            {**_error("x"), "usage": {"prompt_tokens": 7, "completion_tokens": 1}},
            Usage(prompt=7, completion=1),
        ),
    ],
)
def test_what_a_failure_has_used(status: int, body: Any, usage: Usage | None) -> None:
    assert _classify(status, body).usage == usage


@pytest.mark.parametrize(
    ("status", "body", "limit"),
    [
        (400, _error("This model's maximum context length is 16384 tokens."), "16384"),
        (400, _error("exceed context limit: 174167 + 64000 > 200000"), "200000"),
        (
            400,
            {
                "error": {
                    "type": "exceed_context_size_error",
                    "message": "too many",
                    "n_ctx": 25088,
                }
            },
            "25088",
        ),
        (400, _error("longer than the maximum model length of 131072."), "131072"),
        (400, _error("prompt is too long: 9,000 tokens > 8,192 maximum"), "8192"),
        (400, _error("too large for model with 32768 maximum context length"), "32768"),
        (
            400,
            _error(
                "The input token count (1200000) exceeds the maximum number of tokens"
                " allowed (1048576)."
            ),
            "1048576",
        ),
    ],
)
def test_how_long_a_request_may_be(status: int, body: Any, limit: str) -> None:
    error = _classify(status, body)
    assert error.kind is ErrorKind.CONTEXT_LENGTH
    assert error.advice is Advice.CONTEXT_LIMIT
    assert error.placeholders == {"limit": limit}


def test_a_request_that_is_too_long_without_a_figure() -> None:
    assert _classify(413, "").advice is Advice.CONTEXT_LENGTH


def test_the_refused_option_is_named() -> None:
    refused = _error("no", code="unsupported_parameter", param="seed")
    error = _classify(400, refused)
    assert error.advice is Advice.REFUSED_OPTION
    assert error.placeholders == {"option": "seed"}
    refused["error"]["param"] = "model"
    assert _classify(400, refused).advice is Advice.UNSUPPORTED_PARAMETER

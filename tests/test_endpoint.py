"""The line to the server: what is sent, how long it is tried, when it is given up."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
import gzip
import json
import logging
from typing import Any
from unittest.mock import Mock

import aiohttp
from aiohttp.client_reqrep import ConnectionKey
from homeassistant.core import HomeAssistant
from homeassistant.helpers.aiohttp_client import async_get_clientsession
import pytest

from custom_components.proactive_agent.endpoint import endpoint
from custom_components.proactive_agent.endpoint.endpoint import EndpointClient
from custom_components.proactive_agent.endpoint.line import MAX_BYTES
from custom_components.proactive_agent.endpoint.retry import GLANCE, MAX_WAIT, RUN
from custom_components.proactive_agent.engine.errors import (
    Advice,
    ErrorKind,
    ModelError,
)
from custom_components.proactive_agent.engine.records import ToolSpec, Usage
from custom_components.proactive_agent.engine.wire.shape import USUAL, Shape
from custom_components.proactive_agent.models import EndpointOptions
from tests.support.llm_server import CLOSE, Held, LlmServer, Raw, calls, text
from tests.support.wire_catalogue import CASES, TOOLS, Case

KEY = "sk-owner-123456"
MESSAGES = ({"role": "user", "content": "Hello, Zoë"},)
BUSY = Raw(status=503, body={"error": "busy"})
LOADING = Raw(status=503, body={"error": {"message": "Loading model"}})


class Shapes:
    """Remembers shapes, as the store does."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, str], Shape] = {}

    def get(self, url: str, model: str) -> Shape:
        return self.known.get((url, model), USUAL)

    def put(self, url: str, model: str, shape: Shape) -> None:
        self.known[url, model] = Shape.from_dict(shape.as_dict())


class Sleeper:
    """Waits no time, and remembers how long it should have been."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.waits.append(seconds)


@pytest.fixture
def sleeper() -> Sleeper:
    return Sleeper()


@pytest.fixture
def options(llm_server: LlmServer) -> EndpointOptions:
    return EndpointOptions(url=llm_server.url, model="m", api_key=KEY)


@pytest.fixture
async def client(
    hass: HomeAssistant, options: EndpointOptions, sleeper: Sleeper
) -> EndpointClient:
    return EndpointClient(async_get_clientsession(hass), options, sleeper)


async def _fails(client: EndpointClient) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await client.complete(MESSAGES, TOOLS)
    assert KEY not in str(caught.value)
    return caught.value


async def test_a_turn(client: EndpointClient, llm_server: LlmServer) -> None:
    llm_server.play(calls(("get_weather", {"city": "Oslo"})))
    reply = await client.complete(MESSAGES, TOOLS)
    assert [(call.name, call.arguments) for call in reply.calls] == [
        ("get_weather", {"city": "Oslo"})
    ]
    (request,) = llm_server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    assert request.headers["Content-Type"] == "application/json"
    assert request.json["model"] == "m"
    assert request.json["messages"] == [*MESSAGES]
    assert request.json["stream"] is False
    assert len(request.json["tools"]) == len(TOOLS)


async def test_without_a_key_there_is_no_header(
    hass: HomeAssistant, options: EndpointOptions, llm_server: LlmServer
) -> None:
    llm_server.play(text("Hi."))
    session = async_get_clientsession(hass)
    client = EndpointClient(session, replace(options, api_key=""))
    await client.complete(MESSAGES, ())
    assert "Authorization" not in llm_server.requests[0].headers


async def test_extra_options_are_sent(
    hass: HomeAssistant, options: EndpointOptions, llm_server: LlmServer
) -> None:
    llm_server.play(text("Hi."))
    extra = {"temperature": 0.2, "stream": True}
    session = async_get_clientsession(hass)
    await EndpointClient(session, replace(options, extra_body=extra)).complete(
        MESSAGES, ()
    )
    (request,) = llm_server.chats
    assert request["temperature"] == 0.2
    assert request["stream"] is False


async def test_half_a_character_is_sent_as_a_question_mark(
    client: EndpointClient, llm_server: LlmServer
) -> None:
    llm_server.play(text("Hi."))
    await client.complete([{"role": "user", "content": "a\ud800b"}], ())
    assert llm_server.chats[0]["messages"][0]["content"] == "a?b"


def _answer(case: Case) -> Any:
    if case.wire == "close":
        return CLOSE
    return Raw(status=case.status, headers=case.headers, body=case.body)


# A call the model is told about, so that it can mend it within the run.
TOLD = {"B12-array-or-scalar", "C4-unknown-tool"}
# A list of models is not needed, where the model is known.
WITHOUT_A_LIST = "J6-405"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
async def test_the_catalogue_over_a_socket(
    client: EndpointClient, llm_server: LlmServer, case: Case
) -> None:
    answer = llm_server.always = llm_server.models_answer = _answer(case)
    assert answer
    asked: Callable[[], Any] = client.list_models
    if case.endpoint == "chat":
        asked = lambda: client.complete(MESSAGES, TOOLS)  # noqa: E731
    if case.expect == "accept" or case.id in TOLD:
        await asked()
        assert len(llm_server.requests) == 1
        return
    with pytest.raises(ModelError) as caught:
        await asked()
    assert caught.value.kind == case.expected["kind"]
    sent = llm_server.chats if case.endpoint == "chat" else llm_server.requests
    if case.expect == "adapt" and case.id != WITHOUT_A_LIST:
        # Only what was really sent can be taken back; see the next test.
        assert len(sent) <= 2
        return
    waits_too_long = (caught.value.retry_after or 0) > MAX_WAIT
    again = case.expect == "retry" and not waits_too_long
    assert (len(sent) > 1) is again


CALLED: dict[str, Any] = {
    "role": "assistant",
    "content": "",
    "tool_calls": [
        {
            "id": "call_1",
            "type": "function",
            "function": {"name": "get_weather", "arguments": '{"city": "Østby"}'},
        }
    ],
}
ANSWERED: tuple[dict[str, Any], ...] = (
    *MESSAGES,
    CALLED,
    {"role": "tool", "tool_call_id": "call_1", "content": "rain"},
)
STRICT = ToolSpec(
    name="set_level",
    description="Sets it.",
    parameters={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "additionalProperties": False,
        "properties": {"additionalProperties": {"type": "string", "title": "It"}},
    },
)
LOOSE = {
    "type": "object",
    "properties": {"additionalProperties": {"type": "string", "title": "It"}},
}


@dataclass(frozen=True, kw_only=True)
class Adapted:
    """What is sent at first, and what has to be other in the second request."""

    sent: dict[str, Any] = field(default_factory=dict)
    then: dict[str, Any] = field(default_factory=dict)
    gone: str = ""
    shape: Shape


ADAPTED = {
    "F4-deepseek-400-not-passed-back": Adapted(
        then={"messages": [ANSWERED[0], {**CALLED, "reasoning_content": ""}]},
        shape=Shape(assistant_keys=frozenset({"reasoning_content"})),
    ),
    "G1-max_tokens-renamed": Adapted(
        sent={"max_tokens": 500},
        then={"max_completion_tokens": 500},
        gone="max_tokens",
        shape=Shape(renamed={"max_tokens": "max_completion_tokens"}),
    ),
    "G2-max_tokens-copilot-code": Adapted(
        sent={"max_tokens": 500},
        then={"max_completion_tokens": 500},
        gone="max_tokens",
        shape=Shape(renamed={"max_tokens": "max_completion_tokens"}),
    ),
    "G3-max_completion_tokens-extra": Adapted(
        sent={"max_completion_tokens": 512},
        then={"max_tokens": 512},
        gone="max_completion_tokens",
        shape=Shape(renamed={"max_completion_tokens": "max_tokens"}),
    ),
    "G4-temperature-value": Adapted(
        sent={"temperature": 0.2, "seed": 1},
        then={"seed": 1},
        gone="temperature",
        shape=Shape(dropped=frozenset({"temperature"})),
    ),
    "G5-temperature-param-mislabelled": Adapted(
        sent={"temperature": 0.2},
        then={"model": "m"},
        gone="temperature",
        shape=Shape(dropped=frozenset({"temperature"})),
    ),
    "G9-parallel_tool_calls": Adapted(
        sent={"parallel_tool_calls": False},
        gone="parallel_tool_calls",
        shape=Shape(dropped=frozenset({"parallel_tool_calls"})),
    ),
    "G10-schema-keyword-gemini": Adapted(
        shape=Shape(schema_keywords=frozenset({"additionalProperties", "$schema"})),
    ),
    "I23-context-vllm-flat": Adapted(
        sent={"max_tokens": 10_000},
        then={"max_tokens": 6793},
        shape=Shape(max_tokens=6793),
    ),
    "I26-context-anthropic": Adapted(
        sent={"max_tokens": 64_000},
        then={"max_tokens": 25_833},
        shape=Shape(max_tokens=25_833),
    ),
    "I29-500-poisoned-history": Adapted(shape=Shape(rewritten_arguments=True)),
}


def test_each_case_that_adapts_says_how() -> None:
    adapting = {case.id for case in CASES if case.expect == "adapt"}
    assert adapting == {*ADAPTED, WITHOUT_A_LIST}


@pytest.mark.parametrize("case_id", ADAPTED)
async def test_a_refused_request_is_sent_in_another_shape_and_that_is_remembered(
    hass: HomeAssistant,
    options: EndpointOptions,
    llm_server: LlmServer,
    sleeper: Sleeper,
    case_id: str,
) -> None:
    adapted = ADAPTED[case_id]
    (case,) = [case for case in CASES if case.id == case_id]
    options = replace(options, extra_body=adapted.sent)
    shapes = Shapes()
    session = async_get_clientsession(hass)
    client = EndpointClient(session, options, sleeper, shapes=shapes)
    llm_server.play(_answer(case), text("Hi."), text("Hi again."))

    reply = await client.complete(ANSWERED, (STRICT,))

    assert reply.text == "Hi."
    assert reply.usage == Usage(prompt=20, completion=8)
    first, second = llm_server.chats
    assert first.items() >= adapted.sent.items()
    assert adapted.gone not in second
    for key, value in adapted.then.items():
        if key == "messages":
            assert second[key][:2] == value
        else:
            assert second[key] == value
    assert second["model"] == "m"
    assert len(second["messages"]) == 3
    (tool,) = second["tools"]
    assert tool["function"]["parameters"] == (
        LOOSE if adapted.shape.schema_keywords else STRICT.parameters
    )
    assert shapes.known == {(options.url, "m"): adapted.shape}
    assert sleeper.waits == []
    # Another client, as after a restart, does so at once.
    await EndpointClient(session, options, sleeper, shapes=shapes).complete(
        ANSWERED, (STRICT,)
    )
    assert llm_server.chats[2] == second


async def test_a_shape_that_helped_nothing_is_not_remembered(
    hass: HomeAssistant, options: EndpointOptions, llm_server: LlmServer
) -> None:
    options = replace(options, extra_body={"seed": 1, "top_k": 2})
    shapes = Shapes()
    session = async_get_clientsession(hass)
    client = EndpointClient(session, options, shapes=shapes)
    refused = _refusal("Unsupported parameter: 'seed'")
    llm_server.play(refused, _refusal("I do not like it."))
    error = await _fails(client)
    assert error.kind is ErrorKind.BAD_REQUEST
    assert error.usage == Usage()
    assert shapes.known == {}
    assert len(llm_server.chats) == 2


async def test_a_server_that_likes_nothing_is_asked_six_times(
    hass: HomeAssistant, options: EndpointOptions, llm_server: LlmServer
) -> None:
    extra = {f"option_{number}": number for number in range(9)}
    options = replace(options, extra_body=extra)
    session = async_get_clientsession(hass)

    def refuse(request: Any) -> Raw:
        (name, *_) = sorted(request.keys() & extra.keys())
        return _refusal(f"Unrecognized request argument supplied: {name}")

    llm_server.always = refuse
    error = await _fails(EndpointClient(session, options))
    assert error.kind is ErrorKind.UNSUPPORTED_PARAMETER
    assert len(llm_server.chats) == 6
    assert not llm_server.chats[-1].keys() & {f"option_{n}" for n in range(5)}


def _refusal(message: str) -> Raw:
    return Raw(status=400, body={"error": {"message": message}})


@pytest.mark.parametrize(
    "hiccup",
    [BUSY, CLOSE, Raw(status=408), Raw(body=text("Hi."), cut=True), text(""), LOADING],
    ids=["busy", "closed", "408", "cut", "empty", "loading"],
)
async def test_a_hiccup_is_sat_out(
    client: EndpointClient, llm_server: LlmServer, sleeper: Sleeper, hiccup: Any
) -> None:
    llm_server.play(hiccup, text("Hi."))
    assert (await client.complete(MESSAGES, TOOLS)).text == "Hi."
    assert len(llm_server.chats) == 2
    (wait,) = sleeper.waits
    assert 1 <= wait <= 2.5


async def test_waits_grow_and_end(
    client: EndpointClient, llm_server: LlmServer, sleeper: Sleeper
) -> None:
    llm_server.always = BUSY
    assert (await _fails(client)).kind is ErrorKind.OVERLOADED
    assert len(llm_server.chats) == 4
    for wait, least in zip(sleeper.waits, (1, 2, 4), strict=True):
        assert least <= wait <= least * 1.25


async def test_loading_is_waited_for_with_patience(
    client: EndpointClient, llm_server: LlmServer, sleeper: Sleeper
) -> None:
    llm_server.play(*[LOADING] * 50, text("Hi."))
    assert (await client.complete(MESSAGES, TOOLS)).text == "Hi."
    assert all(2 <= wait <= 2.5 for wait in sleeper.waits)


async def test_what_a_server_foresees_of_loading_is_looked_at_again_soon(
    client: EndpointClient, llm_server: LlmServer, sleeper: Sleeper
) -> None:
    body = {"error": "Model m is currently loading", "estimated_time": 600}
    llm_server.play(Raw(status=503, body=body), text("Hi."))
    assert (await client.complete(MESSAGES, TOOLS)).text == "Hi."
    assert 10 <= sleeper.waits[0] <= 12.5


async def test_at_once_means_at_once_only_once(
    client: EndpointClient, llm_server: LlmServer, sleeper: Sleeper
) -> None:
    past = {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}
    llm_server.always = Raw(status=429, headers=past)
    assert (await _fails(client)).kind is ErrorKind.RATE_LIMIT
    first, second, third = sleeper.waits
    assert first == 0
    assert 2 <= second <= 2.5
    assert 4 <= third <= 5


async def test_the_server_names_the_wait(
    client: EndpointClient, llm_server: LlmServer, sleeper: Sleeper
) -> None:
    llm_server.play(Raw(status=429, headers={"Retry-After": "7"}), text("Hi."))
    await client.complete(MESSAGES, TOOLS)
    assert 7 <= sleeper.waits[0] <= 8.75


async def test_too_long_a_wait_is_told_instead(
    client: EndpointClient, llm_server: LlmServer, sleeper: Sleeper
) -> None:
    llm_server.play(Raw(status=429, headers={"Retry-After": "3600"}))
    error = await _fails(client)
    assert error.kind is ErrorKind.RATE_LIMIT
    assert error.retry_after == 3600
    assert error.advice is Advice.MUST_WAIT
    assert error.placeholders == {"seconds": "3600"}
    assert sleeper.waits == []


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 413, 418, 422, 501])
async def test_what_cannot_help_is_not_tried_again(
    client: EndpointClient, llm_server: LlmServer, status: int
) -> None:
    llm_server.always = Raw(status=status, body={"error": "no"})
    await _fails(client)
    assert len(llm_server.chats) == 1


@pytest.mark.parametrize("status", [400, 403, 409, 422])
@pytest.mark.parametrize("said", ["rate limit exceeded", "too many requests"])
async def test_words_of_a_limit_on_another_status_are_not_waited_for(
    client: EndpointClient, llm_server: LlmServer, status: int, said: str
) -> None:
    llm_server.always = Raw(status=status, body={"error": said})
    error = await _fails(client)
    assert error.kind is ErrorKind.RATE_LIMIT
    assert len(llm_server.chats) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_the_key_follows_no_redirect(
    client: EndpointClient, llm_server: LlmServer, status: int
) -> None:
    target = f"{llm_server.url}/elsewhere"
    llm_server.play(Raw(status=status, headers={"Location": target}))
    error = await _fails(client)
    assert error.kind is ErrorKind.NOT_OPENAI_API
    assert error.placeholders == {"target": target}
    assert len(llm_server.requests) == 1


@pytest.mark.parametrize("coding", ["identity", "gzip"])
async def test_an_answer_without_end_is_cut_off(
    client: EndpointClient, llm_server: LlmServer, coding: str
) -> None:
    flood = b" " * (4 * MAX_BYTES)
    body = gzip.compress(flood) if coding == "gzip" else flood
    llm_server.play(Raw(headers={"Content-Encoding": coding}, body=body))
    assert (await _fails(client)).advice is Advice.OVERSIZE
    assert len(llm_server.chats) == 1


async def test_an_answer_that_does_not_unpack(
    client: EndpointClient, llm_server: LlmServer
) -> None:
    llm_server.always = Raw(headers={"Content-Encoding": "gzip"}, body=b"no gzip")
    assert (await _fails(client)).kind is ErrorKind.CONNECTION


async def test_nobody_listens(
    client: EndpointClient, llm_server: LlmServer, sleeper: Sleeper
) -> None:
    await llm_server.close()
    error = await _fails(client)
    assert error.kind is ErrorKind.CONNECTION
    assert error.placeholders == {"detail": "Connection refused"}
    assert len(sleeper.waits) == 2
    with pytest.raises(ModelError):
        await client.list_models()
    assert len(sleeper.waits) == 2


@pytest.mark.parametrize("url", ["http://[bad", "nothing"])
async def test_an_address_that_is_none(
    hass: HomeAssistant, options: EndpointOptions, sleeper: Sleeper, url: str
) -> None:
    session = async_get_clientsession(hass)
    client = EndpointClient(session, replace(options, url=url), sleeper)
    assert (await _fails(client)).kind is ErrorKind.CONNECTION


async def test_a_key_that_is_no_header(
    hass: HomeAssistant, options: EndpointOptions, sleeper: Sleeper
) -> None:
    options = replace(options, api_key="two\r\nlines")
    client = EndpointClient(async_get_clientsession(hass), options, sleeper)
    assert (await _fails(client)).kind is ErrorKind.CONNECTION


async def test_a_server_without_a_trusted_certificate(
    options: EndpointOptions, sleeper: Sleeper
) -> None:
    place = ConnectionKey("box", 443, True, True, None, None, None)
    session = Mock(spec=aiohttp.ClientSession)
    session.request.side_effect = aiohttp.ClientConnectorCertificateError(
        place, ValueError("self-signed")
    )
    error = await _fails(EndpointClient(session, options, sleeper))
    assert error.advice is Advice.UNTRUSTED_CERTIFICATE


async def test_https_where_the_server_speaks_none(
    options: EndpointOptions, sleeper: Sleeper, hass: HomeAssistant
) -> None:
    options = replace(options, url=options.url.replace("http:", "https:"))
    client = EndpointClient(async_get_clientsession(hass), options, sleeper)
    assert (await _fails(client)).advice is Advice.NO_HTTPS


@pytest.mark.contract("F3")
async def test_a_run_that_ends_drops_the_request_at_once(
    client: EndpointClient, llm_server: LlmServer
) -> None:
    held = Held(text("Too late."))
    llm_server.play(held)

    async def run(bound: asyncio.Timeout) -> None:
        async with bound:
            await client.complete(MESSAGES, TOOLS)

    bound = asyncio.timeout(None)
    running = asyncio.create_task(run(bound))
    await held.reached.wait()
    bound.reschedule(0)
    with pytest.raises(TimeoutError):
        await running
    assert len(llm_server.chats) == 1


async def test_a_request_has_a_bound_of_its_own(
    client: EndpointClient, llm_server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    llm_server.play(Held(text("Too late.")))
    monkeypatch.setattr(f"{endpoint.__name__}.RUN", replace(RUN, seconds=0))
    assert (await _fails(client)).kind is ErrorKind.TIMEOUT


async def test_who_gives_up_while_waiting_says_what_for(
    hass: HomeAssistant, options: EndpointOptions, llm_server: LlmServer
) -> None:
    async def give_up(seconds: float) -> None:
        raise TimeoutError

    llm_server.play(LOADING)
    client = EndpointClient(async_get_clientsession(hass), options, give_up)
    assert (await _fails(client)).kind is ErrorKind.LOADING


async def test_models(client: EndpointClient, llm_server: LlmServer) -> None:
    llm_server.models = ["a", "b"]
    assert await client.list_models() == ["a", "b"]
    (request,) = llm_server.requests
    assert (request.method, request.path) == ("GET", "/v1/models")
    assert request.headers["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("answer", [text("I am ready."), calls(("report_ready", {}))])
async def test_a_model_that_can_take_tools(
    client: EndpointClient, llm_server: LlmServer, answer: Any
) -> None:
    llm_server.play(answer)
    await client.probe_tools()
    (request,) = llm_server.chats
    (tool,) = request["tools"]
    assert tool["function"]["name"] == "report_ready"


async def test_a_model_without_tools(
    client: EndpointClient, llm_server: LlmServer
) -> None:
    refusal = {"error": {"message": "m does not support tools"}}
    llm_server.play(Raw(status=400, body=refusal))
    with pytest.raises(ModelError, match="no_tools") as caught:
        await client.probe_tools()
    assert caught.value.kind is ErrorKind.UNSUPPORTED_PARAMETER


async def test_the_key_is_in_no_log(
    client: EndpointClient, llm_server: LlmServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    llm_server.play(
        Raw(status=503, body=json.dumps({"error": f"busy with {KEY}"})), text(KEY)
    )
    await client.complete(MESSAGES, TOOLS)
    assert "busy with" in caplog.text
    assert KEY not in caplog.text
    assert KEY not in repr(client._options)


MISSING = Raw(status=404, body={"error": {"message": "model 'm' not found"}})


async def test_a_missing_model_is_told_with_those_that_are_there(
    client: EndpointClient, llm_server: LlmServer
) -> None:
    llm_server.models = ["a", "b"]
    llm_server.play(MISSING)
    error = await _fails(client)
    assert error.kind is ErrorKind.MODEL_NOT_FOUND
    assert error.advice is Advice.MODEL_NOT_LISTED
    assert error.placeholders == {"model": "m", "models": "a, b"}
    assert error.said == "404: model 'm' not found"
    assert [request.method for request in llm_server.requests] == ["POST", "GET"]


async def test_a_long_list_of_models_is_cut(
    client: EndpointClient, llm_server: LlmServer
) -> None:
    llm_server.models = [f"model-{number}" for number in range(300)]
    llm_server.play(MISSING)
    models = (await _fails(client)).placeholders["models"]
    assert models.startswith("model-0, model-1, ")
    assert models.endswith("model-19, … (300)")


@pytest.mark.parametrize(
    "listed", [[], ["m"], ["models/m", "b"], Raw(status=500), Held({"data": []})]
)
async def test_a_missing_model_is_told_without_a_list_of_use(
    client: EndpointClient,
    llm_server: LlmServer,
    monkeypatch: pytest.MonkeyPatch,
    listed: Any,
) -> None:
    monkeypatch.setattr(f"{endpoint.__name__}.GLANCE", replace(GLANCE, seconds=0.2))
    llm_server.models_answer = listed
    llm_server.play(MISSING)
    error = await _fails(client)
    assert error.advice is Advice.MODEL_NOT_FOUND
    assert error.placeholders == {"model": "m"}
    assert len(llm_server.requests) == 2


async def test_a_host_that_nobody_knows(
    options: EndpointOptions, sleeper: Sleeper
) -> None:
    place = ConnectionKey("box", 80, False, True, None, None, None)
    session = Mock(spec=aiohttp.ClientSession)
    session.request.side_effect = aiohttp.ClientConnectorDNSError(
        place, OSError("no such name")
    )
    error = await _fails(EndpointClient(session, options, sleeper))
    assert error.advice is Advice.UNKNOWN_HOST


@pytest.mark.contract("F5")
async def test_what_came_to_nothing_is_paid_for(
    client: EndpointClient, llm_server: LlmServer
) -> None:
    llm_server.play(text(""), BUSY, text("Hi."))
    reply = await client.complete(MESSAGES, TOOLS)
    assert reply.usage == Usage(prompt=40, completion=16)
    llm_server.play(text(""), text(""), text(""))
    assert (await _fails(client)).usage == Usage(prompt=60, completion=24)


@pytest.mark.contract("F5")
async def test_what_nobody_knows_is_thought_of_once(
    client: EndpointClient, llm_server: LlmServer
) -> None:
    llm_server.play(CLOSE, CLOSE, text("Hi."))
    usage = (await client.complete(MESSAGES, ())).usage
    assert usage is not None
    assert usage.estimated
    assert 20 < usage.prompt < 60


@pytest.mark.contract("F5")
async def test_who_is_not_reached_has_used_nothing(
    client: EndpointClient, llm_server: LlmServer
) -> None:
    await llm_server.close()
    assert (await _fails(client)).usage == Usage()


async def test_a_long_complaint_is_not_thought_about(
    client: EndpointClient, llm_server: LlmServer
) -> None:
    llm_server.play(Raw(status=400, body={"error": {"message": "x" * 300_000}}))
    assert (await _fails(client)).kind is ErrorKind.BAD_REQUEST


async def test_a_request_in_another_shape_than_json(
    hass: HomeAssistant, options: EndpointOptions, llm_server: LlmServer
) -> None:
    llm_server.play(_refusal("This model only supports streaming."), text("Hi."))
    client = EndpointClient(async_get_clientsession(hass), options)
    assert (await client.complete(MESSAGES, TOOLS)).text == "Hi."
    assert [one["stream"] for one in llm_server.chats] == [False, True]


@pytest.mark.parametrize(
    ("url", "advice"),
    [
        ("/api", Advice.ADD_V1),
        ("/v1beta/openai", Advice.NOT_OPENAI_API),
        ("/v1/x", Advice.NOT_OPENAI_API),
    ],
)
async def test_an_address_that_lacks_something(
    hass: HomeAssistant,
    options: EndpointOptions,
    llm_server: LlmServer,
    url: str,
    advice: Advice,
) -> None:
    options = replace(options, url=llm_server.url.replace("/v1", url))
    client = EndpointClient(async_get_clientsession(hass), options)
    assert (await _fails(client)).advice is advice

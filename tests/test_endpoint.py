"""The line to the server: what is sent, how long it is tried, when it is given up."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
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

from custom_components.proactive_agent import endpoint
from custom_components.proactive_agent.endpoint import (
    MAX_BYTES,
    MAX_WAIT,
    EndpointClient,
)
from custom_components.proactive_agent.engine.errors import (
    Advice,
    ErrorKind,
    ModelError,
)
from custom_components.proactive_agent.models import EndpointOptions
from tests.support.llm_server import CLOSE, Held, LlmServer, Raw, calls, text
from tests.support.wire_catalogue import CASES, TOOLS, Case

KEY = "sk-owner-123456"
MESSAGES = ({"role": "user", "content": "Hello, Zoë"},)
BUSY = Raw(status=503, body={"error": "busy"})
LOADING = Raw(status=503, body={"error": {"message": "Loading model"}})


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


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
async def test_the_catalogue_over_a_socket(
    client: EndpointClient, llm_server: LlmServer, case: Case
) -> None:
    answer = llm_server.always = llm_server.models_answer = _answer(case)
    assert answer
    told = case.id in {"B12-array-or-scalar", "C4-unknown-tool"}
    asked: Callable[[], Any] = client.list_models
    if case.endpoint == "chat":
        asked = lambda: client.complete(MESSAGES, TOOLS)  # noqa: E731
    if case.expect == "accept" or told:
        await asked()
        assert len(llm_server.requests) == 1
        return
    with pytest.raises(ModelError) as caught:
        await asked()
    assert caught.value.kind == case.expected["kind"]
    waits_too_long = (caught.value.retry_after or 0) > MAX_WAIT
    again = case.expect == "retry" and not waits_too_long
    sent = llm_server.chats if case.endpoint == "chat" else llm_server.requests
    assert (len(sent) > 1) is again


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
    monkeypatch.setattr(endpoint, "_RUN", replace(endpoint._RUN, seconds=0))
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
    monkeypatch.setattr(endpoint, "_GLANCE", replace(endpoint._GLANCE, seconds=0.2))
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

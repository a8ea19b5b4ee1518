"""A scripted OpenAI-compatible server on 127.0.0.1, for every test that needs a model.

The fixture `llm_server` is there for each test (tests/conftest.py imports it)::

    async def test_feeds(hass, llm_server):
        llm_server.play(calls(("feed", {"food": "meal"})), text("Fed."))
        ...  # endpoint url: llm_server.url
        assert len(llm_server.chats) == 2

An answer is one of

* `text("…")` or `calls(("feed", {"food": "meal"}), …)`: a chat completion with usage,
* any JSON value: sent as it stands with status 200,
* `Raw(status=…, headers=…, body=bytes | str | JSON)`: whatever one likes,
* `CLOSE`: the connection is closed before an answer,
* `Raw(..., cut=True)`: the connection is closed after half of the body,
* `Held(answer)`: waits; `await held.reached.wait()`, then `held.release.set()`,
* a function of the request's JSON that gives one of these (also a coroutine function).

Answers are played in order; after the last one, `server.always` answers if it is set
(handy for a rule: `llm_server.always = lambda request: …`), else the server says 400,
so that a request too many fails the test. `/v1/models` lists `server.models`, or
answers `server.models_answer` if that is set; it is recorded but is no chat.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
import inspect
import json
from typing import Any, Final

from aiohttp import web
from aiohttp.test_utils import TestServer
import pytest

MODEL: Final = "test-model"
USAGE: Final = {"prompt_tokens": 20, "completion_tokens": 8, "total_tokens": 28}


@dataclass(frozen=True, kw_only=True)
class Raw:
    """An HTTP answer as it stands; a body that is no text is sent as JSON."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = b""
    cut: bool = False


@dataclass(frozen=True)
class Held:
    """An answer that is given only when it is released."""

    answer: Any
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    release: asyncio.Event = field(default_factory=asyncio.Event)


class _Close:
    """Close the connection instead of an answer."""


CLOSE: Final = _Close()


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """A request as the server saw it; `json` is None for one without a JSON body."""

    method: str
    path: str
    headers: Mapping[str, str]
    json: Any


type Answer = Any
type Rule = Callable[[Any], Answer | Awaitable[Answer]]


def completion(message: Mapping[str, Any], finish: str = "stop") -> dict[str, Any]:
    """Build a chat completion around an assistant message."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1760000000,
        "model": MODEL,
        "choices": [
            {"index": 0, "message": dict(message), "finish_reason": finish},
        ],
        "usage": dict(USAGE),
    }


def text(content: str) -> dict[str, Any]:
    """Answer in words: the model is done."""
    return completion({"role": "assistant", "content": content})


def calls(
    *wanted: tuple[str, Mapping[str, Any]], content: str | None = None
) -> dict[str, Any]:
    """Answer with tool calls, in this order, with the ids call_1, call_2, …."""
    return completion(
        {
            "role": "assistant",
            "content": content,
            "tool_calls": [
                {
                    "id": f"call_{number}",
                    "type": "function",
                    "function": {"name": name, "arguments": json.dumps(arguments)},
                }
                for number, (name, arguments) in enumerate(wanted, 1)
            ],
        },
        finish="tool_calls",
    )


class LlmServer:
    """The server: what it will answer and what it was asked."""

    def __init__(self) -> None:
        """Start with an empty script."""
        self.models: list[str] = [MODEL]
        self.models_answer: Answer | None = None
        self.always: Answer | None = None
        self.requests: list[Recorded] = []
        self._script: list[Answer] = []
        self._held: list[Held] = []
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._server = TestServer(app, host="127.0.0.1")

    @property
    def url(self) -> str:
        """The base URL, as an owner would type it."""
        return str(self._server.make_url("/v1"))

    @property
    def chats(self) -> list[Any]:
        """The JSON of all chat requests, oldest first."""
        return [
            request.json
            for request in self.requests
            if request.path.endswith("/chat/completions")
        ]

    @property
    def unplayed(self) -> int:
        """How many answers of the script have not been asked for."""
        return len(self._script)

    def play(self, *answers: Answer) -> None:
        """Add answers to the script."""
        self._script.extend(answers)

    async def start(self) -> None:
        """Listen on a free port."""
        await self._server.start_server(access_log=None)

    async def close(self) -> None:
        """Let go of all held answers and stop listening."""
        for held in self._held:
            held.release.set()
        await self._server.close()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        data = _json(body)
        self.requests.append(
            Recorded(
                method=request.method,
                path=request.path,
                headers=request.headers.copy(),
                json=data,
            )
        )
        return await self._send(request, await self._resolve(self._next(request), data))

    def _next(self, request: web.Request) -> Answer:
        if request.path == "/v1/models" and request.method == "GET":
            if self.models_answer is not None:
                return self.models_answer
            return {
                "object": "list",
                "data": [{"id": name, "object": "model"} for name in self.models],
            }
        if request.path != "/v1/chat/completions" or request.method != "POST":
            return Raw(status=404, body={"detail": "Not Found"})
        if self._script:
            return self._script.pop(0)
        if self.always is not None:
            return self.always
        return Raw(status=400, body={"error": {"message": "the script is over"}})

    async def _resolve(self, answer: Answer, data: Any) -> Answer:
        if isinstance(answer, Held):
            self._held.append(answer)
            answer.reached.set()
            await answer.release.wait()
            return await self._resolve(answer.answer, data)
        if callable(answer):
            made = answer(data)
            if inspect.isawaitable(made):
                made = await made
            return await self._resolve(made, data)
        return answer

    async def _send(self, request: web.Request, answer: Answer) -> web.StreamResponse:
        if isinstance(answer, _Close):
            if request.transport is not None:
                request.transport.close()
            return web.Response()
        raw = answer if isinstance(answer, Raw) else Raw(body=answer)
        headers = {"Content-Type": "application/json", **raw.headers}
        body = _bytes(raw.body)
        if not raw.cut:
            return web.Response(status=raw.status, headers=headers, body=body)
        headers["Content-Length"] = str(len(body))
        response = web.StreamResponse(status=raw.status, headers=headers)
        await response.prepare(request)
        await response.write(body[: len(body) // 2])
        if request.transport is not None:
            request.transport.close()
        return response


@pytest.fixture
async def llm_server(socket_enabled: None) -> AsyncIterator[LlmServer]:
    """Run a scripted server for one test."""
    server = LlmServer()
    await server.start()
    yield server
    await server.close()


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None


def _bytes(body: Any) -> bytes:
    if isinstance(body, bytes):
        return body
    if isinstance(body, str):
        return body.encode()
    return json.dumps(body).encode()

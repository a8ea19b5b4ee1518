"""A scripted Ollama server on 127.0.0.1, as core's own `ollama` integration sees it."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
import json
from typing import Any, Final

from aiohttp import web
from aiohttp.test_utils import TestServer
import pytest

MODEL: Final = "llama3.2:3b"


def says(text: str) -> list[dict[str, Any]]:
    """Answer in words, as they come."""
    return [{"content": part} for part in (text[:2], text[2:])]


def wants(*calls: tuple[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Answer with calls, each in a part of its own."""
    return [
        {
            "content": "",
            "tool_calls": [{"function": {"name": name, "arguments": dict(arguments)}}],
        }
        for name, arguments in calls
    ]


@dataclass(frozen=True, kw_only=True)
class Refused:
    """An error instead of an answer."""

    status: int
    message: str


@dataclass(slots=True)
class OllamaServer:
    """What it will answer and what it was asked."""

    chats: list[Any] = field(default_factory=list)
    script: list[Any] = field(default_factory=list)
    url: str = ""

    def play(self, *answers: Any) -> None:
        """Add answers to the script."""
        self.script.extend(answers)

    async def list_models(self, _: web.Request) -> web.Response:
        """Answer which models there are."""
        return web.json_response({"models": [{"model": MODEL}]})

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """Stream the next answer of the script, a line for each part."""
        self.chats.append(await request.json())
        answer = (
            self.script.pop(0) if self.script else Refused(status=400, message="over")
        )
        if isinstance(answer, Refused):
            return web.json_response({"error": answer.message}, status=answer.status)
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        await response.prepare(request)
        for part in answer:
            await _write(response, part, done=False)
        await _write(response, {"content": ""}, done=True)
        return response


async def _write(
    response: web.StreamResponse, part: Mapping[str, Any], *, done: bool
) -> None:
    line = {
        "model": MODEL,
        "created_at": "2026-11-30T07:00:00Z",
        "message": {"role": "assistant", **part},
        "done": done,
    }
    await response.write(json.dumps(line).encode() + b"\n")


@pytest.fixture
async def ollama_server(socket_enabled: None) -> AsyncIterator[OllamaServer]:
    """Run a scripted server for one test."""
    scripted = OllamaServer()
    app = web.Application()
    app.router.add_get("/api/tags", scripted.list_models)
    app.router.add_post("/api/chat", scripted.chat)
    server = TestServer(app, host="127.0.0.1")
    await server.start_server(access_log=None)
    scripted.url = str(server.make_url(""))
    yield scripted
    await server.close()

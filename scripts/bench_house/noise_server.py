"""The sensible model behind a socket, counting what it reads and writes."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
import json
from typing import Any, Self

from aiohttp import web

from .scripted_server import HOST, MODEL, chunks, completion, lines, send
from .sensible_model import Conversation, reply

CHARACTERS: int = 4  # of one token, as it is estimated for everyone


@dataclass(slots=True)
class NoiseServer:
    """Answers as long as the context lasts; `tokens` are those of all requests.

    `on_wake` is called with the job of each conversation that begins.
    """

    url: str = ""
    tokens: int = 0
    requests: int = 0
    on_wake: Callable[[str], None] = lambda _job: None

    @classmethod
    @asynccontextmanager
    async def running(cls) -> AsyncIterator[Self]:
        """Listen on a free port of this machine."""
        server = cls()
        app = web.Application(client_max_size=16 * 2**20)
        app.router.add_get("/v1/models", server.models)
        app.router.add_post("/v1/chat/completions", server.chat)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
        await runner.setup()
        try:
            await web.TCPSite(runner, HOST, 0).start()
            server.url = f"http://{HOST}:{runner.addresses[0][1]}/v1"
            yield server
        finally:
            await runner.cleanup()

    async def models(self, _request: web.Request) -> web.Response:
        """List the only model."""
        model = {"id": MODEL, "object": "model", "created": 1, "owned_by": "bench"}
        return web.json_response({"object": "list", "data": [model]})

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """Answer one turn, and count what it was made of."""
        asked = await request.json()
        answer = reply(asked)
        self.requests += 1
        seen = Conversation.of(asked)
        if seen.job is not None and not seen.has_begun:
            self.on_wake(seen.job.name)
        self.tokens += estimated(asked.get("messages"), asked.get("tools"), answer)
        if asked.get("stream"):
            events = [json.dumps(chunk) for chunk in chunks(answer)]
            return await send(request, "text/event-stream", lines(events))
        content = json.dumps(completion(answer)).encode()
        return await send(request, "application/json", content)


def estimated(*parts: Any) -> int:
    """Return how many tokens these are, by their length."""
    text = "".join(json.dumps(part, ensure_ascii=False) for part in parts if part)
    return -(-len(text) // CHARACTERS)

"""An LLM server that says what a script says, and notes how long it took itself.

It runs in a process of its own, so that nothing it does counts as Home Assistant's. It
prints its port and ends with its standard input.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
import json
import sys
import time
from typing import Any, Final

from aiohttp import web

HOST: Final = "127.0.0.1"
MODEL: Final = "scripted"
LIGHT: Final = "Kitchen light"
LIGHT_ID: Final = "light.kitchen_light"
# How a good model does the job with the tools it is offered: the first that is there.
MOVES: Final[Mapping[str, Mapping[str, Any]]] = {
    "light_turn_off": {"entity_id": [LIGHT_ID]},
    "intent__HassTurnOff": {"name": LIGHT, "domain": ["light"]},
    "HassTurnOff": {"name": LIGHT, "domain": ["light"]},
}
DONE: Final = "The kitchen light is off."

type Json = dict[str, Any]


def message(request: Mapping[str, Any]) -> Json:
    """Answer a request: act first, then say that it is done."""
    offered = [tool["function"]["name"] for tool in request.get("tools") or ()]
    if not offered or request["messages"][-1]["role"] == "tool":
        return {"role": "assistant", "content": DONE}
    name = next((move for move in MOVES if move in offered), offered[0])
    function = {"name": name, "arguments": json.dumps(MOVES.get(name, {}))}
    call = {"id": "call_1", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def completion(answer: Json) -> Json:
    """Write an answer in one piece."""
    choice = {"index": 0, "message": answer, "finish_reason": _finish(answer)}
    usage = {"prompt_tokens": 900, "completion_tokens": 20, "total_tokens": 920}
    return {**_head("chat.completion"), "choices": [choice], "usage": usage}


def chunks(answer: Json) -> Iterator[Json]:
    """Write an answer as the two pieces of the shortest possible stream."""
    calls = [
        {"index": index, **call}
        for index, call in enumerate(answer.get("tool_calls") or ())
    ]
    delta = {**answer, "tool_calls": calls} if calls else answer
    for piece, finish in ((delta, None), ({}, _finish(answer))):
        choice = {"index": 0, "delta": piece, "finish_reason": finish}
        yield {**_head("chat.completion.chunk"), "choices": [choice]}


def _head(kind: str) -> Json:
    return {"id": "chatcmpl-1", "object": kind, "created": 1, "model": MODEL}


def _finish(answer: Json) -> str:
    return "tool_calls" if answer.get("tool_calls") else "stop"


@dataclass(slots=True)
class Server:
    """Answers, and keeps count of each request: its size and the time it took."""

    log: list[Json] = field(default_factory=list)

    async def models(self, _request: web.Request) -> web.Response:
        """List the only model."""
        model = {"id": MODEL, "object": "model", "created": 1, "owned_by": "bench"}
        return web.json_response({"object": "list", "data": [model]})

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """Answer one turn; the clock runs from the last byte in to the last one out."""
        body = await request.read()
        begun = time.perf_counter()
        asked = json.loads(body)
        answer = message(asked)
        if asked.get("stream"):
            events = [json.dumps(chunk) for chunk in chunks(answer)]
            response = await send(request, "text/event-stream", lines(events))
        else:
            content = json.dumps(completion(answer)).encode()
            response = await send(request, "application/json", content)
        seconds = time.perf_counter() - begun
        self.log.append({"bytes": len(body), "seconds": seconds})
        return response

    async def take_log(self, _request: web.Request) -> web.Response:
        """Hand out the log and begin a new one."""
        taken, self.log = self.log, []
        return web.json_response(taken)


def lines(events: Iterable[str]) -> bytes:
    """Write events as a stream has them."""
    return "".join(f"data: {event}\n\n" for event in (*events, "[DONE]")).encode()


async def send(request: web.Request, kind: str, content: bytes) -> web.StreamResponse:
    """Answer in one piece, and be sure that it is on its way."""
    response = web.StreamResponse(headers={"Content-Type": kind})
    response.content_length = len(content)
    await response.prepare(request)
    await response.write(content)
    await response.write_eof()
    return response


async def serve() -> None:
    """Serve until the standard input ends."""
    server = Server()
    app = web.Application(client_max_size=16 * 2**20)
    app.router.add_get("/v1/models", server.models)
    app.router.add_post("/v1/chat/completions", server.chat)
    app.router.add_get("/log", server.take_log)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    try:
        await web.TCPSite(runner, HOST, 0).start()
        print(runner.addresses[0][1], flush=True)
        await asyncio.to_thread(sys.stdin.read)
    finally:
        await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(serve())

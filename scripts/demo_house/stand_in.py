"""The stand-in: a small OpenAI-compatible server that decides by rule."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
import itertools
import json
import time
from typing import Any, Final

from aiohttp import web

from .model_server import Meter, ModelServer, served
from .stand_in_rules import Decision, decide

MODEL: Final = "milonga-stand-in"
CHARACTERS_PER_TOKEN: Final = 4


@asynccontextmanager
async def stand_in() -> AsyncIterator[ModelServer]:
    """Serve the stand-in for as long as the context lasts."""
    meter = Meter()
    ids = itertools.count(1)

    async def models(_request: web.Request) -> web.Response:
        model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "demo"}
        return web.json_response({"object": "list", "data": [model]})

    async def chat(request: web.Request) -> web.Response:
        meter.requests += 1
        try:
            body = await request.json()
            if body["model"] != MODEL:
                return _error(404, f"model {body['model']!r} not found")
            answer = completion(next(ids), body, decide(body))
        except (ValueError, KeyError, TypeError) as err:
            return _error(400, f"not a chat-completions request: {err!r}")
        meter.add_usage(answer)
        return web.json_response(answer)

    app = web.Application(client_max_size=16 * 2**20)
    app.router.add_get("/v1/models", models)
    app.router.add_post("/v1/chat/completions", chat)
    async with served(app) as origin:
        yield ModelServer(
            url=f"{origin}/v1", model=MODEL, meter=meter, is_stand_in=True
        )


def completion(
    number: int, request: Mapping[str, Any], decision: Decision
) -> dict[str, Any]:
    """Write a decision as a chat completion; tokens are estimated."""
    message: dict[str, Any] = {"role": "assistant", "content": decision.text}
    if decision.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{number}_{index}",
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": json.dumps(call.arguments),
                },
            }
            for index, call in enumerate(decision.calls)
        ]
    prompt = _tokens([request.get("messages"), request.get("tools")])
    said = _tokens(message)
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": MODEL,
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": "tool_calls" if decision.calls else "stop",
            }
        ],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": said,
            "total_tokens": prompt + said,
        },
    }


def _tokens(content: Any) -> int:
    return len(json.dumps(content)) // CHARACTERS_PER_TOKEN + 1


def _error(status: int, message: str) -> web.Response:
    content = {"error": {"message": message, "type": "invalid_request_error"}}
    return web.json_response(content, status=status)

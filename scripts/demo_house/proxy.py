"""A transparent proxy before a real model, so that its requests can be counted."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
import json
from urllib.parse import urlsplit

import aiohttp
from aiohttp import web

from .errors import DemoError
from .model_server import Meter, ModelServer, served

SECONDS = 300
# Of one connection only, or about an encoding that aiohttp undoes and does anew.
NOT_PASSED_ON = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "host",
        "transfer-encoding",
    }
)


@asynccontextmanager
async def counted(url: str, model: str, api_key: str) -> AsyncIterator[ModelServer]:
    """Put a counting proxy before the server at `url`; raises `DemoError`."""
    target = urlsplit(url)
    if target.scheme not in {"http", "https"} or not target.netloc:
        raise DemoError(f"--llm-url must be a http(s) address, not {url!r}")
    meter = Meter()
    timeout = aiohttp.ClientTimeout(total=SECONDS)
    async with aiohttp.ClientSession(timeout=timeout) as session:

        async def forward(request: web.Request) -> web.Response:
            is_chat = request.path.endswith("/chat/completions")
            meter.requests += is_chat
            try:
                async with session.request(
                    request.method,
                    f"{target.scheme}://{target.netloc}{request.rel_url}",
                    headers=_passed_on(request.headers),
                    data=await request.read(),
                ) as answer:
                    body = await answer.read()
            except (aiohttp.ClientError, TimeoutError) as err:
                return web.Response(status=502, text=f"{type(err).__name__}: {err}")
            if is_chat:
                _read_usage(meter, body)
            headers = _passed_on(answer.headers)
            return web.Response(status=answer.status, headers=headers, body=body)

        app = web.Application(client_max_size=16 * 2**20)
        app.router.add_route("*", "/{path:.*}", forward)
        async with served(app) as origin:
            yield ModelServer(
                url=f"{origin}{target.path}",
                model=model,
                meter=meter,
                api_key=api_key,
                is_stand_in=False,
            )


def _passed_on(headers: aiohttp.typedefs.LooseHeaders) -> dict[str, str]:
    return {
        name: value
        for name, value in dict(headers).items()
        if name.lower() not in NOT_PASSED_ON
    }


def _read_usage(meter: Meter, body: bytes) -> None:
    try:
        meter.add_usage(json.loads(body))
    except ValueError:
        return

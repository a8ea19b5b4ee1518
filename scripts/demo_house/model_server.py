"""A model behind HTTP on this machine, with a count of all it was asked."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from .house import HOST


@dataclass(slots=True)
class Meter:
    """Chat requests and tokens so far, counted where the requests arrive."""

    requests: int = 0
    tokens: int = 0

    def add_usage(self, answer: Any) -> None:
        """Add the tokens that an answer reports, if it does."""
        usage = answer.get("usage") if isinstance(answer, dict) else None
        self.tokens += int((usage or {}).get("total_tokens") or 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelServer:
    """Where Home Assistant finds the model."""

    url: str
    model: str
    meter: Meter
    api_key: str = ""
    is_stand_in: bool


@asynccontextmanager
async def served(app: web.Application) -> AsyncIterator[str]:
    """Serve an application on a free port; yields its address."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    try:
        await web.TCPSite(runner, HOST, 0).start()
        yield f"http://{HOST}:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()

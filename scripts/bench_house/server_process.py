"""The scripted server as a child that ends with its parent."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
import sys
from typing import Self

import aiohttp

from .errors import BenchError
from .scripted_server import HOST, MODEL

SECONDS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What the server noted of one run: its own time, and the first request's size."""

    seconds: float
    first_bytes: int
    requests: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedServer:
    """Where the agents find the model."""

    session: aiohttp.ClientSession
    origin: str
    model: str = MODEL

    @property
    def url(self) -> str:
        """The address that an owner enters."""
        return f"{self.origin}/v1"

    async def take_log(self) -> Served:
        """Return what was served since the last time."""
        async with self.session.get(f"{self.origin}/log") as response:
            log = await response.json()
        return Served(
            seconds=sum(one["seconds"] for one in log),
            first_bytes=log[0]["bytes"] if log else 0,
            requests=len(log),
        )

    @classmethod
    @asynccontextmanager
    async def running(cls) -> AsyncIterator[Self]:
        """Run the server for as long as the context lasts; raises `BenchError`."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-B",
            "-m",
            f"{__package__}.scripted_server",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        try:
            port = await _first_line(process.stdout)
            async with aiohttp.ClientSession() as session:
                yield cls(session=session, origin=f"http://{HOST}:{port}")
        finally:
            if process.stdin is not None:
                process.stdin.close()
            await process.wait()


async def _first_line(output: asyncio.StreamReader | None) -> str:
    with suppress(TimeoutError):
        async with asyncio.timeout(SECONDS):
            if output is not None and (line := await output.readline()):
                return line.decode().strip()
    raise BenchError("the scripted server did not start")

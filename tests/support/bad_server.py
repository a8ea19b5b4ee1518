"""A server on 127.0.0.1 that answers with bytes, however wrong they are.

The fixture `bad_server` is there for each test that imports it::

    async def test_half_a_line(bad_server):
        bad_server.play(b"HTTP/1.1 2")
        ...  # endpoint url: bad_server.url

An answer is bytes, or a function that writes them itself; the last is given again and
again. Then the connection is closed.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
import contextlib

import pytest

type Write = Callable[[asyncio.StreamWriter], Awaitable[None]]


class BadServer:
    """Reads a request and writes what it is told to."""

    def __init__(self) -> None:
        """Start with nothing to say."""
        self.requests = 0
        self._script: list[bytes | Write] = []
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """The base URL, as an owner would type it."""
        assert self._server is not None
        port = self._server.sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{port}/v1"

    def play(self, *answers: bytes | Write) -> None:
        """Say what to answer, and forget what was said before."""
        self._script = [*answers]

    async def start(self) -> None:
        """Listen on a free port."""
        self._server = await asyncio.start_server(self._handle, "127.0.0.1", 0)

    async def close(self) -> None:
        """Drop all connections and stop listening."""
        assert self._server is not None
        self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await self._server.wait_closed()

    async def _handle(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                await _read_request(reader)
                self.requests += 1
                await self._answer(writer)
        finally:
            self._open.discard(task)
            writer.close()

    async def _answer(self, writer: asyncio.StreamWriter) -> None:
        answer = self._script.pop(0) if len(self._script) > 1 else self._script[0]
        if isinstance(answer, bytes):
            writer.write(answer)
            await writer.drain()
        else:
            await answer(writer)


async def _read_request(reader: asyncio.StreamReader) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name == b"content-length":
            await reader.readexactly(int(value))


def answer(body: bytes, **headers: str) -> bytes:
    """Return a sound answer with a body."""
    lines = [
        "HTTP/1.1 200 OK",
        f"Content-Length: {len(body)}",
        *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


@pytest.fixture
async def bad_server(socket_enabled: None) -> AsyncIterator[BadServer]:
    """Run such a server for one test."""
    server = BadServer()
    await server.start()
    yield server
    await server.close()

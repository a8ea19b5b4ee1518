"""Whatever comes over the line: a clear error, in bounded time and memory."""

import asyncio
from collections.abc import Callable, Iterator
from compression import zstd
from dataclasses import replace
import gzip
import json
import random
import time
import tracemalloc
import zlib

from homeassistant.core import HomeAssistant
from homeassistant.helpers.aiohttp_client import async_get_clientsession
import pytest

from custom_components.proactive_agent.endpoint import endpoint
from custom_components.proactive_agent.endpoint.endpoint import EndpointClient
from custom_components.proactive_agent.endpoint.line import MAX_BYTES
from custom_components.proactive_agent.endpoint.retry import RUN
from custom_components.proactive_agent.engine.errors import (
    Advice,
    ErrorKind,
    ModelError,
)
from custom_components.proactive_agent.models import EndpointOptions
from tests.support.bad_server import BadServer, answer, bad_server
from tests.support.llm_server import text
from tests.support.wire_catalogue import CASES, TOOLS

__all__ = ["bad_server"]

KEY = "sk-owner-123456"
MESSAGES = ({"role": "user", "content": "Hello"},)
SOUND = json.dumps(text("Hi.")).encode()
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
UNPACKED = 128 * 1024 * 1024
MOST_MEMORY = 48 * 1024 * 1024


@pytest.fixture(name="client")
async def client_fixture(hass: HomeAssistant, bad_server: BadServer) -> EndpointClient:
    async def no_pause(_seconds: float) -> None:
        await asyncio.sleep(0)

    options = EndpointOptions(url=bad_server.url, model="m", api_key=KEY)
    return EndpointClient(async_get_clientsession(hass), options, no_pause)


@pytest.fixture(name="half_a_second")
def half_a_second_fixture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{endpoint.__name__}.RUN", replace(RUN, seconds=0.5))


async def _fails(client: EndpointClient) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await client.complete(MESSAGES, TOOLS)
    return caught.value


async def test_a_sound_answer(client: EndpointClient, bad_server: BadServer) -> None:
    bad_server.play(answer(SOUND))
    assert (await client.complete(MESSAGES, TOOLS)).text == "Hi."


def _zeros(compress: object) -> Iterator[bytes]:
    for _ in range(UNPACKED // (1024 * 1024)):
        yield compress.compress(bytes(1024 * 1024))  # type: ignore[attr-defined]
    yield compress.flush()  # type: ignore[attr-defined]


BOMBS = {
    "gzip": lambda: b"".join(_zeros(zlib.compressobj(wbits=31))),
    "deflate": lambda: b"".join(_zeros(zlib.compressobj())),
    "raw deflate": lambda: b"".join(_zeros(zlib.compressobj(wbits=-15))),
    "zstd": lambda: b"".join(_zeros(zstd.ZstdCompressor())),
    "many gzips": lambda: gzip.compress(bytes(1024 * 1024)) * 128,
    "gzip in gzip": lambda: gzip.compress(gzip.compress(bytes(UNPACKED))) * 999,
}


@pytest.mark.parametrize("bomb", BOMBS)
@pytest.mark.parametrize("is_chunked", [False, True])
async def test_a_compressed_bomb(
    client: EndpointClient, bad_server: BadServer, bomb: str, is_chunked: bool
) -> None:
    body = BOMBS[bomb]()
    coding = {"raw deflate": "deflate", "zstd": "zstd"}.get(bomb, "gzip")
    coding = "deflate" if bomb == "deflate" else coding
    bad_server.play(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: "
        + f"{coding}\r\n\r\n{len(body):x}\r\n".encode()
        + body
        + b"\r\n0\r\n\r\n"
        if is_chunked
        else answer(body, Content_Encoding=coding)
    )
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    error = await _fails(client)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert error.kind in {ErrorKind.NOT_OPENAI_API, ErrorKind.CONNECTION}
    if bomb not in {"many gzips", "gzip in gzip"}:
        assert error.advice is Advice.OVERSIZE
        assert bad_server.requests == 1
    assert peak - before < MOST_MEMORY


async def test_a_flood(client: EndpointClient, bad_server: BadServer) -> None:
    async def flood(writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM)
        while True:
            writer.write(b": still there\n\n" * 1000)
            await writer.drain()

    bad_server.play(flood)
    assert (await _fails(client)).advice is Advice.OVERSIZE


async def _drip(writer: asyncio.StreamWriter, first: bytes, drop: bytes) -> None:
    writer.write(first)
    while True:
        writer.write(drop)
        await writer.drain()
        await asyncio.sleep(0.01)


@pytest.mark.contract("F3")
@pytest.mark.usefixtures("half_a_second")
@pytest.mark.parametrize(
    ("first", "drop"),
    [
        (STREAM, b": keep-alive\n\n"),
        (STREAM, b"data: {}\n\n"),
        (STREAM, b"\n"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b" "),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
        (b"HTTP/1.1 ", b"2"),
        (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"", b""),
    ],
)
async def test_an_answer_that_never_ends(
    client: EndpointClient, bad_server: BadServer, first: bytes, drop: bytes
) -> None:
    bad_server.play(lambda writer: _drip(writer, first, drop))
    began = time.monotonic()
    error = await _fails(client)
    assert error.kind in {ErrorKind.TIMEOUT, ErrorKind.CONNECTION}
    assert time.monotonic() - began < 3


async def test_a_stream_on_a_line_that_stays_open(
    client: EndpointClient, bad_server: BadServer
) -> None:
    chunk = {"choices": [{"delta": {"content": "Hi."}, "finish_reason": "stop"}]}
    events = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode()

    async def stay(writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM + events)
        await writer.drain()
        await asyncio.Event().wait()

    bad_server.play(stay)
    async with asyncio.timeout(5):
        assert (await client.complete(MESSAGES, TOOLS)).text == "Hi."


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\r\n\r\n",
        b"hello",
        b"SSH-2.0-OpenSSH_9.9\r\n",
        b"\x15\x03\x01\x00\x02\x02",
        b"HTTP/1.1 2",
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 99999 OK\r\n\r\n",
        b"HTTP/9.9 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{}\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"f" * 99_999,
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 4_000_000 + b"\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 400_000 + b"\r\n{}",
        b"HTTP/1.1 200 " + b"OK" * 1_000_000,
        b"HTTP/1.1 200 OK\r\nX: \xff\xfe\x00\r\n\r\n{}",
        answer(b"no gzip", Content_Encoding="gzip"),
        answer(b"no zlib", Content_Encoding="deflate"),
        answer(b"no zstd", Content_Encoding="zstd"),
        answer(gzip.compress(SOUND)[:-60], Content_Encoding="gzip"),
        answer(SOUND, Content_Encoding="br"),
        answer(zlib.compress(SOUND)[:-60], Content_Encoding="deflate"),
        answer(SOUND, Content_Encoding="unheard-of")[:-9],
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 304 Not Modified\r\n\r\n",
    ],
)
async def test_what_is_hardly_http(
    client: EndpointClient, bad_server: BadServer, raw: bytes
) -> None:
    bad_server.play(raw)
    async with asyncio.timeout(20):
        error = await _fails(client)
    assert bad_server.requests <= 3
    assert error.kind in {
        ErrorKind.CONNECTION,
        ErrorKind.INVALID_RESPONSE,
        ErrorKind.NOT_OPENAI_API,
    }


@pytest.mark.parametrize("coding", ["gzip", "deflate", "zstd", "identity"])
async def test_an_answer_that_is_packed(
    client: EndpointClient, bad_server: BadServer, coding: str
) -> None:
    pack: dict[str, Callable[[bytes], bytes]] = {
        "gzip": gzip.compress,
        "deflate": zlib.compress,
        "zstd": zstd.compress,
    }
    body = pack.get(coding, bytes)(SOUND)
    bad_server.play(answer(body, Content_Encoding=coding))
    assert (await client.complete(MESSAGES, TOOLS)).text == "Hi."


async def test_the_largest_answer_there_may_be(
    client: EndpointClient, bad_server: BadServer
) -> None:
    bad_server.play(answer(SOUND.ljust(MAX_BYTES)))
    assert (await client.complete(MESSAGES, TOOLS)).text == "Hi."
    bad_server.play(answer(SOUND.ljust(MAX_BYTES + 1)))
    assert (await _fails(client)).advice is Advice.OVERSIZE


async def test_bytes_at_random(client: EndpointClient, bad_server: BadServer) -> None:
    rand = random.Random(7)  # noqa: S311 - no secret
    sound = [answer(case.body, Content_Type="x") for case in CASES]
    sound += [
        answer(gzip.compress(case.body), Content_Encoding="gzip") for case in CASES
    ]
    for whole in rand.choices(sound, k=150):
        raw = bytearray(whole)
        for _ in range(rand.randint(1, 6)):
            start = rand.randrange(len(raw))
            raw[start : start + rand.randint(0, 4)] = rand.randbytes(rand.randint(0, 4))
        bad_server.play(bytes(raw))
        try:
            async with asyncio.timeout(5):
                await client.complete(MESSAGES, TOOLS)
        except ModelError as err:
            assert KEY not in str(err)  # noqa: PT017 - there need not be any
        except TimeoutError:
            # It promised more bytes than there are, on a line that it closed.
            pytest.fail(f"waits for {bytes(raw)!r}")

"""The line to an OpenAI-compatible server: transport, bounds and retries."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
import logging
import os
import random
from typing import Final

import aiohttp

from .engine.errors import Advice, ErrorKind, ModelError
from .engine.records import JsonObject, Reply, ToolSpec
from .engine.wire import decode_models, decode_reply, encode_request
from .engine.wire.models import is_listed
from .engine.wire.secrets import quote
from .engine.wire.values import write
from .models import EndpointOptions

type _Answer = tuple[int, Mapping[str, str], bytes]

_LOGGER = logging.getLogger(__name__)

MAX_BYTES: Final = 8 * 1024 * 1024  # of one answer, also after decompression
MAX_WAIT: Final = 60.0  # seconds; who must wait longer is told so instead
# Everything after the connection is bounded by the retry policy's `seconds`.
_TIMEOUT: Final = aiohttp.ClientTimeout(total=None, sock_connect=15)
_LOADING_PAUSE: Final = 2.0  # seconds
_BACKOFF: Final = 1.0  # seconds before the second try, doubled for each next
_JITTER: Final = 0.25  # of a wait, at most, is added to it
_LOGGED: Final = 2_000  # bytes of an answer, at debug level
_NAMED: Final = 20  # models in an error

PROBE_SECONDS: Final = 120.0
PROBE_MESSAGES: Final[Sequence[JsonObject]] = (
    {"role": "user", "content": "Call the tool report_ready, to show that you can."},
)
PROBE_TOOLS: Final = (
    ToolSpec(
        name="report_ready",
        description="Say that you are ready.",
        parameters={"type": "object", "properties": {}},
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _RetryPolicy:
    """How long to go on with one request: in seconds, and in tries by kind of error.

    A kind that is not named is not tried again: no 4xx answer but 408 and 429 is,
    unless it reports a slip of the model itself.
    """

    seconds: float
    tries: Mapping[ErrorKind, int]


# Within a run, `run_timeout` is the bound that counts.
_RUN: Final = _RetryPolicy(
    seconds=600,
    tries={
        ErrorKind.RATE_LIMIT: 4,
        ErrorKind.OVERLOADED: 4,
        ErrorKind.CONNECTION: 3,
        ErrorKind.TIMEOUT: 2,
        ErrorKind.INVALID_RESPONSE: 3,
        ErrorKind.LOADING: 300,
    },
)
# Somebody sits before a form; a model that is loaded by the question takes a while.
_PROBE: Final = _RetryPolicy(
    seconds=PROBE_SECONDS,
    tries={
        ErrorKind.RATE_LIMIT: 2,
        ErrorKind.OVERLOADED: 2,
        ErrorKind.INVALID_RESPONSE: 2,
        ErrorKind.LOADING: 30,
    },
)
_LIST: Final = replace(
    _PROBE, seconds=20, tries={ErrorKind.OVERLOADED: 2, ErrorKind.LOADING: 5}
)
# An error is waiting to be told.
_GLANCE: Final = _RetryPolicy(seconds=5, tries={})


class EndpointClient:
    """One server and a model on it; every failure is a `ModelError`.

    The session belongs to the caller, who picks one that verifies certificates or
    one that does not. Cancelling a call drops its request at once.
    """

    def __init__(
        self,
        session: aiohttp.ClientSession,
        options: EndpointOptions,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Prepare; nothing is sent before something is asked for."""
        self._session = session
        self._options = options
        self._key = options.api_key
        self._sleep = sleep

    async def complete(
        self, messages: Sequence[JsonObject], tools: Sequence[ToolSpec]
    ) -> Reply:
        """Answer one turn, with retries while they can help (R7)."""
        return await self._chat(messages, tools, _RUN)

    async def list_models(self) -> list[str]:
        """Return the ids of the models the server offers."""
        return await self._list(_LIST)

    async def _list(self, policy: _RetryPolicy) -> list[str]:
        async def ask() -> list[str]:
            answer = await self._exchange("GET", "/models", None)
            return decode_models(*answer, api_key=self._key)

        return await self._with_retries(ask, policy)

    async def probe_tools(self) -> None:
        """Find out by one small request whether the model can be given tools."""
        await self._chat(PROBE_MESSAGES, PROBE_TOOLS, _PROBE)

    async def _chat(
        self,
        messages: Sequence[JsonObject],
        tools: Sequence[ToolSpec],
        policy: _RetryPolicy,
    ) -> Reply:
        options = self._options
        request = encode_request(options.model, messages, tools, options.extra_body)
        # Half a character in a name or a state must not keep the rest from being sent.
        body = write(request).encode("utf-8", "replace")

        is_answered = bool(messages) and messages[-1].get("role") == "tool"

        async def ask() -> Reply:
            answer = await self._exchange("POST", "/chat/completions", body)
            return decode_reply(
                *answer, tools, api_key=self._key, may_be_silent=is_answered
            )

        try:
            return await self._with_retries(ask, policy)
        except ModelError as err:
            if err.kind is not ErrorKind.MODEL_NOT_FOUND:
                raise
            raise await self._with_models(err.refined(model=options.model)) from err

    async def _with_models(self, err: ModelError) -> ModelError:
        """Name the models that are there, if the server tells them soon."""
        try:
            found = await self._list(_GLANCE)
        except ModelError:
            return err
        if not found or is_listed(self._options.model, found):
            return err
        return err.refined(advice=Advice.MODEL_NOT_LISTED, models=_some(found))

    async def _with_retries[T](
        self, ask: Callable[[], Awaitable[T]], policy: _RetryPolicy
    ) -> T:
        failed = Counter[ErrorKind]()
        last: ModelError | None = None
        try:
            async with asyncio.timeout(policy.seconds):
                while True:
                    try:
                        return await ask()
                    except ModelError as err:
                        failed[err.kind] += 1
                        if failed[err.kind] >= policy.tries.get(err.kind, 1):
                            raise
                        last = err
                    await self._sleep(_pause(last, failed[last.kind]))
        except TimeoutError as err:
            raise last or _timeout() from err

    async def _exchange(self, method: str, path: str, body: bytes | None) -> _Answer:
        try:
            async with self._session.request(
                method,
                f"{self._options.url}{path}",
                data=body,
                headers=self._headers(),
                allow_redirects=False,  # a POST would become a GET, at another's door
                timeout=_TIMEOUT,
            ) as response:
                content = await _read(response)
        except (aiohttp.ClientError, OSError, ValueError) as err:
            raise self._unreachable(err) from err
        said = quote(content[:_LOGGED].decode("utf-8", "replace"), self._key)
        _LOGGER.debug("%s %s: %d %s", method, path, response.status, said)
        return response.status, response.headers, content

    def _headers(self) -> dict[str, str]:
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        return headers

    def _unreachable(self, err: Exception) -> ModelError:
        advice = Advice.CONNECTION
        if isinstance(err, aiohttp.ClientConnectorCertificateError):
            advice = Advice.UNTRUSTED_CERTIFICATE
        elif isinstance(err, aiohttp.ClientSSLError):
            advice = Advice.NO_HTTPS
        elif isinstance(err, aiohttp.ClientConnectorDNSError):
            advice = Advice.UNKNOWN_HOST
        detail = quote(_reason(err), self._key)
        return ModelError(
            ErrorKind.CONNECTION, advice=advice, placeholders={"detail": detail}
        )


def _reason(err: Exception) -> str:
    """Say why there is no connection, in the system's plain words if it has any."""
    if isinstance(err, OSError) and err.errno:
        return os.strerror(err.errno)
    return str(err) or type(err).__name__


async def _read(response: aiohttp.ClientResponse) -> bytes:
    content = bytearray()
    async for chunk in response.content.iter_any():
        content += chunk
        if len(content) > MAX_BYTES:
            response.close()
            raise ModelError(ErrorKind.NOT_OPENAI_API, advice=Advice.OVERSIZE)
    return bytes(content)


def _pause(err: ModelError, failures: int) -> float:
    """Return the seconds to wait before the next try; raises where none makes sense.

    The jitter only ever adds: a server that names a time means at least that time.
    """
    wait = err.retry_after
    if wait is None:
        steady = err.kind is ErrorKind.LOADING
        wait = _LOADING_PAUSE if steady else _BACKOFF * 2 ** (failures - 1)
    if wait > MAX_WAIT:
        raise err.refined(advice=Advice.MUST_WAIT, seconds=f"{wait:.0f}") from err
    return wait * random.uniform(1, 1 + _JITTER)  # noqa: S311 - no secret


def _timeout() -> ModelError:
    return ModelError(ErrorKind.TIMEOUT)


def _some(models: Sequence[str]) -> str:
    more = f", … ({len(models)})" if len(models) > _NAMED else ""
    return f"{', '.join(models[:_NAMED])}{more}"

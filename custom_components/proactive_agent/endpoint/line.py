"""One request to a server: what goes over the line, and how much may come back."""

from collections.abc import Mapping
import logging
import os
from typing import Final

import aiohttp

from ..engine.errors import Advice, ErrorKind, ModelError
from ..engine.records import Usage
from ..engine.wire.body import ends_stream
from ..engine.wire.secrets import quote
from ..models import EndpointOptions

type Answer = tuple[int, Mapping[str, str], bytes]

_LOGGER = logging.getLogger(__name__)

MAX_BYTES: Final = 8 * 1024 * 1024  # of one answer, also after decompression
# Everything after the connection is bounded by the retry policy's `seconds`.
_TIMEOUT: Final = aiohttp.ClientTimeout(total=None, sock_connect=15)
_LOGGED: Final = 2_000  # bytes of an answer, at debug level


class Line:
    """Sends requests to one server; every failure is a `ModelError`.

    Cancelling one drops it at once.
    """

    def __init__(
        self, session: aiohttp.ClientSession, options: EndpointOptions
    ) -> None:
        """Prepare; the session belongs to the caller."""
        self._session = session
        self._url = options.url
        self._key = options.api_key

    async def exchange(self, method: str, path: str, body: bytes | None) -> Answer:
        """Return the answer as it came, whatever its status."""
        try:
            async with self._session.request(
                method,
                f"{self._url}{path}",
                data=body,
                headers=self._headers(),
                allow_redirects=False,  # a POST would become a GET, at another's door
                timeout=_TIMEOUT,
            ) as response:
                content = await _read(response)
        except (aiohttp.ClientError, OSError, ValueError) as err:
            raise self._unreachable(err) from err
        if _LOGGER.isEnabledFor(logging.DEBUG):
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
        return ModelError(
            ErrorKind.CONNECTION,
            advice=advice,
            placeholders={"detail": quote(_reason(err), self._key)},
            # Who has not been reached has done nothing; of others nobody knows.
            usage=Usage() if isinstance(err, aiohttp.ClientConnectorError) else None,
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
        if ends_stream(content):
            response.close()  # some keep a line open on which nothing more will come
            break
    return bytes(content)

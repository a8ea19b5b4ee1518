"""Home Assistant from outside: REST and the WebSocket, as a browser speaks to it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
import itertools
from typing import Any

import aiohttp

from .errors import DemoError

SECONDS = 30

type Data = Mapping[str, Any]
type Listener = Callable[[dict[str, Any]], None]


class HassApi:
    """REST calls; every failure is a `DemoError` that quotes the answer."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        """Speak to the Home Assistant at `url`, without a token at first."""
        self._session = session
        self.url = url
        self.token = ""
        self.seconds: float = SECONDS  # one request may take

    async def get(self, path: str) -> Any:
        """Return what stands at a path."""
        return await self._request("GET", path)

    async def post(self, path: str, data: Data | None = None) -> Any:
        """Post JSON and return the JSON that comes back."""
        return await self._request("POST", path, json=data or {})

    async def post_form(self, path: str, fields: Mapping[str, str]) -> Any:
        """Post a form, as the token endpoint wants it."""
        return await self._request("POST", path, data=fields)

    async def delete(self, path: str) -> Any:
        """Delete what stands at a path."""
        return await self._request("DELETE", path)

    async def _request(self, method: str, path: str, **content: Any) -> Any:
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        try:
            async with self._session.request(
                method,
                f"{self.url}{path}",
                headers=headers,
                timeout=aiohttp.ClientTimeout(total=self.seconds),
                **content,
            ) as response:
                if not response.ok:
                    raise DemoError(
                        f"{method} {path}: {response.status} {await response.text()}"
                    )
                return await response.json()
        except (aiohttp.ClientError, TimeoutError) as err:
            raise DemoError(f"{method} {path}: {err!r}") from err


class HassSocket:
    """The WebSocket: commands, and subscriptions to what happens."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        """Take over a socket that is already authenticated."""
        self._socket = socket
        self._ids = itertools.count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._listeners: dict[int, Listener] = {}

    async def command(self, kind: str, **data: Any) -> Any:
        """Send a command and return its result; raises `DemoError`."""
        return await self._send(next(self._ids), {"type": kind, **data})

    async def subscribe(self, listener: Listener, kind: str, **data: Any) -> None:
        """Have the listener called with each message of a subscription."""
        number = next(self._ids)
        self._listeners[number] = listener
        await self._send(number, {"type": kind, **data})

    async def act(self, action: str, entity_id: str, **data: Any) -> None:
        """Call an action of Home Assistant on an entity."""
        domain, service = action.split(".")
        await self.command(
            "call_service",
            domain=domain,
            service=service,
            service_data=data,
            target={"entity_id": entity_id},
        )

    async def _send(self, number: int, message: dict[str, Any]) -> Any:
        answer = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        try:
            async with asyncio.timeout(SECONDS):
                await self._socket.send_json({"id": number, **message})
                result = await answer
        except (ConnectionError, TimeoutError) as err:
            raise DemoError(f"{message['type']}: {err!r}") from err
        finally:
            self._answers.pop(number, None)
        if not result["success"]:
            raise DemoError(f"{message['type']}: {result['error']}")
        return result["result"]

    async def listen(self) -> None:
        """Hand out what comes in, until the socket closes."""
        try:
            async for frame in self._socket:
                message = frame.json()
                number = message.get("id", 0)
                if message["type"] == "event":
                    if listener := self._listeners.get(number):
                        listener(message["event"])
                elif (answer := self._answers.get(number)) and not answer.done():
                    answer.set_result(message)
        finally:
            for answer in self._answers.values():
                if not answer.done():
                    answer.set_exception(ConnectionError("the connection closed"))


@asynccontextmanager
async def open_socket(
    session: aiohttp.ClientSession, api: HassApi
) -> AsyncIterator[HassSocket]:
    """Connect and authenticate with the token of `api`."""
    async with session.ws_connect(
        f"{api.url}/api/websocket", max_msg_size=0, heartbeat=SECONDS
    ) as raw:
        await raw.receive_json(timeout=SECONDS)
        await raw.send_json({"type": "auth", "access_token": api.token})
        greeting = await raw.receive_json(timeout=SECONDS)
        if greeting["type"] != "auth_ok":
            raise DemoError(f"the WebSocket refused the token: {greeting}")
        socket = HassSocket(raw)
        listening = asyncio.create_task(socket.listen())
        try:
            yield socket
        finally:
            listening.cancel()
            with suppress(asyncio.CancelledError):
                await listening

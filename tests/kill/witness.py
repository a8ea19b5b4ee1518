"""What has happened outside of Home Assistant, which no kill can undo."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from demo_house.model_server import served


@dataclass(frozen=True, slots=True)
class Held:
    """An answer that is given only when it is released."""

    reached: asyncio.Event = field(default_factory=asyncio.Event)
    release: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True, slots=True, kw_only=True)
class Push:
    """A notification as it comes to the phone."""

    title: str
    message: str
    data: dict[str, Any]

    @property
    def buttons(self) -> list[str]:
        """What its buttons send back: a yes, a no."""
        return [button["action"] for button in self.data.get("actions", ())]


class Witness:
    """Counts how often each door was unlocked, and keeps what the phone was sent."""

    def __init__(self) -> None:
        self.url = ""
        self.deeds: Counter[str] = Counter()
        self.pushes: list[Push] = []
        self.takes = 0.0  # seconds, for a door
        self.push_takes = 0.0  # seconds, for a push
        self._held: dict[str, Held] = {}

    def hold(self, what: str) -> Held:
        """Keep the next call for this door, or push of this title, from its answer."""
        held = self._held[what] = Held()
        return held

    def release(self, what: str) -> None:
        """Answer what is held of this."""
        self._held.pop(what).release.set()

    def release_all(self) -> None:
        """Answer whatever is held; whoever has asked may be dead by now."""
        for held in self._held.values():
            held.release.set()
        self._held.clear()

    def told(self, title: str) -> list[str]:
        """Return the messages of a heartbeat that ask nothing, oldest first."""
        return [one.message for one in self._of(title) if not one.buttons]

    def asked(self, title: str) -> list[Push]:
        """Return the questions of a heartbeat, oldest first."""
        return [one for one in self._of(title) if one.buttons]

    def is_cleared(self, tag: str) -> bool:
        """Say whether a notification was taken off the phone."""
        about = [one for one in self.pushes if one.data.get("tag") == tag]
        return bool(about) and about[-1].message == "clear_notification"

    def _of(self, title: str) -> list[Push]:
        return [one for one in self.pushes if one.title == title]

    async def did(self, request: web.Request) -> web.Response:
        door = request.match_info["door"]
        self.deeds[door] += 1
        await asyncio.sleep(self.takes)
        await self._wait(door)
        return web.json_response({})

    async def push(self, request: web.Request) -> web.Response:
        sent = await request.json()
        title = sent.get("title", "")
        self.pushes.append(
            Push(title=title, message=sent["message"], data=sent.get("data", {}))
        )
        await asyncio.sleep(self.push_takes)
        await self._wait(title)
        return web.json_response({}, status=201)

    async def _wait(self, what: str) -> None:
        if (held := self._held.get(what)) is not None:
            held.reached.set()
            await held.release.wait()


@asynccontextmanager
async def running_witness() -> AsyncIterator[Witness]:
    """Serve a witness on a port of its own."""
    witness = Witness()
    app = web.Application()
    app.router.add_post("/did/{door}", witness.did)
    app.router.add_post("/push", witness.push)
    async with served(app) as witness.url:
        try:
            yield witness
        finally:
            witness.release_all()

"""A Home Assistant that is killed, and started again in the same folder."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
import json
import os
from pathlib import Path
import tempfile
from typing import Any, Final

import aiohttp

from demo_house.errors import DemoError
from demo_house.hass_api import HassApi, HassSocket, open_socket
from demo_house.hass_process import HassProcess
from demo_house.house import HOST, free_port, lay_out
from demo_house.running import move_in, until_running

from .births import Bear, births
from .home import write_home

SECONDS: Final = 15
# It takes its time to write down which entities there are.
UNTIL_KEPT: Final = 30
# The threads that write Home Assistant's files, and some more.
WRITERS: Final = 64 + 8

type Ask = Callable[[], object | Awaitable[object]]


class KilledHouse:
    """One folder, and the Home Assistant that lives in it just now."""

    def __init__(self, folder: Path, api: HassApi, bear: Bear) -> None:
        self.folder = folder
        self.api = api
        self._bear = bear
        self._life = AsyncExitStack()
        self._process: HassProcess | None = None
        self._socket: HassSocket | None = None
        self._stuck: list[asyncio.Task[Any]] = []

    @property
    def socket(self) -> HassSocket:
        assert self._socket is not None, "it does not run"
        return self._socket

    @property
    def process(self) -> HassProcess:
        assert self._process is not None, "it does not run"
        return self._process

    async def start(self) -> None:
        """Start Home Assistant, again or for the first time."""
        self._process = await self._bear(self.folder)
        try:
            if self.api.token:
                await until_running(self.api, self._process)
            else:
                await move_in(self.api, self._process)
        except DemoError as err:
            raise DemoError(f"{err}\n--- {self._process.tail()}") from err
        session = await self._life.enter_async_context(aiohttp.ClientSession())
        self._socket = await self._life.enter_async_context(
            open_socket(session, self.api)
        )

    async def kill(self) -> None:
        """Cut the power."""
        await self.process.kill()
        await self._bury()

    async def stop(self) -> None:
        """End Home Assistant, if it runs, and leave no process behind."""
        if self._process is not None:
            await self._process.stop()
        await self._bury()

    async def _bury(self) -> None:
        await asyncio.gather(*self._stuck, return_exceptions=True)
        self._stuck.clear()
        await self._life.aclose()
        self._process = self._socket = None
        if (saved := self._configuration("saved")).exists():
            saved.replace(self._configuration())

    async def block_disk(self) -> None:
        """Let Home Assistant write to no file any more, until it is killed.

        All of its threads that could write read the configuration anew, and that
        never ends. What is asked for later waits behind them.
        """
        self._configuration().replace(self._configuration("saved"))
        os.mkfifo(self._configuration())
        self._stuck = [
            asyncio.create_task(self.act("rest_command.reload")) for _ in range(WRITERS)
        ]
        # Messages are taken in their order: with this answer all have been taken.
        await asyncio.sleep(0)
        await self.socket.command("get_config")

    def _configuration(self, suffix: str = "yaml") -> Path:
        return self.folder / f"configuration.{suffix}"

    async def act(self, action: str, **data: Any) -> Any:
        """Call an action; raises `DemoError` with what Home Assistant says to it."""
        domain, service = action.split(".")
        return await self.socket.command(
            "call_service", domain=domain, service=service, service_data=data
        )

    async def state(self, entity_id: str) -> str | None:
        """Return a state, None if there is none."""
        # One alone: all of them would be compressed by a thread that may be stuck.
        with suppress(DemoError):
            state: str = (await self.api.get(f"/api/states/{entity_id}"))["state"]
            return state
        return None

    def stored(self, key: str) -> Any:
        """Return what a file of Home Assistant's store holds; None without one."""
        path = self.folder / ".storage" / key
        return json.loads(path.read_text())["data"] if path.exists() else None

    async def until(self, ask: Ask, what: str) -> None:
        """Ask until the answer is not empty; raises `DemoError`."""

        async def probe() -> bool | None:
            answer = ask()
            if isinstance(answer, Awaitable):
                answer = await answer
            return bool(answer) or None

        await self.process.until(probe, seconds=SECONDS, what=what)

    async def until_kept(self, entry_ids: set[str]) -> None:
        """Wait until what is needed for a life after this one is on disk."""

        async def is_kept() -> bool | None:
            entries = (self.stored("core.config_entries") or {}).get("entries", ())
            tokens = (self.stored("auth") or {}).get("refresh_tokens", ())
            # An entity that was registered anew would be another one (P4).
            registry = self.stored("core.entity_registry") or {}
            is_there = entry_ids <= {one["entry_id"] for one in entries}
            are_known = any(
                one["entity_id"].startswith("lock.")
                for one in registry.get("entities", ())
            )
            has_token = any(one["client_id"] for one in tokens)
            return (is_there and are_known and has_token) or None

        await self.process.until(
            is_kept, seconds=UNTIL_KEPT, what="all that is needed on disk"
        )

    async def delete_entry(self, entry_id: str) -> None:
        """Delete a config entry."""
        await self.api.delete(f"/api/config/config_entries/entry/{entry_id}")


@asynccontextmanager
async def killed_house(
    doors: tuple[str, ...], witness: str
) -> AsyncIterator[KilledHouse]:
    """Start a home of these doors, and leave nothing behind in the end."""
    with tempfile.TemporaryDirectory(
        prefix="killed-", ignore_cleanup_errors=True
    ) as name:
        folder = Path(name) / "config"
        port = free_port()
        write_home(Path(name) / "home", doors, witness)
        lay_out(folder, port=port, home=Path(name) / "home")
        async with aiohttp.ClientSession() as session, births() as bear:
            api = HassApi(session, f"http://{HOST}:{port}")
            house = KilledHouse(folder, api, bear)
            try:
                await house.start()
                yield house
            finally:
                await house.stop()

"""A fresh house with Home Assistant running in it, for the demo and for tests.

Like this: `async with stand_in() as model, running_house() as house: ...`
"""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
import tempfile
from typing import Final

import aiohttp

from .errors import DemoError
from .hass_api import HassApi, HassSocket, open_socket
from .hass_process import HassProcess
from .house import HOST, free_port, lay_out

USER: Final = "milonga"
# A password for a house that listens on this machine only.
PASSWORD: Final = "milonga"  # noqa: S105
START_SECONDS: Final = 120

type Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """A running Home Assistant, onboarded, with somebody logged in."""

    api: HassApi
    socket: HassSocket
    process: HassProcess
    config_dir: Path

    @property
    def url(self) -> str:
        """The address for a browser; log in as `USER` with `PASSWORD`."""
        return self.api.url


@asynccontextmanager
async def running_house(
    config_dir: Path | None = None,
    *,
    port: int | None = None,
    say: Say = lambda _line: None,
) -> AsyncIterator[House]:
    """Run Home Assistant in a folder of its own, and leave no process behind.

    Without `config_dir` the folder is a temporary one. Raises `DemoError`, with the
    end of Home Assistant's log in it, also for a `DemoError` of the body.
    """
    with _folder(config_dir) as folder:
        port = port or free_port()
        lay_out(folder, port=port)
        say("Starting Home Assistant (about 10 s; longer the first time) ...")
        process = await HassProcess.start(folder)
        try:
            async with aiohttp.ClientSession() as session:
                api = HassApi(session, f"http://{HOST}:{port}")
                await move_in(api, process)
                async with open_socket(session, api) as socket:
                    yield House(
                        api=api, socket=socket, process=process, config_dir=folder
                    )
        except DemoError as err:
            raise DemoError(await _with_log(err, process)) from err
        finally:
            await process.stop()


async def _with_log(err: DemoError, process: HassProcess) -> str:
    ended = await process.has_ended(within=1)
    what = f"Home Assistant ended with status {process.returncode}: " if ended else ""
    return f"{what}{err}\n--- The end of its log:\n{process.tail()}"


async def move_in(api: HassApi, process: HassProcess) -> None:
    """Wait for a fresh Home Assistant, and give it its owner; `api` gets the token."""

    async def is_answering() -> bool | None:
        with suppress(DemoError):
            await api.get("/api/onboarding")
            return True
        return None

    await process.until(
        is_answering, seconds=START_SECONDS, what="Home Assistant's web server"
    )
    await _onboard(api)
    await until_running(api, process)


async def until_running(api: HassApi, process: HassProcess) -> None:
    """Wait for the end of Home Assistant's start, with a token that it knows."""

    async def is_running() -> bool | None:
        with suppress(DemoError):
            return (await api.get("/api/config"))["state"] == "RUNNING" or None
        return None

    await process.until(
        is_running, seconds=START_SECONDS, what="the end of Home Assistant's start"
    )


async def _onboard(api: HassApi) -> None:
    client_id = f"{api.url}/"
    user = {
        "client_id": client_id,
        "name": "Milonga's owner",
        "username": USER,
        "password": PASSWORD,
        "language": "en",
    }
    answer = await api.post("/api/onboarding/users", user)
    token = {
        "client_id": client_id,
        "grant_type": "authorization_code",
        "code": answer["auth_code"],
    }
    api.token = (await api.post_form("/auth/token", token))["access_token"]


@contextmanager
def _folder(config_dir: Path | None) -> Iterator[Path]:
    if config_dir is not None:
        config_dir.mkdir(parents=True, exist_ok=True)
        yield config_dir.resolve()
        return
    with tempfile.TemporaryDirectory(
        prefix="milonga-", ignore_cleanup_errors=True
    ) as name:
        yield Path(name)

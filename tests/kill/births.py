"""Home Assistants that start fast, since what they are made of is imported already."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
import os
from pathlib import Path
import select
import sys
from typing import Final

from demo_house.errors import DemoError
from demo_house.hass_process import HassProcess

PATIENCE: Final = 120  # seconds, for all that is to be imported

type Bear = Callable[[Path], Awaitable[HassProcess]]


class Descendant:
    """The child of another process: when it has ended, nobody knows how."""

    def __init__(self, pid: int) -> None:
        """Know it by its process id."""
        self.pid = pid
        self._handle = os.pidfd_open(pid)

    def __del__(self) -> None:
        os.close(self._handle)

    @property
    def returncode(self) -> int | None:
        """0 as soon as it has ended, however that was."""
        has_ended, _, _ = select.select([self._handle], [], [], 0)
        return 0 if has_ended else None

    async def wait(self) -> int:
        """Wait for its end."""
        if self.returncode is None:
            loop, ended = asyncio.get_running_loop(), asyncio.Event()
            loop.add_reader(self._handle, ended.set)
            try:
                await ended.wait()
            finally:
                loop.remove_reader(self._handle)
        return 0


@asynccontextmanager
async def births() -> AsyncIterator[Bear]:
    """Have an ancestor, of which every Home Assistant is forked."""
    ancestor = await asyncio.create_subprocess_exec(
        sys.executable,
        # As Home Assistant itself: what is beside the script is none of its business.
        "-P",
        str(Path(__file__).with_name("ancestor.py")),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    asked, answers = ancestor.stdin, ancestor.stdout
    assert asked is not None
    assert answers is not None

    async def bear(folder: Path) -> HassProcess:
        asked.write(f"{folder}\n".encode())
        await asked.drain()
        async with asyncio.timeout(PATIENCE):
            answer = await answers.readline()
        if not answer:
            raise DemoError("the ancestor of every Home Assistant has ended")
        return HassProcess(Descendant(int(answer)), folder / "demo.log")

    try:
        yield bear
    finally:
        asked.close()
        await ancestor.wait()

"""Home Assistant as a child process that never outlives the demo."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
import os
from pathlib import Path
import signal
import sys
from typing import Protocol, Self

from .errors import DemoError

STOP_SECONDS = 30
TAIL_LINES = 25
RESTART_EXIT_CODE = 100


class Child(Protocol):
    """A process that was started, as asyncio shows it."""

    @property
    def pid(self) -> int:
        """Its number, which is that of its group, too."""
        ...

    @property
    def returncode(self) -> int | None:
        """How it ended; None while it runs."""
        ...

    async def wait(self) -> int:
        """Wait for its end."""
        ...


class HassProcess:
    """One running `hass`, its log and its end."""

    def __init__(self, process: Child, log: Path) -> None:
        """Take over a process that was just started."""
        self._process = process
        self._log = log

    @classmethod
    async def start(cls, config_dir: Path) -> Self:
        """Start Home Assistant of this very interpreter's environment."""
        log = config_dir / "demo.log"
        with log.open("ab") as sink:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                # Its integrations are in its own folder, not where this is called from.
                "-P",
                "-m",
                "homeassistant",
                "--config",
                str(config_dir),
                "--log-no-color",
                "--skip-pip",
                stdin=asyncio.subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                # Ctrl-C is for the demo, which then stops its child in order.
                start_new_session=True,
            )
        return cls(process, log)

    @property
    def returncode(self) -> int | None:
        """How the process ended; None while it runs."""
        return self._process.returncode

    def log(self) -> str:
        """Return all that it has logged."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def tail(self) -> str:
        """Return the last lines of the log."""
        return "\n".join(self.log().splitlines()[-TAIL_LINES:])

    async def until[T](
        self, probe: Callable[[], Awaitable[T | None]], *, seconds: float, what: str
    ) -> T:
        """Ask until there is an answer; raises `DemoError` when in vain."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.returncode is None:
                    if (answer := await probe()) is not None:
                        return answer
                    await asyncio.sleep(0.1)
        if self.returncode is not None:
            raise DemoError(f"Home Assistant ended with status {self.returncode}")
        raise DemoError(f"waited {seconds:.0f} s in vain: {what}")

    async def has_ended(self, *, within: float) -> bool:
        """Say whether it has ended by itself, or does so in that many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._process.wait()
        return self.returncode is not None

    async def stop(self) -> None:
        """End it the way Home Assistant likes best, by force if need be."""
        for request, patience in ((signal.SIGTERM, STOP_SECONDS), (signal.SIGKILL, 5)):
            if self.returncode is not None:
                break
            self._signal(request)
            with suppress(TimeoutError):
                async with asyncio.timeout(patience):
                    await self._process.wait()
        # Whatever it started itself sits in its process group.
        self._signal(signal.SIGKILL)

    async def kill(self) -> None:
        """End it at once, as a power cut does: nothing is written any more."""
        self._signal(signal.SIGKILL)
        await self._process.wait()

    def _signal(self, request: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, request)

"""The real llama.cpp server as a child process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
import os
from pathlib import Path
from typing import Final

import aiohttp

from demo_house.errors import DemoError
from demo_house.house import HOST, free_port

MODEL: Final = "smollm2"
TOOLS_TEMPLATE: Final = Path(__file__).parent / "tools.jinja"
START_SECONDS: Final = 120
STOP_SECONDS: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """Where llama.cpp and the model were put, and the port it is to listen on."""

    folder: Path
    model: Path
    port: int

    @property
    def origin(self) -> str:
        """The server's address, without a path."""
        return f"http://{HOST}:{self.port}"

    def command(self, options: tuple[str, ...]) -> list[str]:
        """Start it by its own loader: it brings the C library it was built for."""
        (libraries,) = self.folder.glob("usr/lib/*-linux-gnu*")
        loader = next(libraries.glob("ld-linux*.so.*"))
        path = ":".join(str(libraries / part) for part in ("", "llama", "ggml"))
        server = self.folder / "usr/bin/llama-server"
        return [
            *(str(loader), "--library-path", path, str(server)),
            *("--model", str(self.model), "--alias", MODEL),
            *("--host", HOST, "--port", str(self.port), "--parallel", "1"),
            *options,
        ]

    def environment(self) -> dict[str, str]:
        """Name the part for this processor: it is not where it would look for it."""
        has_avx2 = " avx2 " in Path("/proc/cpuinfo").read_text(encoding="utf-8")
        name = "haswell" if has_avx2 else "x64"
        found = self.folder.glob(f"usr/lib/*/ggml/*/libggml-cpu-{name}.so")
        return {**os.environ, "GGML_BACKEND_PATH": str(next(found))}


def installed() -> Installed:
    """Return what the start script has put in place."""
    models = Path(os.environ["LLAMA_MODEL_FOLDER"])
    return Installed(
        folder=Path(os.environ["LLAMA_CPP"]),
        model=next(models.rglob("*.gguf")),
        port=free_port(),
    )


@asynccontextmanager
async def llama(
    where: Installed, *options: str, ready_at: int = 200
) -> AsyncIterator[None]:
    """Run the server with these options; raises `DemoError` if it does not start.

    It is handed over as soon as its health has the status `ready_at`: 200 once the
    model is loaded, 503 while it is loading.
    """
    process = await asyncio.create_subprocess_exec(
        *where.command(options),
        env=where.environment(),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with aiohttp.ClientSession() as session, asyncio.timeout(START_SECONDS):
            while await _health(session, where.origin) != ready_at:
                if process.returncode is not None:
                    raise DemoError(f"llama.cpp ended with {process.returncode}")
                await asyncio.sleep(0.005)
        yield
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), STOP_SECONDS)
        if process.returncode is None:
            process.kill()


async def _health(session: aiohttp.ClientSession, origin: str) -> int | None:
    with suppress(aiohttp.ClientError):
        async with session.get(f"{origin}/health") as response:
            return response.status
    return None

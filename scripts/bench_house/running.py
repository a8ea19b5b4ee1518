"""A real Home Assistant in this very process, so that its time can be measured."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
import shutil
import tempfile
from typing import Any, Final

from homeassistant.bootstrap import async_setup_hass
from homeassistant.core import HomeAssistant
from homeassistant.runner import RuntimeConfig, create_event_loop

from demo_house.house import free_port, lay_out

from .errors import BenchError

HERE: Final = Path(__file__).parent
HOME: Final = HERE / "home"
BARE_HOME: Final = HERE / "bare_home"
THINGS: Final = HERE / "bench_home"


def run[T](job: Coroutine[Any, Any, T]) -> T:
    """Run a job in the event loop that Home Assistant makes for itself."""
    with asyncio.Runner(loop_factory=create_event_loop) as runner:
        return runner.run(job)


@asynccontextmanager
async def running_hass(home: Path = HOME) -> AsyncIterator[HomeAssistant]:
    """Start it in a temporary folder, with our integration and things to put up."""
    with laid_out(home) as folder:
        async with started(folder) as hass:
            yield hass


@contextmanager
def laid_out(home: Path) -> Iterator[Path]:
    """Give it a temporary folder, in which it may be started more than once."""
    with tempfile.TemporaryDirectory(
        prefix="bench-", ignore_cleanup_errors=True
    ) as name:
        folder = Path(name)
        lay_out(folder, port=free_port(), home=home)
        shutil.copytree(
            THINGS,
            folder / "custom_components" / THINGS.name,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        yield folder


@asynccontextmanager
async def started(folder: Path) -> AsyncIterator[HomeAssistant]:
    """Start it in a folder, and stop it in the end."""
    hass = await async_setup_hass(
        RuntimeConfig(config_dir=str(folder), skip_pip=True, log_no_color=True)
    )
    if hass is None:
        raise BenchError("Home Assistant did not start")
    try:
        await hass.async_start()
        await hass.async_block_till_done()
        yield hass
    finally:
        await hass.async_stop()

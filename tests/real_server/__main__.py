"""Walk through it: each scene says what was seen, the exit status if all was right."""

import asyncio
from collections.abc import Awaitable, Callable
import signal
import sys

from demo_house.errors import DemoError
from demo_house.running import running_house

from .llama import installed
from .scenes import SCENES, Stage


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - the terminal is its voice


async def _walk(wanted: list[str]) -> int:
    failed = 0
    async with running_house(say=_say) as house:
        house.api.seconds = 900  # two slow cores may have a lot to read
        stage = Stage(house=house, llama=installed())
        for scene in SCENES:
            if not wanted or scene.__name__ in wanted:
                failed += not await _play(scene, stage)
    return failed


async def _play(scene: Callable[[Stage], Awaitable[str]], stage: Stage) -> bool:
    title = (scene.__doc__ or "").splitlines()[0]
    try:
        seen = await scene(stage)
    except (AssertionError, DemoError) as err:
        _say(f"WRONG  {title}\n       {err}")
        return False
    _say(f"ok     {title}\n       {seen}")
    return True


async def _until_signalled(wanted: list[str]) -> int:
    """Leave no server and no Home Assistant behind, however it is ended."""
    walking = asyncio.ensure_future(_walk(wanted))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, walking.cancel)
    return await walking


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(_until_signalled(sys.argv[1:])))
    except asyncio.CancelledError:
        sys.exit(1)

"""What may come between a request and its end, such as a slow disk or a crash."""

import asyncio
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any
from unittest.mock import patch

from homeassistant.helpers.storage import Store
from homeassistant.util.file import WriteError
import pytest

from custom_components.proactive_agent.const import DOMAIN

from .doors import BECAUSE, FRONT, Door
from .heartbeats import let_run
from .llm_server import calls, text

UNLOCKED = "Done after your yes: Unlock lock (Front door)."
WAITING = "Waiting for your yes: Unlock lock (Front door)."


class Disk:
    """The disk of the heartbeats: it can be full, or slow."""

    def __init__(self) -> None:
        self.is_full = False
        self.reached = asyncio.Event()
        self._free = asyncio.Event()
        self._free.set()

    async def write(self) -> None:
        """Take what is written, sooner or later, or not at all."""
        self.reached.set()
        await self._free.wait()
        if self.is_full:
            raise WriteError("full")

    def hold(self) -> None:
        """Let every write from now on wait."""
        self.reached.clear()
        self._free.clear()

    def release(self) -> None:
        """Let them go on."""
        self._free.set()


@pytest.fixture
def disk(hass_storage: dict[str, Any]) -> Iterator[Disk]:
    """Put the disk between the heartbeats and Home Assistant's mocked one."""
    disk, write_data = Disk(), Store._async_write_data

    async def write(store: Store[Any], data: dict[str, Any]) -> None:
        if store.key.startswith(DOMAIN):
            await disk.write()
        await write_data(store, data)

    with patch.object(Store, "_async_write_data", write):
        yield disk


def unlock(lock: str = FRONT, **data: Any) -> tuple[str, dict[str, Any]]:
    """Return the call of a model that wants a lock to be opened."""
    return "lock_unlock", {"entity_id": lock, "because": BECAUSE, **data}


async def wake(door: Door, *wanted: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    """Let a run make these calls in one turn; returns its record."""
    turns = [calls(*wanted)] if wanted else []
    door.home.llm_server.play(*turns, text("That was it."))
    record = await door.beat.wake()
    await door.home.settled()
    return record


def answers(record: dict[str, Any]) -> list[Any]:
    """Return what the model was answered to its calls."""
    return [call["answer"] for call in record["calls"]]


def prompt(door: Door) -> str:
    """Return the user message of the last run."""
    return str(door.home.llm_server.chats[-1]["messages"][1]["content"])


def stored(door: Door, storage: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the requests of the heartbeat as they stand on disk."""
    beats = storage[f"{DOMAIN}.{door.home.entry.entry_id}"]["data"]["heartbeats"]
    approvals: list[dict[str, Any]] = beats[door.beat.id]["approvals"]
    return approvals


async def unload(door: Door) -> None:
    assert await door.hass.config_entries.async_unload(door.home.entry.entry_id)
    await let_run()


async def set_up(door: Door) -> None:
    assert await door.hass.config_entries.async_setup(door.home.entry.entry_id)
    await let_run()


def disk_now(door: Door, storage: dict[str, Any]) -> Any:
    """Return the file of the endpoint as a crash would leave it now."""
    return deepcopy(storage[f"{DOMAIN}.{door.home.entry.entry_id}"])


async def start_from(door: Door, storage: dict[str, Any], left: Any) -> None:
    """Start again from what a crash has left on disk."""
    await unload(door)
    storage[f"{DOMAIN}.{door.home.entry.entry_id}"] = left
    await set_up(door)
    await door.home.settled()


async def until(so: Callable[[], bool]) -> None:
    """Let everything go on until something is so."""
    for _ in range(100_000):
        if so():
            return
        await asyncio.sleep(0)
    pytest.fail("It did not come to that.")

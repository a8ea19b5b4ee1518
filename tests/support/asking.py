"""What may come between a request and its end, such as a slow disk or a crash."""

import asyncio
from copy import deepcopy
from typing import Any

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

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_full = False
        self.writes = 0
        self.reached = asyncio.Event()
        self._free = asyncio.Event()
        self._free.set()
        write_data = Store._async_write_data

        async def write(store: Store[Any], data: dict[str, Any]) -> None:
            if store.key.startswith(DOMAIN):
                self.reached.set()
                await self._free.wait()
                self.writes += 1
                if self.is_full:
                    raise WriteError("full")
            await write_data(store, data)

        monkeypatch.setattr(Store, "_async_write_data", write)

    def hold(self) -> None:
        """Let every write from now on wait."""
        self.reached.clear()
        self._free.clear()

    def release(self) -> None:
        """Let them go on."""
        self._free.set()


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
    await door.home.settled()


def disk_now(door: Door, storage: dict[str, Any]) -> Any:
    """Return the file of the endpoint as a crash would leave it now."""
    return deepcopy(storage[f"{DOMAIN}.{door.home.entry.entry_id}"])


async def start_from(door: Door, storage: dict[str, Any], left: Any) -> None:
    """Start again from what a crash has left on disk."""
    await unload(door)
    storage[f"{DOMAIN}.{door.home.entry.entry_id}"] = left
    await set_up(door)

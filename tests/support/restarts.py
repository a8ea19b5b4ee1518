"""Restarts of a home with heartbeats: in good order, and killed."""

import asyncio
from collections.abc import Iterable, Mapping
from copy import deepcopy
from datetime import timedelta
from typing import Any

from homeassistant.const import EVENT_HOMEASSISTANT_STARTED
from homeassistant.core import CoreState

from custom_components.proactive_agent.const import DOMAIN

from .heartbeats import Home, let_run


def on_disk(home: Home, storage: dict[str, Any]) -> Any:
    """Return the file of the endpoint as a process that is killed now leaves it."""
    return deepcopy(storage.get(f"{DOMAIN}.{home.entry.entry_id}"))


def logs_on_disk(home: Home, storage: dict[str, Any]) -> dict[str, Any]:
    """Return the logs of runs as a process that is killed now leaves them."""
    prefix = f"{DOMAIN}.{home.entry.entry_id}.runs."
    found = {key: one for key, one in storage.items() if key.startswith(prefix)}
    return deepcopy(found)


async def restart(
    home: Home,
    storage: dict[str, Any] | None = None,
    *,
    left: Any = None,
    logs: Mapping[str, Any] | None = None,
    late: Iterable[str] = (),
    off_for: timedelta = timedelta(),
    settles: bool = True,
) -> None:
    """Start Home Assistant again, from what was `left` on the disk if it was killed.

    These are the `logs` of runs that it has left beside, if they matter.
    These entities are `late`: they have no state yet when it has started.
    """
    hass = home.hass
    if left is not None:
        _let_nobody_end_in_order()
    await hass.config_entries.async_unload(home.entry.entry_id)
    await let_run()
    if storage is not None and left is not None:
        storage[f"{DOMAIN}.{home.entry.entry_id}"] = left
        if logs is not None:
            for key in logs_on_disk(home, storage):
                del storage[key]
            storage.update(logs)
    for entity_id in late:
        hass.states.async_remove(entity_id)
    home.clock.turn(off_for)
    hass.set_state(CoreState.starting)
    assert await hass.config_entries.async_setup(home.entry.entry_id)
    await let_run()
    hass.set_state(CoreState.running)
    hass.bus.async_fire(EVENT_HOMEASSISTANT_STARTED)
    if settles:
        await home.settled()
    else:
        await let_run()


def _let_nobody_end_in_order() -> None:
    for task in asyncio.all_tasks():
        if task.get_name().startswith(DOMAIN):
            task.cancel()

"""The heartbeat itself: on or off."""

import asyncio
from itertools import islice
from typing import Any

from homeassistant.components.switch import SwitchEntity
from homeassistant.core import HomeAssistant, ServiceResponse
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .const import DOMAIN
from .engine.export import run_as_dict
from .entity import HeartbeatEntity, add_for_each_heartbeat
from .heartbeat.heartbeat import Heartbeat
from .identity import KEY_HEARTBEAT
from .runtime import ProactiveAgentConfigEntry

# Any limit would make `turn_off` wait behind a running `wake` (F6).
PARALLEL_UPDATES = 0


async def async_setup_entry(
    hass: HomeAssistant,
    entry: ProactiveAgentConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add a switch for each heartbeat."""
    add_for_each_heartbeat(
        entry, async_add_entities, lambda heartbeat: [HeartbeatSwitch(heartbeat)]
    )


class HeartbeatSwitch(HeartbeatEntity, SwitchEntity):
    """Switches a heartbeat on and off, and answers its actions."""

    # Who switches it says so already.
    _follows_runs = False

    def __init__(self, heartbeat: Heartbeat) -> None:
        """Be the switch of a heartbeat."""
        super().__init__(heartbeat, KEY_HEARTBEAT)

    @property
    def is_on(self) -> bool:
        """Whether the heartbeat beats."""
        return self.heartbeat.is_on

    async def async_turn_on(self, **kwargs: Any) -> None:
        """Switch on; what is on stays as it is (C9)."""
        await self.heartbeat.async_turn_on()

    async def async_turn_off(self, **kwargs: Any) -> None:
        """Switch off at once, also during a run (F6)."""
        await self.heartbeat.async_turn_off()

    async def async_wake(self, *, dry_run: bool) -> ServiceResponse:
        """Wake by hand and answer with the run's record (C8).

        A run has a limit of its own, `run_timeout`; it goes on if the caller does
        not wait for it.
        """
        task = self.heartbeat.wake(context=self._context, dry_run=dry_run)
        await asyncio.wait({task})
        if task.cancelled():
            raise HomeAssistantError(
                translation_domain=DOMAIN, translation_key="run_lost"
            )
        return run_as_dict(task.result())

    async def async_get_runs(self, *, limit: int) -> ServiceResponse:
        """Answer with the records of the last `limit` runs, newest first."""
        records = islice(self.heartbeat.runs.log, limit)
        return {"runs": [run_as_dict(record) for record in records]}

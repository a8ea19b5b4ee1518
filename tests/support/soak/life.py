"""One Home Assistant after the other, on the same disk."""

from contextlib import AsyncExitStack
from enum import StrEnum
import json
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Final

from homeassistant import loader
from homeassistant.const import (
    EVENT_HOMEASSISTANT_START,
    EVENT_HOMEASSISTANT_STARTED,
    EVENT_HOMEASSISTANT_STOP,
)
from homeassistant.core import CoreState, HomeAssistant
from homeassistant.helpers import frame, translation
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_test_home_assistant,
)

from custom_components.proactive_agent.const import DOMAIN
from custom_components.proactive_agent.diagnostics import (
    async_get_config_entry_diagnostics,
)
from tests.support.llm_server import MODEL

from .hours import Hours
from .household import Household
from .jobs import JOBS, SCRIPTS
from .ledger import Ledger

TIME_ZONE: Final = "Europe/Vienna"
ENTRY_ID: Final = "soak"
# The mocks that stand here in tests keep every Home Assistant that has called them.
_MOCKED: Final = (
    "homeassistant.helpers.aiohttp_client._async_make_resolver",
    "homeassistant.helpers.script._schedule_stop_scripts_after_shutdown",
    "homeassistant.helpers.translation._async_get_component_strings",
)


class End(StrEnum):
    """How a Home Assistant ends."""

    KILLED = "killed"
    STOPPED = "stopped"
    UNLOADED = "unloaded"


class Life:
    """Starts Home Assistant, and ends it in one of the ways in which it ends."""

    def __init__(
        self, folder: Path, url: str, hours: Hours, household: Household, ledger: Ledger
    ) -> None:
        """Live in this folder, with a model at this address."""
        self.hass: HomeAssistant | None = None
        self._storage = folder / ".storage"
        self._folder = folder
        self._url = url
        self._hours = hours
        self._household = household
        self._ledger = ledger
        self._stack = AsyncExitStack()

    async def start(self) -> None:
        """Start, with nothing of the home available yet."""
        hass = await self._stack.enter_async_context(
            async_test_home_assistant(
                config_dir=str(self._folder), initial_state=CoreState.not_running
            )
        )
        self.hass = hass
        self._hours.pending = lambda: hass._tasks | hass._background_tasks
        frame.async_setup(hass)
        hass.data.pop(loader.DATA_CUSTOM_COMPONENTS)
        await self._hours.drive(self._set_up(hass))
        hass.set_state(CoreState.starting)
        hass.bus.async_fire(EVENT_HOMEASSISTANT_START)
        await self._hours.settle()
        hass.set_state(CoreState.running)
        hass.bus.async_fire(EVENT_HOMEASSISTANT_STARTED)
        await self._hours.settle()

    async def end(self, end: End) -> None:
        """End it; what it had not written or said by then is lost."""
        hass = self._running
        await self._hours.drive(self._ledger.read_runs())
        kept: dict[Path, bytes] = {}
        if end is End.STOPPED:
            hass.set_state(CoreState.stopping)
            hass.bus.async_fire(EVENT_HOMEASSISTANT_STOP)
            await self._hours.settle()
        if end is not End.UNLOADED:
            kept = {path: path.read_bytes() for path in self._storage.iterdir()}
            self._cut_off()
        await self._hours.drive(hass.config_entries.async_unload(ENTRY_ID))
        self._cut_off()
        await self._hours.drive(hass.async_stop(force=True))
        await self._stack.aclose()
        self._hours.pending = tuple
        self.hass = None
        for name in _MOCKED:
            resolve_name(name).reset_mock()
        await self._hours.settle()
        if kept:
            self._bring_back(kept)

    async def reload(self) -> None:
        """Reload the endpoint."""
        await self._hours.drive(self._ledger.read_runs())
        reload = self._running.config_entries.async_reload(ENTRY_ID)
        assert await self._hours.drive(reload)

    async def ticks(self) -> list[int]:
        """Return how many ticks the heartbeats have counted, in order of their ids."""
        hass = self._running
        entry: Any = hass.config_entries.async_get_entry(ENTRY_ID)
        shown = await self._hours.drive(async_get_config_entry_diagnostics(hass, entry))
        return [one["fuses"]["max_ticks"]["used"] for one in shown["heartbeats"]]

    def ticks_on_disk(self) -> list[int]:
        """Return what `ticks` answers after a start from what is on disk."""
        path = self._storage / f"{DOMAIN}.{ENTRY_ID}"
        if not path.exists():
            return [0] * len(JOBS)
        kept = json.loads(path.read_bytes())["data"]["heartbeats"]
        return [one["ticks"] for _, one in sorted(kept.items())]

    @property
    def _running(self) -> HomeAssistant:
        assert self.hass is not None, "none runs"
        return self.hass

    async def _set_up(self, hass: HomeAssistant) -> None:
        await hass.config.async_set_time_zone(TIME_ZONE)
        await translation.async_load_integrations(hass, {"homeassistant"})
        heater = {"heater": {"initial": self._household.is_heating}}
        for domain, config in (
            ("homeassistant", {}),
            ("persistent_notification", {}),
            ("input_boolean", heater),
            ("script", SCRIPTS),
        ):
            assert await async_setup_component(hass, domain, {domain: config})
        self._household.plug_in(hass)
        self._ledger.listen(hass)
        entry = MockConfigEntry(
            domain=DOMAIN,
            entry_id=ENTRY_ID,
            title="Moody",
            data={"url": self._url, "model": MODEL, "api_key": "key"},
            subentries_data=[job.subentry for job in JOBS],
        )
        entry.add_to_hass(hass)
        assert await hass.config_entries.async_setup(ENTRY_ID)

    def _cut_off(self) -> None:
        self._household.unplug()
        self._ledger.cut_off()

    def _bring_back(self, kept: dict[Path, bytes]) -> None:
        for path in self._storage.iterdir():
            path.unlink()
        for path, content in kept.items():
            path.write_bytes(content)

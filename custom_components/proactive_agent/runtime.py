"""An endpoint at work: its client, its store, and the heartbeats on it."""

import asyncio
from collections.abc import Iterator

from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.const import EVENT_HOMEASSISTANT_STOP
from homeassistant.core import Context, Event, HassJob, HomeAssistant, callback
from homeassistant.exceptions import ConfigEntryError
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers.start import async_at_started

from .answers.answers import Answers
from .answers.taps import Taps
from .const import DOMAIN, SUBENTRY_HEARTBEAT
from .heartbeat.concerns import Concerns
from .heartbeat.heartbeat import Heartbeat
from .heartbeat.model_issues import ModelIssues
from .heartbeat.shared import Shared
from .lineage import RunLineage
from .listeners import Listeners
from .loss import Loss
from .minds import Minds
from .models import mind_options
from .store.runs import RunFiles
from .store.store import HeartbeatStore
from .task.watch import TaskWatch

type ProactiveAgentConfigEntry = ConfigEntry[EndpointRuntime]


class EndpointRuntime:
    """Owns everything of one endpoint from set-up to unload."""

    def __init__(self, hass: HomeAssistant, entry: ProactiveAgentConfigEntry) -> None:
        """Prepare; `async_start` sets it going."""
        self.heartbeats: dict[str, Heartbeat] = {}
        self.on_added = Listeners[[Heartbeat]]()
        self.lineage = RunLineage(hass)
        self.answers = Answers(hass, self.heartbeats, self._descends_from_a_run)
        self._hass = hass
        self._entry = entry
        self._store = HeartbeatStore(hass, entry.entry_id)
        logged = self._store.open_runs.logged
        self._logs = RunFiles(hass, entry.entry_id, logged)
        self.shapes = self._store.shapes
        self.concerns = Concerns(hass, self._store)
        self._minds = Minds(hass, mind_options(entry), self._store.shapes)
        self._issues = ModelIssues(hass, entry)
        self._task_watch = TaskWatch(hass, entry)
        self._taps = Taps(hass, entry, self.answers, self._everyones_answers)
        self._loss = Loss(hass, entry)
        self._changes = asyncio.Lock()
        self._started = self._closed = False

    async def async_start(self) -> None:
        """Load what is remembered and set up each heartbeat."""
        is_lost = not await self._async_load()
        await self._logs.async_load([*self._entry.subentries])
        self.lineage.take(self._store.lineage)
        self._store.keep_only(self._entry.subentries)
        for subentry_id in self._entry.subentries:
            self._add(subentry_id)
        if is_lost:
            self._loss.report_lost()
            await self._store.async_begin_anew()
        self._entry.async_on_unload(
            self._entry.add_update_listener(self._async_entry_changed)
        )
        # Before Home Assistant cancels what is under way, and once more after it.
        self._entry.async_on_unload(
            self._hass.async_add_shutdown_job(HassJob(self._async_end))
        )
        self._entry.async_on_unload(
            self._hass.bus.async_listen(EVENT_HOMEASSISTANT_STOP, self._save_exactly)
        )
        self._entry.async_on_unload(self._taps.listen())
        self._task_watch.follow()

    async def _async_load(self) -> bool:
        """Return whether what is remembered could be read."""
        try:
            is_read = await self._store.async_load()
        except ConfigEntryError:
            self._loss.report_too_new()
            raise
        if is_read:
            self._loss.report_read()
        return is_read

    @callback
    def async_begin(self) -> None:
        """Let the heartbeats beat, once their entities are there to show it (C1)."""
        self._entry.async_on_unload(async_at_started(self._hass, self._start_beating))

    async def async_close(self) -> None:
        """End every run, and cancel every timer and listener."""
        await self._async_end()
        self._issues.clear()
        known = self.lineage.handed_on()
        self.lineage.async_stop()
        # Also to who stays: what a run has set off must not wake another meanwhile.
        for other in self._everyone():
            other.lineage.take(known)
        # Side by side: a disk that hangs is waited for once.
        await asyncio.gather(self._store.async_close(known), self._logs.async_close())

    async def _async_entry_changed(
        self, hass: HomeAssistant, entry: ProactiveAgentConfigEntry
    ) -> None:
        """Follow a change without disturbing what has not changed (C7)."""
        # Listeners run as tasks: two changes in a row would overlap.
        async with self._changes:
            if self._closed:
                return
            is_other_endpoint = self._minds.change(mind_options(entry))
            self._issues.follow()
            self._task_watch.follow()
            for heartbeat_id in [*self.heartbeats]:
                if heartbeat_id not in entry.subentries:
                    self.concerns.leave(heartbeat_id)
                    await self.heartbeats.pop(heartbeat_id).async_remove()
                    self._store.forget(heartbeat_id)
                    await self._logs.async_forget(heartbeat_id)
            for subentry_id, subentry in [*entry.subentries.items()]:
                if (heartbeat := self.heartbeats.get(subentry_id)) is not None:
                    heartbeat.change(subentry)
                    if is_other_endpoint:
                        heartbeat.health.try_again()
                    self._rename_device(subentry)
                else:
                    self._add(subentry_id)

    @callback
    def _add(self, subentry_id: str) -> None:
        subentry = self._entry.subentries[subentry_id]
        # An unload may have come while a removed heartbeat was waited for (C5).
        if self._closed or subentry.subentry_type != SUBENTRY_HEARTBEAT:
            return
        shared = Shared(
            mind=self._minds.mind,
            store=self._store,
            logs=self._logs,
            lineage=self.lineage,
            issues=self._issues,
            descends=self._descends_from_a_run,
        )
        heartbeat = Heartbeat(self._hass, self._entry, subentry, shared)
        self.heartbeats[subentry_id] = heartbeat
        self.on_added.fire(heartbeat)
        if self._started:
            self._start(heartbeat)

    @callback
    def _start(self, heartbeat: Heartbeat) -> None:
        heartbeat.start()
        self.concerns.follow(heartbeat)

    def _rename_device(self, subentry: ConfigSubentry) -> None:
        devices = dr.async_get(self._hass)
        device = devices.async_get_device_by_identifier(
            (DOMAIN, subentry.subentry_id), self._entry.entry_id
        )
        if device is not None and device.name != subentry.title:
            devices.async_update_device(device.id, name=subentry.title)

    def _descends_from_a_run(self, context: Context) -> bool:
        """Look through every endpoint: a run of one must not wake another (A2)."""
        return any(one.lineage.descends(context) for one in self._everyone())

    def _everyones_answers(self) -> list[Answers]:
        return [one.answers for one in self._everyone()]

    def _everyone(self) -> Iterator[EndpointRuntime]:
        """Return every endpoint that is loaded."""
        entries: list[ProactiveAgentConfigEntry] = (
            self._hass.config_entries.async_loaded_entries(DOMAIN)
        )
        return (entry.runtime_data for entry in entries)

    @callback
    def _start_beating(self, _hass: HomeAssistant) -> None:
        self._started = True
        for heartbeat in self.heartbeats.values():
            self._start(heartbeat)
        self._taps.start()

    async def _async_end(self) -> None:
        """End every heartbeat, each with a moment for its last word (S5, R8)."""
        if not self._closed:
            self._closed = True
            self._task_watch.stop()
            self.concerns.close()
            beats = self.heartbeats.values()
            await asyncio.gather(*(beat.async_close() for beat in beats))

    async def _save_exactly(self, _event: Event) -> None:
        await self._async_end()
        await self._store.async_save(exact=True)

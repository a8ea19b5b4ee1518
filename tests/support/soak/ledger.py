"""What was done, told and woken in the whole month, life after life."""

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from homeassistant.core import Event, HomeAssistant, ServiceCall, callback
from homeassistant.util import dt as dt_util

from custom_components.proactive_agent.const import (
    DOMAIN,
    EVENT_ACTED,
    EVENT_HEARTBEAT_TICK,
    EVENT_STOPPED,
)

from .household import Household
from .jobs import JOBS, Job

RECHECK_AFTER: Final = 6 * 3600
# Seconds after the end of a run in which what it has left is on disk.
WRITTEN_AFTER: Final = 15
_ALWAYS_AGAIN: Final = frozenset({"acted", "error"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What the owner's phone has shown."""

    at: float
    title: str
    text: str


@dataclass(slots=True, kw_only=True)
class Wake:
    """A wake, and how its run ended; None if nobody knows."""

    at: float
    title: str
    run_id: str
    outcome: str | None = None
    ended: float = 0


@dataclass(slots=True, kw_only=True)
class Ledger:
    """Listens to each Home Assistant in turn, until its power is cut."""

    now: Callable[[], float]
    on_wake: Callable[[str], None]
    on_message: Callable[[Message], None]
    messages: list[Message] = field(default_factory=list)
    wakes: list[Wake] = field(default_factory=list)
    acted: list[str] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    kills: list[float] = field(default_factory=list)
    hass: HomeAssistant | None = None

    @callback
    def listen(self, hass: HomeAssistant) -> None:
        """Listen to this Home Assistant."""
        self.hass = hass
        hass.bus.async_listen(EVENT_HEARTBEAT_TICK, self._woke)
        hass.bus.async_listen(EVENT_ACTED, self._acted)
        hass.bus.async_listen(EVENT_STOPPED, self._stopped)

    @callback
    def plug_in_phone(self) -> None:
        """Let the phone be reached."""
        if self.hass is not None:
            self.hass.services.async_register("notify", "phone", self._pushed)

    async def read_runs(self) -> None:
        """Ask how the runs of this life have ended."""
        assert self.hass is not None
        known = {one.run_id: one for one in self.wakes}
        for job in JOBS:
            answer: Any = await self.hass.services.async_call(
                DOMAIN,
                "get_runs",
                {"entity_id": job.switch, "limit": 50},
                blocking=True,
                return_response=True,
            )
            for run in answer[job.switch]["runs"]:
                wake = known[run["run_id"]]
                wake.outcome = run["outcome"]
                wake.ended = wake.at + run["seconds"]

    @callback
    def cut_off(self) -> None:
        """Hear nothing more of this Home Assistant."""
        self.hass = None

    @property
    def last_wake(self) -> float:
        """When somebody was woken last."""
        return self.wakes[-1].at if self.wakes else 0

    def told(self, title: str) -> list[Message]:
        """Return what one heartbeat has told."""
        return [one for one in self.messages if one.title == title]

    def wakes_by_day(self) -> Counter[tuple[str, str]]:
        """Count the wakes of each heartbeat and local day."""
        return Counter((one.title, _day(one.at)) for one in self.wakes)

    def groundless(self, household: Household) -> list[Wake]:
        """Return the wakes that showed nothing new to a model (G4)."""
        by_title: defaultdict[str, list[Wake]] = defaultdict(list)
        for wake in self.wakes:
            by_title[wake.title].append(wake)
        return [
            wake
            for job in JOBS
            for before, wake in zip(
                [None, *by_title[job.title]], by_title[job.title], strict=False
            )
            if before is not None and not self._has_reason(job, before, wake, household)
        ]

    def _has_reason(
        self, job: Job, before: Wake, wake: Wake, household: Household
    ) -> bool:
        if before.outcome is None or before.outcome in _ALWAYS_AGAIN:
            return True
        if wake.at - before.ended >= RECHECK_AFTER:
            return True
        if any(0 <= kill - before.ended < WRITTEN_AFTER for kill in self.kills):
            return True
        return any(
            before.at - 1 <= at <= wake.at
            for entity_id in job.entity_ids
            for at in household.changed[entity_id]
        )

    @callback
    def _woke(self, event: Event[Any]) -> None:
        if self.hass is not None:
            title = event.data["heartbeat"]
            run_id = event.data["run_id"]
            self.wakes.append(Wake(at=self.now(), title=title, run_id=run_id))
            self.on_wake(title)

    @callback
    def _acted(self, event: Event[Any]) -> None:
        if self.hass is not None:
            self.acted.append(event.data["run_id"])

    @callback
    def _stopped(self, event: Event[Any]) -> None:
        if self.hass is not None:
            self.stopped.append(event.data["heartbeat"])

    @callback
    def _pushed(self, call: ServiceCall) -> None:
        if self.hass is not None:
            text, title = call.data["message"], call.data["title"]
            message = Message(at=self.now(), title=title, text=text)
            self.messages.append(message)
            self.on_message(message)


def _day(at: float) -> str:
    zone = dt_util.get_time_zone("Europe/Vienna")
    return datetime.fromtimestamp(at, zone).date().isoformat()

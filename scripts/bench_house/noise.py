"""`scripts/bench noise`: what a week says, and what it asks a model for.

The same week, minute by minute in simulated time, for three agents in a Home Assistant
of their own: automations that ask core's agent at each tick and send what it says, the
same with the owner's conditions before it, and our heartbeats.
"""

import argparse
import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
import json
from pathlib import Path
import sys
from typing import Any, Final
from unittest.mock import patch

from homeassistant import block_async_io
from homeassistant.core import HomeAssistant, ServiceCall, callback

from .clock import Clock
from .errors import BenchError
from .narrator import say
from .noise_server import NoiseServer
from .running import HERE, laid_out, started
from .sensible_model import ALL_FINE
from .week import INCIDENTS, RESTARTS, WEEK, Incident, Week
from .week_agents import OURS, set_up_automations, set_up_ours

HOME: Final = HERE / "noise_home"
# A Monday at midnight, there.
BEGINNING: Final = datetime(2026, 11, 1, 23, tzinfo=UTC)
MINUTE: Final = 60
# Minutes after the end of an incident in which it may still be told.
GRACE: Final = 1
MOST_WAKES: Final = 2  # of ours, for one incident
PAUSE: Final = 0.001  # seconds in which a run may go on

type SetUp = Callable[[HomeAssistant, str], Awaitable[None]]

AGENTS: Final[dict[str, SetUp]] = {
    "timer": partial(set_up_automations, has_gate=False),
    "gate": partial(set_up_automations, has_gate=True),
    "ours": set_up_ours,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What the owner got, and in which minute."""

    minute: int
    job: str
    text: str

    def is_about(self, incident: Incident) -> bool:
        """Say whether it tells of an incident while it lasts."""
        is_then = incident.begins <= self.minute <= incident.ends + GRACE
        return self.job == incident.job and is_then and ALL_FINE not in self.text


@dataclass(slots=True)
class Diary:
    """What an agent did in the week; `wakes` are its conversations with the model."""

    messages: list[Message] = field(default_factory=list)
    wakes: list[tuple[int, str]] = field(default_factory=list)
    tokens: int = 0

    def figures(self) -> dict[str, int]:
        """Return its line of the table."""
        missed = [one for one in INCIDENTS if not self._about(one)]
        return {
            "wakes": len(self.wakes),
            "tokens": self.tokens,
            "messages": len(self.messages),
            "missed": len(missed),
        }

    def faults(self) -> list[str]:
        """Say where it was not as quiet as it should be, or too quiet."""
        found = []
        about = [message for one in INCIDENTS for message in self._about(one)]
        for incident in INCIDENTS:
            if (count := len(self._about(incident))) != 1:
                found.append(f"{incident} was told {count} times")
            if (count := len(self._wakes(incident))) > MOST_WAKES:
                found.append(f"{incident} woke it {count} times")
        found += [
            f"{one} is about nothing" for one in self.messages if one not in about
        ]
        return found

    def _about(self, incident: Incident) -> list[Message]:
        return [one for one in self.messages if one.is_about(incident)]

    def _wakes(self, incident: Incident) -> list[int]:
        return [
            minute
            for minute, job in self.wakes
            if job == incident.job
            and incident.begins <= minute <= incident.ends + GRACE
        ]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what can be asked for."""
    parser.add_argument(
        "--agent", choices=AGENTS, help="let only this one live through the week"
    )


async def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the table, or the line of one agent; raises `BenchError`."""
    if options.agent is not None:
        async with NoiseServer.running() as server:
            diary = await _live(AGENTS[options.agent], server)
        for fault in diary.faults() if options.agent == "ours" else ():
            say(f"{options.agent}: {fault}")
        return diary.figures()
    lines = await asyncio.gather(*map(_in_a_process_of_its_own, AGENTS))
    return {"incidents": len(INCIDENTS), **dict(zip(AGENTS, lines, strict=True))}


async def _in_a_process_of_its_own(agent: str) -> dict[str, Any]:
    """Measure one agent: a process has one folder for what is installed in it."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-B", "-P", "-m", __package__, "noise", "--agent", agent),
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await process.communicate()
    if process.returncode:
        raise BenchError(f"the week of {agent} failed")
    figures: dict[str, Any] = json.loads(output.splitlines()[-1])
    say(f"{agent}: {figures}")
    return figures


async def _live(set_up: SetUp, server: NoiseServer) -> Diary:
    """Let one agent live through the week, and Home Assistant be restarted in it."""
    week, diary = Week(), Diary()
    with (
        Clock.in_charge(BEGINNING) as clock,
        laid_out(HOME) as folder,
        # Home Assistant would watch a process for blocking calls, but only once.
        patch.object(block_async_io, "enable"),
    ):
        for number, end in enumerate((*RESTARTS, WEEK)):
            await _live_until(
                end,
                Life(week=week, diary=diary, clock=clock, server=server),
                folder,
                set_up if not number else None,
            )
    return diary


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """What goes on over a restart."""

    week: Week
    diary: Diary
    clock: Clock
    server: NoiseServer


async def _live_until(end: int, life: Life, folder: Path, set_up: SetUp | None) -> None:
    async with started(folder) as hass:
        _listen(hass, life)
        life.week.plug_in(hass)
        if set_up is not None:
            await set_up(hass, life.server.url)
            await hass.async_block_till_done()
        tokens = life.server.tokens
        while life.week.minute < end:
            life.clock.stop()
            await life.week.pass_minute(hass)
            due = BEGINNING.timestamp() + life.week.minute * MINUTE
            await life.clock.turn_to(max(due, life.clock.timestamp()))
            life.clock.start()
            await _settle(hass)
        life.diary.tokens += life.server.tokens - tokens


def _listen(hass: HomeAssistant, life: Life) -> None:
    """Write down what the owner gets, and whenever a model is asked anew."""

    @callback
    def note_message(call: ServiceCall) -> None:
        message = Message(
            minute=life.week.minute,
            job=call.data["title"],
            text=call.data["message"],
        )
        life.diary.messages.append(message)

    hass.services.async_register("notify", "owner", note_message)
    life.server.on_wake = lambda job: life.diary.wakes.append((life.week.minute, job))


async def _settle(hass: HomeAssistant) -> None:
    """Wait until no run is under way any more."""
    await hass.async_block_till_done()
    while _is_running(hass):  # noqa: ASYNC110 - a heartbeat has no other end to wait for
        await asyncio.sleep(PAUSE)
    await hass.async_block_till_done()


def _is_running(hass: HomeAssistant) -> bool:
    return any(
        heartbeat.status == "running"
        for entry in hass.config_entries.async_loaded_entries(OURS)
        for heartbeat in entry.runtime_data.heartbeats.values()
    )

"""`scripts/bench quiet`: a tick at which nothing is to be done, and an automation's.

Both look at the same three conditions each second, of which the last does not hold, in
one Home Assistant and by one clock. Each tick is measured by itself, in turns, and what
the clock's own step costs is taken off. Between two ticks of a real home much else
happens, so each has to fetch all it needs from the memory. How fast that is depends on
what else the machine does: the figures of another moment are set against those of the
automation in that moment.

Then once more with each kind of condition as the last. `check_us` is what Home
Assistant takes to judge that one alone: what rests on the time has to be judged each
time.
"""

import argparse
from contextvars import Context
from datetime import UTC, datetime
import gc
from statistics import median
import time
import tracemalloc
from typing import Any, Final

from homeassistant.config_entries import ConfigEntry
from homeassistant.const import STATE_ON
from homeassistant.core import HomeAssistant

from .beside import MICROSECOND, Beside, in_its_pace
from .clock import Clock
from .errors import BenchError
from .ledger import Ledger
from .narrator import say
from .quiet_home import (
    AUTOMATION,
    CONDITIONS,
    SWITCH_ON,
    add_endpoint,
    add_heartbeat,
    call,
    change_heartbeat,
    crowded,
    put_up,
    write_automations,
)
from .quiet_kinds import Condition, kinds, own_checker
from .running import BARE_HOME, running_hass

SIZES: Final = (10, 1_000, 5_000)
HEARTBEATS: Final = (1, 50, 500)
# When in a second who ticks: the automation in its first half, by a time of its own.
OURS_AT: Final = 0.6
APART: Final = 0.0004
AUTOMATION_BY: Final = 0.55
IDLE: Final = 0.0002  # after a tick, when there is nothing to do
CACHES: Final = bytearray(64 * 2**20)  # bytes, more than any processor's
WARM_UP: Final = 5_000  # seconds, with the first of what comes each hour
# What Home Assistant itself writes down every 15 minutes.
ITS_OWN_FILES: Final = (".storage/core.restore_state",)
SHARE: Final = 4  # of the rounds, for each kind of condition


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what can be asked for."""
    parser.add_argument(
        "--rounds",
        type=int,
        default=200,
        metavar="N",
        help="seconds over which each kind of tick is measured (default: 200)",
    )
    parser.add_argument(
        "--memory-ticks",
        type=int,
        default=100_000,
        metavar="N",
        help="ticks over which the memory is watched (default: 100000)",
    )
    parser.add_argument(
        "--by-condition",
        action="store_true",
        help="measure each kind of condition, too: some minutes more",
    )


async def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures; raises `BenchError`."""
    with Clock.in_charge(datetime.now(UTC)) as clock:
        say("Starting Home Assistant ...")
        async with running_hass(BARE_HOME) as hass:
            await put_up(hass)
            clock.stop()
            entry = await add_endpoint(hass)
            bench = Bench(hass, clock, entry, options.rounds)
            await bench.add_heartbeats(1)
            headline = await bench.side_by_side()
            by_condition = await bench.by_condition() if options.by_condition else None
            by_entities = await bench.by_entities()
            footprint = await bench.footprint(options.memory_ticks)
            by_heartbeats = await bench.by_heartbeats()
            clock.start()
    return {
        "ours_us": round(headline.ours_us, 2),
        "automation_us": round(headline.automation_us, 2),
        "ratio_to_automation": round(headline.ratio, 3),
        **footprint,
        "by_heartbeats": in_its_pace(by_heartbeats, headline),
        "by_entities": in_its_pace(by_entities, headline),
        **({"by_condition": by_condition} if by_condition else {}),
    }


class Bench:
    """One Home Assistant, its clock, and heartbeats that tick one after another."""

    def __init__(
        self, hass: HomeAssistant, clock: Clock, entry: ConfigEntry, rounds: int
    ) -> None:
        """Begin with no heartbeat."""
        self._hass = hass
        self._clock = clock
        self._entry = entry
        self._rounds = rounds
        self._switches: list[str] = []
        self._second = int(clock.timestamp()) + 1

    async def add_heartbeats(self, count: int) -> None:
        """Add heartbeats until there are so many, each with its own time to tick."""
        self._second += 1
        for index in range(len(self._switches)):
            await self._clock.turn_to(self._due(index))
        for index in range(len(self._switches), count):
            due = self._due(index)
            switch = await add_heartbeat(self._hass, self._entry, self._clock, due)
            self._switches.append(switch)

    async def side_by_side(self, rounds: int | None = None) -> Beside:
        """Measure an automation's ticks and ours in turns, one second after another."""
        beside = Beside()
        for number in range(rounds or self._rounds):
            self._second += 1
            beside.automation.append(await self._step(self._second + AUTOMATION_BY))
            # A timer that is late is late from then on: each is met on the dot.
            for index in range(len(self._switches)):
                due = self._due(index)
                if index == number % len(self._switches):
                    beside.idle.append(await self._step(due - IDLE))
                    beside.ours.append(await self._step(due))
                else:
                    await self._clock.turn_to(due)
        return beside

    async def by_condition(self) -> dict[str, dict[str, float]]:
        """Measure our tick, an automation's, and the judging alone, kind by kind."""
        found = {}
        for kind, last in (await kinds(self._hass, self._entry)).items():
            say(f"{kind} ...")
            await self._look_at(*CONDITIONS[:2], last)
            beside = await self.side_by_side(self._rounds // SHARE)
            with Ledger.of(self._hass) as ledger:
                await self._pass_ticks(self._rounds, ledger)
            if ledger.events or ledger.state_writes:
                raise BenchError(f"a tick with {kind} was not quiet")
            check = await self._check(last)
            found[kind] = {**beside.figures, "check_us": round(check, 2)}
        await self._look_at(*CONDITIONS)
        return found

    async def _look_at(self, *conditions: Condition) -> None:
        await write_automations(self._hass, conditions)
        await change_heartbeat(self._hass, self._entry, conditions)

    async def _check(self, last: Condition) -> float:
        """Return the microseconds Home Assistant takes to judge this alone."""
        checker = await own_checker(self._hass, last)
        costs = []
        for _ in range(self._rounds // SHARE):
            CACHES.count(1)
            begun = time.process_time_ns()
            Context().run(checker.async_check)
            costs.append(time.process_time_ns() - begun)
        checker.async_unload()
        return median(costs) / MICROSECOND

    async def by_entities(self) -> dict[int, Beside]:
        """Measure our tick in homes of several sizes."""
        found = {}
        for size in SIZES:
            say(f"{size} entities ...")
            async with crowded(self._hass, size):
                found[size] = await self.side_by_side()
        return found

    async def by_heartbeats(self) -> dict[int, Beside]:
        """Measure our tick among others, each of which has its turn."""
        found = {}
        for count in HEARTBEATS:
            say(f"{count} heartbeats ...")
            await self.add_heartbeats(count)
            found[count] = await self.side_by_side()
        return found

    async def footprint(self, ticks: int) -> dict[str, Any]:
        """Count what many ticks leave behind, on the bus, on the disk, in memory."""
        say(f"Twice {ticks} ticks ...")
        await call(self._hass, "automation.turn_off", entity_id=AUTOMATION)
        growth, by_hand = await self._watched(ticks)
        await self._switch_on_by_automation()
        growth_by_automation, by_automation = await self._watched(ticks)
        await call(self._hass, "automation.turn_on", entity_id=AUTOMATION)
        ledgers = (by_hand, by_automation)
        return {
            "events": sum(ledger.events for ledger in ledgers),
            "state_writes": sum(ledger.state_writes for ledger in ledgers),
            "disk_writes": sum(len(ledger.files) for ledger in ledgers),
            "memory_growth_kb": growth,
            "memory_growth_kb_started_by_automation": growth_by_automation,
        }

    async def _watched(self, ticks: int) -> tuple[float, Ledger]:
        """Return the kilobytes that so many ticks leave behind, and what they wrote."""
        with Ledger.of(self._hass) as ledger:
            await self._pass_ticks(WARM_UP, ledger)
            ledger.files.clear()  # that it was switched on, too
            tracemalloc.start()
            held = held_kb()
            await self._pass_ticks(ticks, ledger)
            growth = held_kb() - held
            tracemalloc.stop()
        ledger.files = [name for name in ledger.files if name not in ITS_OWN_FILES]
        return round(growth, 1), ledger

    async def _pass_ticks(self, count: int, ledger: Ledger) -> None:
        """Let time pass; only what happens at a tick itself counts as an event."""
        ticks = self._ticks_used
        for _ in range(count):
            self._second += 1
            await self._clock.turn_to(self._due(0) - IDLE)
            ledger.is_counting = True
            await self._clock.turn_to(self._due(0))
            ledger.is_counting = False
        if self._ticks_used - ticks != count:
            raise BenchError(f"{self._ticks_used - ticks} ticks instead of {count}")

    async def _switch_on_by_automation(self) -> None:
        """Have an automation switch the heartbeat on, which is off until then."""
        switch = self._switches[0]
        await call(self._hass, "switch.turn_off", entity_id=switch)
        self._second += 1
        await self._clock.turn_to(self._due(0))
        self._hass.bus.async_fire(SWITCH_ON, {"entity_id": switch})
        await self._hass.async_block_till_done()
        if not self._hass.states.is_state(switch, STATE_ON):
            raise BenchError(f"{switch} was not switched on")

    @property
    def _ticks_used(self) -> int:
        heartbeats = self._entry.runtime_data.heartbeats.values()
        return sum(heartbeat.used.ticks for heartbeat in heartbeats)

    async def _step(self, due: float) -> int:
        """Return the processor's nanoseconds for what is due by then."""
        CACHES.count(1)  # reads all of it
        begun = time.process_time_ns()
        await self._clock.turn_to(due)
        return time.process_time_ns() - begun

    def _due(self, index: int) -> float:
        return self._second + OURS_AT + index * APART


def held_kb() -> float:
    """Return how much memory Python's own objects hold."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0] / 1024

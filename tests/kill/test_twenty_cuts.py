"""The power is cut twenty times, at any time, while heartbeats do their work.

An hour in little time: each heartbeat ticks once a second, trouble comes and goes, and
the owner answers at once. One acts, one asks, one only speaks; four others have a fuse
that has to hold over all of it. What was done and what was heard is counted outside of
Home Assistant, and whatever a model decides has a number.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import date, datetime
from itertools import pairwise
import random
import time
from typing import Any, Final
from zoneinfo import ZoneInfo

import pytest
import pytest_asyncio

from demo_house.flows import DOMAIN, add_endpoint, add_heartbeat
from tests.support.llm_server import LlmServer

from .clerk import (
    ACTS,
    AFTER_A_YES,
    ASKS,
    CARRY_OUT,
    COUNTED,
    FRUGAL,
    QUIET,
    SPEAKS,
    TIMED,
    TOKENS,
    Clerk,
)
from .home import TIME_ZONE, lock_of
from .hour import NEWS, TROUBLE, Hour
from .house import KilledHouse
from .phone import Phone
from .points import TWICE
from .witness import Witness

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.contract("C6"),
    pytest.mark.timeout(600),
]

SEED: Final = 1
CUTS: Final = 20
LONGEST: Final = 2.0  # seconds of work before the power is cut
TAKES: Final = 0.2  # seconds, for a deed and for a push
PATIENCE: Final = 90  # seconds, for the fuses that are left

MAX_WAKES: Final = 30
MAX_TICKS: Final = 60
QUIET_TICKS: Final = 80
MAX_SECONDS: Final = 75
MAX_TOKENS: Final = 30 * TOKENS

TROUBLED: Final = {"condition": "state", "entity_id": TROUBLE, "state": "on"}
# Nobody unlocks this one, so this gate stays closed.
UNLOCKED: Final = {"condition": "state", "entity_id": lock_of(TWICE), "state": "open"}
OFF: Final = {"max_wakes_per_day": 0, "max_tokens_per_day": 0}
HEARTBEATS: Final[dict[str, dict[str, Any]]] = {
    ACTS: {
        "conditions": [TROUBLED],
        "act": {"entity_id": [f"script.{CARRY_OUT}"]},
        "fuses": {**OFF, "max_wakes_per_day": MAX_WAKES},
    },
    ASKS: {
        "conditions": [TROUBLED],
        "look": {"entity_id": [NEWS]},
        "ask": {"entity_id": [f"script.{AFTER_A_YES}"]},
        "fuses": OFF,
    },
    SPEAKS: {
        "conditions": [TROUBLED],
        "look": {"entity_id": [NEWS]},
        "fuses": OFF,
    },
    COUNTED: {"fuses": {**OFF, "max_ticks": MAX_TICKS}},
    TIMED: {"fuses": {**OFF, "max_duration": {"seconds": MAX_SECONDS}}},
    FRUGAL: {"fuses": {**OFF, "max_tokens_per_day": MAX_TOKENS}},
    QUIET: {"conditions": [UNLOCKED], "fuses": {**OFF, "max_ticks": QUIET_TICKS}},
}
SPENT: Final = {
    ACTS: "paused",
    COUNTED: "off",
    TIMED: "off",
    FRUGAL: "paused",
    QUIET: "off",
}
CUT_OFF: Final = "Home Assistant was stopped during a run."
OPEN: Final = {"pending", "approved", "executing"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Aftermath:
    """What there is when the power stays."""

    witness: Witness
    clerk: Clerk
    added: dict[str, float]
    told: list[int]
    requests: list[dict[str, Any]]
    on_disk: dict[str, list[dict[str, Any]]]

    def told_after(self, life: int) -> list[str]:
        """Return what the one that acts has said since a life ended."""
        return self.witness.told(_title(ACTS))[self.told[life] :]

    def done(self, model: str) -> list[int]:
        """Return how often each decision of a heartbeat was carried out."""
        return [self.witness.deeds[one.decision] for one in self.clerk.woken(model)]

    def wakes_by_day(self, model: str) -> Counter[date]:
        """Count the wakes of a heartbeat by the home's days."""
        zone = ZoneInfo(TIME_ZONE)
        return Counter(
            datetime.fromtimestamp(one.at, zone).date()
            for one in self.clerk.woken(model)
        )

    def lives(self, model: str) -> set[int]:
        """Return in which lives a heartbeat has woken its model."""
        return {one.life for one in self.clerk.woken(model)}


@pytest_asyncio.fixture(
    scope="module", loop_scope="session", params=[SEED], ids=[f"seed-{SEED}"]
)
async def after(
    house: KilledHouse, witness: Witness, phone: Phone, request: pytest.FixtureRequest
) -> AsyncIterator[Aftermath]:
    """Cut the power again and again; the seed is in the name of each test."""
    server = LlmServer()
    await server.start()
    clerk = Clerk(server)
    dice = random.Random(request.param)  # noqa: S311 - each time the same
    hour = Hour(house, witness, phone, _title(ASKS), dice)
    witness.takes = witness.push_takes = TAKES
    told: list[int] = []
    entries: dict[str, str] = {}
    added: dict[str, float] = {}
    on_disk: dict[str, list[dict[str, Any]]] = {name: [] for name in HEARTBEATS}
    for name in HEARTBEATS:
        entries[name] = await _add(house, clerk, phone, name)
        added[name] = time.time()
    await house.until_kept({*entries.values()})
    await house.until(
        lambda: all(house.stored(f"{DOMAIN}.{one}") for one in entries.values()),
        "a file of each heartbeat",
    )
    for clerk.life in range(CUTS):
        async with hour.passes():
            await asyncio.sleep(dice.uniform(0, LONGEST))
            await house.kill()
        for name, entry_id in entries.items():
            on_disk[name].append(_stored(house, entry_id))
        told.append(len(witness.told(_title(ACTS))))
        await house.start()
    clerk.life = CUTS
    async with hour.passes():
        await house.process.until(
            lambda: _is_spent(house), seconds=PATIENCE, what="the end of each fuse"
        )
    # What has not been answered by now is withdrawn, the rest comes to its end.
    await house.act("switch.turn_off", entity_id=f"switch.{ASKS}_heartbeat")
    await house.until(
        lambda: not OPEN & {one["status"] for one in _requests(house, entries[ASKS])},
        "the end of each request",
    )
    await house.until(lambda: _nothing_is_due(house, entries[ACTS]), "the last word")
    yield Aftermath(
        witness=witness,
        clerk=clerk,
        added=added,
        told=told,
        requests=_requests(house, entries[ASKS]),
        on_disk=on_disk,
    )
    for entry_id in entries.values():
        await house.delete_entry(entry_id)
    witness.takes = witness.push_takes = 0
    await server.close()


@pytest.mark.parametrize("model", [ACTS, ASKS])
async def test_no_decision_is_carried_out_twice(after: Aftermath, model: str) -> None:
    done = after.done(model)
    assert set(done) <= {0, 1}
    assert sum(done) > CUTS / 4


@pytest.mark.contract("S5")
async def test_what_was_done_is_told(after: Aftermath) -> None:
    said = after.witness.told(_title(ACTS))
    unsaid = Counter(
        one.life
        for one in after.clerk.woken(ACTS)
        if after.witness.deeds[one.decision]
        and not any(one.decision in message for message in said)
    )
    # Without the agent's own words: of a run that was cut off, the code speaks.
    for life in range(CUTS):
        due = sum(number for one, number in unsaid.items() if one >= life)
        later = [one for one in after.told_after(life) if one.startswith(CUT_OFF)]
        assert len(later) >= due, (life, unsaid, said)
    assert CUTS not in unsaid


@pytest.mark.contract("S1")
async def test_nothing_is_said_twice(after: Aftermath) -> None:
    for model in (ACTS, SPEAKS):
        said = after.witness.told(_title(model))
        heard = [
            sum(one.decision in message for message in said)
            for one in after.clerk.woken(model)
        ]
        assert set(heard) <= {0, 1}, said


@pytest.mark.contract("S1")
async def test_what_is_only_said_is_heard_unless_it_was_cut_off(
    after: Aftermath,
) -> None:
    said = after.witness.told(_title(SPEAKS))
    wakes = after.clerk.woken(SPEAKS)
    # Two runs never overlap: the first of two in one life has come to its end.
    undisturbed = [one for one, then in pairwise(wakes) if one.life == then.life]
    assert undisturbed
    for wake in undisturbed:
        assert any(wake.decision in message for message in said), (wake, said)


@pytest.mark.contract("P3")
async def test_of_each_yes_is_told_what_became_of_it(after: Aftermath) -> None:
    said = after.witness.told(_title(ASKS))
    asked = [one for one in after.requests if one["status"] != "withdrawn"]
    for one in asked:
        decision = one["data"]["decision"]
        assert any(decision in message for message in said), (one, said)
        if one["status"] == "done":
            assert after.witness.deeds[decision] == 1
        if one["status"] == "failed":
            assert after.witness.deeds[decision] == 0
    decisions = {one["data"]["decision"] for one in asked}
    kept = [one for one in after.clerk.woken(ASKS) if one.decision in decisions]
    assert len({one.life for one in kept}) > 1


@pytest.mark.contract("F5")
async def test_no_budget_is_given_back(after: Aftermath) -> None:
    assert max(after.wakes_by_day(ACTS).values()) <= MAX_WAKES
    # What is on its way when the budget ends may still come to its end.
    most = MAX_TOKENS // TOKENS + 1
    assert max(after.wakes_by_day(FRUGAL).values()) <= most
    for kept in after.on_disk.values():
        for before, then in pairwise(kept):
            assert then["day"] != before["day"] or then["wakes"] >= before["wakes"]


@pytest.mark.contract("F1")
async def test_no_tick_is_given_back(after: Aftermath) -> None:
    assert len(after.clerk.woken(COUNTED)) <= MAX_TICKS
    assert len(after.lives(COUNTED)) > CUTS / 10
    assert not after.clerk.woken(QUIET)
    for model in (COUNTED, QUIET):
        ticks = [one["ticks"] for one in after.on_disk[model]]
        assert ticks == sorted(ticks)
        assert ticks[0] < ticks[-1]


@pytest.mark.contract("F2")
async def test_the_deadline_stands(after: Aftermath) -> None:
    wakes = after.clerk.woken(TIMED)
    assert wakes[-1].at <= after.added[TIMED] + MAX_SECONDS + 1
    assert len(after.lives(TIMED)) > CUTS / 10
    assert len({one["deadline"] for one in after.on_disk[TIMED]}) == 1


async def _add(house: KilledHouse, clerk: Clerk, phone: Phone, name: str) -> str:
    endpoint = await add_endpoint(house.api, {"url": clerk.url, "model": name})
    answers = {
        "name": _title(name),
        "check_prompt": "Carry out what you decide.",
        "interval": {"seconds": 1},
        "notify": [phone.notifier],
        **HEARTBEATS[name],
    }
    await add_heartbeat(house.api, endpoint, answers)
    entry_id: str = endpoint["result"]["entry_id"]
    return entry_id


def _stored(house: KilledHouse, entry_id: str) -> dict[str, Any]:
    """Return what is on disk of the one heartbeat of an endpoint."""
    stored = house.stored(f"{DOMAIN}.{entry_id}")
    (heartbeat,) = stored["heartbeats"].values()
    known: dict[str, Any] = heartbeat
    return known


def _requests(house: KilledHouse, entry_id: str) -> list[dict[str, Any]]:
    requests: list[dict[str, Any]] = _stored(house, entry_id)["approvals"]
    return requests


def _nothing_is_due(house: KilledHouse, entry_id: str) -> bool:
    return not _stored(house, entry_id)["due"]


async def _is_spent(house: KilledHouse) -> bool | None:
    shown = {name: await house.state(f"sensor.{name}_status") for name in SPENT}
    return shown == SPENT or None


def _title(name: str) -> str:
    return name.capitalize()

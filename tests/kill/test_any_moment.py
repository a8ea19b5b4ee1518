"""The power is cut at any moment after a yes: three at once, from the phone.

A seed says when. How far each request has come by then is read from the disk, and
decides what has to be true of it afterwards.
"""

import asyncio
from collections.abc import Callable
import random
from typing import Final

import pytest

from .beat import Beat
from .house import KilledHouse
from .mind import Mind
from .phone import Phone
from .points import AT_ONCE, SEEDS, TWICE, doors_of
from .witness import Witness
from .words import sentence

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.contract("P3"),
    pytest.mark.contract("P7"),
]

A_DOOR_TAKES: Final = 0.04  # seconds
LONGEST: Final = 0.3  # seconds in which all three have come to their end
AFTERWARDS: Final = {
    "pending": "pending",
    "approved": "failed",
    "executing": "unknown",
    "done": "done",
}
DEEDS: Final[dict[str, tuple[int, ...]]] = {
    "pending": (0,),
    "approved": (0,),
    "executing": (0, 1),
    "done": (1,),
}
SAID: Final = {"approved": "approval_never_called", "executing": "approval_unknown"}


@pytest.mark.parametrize("seed", SEEDS)
async def test_no_yes_counts_twice_and_no_request_is_lost(
    house: KilledHouse,
    witness: Witness,
    mind: Mind,
    phone: Phone,
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
) -> None:
    doors = doors_of(seed)
    monkeypatch.setattr(witness, "takes", A_DOOR_TAKES)
    beat = await Beat.add(house, mind, phone, *doors)
    await beat.wake()
    await house.until(lambda: len(witness.asked(beat.title)) == len(AT_ONCE), "asked")
    yes = [push.buttons[0] for push in witness.asked(beat.title)]
    await house.until_kept({beat.entry_id})

    taps = [asyncio.create_task(phone.tap(house.api, one)) for one in yes]
    await asyncio.sleep(_moment(seed))
    await house.kill()
    await asyncio.gather(*taps, return_exceptions=True)
    before, deeds = beat.statuses_on_disk(), [witness.deeds[door] for door in doors]
    told = len(witness.told(beat.title))
    await house.start()

    def said() -> set[str]:
        return {*witness.told(beat.title)[told:]}

    assert await beat.statuses() == [AFTERWARDS[one] for one in before]
    assert all(n in DEEDS[one] for one, n in zip(before, deeds, strict=True)), before
    due = {
        sentence(SAID[one], door)
        for one, door in zip(before, doors, strict=True)
        if one in SAID
    }
    await house.until(_all_said(said, due), f"what became of it: {due}")

    for one in yes:
        await phone.tap(house.api, one)
    await house.until(_nothing_open(beat), "the end of what was still pending")
    later = [witness.deeds[door] for door in doors]
    expected = [
        1 if one == "pending" else n for one, n in zip(before, deeds, strict=True)
    ]
    assert later == expected, before
    await beat.remove()


async def test_once_more_while_the_owner_is_told_of_the_first_time(
    house: KilledHouse, witness: Witness, mind: Mind, phone: Phone
) -> None:
    beat = await Beat.add(house, mind, phone, TWICE)
    await beat.wake()
    await house.until_kept({beat.entry_id})
    calling = witness.hold(TWICE)
    answer = asyncio.create_task(beat.answer(yes=True))
    await asyncio.wait_for(calling.reached.wait(), 30)
    await house.kill()
    await asyncio.gather(answer, return_exceptions=True)
    witness.release_all()

    telling = witness.hold(beat.title)
    await house.start()
    await asyncio.wait_for(telling.reached.wait(), 30)
    await house.kill()
    witness.release_all()
    told = len(witness.told(beat.title))
    await house.start()

    said = sentence("approval_unknown", TWICE)
    await house.until(lambda: said in witness.told(beat.title)[told:], said)
    assert await beat.statuses() == ["unknown"]
    assert witness.deeds[TWICE] == 1
    await beat.remove()


def _moment(seed: int) -> float:
    """Return a moment, in seconds: one in each part of the time that it takes."""
    within = random.Random(seed).random()  # noqa: S311 - the same each time
    return LONGEST * (SEEDS.index(seed) + within) / len(SEEDS)


def _all_said(said: Callable[[], set[str]], due: set[str]) -> Callable[[], bool]:
    return lambda: due <= said()


def _nothing_open(beat: Beat) -> Callable[[], bool]:
    still = {"pending", "approved", "executing"}
    return lambda: not still & {*beat.statuses_on_disk()}

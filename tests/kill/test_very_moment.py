"""The power is cut at the very moment that something leaves Home Assistant.

What it reaches waits with its answer until the power is gone, so it is certain to have
arrived, and Home Assistant is certain not to know. How a yes fares at each step of its
way is in the tests of its points.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Final

import pytest

from demo_house.flows import DOMAIN

from .beat import Beat
from .house import KilledHouse
from .mind import Mind
from .phone import Phone
from .points import DEED, MESSAGE, THOUGHT
from .witness import Witness
from .words import said

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.contract("C6"),
    pytest.mark.contract("S5"),
]

PATIENCE: Final = 30  # seconds
AT_ONCE: Final[dict[str, Any]] = {"ask_before_risky": False}


async def test_an_action_reaches_its_device(
    house: KilledHouse, witness: Witness, mind: Mind, phone: Phone
) -> None:
    beat = await Beat.add(house, mind, phone, DEED, manners=AT_ONCE)
    held = witness.hold(DEED)
    await _cut_when(house, beat, held.reached)
    witness.release_all()
    assert witness.told(beat.title) == []

    await house.start()

    await house.until(lambda: witness.told(beat.title), "what nobody saw the end of")
    assert witness.told(beat.title) == [
        f"{said('interrupted')} {said('cut_off', actions=f'Unlock lock ({DEED})')}"
    ]
    await _all_is_told_once(house, witness, beat)
    assert witness.deeds[DEED] == 1
    await beat.remove()


async def test_a_message_is_being_sent(
    house: KilledHouse, witness: Witness, mind: Mind, phone: Phone
) -> None:
    beat = await Beat.add(house, mind, phone, MESSAGE, manners=AT_ONCE)
    held = witness.hold(beat.title)
    # A model takes longer than this one: by then, how it ended is on disk.
    await _cut_when(
        house, beat, held.reached, lambda: _statuses(house, beat) == ["done"]
    )
    witness.release_all()
    done = f"Unlock lock ({MESSAGE})"
    assert witness.told(beat.title) == [said("done", actions=done)]

    await house.start()

    # Home Assistant cannot know that it was heard: it is told once more, not lost.
    await house.until(lambda: len(witness.told(beat.title)) > 1, "what was done")
    assert witness.told(beat.title)[1:] == [
        f"{said('interrupted')} {said('done_before', actions=done)}"
    ]
    await _all_is_told_once(house, witness, beat, after=1)
    assert witness.deeds[MESSAGE] == 1
    await beat.remove()


@pytest.mark.contract("F5")
async def test_the_model_is_asked(
    house: KilledHouse, witness: Witness, mind: Mind, phone: Phone
) -> None:
    beat = await Beat.add(house, mind, phone, THOUGHT, manners=AT_ONCE)
    held = mind.hold(THOUGHT)
    await _cut_when(house, beat, held.reached)
    held.release.set()
    assert _kept(house, beat)["wakes"] == 1

    await house.start()

    assert await beat.is_asleep()
    assert _kept(house, beat)["wakes"] == 1
    assert witness.told(beat.title) == []
    assert witness.deeds[THOUGHT] == 0
    await beat.wake()
    assert _kept(house, beat)["wakes"] == 2
    assert witness.deeds[THOUGHT] == 1
    await beat.remove()


async def _cut_when(
    house: KilledHouse,
    beat: Beat,
    reached: asyncio.Event,
    is_time: Callable[[], bool] = lambda: True,
) -> None:
    await house.until_kept({beat.entry_id})
    waking = asyncio.create_task(beat.wake())
    async with asyncio.timeout(PATIENCE):
        await reached.wait()
    await house.until(is_time, "the moment to cut")
    await house.kill()
    await asyncio.gather(waking, return_exceptions=True)


def _statuses(house: KilledHouse, beat: Beat) -> list[str]:
    """Return how the actions of what is due stand on disk."""
    (state,) = house.stored(f"{DOMAIN}.{beat.entry_id}")["heartbeats"].values()
    return [action["status"] for due in state["due"] for action in due["actions"]]


async def _all_is_told_once(
    house: KilledHouse, witness: Witness, beat: Beat, *, after: int = 0
) -> None:
    """Wait until nothing is due any more; what was told was told once, also later."""
    await house.until(lambda: not _kept(house, beat)["due"], "nothing due")
    await house.kill()
    await house.start()
    assert not _kept(house, beat)["due"]
    assert len(witness.told(beat.title)) == after + 1


def _kept(house: KilledHouse, beat: Beat) -> dict[str, Any]:
    stored = house.stored(f"{DOMAIN}.{beat.entry_id}")
    (heartbeat,) = stored["heartbeats"].values()
    known: dict[str, Any] = heartbeat
    return known

"""The power is cut around an approval: once, with a request at each of these points.

Every request has a heartbeat and a file of its own, except that QUEUED waits behind
CALLING. What is asserted is what the files, the witness and the phone show.
"""

import asyncio
from datetime import UTC, datetime
from typing import Any, Final

import pytest
import pytest_asyncio

from .aftermath import Aftermath
from .beat import Beat
from .house import KilledHouse
from .mind import Mind
from .phone import Phone
from .points import (
    ARRIVING,
    ASKING,
    CALLING,
    ENDED,
    EXPIRED,
    EXPIRING,
    OFF,
    PENDING,
    QUEUED,
    REJECTED,
    RETURNED,
    STUCK,
    THINKING,
)
from .power_cut import PowerCut
from .witness import Witness
from .words import sentence

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.contract("P3"),
    pytest.mark.contract("C6"),
]

OWNER: Final = "Milonga's owner"
BEATS: Final[dict[str, dict[str, Any]]] = {
    THINKING: {},
    ASKING: {},
    PENDING: {},
    ARRIVING: {},
    STUCK: {},
    CALLING: {},
    RETURNED: {},
    ENDED: {},
    REJECTED: {},
    EXPIRING: {"approval_timeout": {"seconds": 10}},
    EXPIRED: {"approval_timeout": {"seconds": 1}},
    OFF: {},
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def after(
    house: KilledHouse, witness: Witness, mind: Mind, phone: Phone
) -> Aftermath:
    """Cut the power, and let it come back."""
    adding = (
        Beat.add(house, mind, phone, *_doors(point), manners=manners)
        for point, manners in BEATS.items()
    )
    beats = dict(zip(BEATS, await asyncio.gather(*adding), strict=True))
    await PowerCut(house, witness, mind, beats).happen()
    aftermath = Aftermath(
        house=house,
        witness=witness,
        phone=phone,
        mind=mind,
        beats=beats,
        on_disk={point: beat.statuses_on_disk() for point, beat in beats.items()},
        deeds=dict(witness.deeds),
        told={point: len(witness.told(beat.title)) for point, beat in beats.items()},
    )
    left = beats[EXPIRING].expires() - datetime.now(UTC)
    await asyncio.sleep(max(0, left.total_seconds()))
    await house.start()
    return aftermath


def _doors(point: str) -> tuple[str, ...]:
    return (CALLING, QUEUED) if point == CALLING else (point,)


async def test_in_the_run_before_it_is_stored(after: Aftermath) -> None:
    beat = after.beats[THINKING]
    assert after.on_disk[THINKING] == []
    assert await beat.statuses() == []
    assert await beat.is_asleep()

    await beat.wake()

    assert beat.statuses_on_disk() == ["pending"]
    assert after.witness.deeds[THINKING] == 0


async def test_stored_while_the_owner_is_being_asked(after: Aftermath) -> None:
    beat = after.beats[ASKING]
    assert after.on_disk[ASKING] == ["pending"]
    assert await beat.show("pending_approval") == f"Unlock lock ({ASKING})"

    await beat.answer(yes=True)

    assert beat.statuses_on_disk() == ["done"]
    assert after.witness.deeds[ASKING] == 1


@pytest.mark.contract("P7")
async def test_while_it_waits(after: Aftermath) -> None:
    beat = after.beats[PENDING]
    assert after.on_disk[PENDING] == ["pending"]
    assert await beat.show("pending_approval") == f"Unlock lock ({PENDING})"
    assert after.witness.deeds[PENDING] == 0

    await after.tap(PENDING)

    await after.until_told(PENDING, sentence("approval_done", PENDING))
    assert beat.statuses_on_disk() == ["done"]
    await after.tap_in_vain(
        PENDING, sentence("reply_approval_answered", PENDING, who=OWNER)
    )
    assert after.witness.deeds[PENDING] == 1


async def test_with_a_yes_that_is_not_on_disk(after: Aftermath) -> None:
    beat = after.beats[ARRIVING]
    assert after.on_disk[ARRIVING] == ["pending"]
    assert await beat.show("pending_approval") == f"Unlock lock ({ARRIVING})"
    assert after.witness.deeds[ARRIVING] == 0

    await after.tap(ARRIVING)

    await after.until_told(ARRIVING, sentence("approval_done", ARRIVING))
    assert after.witness.deeds[ARRIVING] == 1


async def test_with_a_yes_on_disk_before_it_is_being_done(after: Aftermath) -> None:
    assert after.on_disk[CALLING][1] == "approved"
    assert (await after.beats[CALLING].statuses())[1] == "failed"
    said = sentence("approval_never_called", QUEUED)
    await after.house.until(lambda: said in after.told_since(CALLING), said)

    await after.tap_in_vain(
        CALLING, sentence("reply_approval_answered", QUEUED, who=OWNER), number=1
    )

    assert after.witness.deeds[QUEUED] == 0


async def test_about_to_be_done_with_nothing_done_yet(after: Aftermath) -> None:
    assert after.on_disk[STUCK] == ["executing"]
    await _is_unknown(after, STUCK, deeds=0)


async def test_while_it_is_being_done(after: Aftermath) -> None:
    assert after.on_disk[CALLING][0] == "executing"
    assert (await after.beats[CALLING].statuses())[0] == "unknown"
    said = sentence("approval_unknown", CALLING)
    await after.house.until(lambda: said in after.told_since(CALLING), said)

    await after.tap_in_vain(
        CALLING, sentence("reply_approval_answered", CALLING, who=OWNER)
    )

    assert after.witness.deeds[CALLING] == after.deeds[CALLING] == 1


async def test_done_before_the_end_is_on_disk(after: Aftermath) -> None:
    assert after.on_disk[RETURNED] == ["executing"]
    await _is_unknown(after, RETURNED, deeds=1)


async def _is_unknown(after: Aftermath, point: str, *, deeds: int) -> None:
    assert await after.beats[point].statuses() == ["unknown"]
    await after.until_told(point, sentence("approval_unknown", point))
    await after.tap_in_vain(
        point, sentence("reply_approval_answered", point, who=OWNER)
    )
    assert after.witness.deeds[point] == after.deeds.get(point, 0) == deeds


async def test_done_before_the_owner_is_told(after: Aftermath) -> None:
    assert after.on_disk[ENDED] == ["done"]
    assert await after.beats[ENDED].statuses() == ["done"]
    await after.tap_in_vain(
        ENDED, sentence("reply_approval_answered", ENDED, who=OWNER)
    )
    assert after.witness.deeds[ENDED] == 1


@pytest.mark.contract("P5")
async def test_after_a_no(after: Aftermath) -> None:
    beat = after.beats[REJECTED]
    assert after.on_disk[REJECTED] == ["rejected"]

    await beat.wake()

    assert beat.statuses_on_disk() == ["rejected"]
    assert "the owner said no" in after.mind.answers_to(REJECTED)[-1]
    await after.tap_in_vain(
        REJECTED, sentence("reply_approval_rejected", REJECTED, who=OWNER)
    )
    assert after.witness.deeds[REJECTED] == 0


@pytest.mark.parametrize("point", [EXPIRING, EXPIRED])
@pytest.mark.contract("P5")
async def test_when_its_time_is_over(after: Aftermath, point: str) -> None:
    assert after.on_disk[point] == ["pending"]
    assert await after.beats[point].statuses() == ["expired"]
    (push,) = after.witness.asked(after.beats[point].title)
    await after.house.until(
        lambda: after.witness.is_cleared(push.data["tag"]), "the request taken back"
    )

    await after.tap_in_vain(point, sentence("reply_approval_expired", point))

    assert after.witness.deeds[point] == 0


@pytest.mark.contract("P7")
async def test_off_stays_off(after: Aftermath) -> None:
    beat = after.beats[OFF]
    assert after.on_disk[OFF] == ["withdrawn"]
    assert await after.house.state(beat.switch) == "off"
    assert await beat.statuses() == ["withdrawn"]

    await after.tap_in_vain(OFF, sentence("reply_approval_withdrawn", OFF))

    assert after.witness.deeds[OFF] == 0
    assert await after.house.state(beat.switch) == "off"

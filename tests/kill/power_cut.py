"""One cut of the power, with a request at each of the points of its way."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final

from .beat import Beat
from .home import lock_of
from .house import Ask, KilledHouse
from .mind import Mind
from .points import (
    ARRIVING,
    ASKING,
    CALLING,
    ENDED,
    EXPIRED,
    EXPIRING,
    OFF,
    PENDING,
    REJECTED,
    RETURNED,
    STUCK,
    THINKING,
)
from .witness import Witness

# What can be asked for well before, and waits; the rest lasts for seconds only.
EARLY: Final = (PENDING, ARRIVING, STUCK, CALLING, RETURNED, ENDED, REJECTED, OFF)


class PowerCut:
    """Brings each request to its point, and cuts the power."""

    def __init__(
        self, house: KilledHouse, witness: Witness, mind: Mind, beats: dict[str, Beat]
    ) -> None:
        self._house = house
        self._witness = witness
        self._mind = mind
        self._beats = beats
        self._left: list[asyncio.Task[Any]] = []

    async def happen(self) -> None:
        """Do it; what is on disk is final then."""
        await self._settle()
        await self._hold()
        await self._house.until_kept({one.entry_id for one in self._beats.values()})
        await self._ask_for_short()
        await self._house.block_disk()
        await self._go_on_in_memory()
        await self._house.kill()
        self._witness.release_all()
        await asyncio.gather(*self._left, return_exceptions=True)

    async def _settle(self) -> None:
        """Ask, and answer what is over when the power is cut."""
        await asyncio.gather(*(self._beats[point].wake() for point in EARLY))
        await self._house.until(self._all_are_asked, "all questions")
        await self._beats[REJECTED].answer(yes=False)
        await self._house.act("switch.turn_off", entity_id=self._beats[OFF].switch)
        for point, status in ((REJECTED, "rejected"), (OFF, "withdrawn")):
            await self._until_on_disk(point, [status])

    def _all_are_asked(self) -> bool:
        return all(self._witness.asked(self._beats[point].title) for point in EARLY)

    async def _hold(self) -> None:
        """Say yes to what is to be under way."""
        await self._house.act(
            "input_text.set_value", entity_id="input_text.stuck", value=STUCK
        )
        self._approve(STUCK)
        await self._until_on_disk(STUCK, ["executing"])
        for point in (CALLING, RETURNED):
            held = self._witness.hold(point)
            self._approve(point)
            await self._reached(held.reached)
        self._approve(CALLING, 1)
        await self._until_on_disk(CALLING, ["executing", "approved"])
        thinking = self._mind.hold(THINKING)
        self._leave(self._beats[THINKING].wake())
        await self._reached(thinking.reached)

    async def _ask_for_short(self) -> None:
        """Begin what holds for some seconds only."""
        await self._beats[EXPIRED].wake()
        held = self._witness.hold(self._beats[ENDED].title)
        self._approve(ENDED)
        await self._reached(held.reached)
        held = self._witness.hold(self._beats[ASKING].title)
        await self._beats[ASKING].wake()
        await self._reached(held.reached)
        await self._beats[EXPIRING].wake()
        await self._house.until(self._nothing_waits(EXPIRED), "the end of a request")

    async def _go_on_in_memory(self) -> None:
        """Let things happen that the disk does not hear of any more."""
        self._approve(ARRIVING)
        await self._house.until(self._nothing_waits(ARRIVING), "a yes that is taken")
        self._witness.release(RETURNED)

        async def is_unlocked() -> bool:
            return await self._house.state(lock_of(RETURNED)) == "unlocked"

        await self._house.until(is_unlocked, "an action that has ended")

    def _nothing_waits(self, point: str) -> Ask:
        async def is_nothing() -> bool:
            return await self._beats[point].show("pending_approval") == "none"

        return is_nothing

    def _approve(self, point: str, number: int = 0) -> None:
        self._leave(self._beats[point].answer(yes=True, number=number))

    def _leave(self, job: Coroutine[Any, Any, Any]) -> None:
        """Begin what will never come to its end."""
        self._left.append(asyncio.create_task(job))

    async def _reached(self, event: asyncio.Event) -> None:
        async with asyncio.timeout(30):
            await event.wait()

    async def _until_on_disk(self, point: str, statuses: list[str]) -> None:
        beat = self._beats[point]
        await self._house.until(
            lambda: beat.statuses_on_disk() == statuses, f"{point} as {statuses}"
        )

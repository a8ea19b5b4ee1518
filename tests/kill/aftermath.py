"""A home to which the power has come back, and what there was when it went."""

from dataclasses import dataclass

from .beat import Beat
from .house import KilledHouse
from .mind import Mind
from .phone import Phone
from .witness import Witness


@dataclass(frozen=True, slots=True, kw_only=True)
class Aftermath:
    """What there was when the power was cut, and the home after it has come back."""

    house: KilledHouse
    witness: Witness
    phone: Phone
    mind: Mind
    beats: dict[str, Beat]
    on_disk: dict[str, list[str]]
    deeds: dict[str, int]
    told: dict[str, int]

    def told_since(self, point: str) -> list[str]:
        """Return what was said of a heartbeat after the power had come back."""
        title = self.beats[point].title
        return self.witness.told(title)[self.told[point] :]

    async def until_told(self, point: str, message: str) -> None:
        """Wait for a message; it must be the only one so far."""
        await self.house.until(lambda: self.told_since(point), message)
        assert self.told_since(point) == [message]

    async def tap(self, point: str, number: int = 0, *, yes: bool = True) -> None:
        """Press a button of the notification that came before the power was cut."""
        push = self.witness.asked(self.beats[point].title)[number]
        await self.phone.tap(self.house.api, push.buttons[0 if yes else 1])

    async def tap_in_vain(self, point: str, why: str, number: int = 0) -> None:
        """Press Approve, and be told why that does nothing."""
        before = len(self.told_since(point))
        deeds = self.witness.deeds.copy()
        await self.tap(point, number)
        await self.house.until(
            lambda: self.told_since(point)[before:] == [why], f"the reply: {why}"
        )
        assert self.witness.deeds == deeds

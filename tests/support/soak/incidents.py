"""What goes wrong in the home, and how that ends."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
import random
from typing import Final

from .household import BATH, DOOR, FREEZER, HEATER, LEAK, POWER, WASHER, Household
from .ledger import Message

MINUTE: Final = 60
HOUR: Final = 3600

_WARM: Final = 21.0
_FROZEN: Final = -18.0


@dataclass(slots=True, kw_only=True)
class Incident:
    """Something that a heartbeat has to see to; `messages` as many as are due."""

    title: str
    begun: float
    deeds: int = 1
    messages: int = 1
    ended: float | None = None


class Incidents:
    """Begins them; most end by what is done about them, the others by the owner."""

    def __init__(self, household: Household, seed: int) -> None:
        """Wait for the first."""
        self.all: list[Incident] = []
        self.on_told: Callable[[str], None] = lambda _title: None
        self._agenda = household.agenda
        self._household = household
        self._random = random.Random(seed)  # noqa: S311 - the same each time
        self._open: dict[str, Incident] = {}
        self._bath, self._freezer = _WARM, _FROZEN
        self._doors_left = 0
        later = household.agenda.after
        household.on_deed = {
            "close_door": partial(later, 20, self._door_closes),
            "shut_water": partial(later, 20, self._leak_dries),
            "restart_freezer": self._freezer_restarts,
            HEATER: partial(later, 3 * MINUTE, self._bath_warms),
        }

    @property
    def is_calm(self) -> bool:
        """Whether there is none now."""
        return not self._open

    def may_wait(self, title: str) -> bool:
        """Whether it may be left alone for hours.

        Else what was done and has not helped is done again by then (A7).
        """
        incident = self._open.get(title)
        return incident is None or incident.messages == 1

    def tremble(self) -> None:
        """Let each sensor measure a little more, or a little less."""
        for entity_id, base in ((BATH, self._bath), (FREEZER, self._freezer)):
            shown = base + self._random.choice((0, 0.1))
            self._household.tremble(entity_id, f"{shown:.1f}")
        self._household.tremble(POWER, self._random.choice(("100", "101")))

    def told(self, message: Message) -> None:
        """Let the owner do what is to be done."""
        incident = self._open.get(message.title)
        if incident is None:
            return
        if message.title == "Washer":
            self._agenda.after(40 * MINUTE, self._washer_is_emptied)
        elif incident.messages > 1 and "not help" in message.text:
            self._agenda.after(2 * HOUR, self._freezer_is_mended)
        self.on_told(message.title)

    def door_opens(self, times: int = 1) -> None:
        """Open the door; it will be opened again an hour after it was closed."""
        self._doors_left = times - 1
        self._begin("Door")
        self._household.change(DOOR, "on")

    def leak_begins(self) -> None:
        """Let the washing machine's hose burst."""
        self._begin("Leak")
        self._household.change(LEAK, "on")

    def bath_cools(self) -> None:
        """Leave the window of the bath open."""
        self._begin("Bath")
        self.bath_is(15.5)

    def freezer_warms(self, *, helps: bool = True) -> None:
        """Let the freezer stop; a restart `helps` or it does not."""
        self._begin("Freezer", messages=1 if helps else 2)
        self._freezer_is(-9.5)

    def washer_ends(self) -> None:
        """Have the washing done; only the owner can empty it."""
        self._begin("Washer", deeds=0)
        self._household.change(WASHER, "done")

    def bath_is(self, celsius: float = _WARM) -> None:
        """Let the bath have another temperature, to tremble around."""
        self._bath = celsius
        self._household.change(BATH, f"{celsius:.1f}")

    def _begin(self, title: str, *, deeds: int = 1, messages: int = 1) -> None:
        assert title not in self._open, f"{title} is not over yet"
        incident = Incident(
            title=title, begun=self._agenda.now, deeds=deeds, messages=messages
        )
        self._open[title] = incident
        self.all.append(incident)

    def _end(self, title: str) -> None:
        self._open.pop(title).ended = self._agenda.now

    def _door_closes(self) -> None:
        self._end("Door")
        self._household.change(DOOR, "off")
        if self._doors_left:
            self._agenda.after(HOUR, partial(self.door_opens, self._doors_left))

    def _leak_dries(self) -> None:
        self._end("Leak")
        self._household.change(LEAK, "off")

    async def _bath_warms(self) -> None:
        self.bath_is(self._bath + 0.5)
        if self._bath < _WARM:
            self._agenda.after(3 * MINUTE, self._bath_warms)
            return
        self._end("Bath")
        await self._household.stop_heating()

    def _freezer_restarts(self) -> None:
        incident = self._open.get("Freezer")
        if incident is not None and incident.messages == 1:
            self._agenda.after(30, self._freezer_is_mended)

    def _freezer_is_mended(self) -> None:
        if "Freezer" not in self._open:
            return
        self._end("Freezer")
        self._freezer_is(_FROZEN)

    def _freezer_is(self, celsius: float) -> None:
        self._freezer = celsius
        self._household.change(FREEZER, f"{celsius:.1f}")

    def _washer_is_emptied(self) -> None:
        if "Washer" not in self._open:
            return
        self._end("Washer")
        self._household.change(WASHER, "off")

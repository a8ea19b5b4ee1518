"""Thirty days: twelve incidents, much trembling, twenty restarts."""

from functools import partial
from itertools import cycle
import random
from typing import Final

from .agenda import Happening
from .hours import Hours
from .household import Household
from .incidents import HOUR, MINUTE, Incidents
from .ledger import Ledger
from .life import End, Life
from .moody import MoodyModel
from .traces import Traces

DAY: Final = 24 * HOUR
DAYS: Final = 30
# The longest, in seconds, that an entity is unavailable after a start.
LATEST: Final = 200
PHONE_AFTER: Final = 40
# Seconds after a start, a wake or an incident in which things are still going on: a
# connection to the model is kept open for an hour.
CALM_AFTER: Final = 70 * MINUTE
# The days on which Home Assistant is restarted at any time.
_ANY_TIME: Final = (1, 2, 3, 5, 8, 10, 12, 16, 18, 23, 24, 26)
_RELOADED: Final = (2, 11, 22)


class Month:
    """Lets it all happen; what came of it is in the ledger and the household.

    Begins at a midnight in UTC. `left` is what each Home Assistant has left behind,
    `held` what those held that ended in a calm, by whether they had woken anyone.
    """

    def __init__(
        self,
        hours: Hours,
        household: Household,
        ledger: Ledger,
        life: Life,
        model: MoodyModel,
        incidents: Incidents,
        seed: int,
    ) -> None:
        """Write everything down that will happen."""
        self.left: list[Traces] = []
        self.held: list[tuple[bool, Traces]] = []
        self.reloads: list[tuple[Traces, Traces]] = []
        self.ticks: list[tuple[float, list[int]]] = []
        self.begun = hours.now
        self._hours = hours
        self._agenda = household.agenda
        self._household = household
        self._ledger = ledger
        self._life = life
        self._model = model
        self._incidents = incidents
        self._random = random.Random(seed)  # noqa: S311 - the same each time
        self._ends = cycle((End.KILLED, End.STOPPED, End.KILLED, End.UNLOADED))
        self._started = self.begun
        self._ticks_before: list[int] = []
        incidents.on_told = self._told
        model.may_rest = incidents.may_wait
        self._write_down()

    def moment(self, day: float, hour: float = 0) -> float:
        """Return a moment of the month, in seconds since the epoch."""
        return self.begun + day * DAY + hour * HOUR

    async def live_until(self, day: int) -> None:
        """Let everything happen until a day begins."""
        await self._agenda.live_until(self.moment(day))

    async def start(self) -> None:
        """Start Home Assistant; the home comes up with it by and by."""
        self._ticks_before = self._life.ticks_on_disk()
        self._started = self._hours.now
        await self._life.start()
        self._agenda.after(PHONE_AFTER, self._ledger.plug_in_phone)
        for entity_id in self._household.entity_ids:
            late = self._random.uniform(0, LATEST)
            self._agenda.after(late, partial(self._household.come_up, entity_id))

    async def end(self, end: End) -> None:
        """End it, and look what it leaves."""
        if self._is_calm:
            traces = Traces.of(self._hours, self._life.hass)
            self.held.append((self._ledger.last_wake >= self._started, traces))
        ticked = [
            now - before
            for now, before in zip(
                await self._life.ticks(), self._ticks_before, strict=True
            )
        ]
        self.ticks.append((self._hours.now - self._started, ticked))
        if end is End.KILLED:
            self._ledger.kills.append(self._hours.now)
        await self._life.end(end)
        self._model.let_go()
        await self._hours.settle()
        self.left.append(Traces.of(self._hours, None))

    def _on(self, day: int, hour: float, happening: Happening) -> None:
        self._agenda.at(self.moment(day, hour), happening)

    def _write_down(self) -> None:
        happens, begin = self._on, self._incidents
        happens(0, 1, begin.leak_begins)
        happens(0, 2, begin.washer_ends)
        happens(0, 3, begin.freezer_warms)
        happens(0, 4, partial(begin.bath_is, 17.9))
        happens(0, 12, begin.bath_is)
        happens(0, 13, partial(begin.door_opens, 4))
        happens(4, 6, begin.bath_cools)
        happens(4, 6.15, partial(self._restart, End.KILLED))
        happens(6, 0, partial(begin.bath_is, 17.9))
        happens(6, 5, partial(self._restart, End.KILLED))
        happens(6, 11, begin.bath_is)
        happens(9, 6, partial(begin.freezer_warms, helps=False))
        happens(13, 20, partial(begin.bath_is, 17.9))
        happens(14, 3, partial(self._restart, End.STOPPED))
        happens(14, 5, begin.bath_is)
        happens(14, 10, self._outage)
        happens(14, 10.1, begin.leak_begins)
        happens(14, 10.6, partial(self._restart, End.KILLED))
        happens(14, 12.5, self._outage_ends)
        happens(15, 20, self._be_restless)
        happens(15, 22.3, partial(self._restart, End.KILLED))
        happens(17, 9, begin.bath_cools)
        happens(21, 9, begin.washer_ends)
        for day in _ANY_TIME:
            happens(day, self._random.uniform(6, 24), self._restart)
        for day in _RELOADED:
            happens(day, 4, self._reload)
        self._agenda.after(0, self._tremble)

    async def _restart(self, end: End | None = None) -> None:
        if self._life.hass is None:
            self._agenda.after(HOUR, partial(self._restart, end))
            return
        await self.end(end or next(self._ends))
        self._agenda.after(self._random.uniform(10, 15 * MINUTE), self.start)

    async def _reload(self) -> None:
        if self._life.hass is None or not self._is_calm:
            self._agenda.after(HOUR, self._reload)
            return
        before = Traces.of(self._hours, self._life.hass)
        await self._life.reload()

        def compare() -> None:
            after = Traces.of(self._hours, self._life.hass)
            self.reloads.append((before, after))

        self._agenda.after(CALM_AFTER, compare)

    @property
    def _is_calm(self) -> bool:
        last = max(self._started, self._ledger.last_wake, self._household.last_change)
        return self._incidents.is_calm and self._hours.now - last > CALM_AFTER

    def _told(self, title: str) -> None:
        """Cut the power soon after some of the messages."""
        day = (self._hours.now - self.begun) // DAY
        soon = 20 if title == "Freezer" else 10 * MINUTE
        if (title, day) in {("Freezer", 9), ("Washer", 21)}:
            self._agenda.after(soon, partial(self._restart, End.KILLED))

    def _be_restless(self, celsius: float = 17.2) -> None:
        """Let the bath be cool, now more and now less, until after midnight."""
        if self._hours.now >= self.moment(15, 23.3):
            self._incidents.bath_is()
            return
        self._incidents.bath_is(celsius)
        other = 17.8 if celsius < 17.5 else 17.2
        self._agenda.after(3 * MINUTE, partial(self._be_restless, other))

    def _tremble(self) -> None:
        self._incidents.tremble()
        self._agenda.after(MINUTE, self._tremble)

    def _outage(self) -> None:
        self._model.is_out = True

    def _outage_ends(self) -> None:
        self._model.is_out = False

"""Each fault of a heartbeat told once, and once when it is over (S7)."""

import asyncio
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Final, Protocol

from homeassistant.core import callback
from homeassistant.util import dt as dt_util

from ..engine.breaker import Fault, went_well
from ..engine.records import RunRecord
from ..models import HeartbeatOptions
from ..spawning import Spawn
from ..store.memory import Memory
from ..telling.notices import Notices

_OF_RUNS: Final = frozenset({Fault.FAILURES, Fault.AUTH, Fault.QUOTA})


class Sight(Protocol):
    """Looks at the home for a heartbeat."""

    @property
    def is_blind(self) -> bool:
        """Whether the last tick could not be judged."""
        ...

    @property
    def is_still_blind(self) -> bool:
        """Whether that is so at this moment, too."""
        ...

    @property
    def blindness(self) -> str:
        """What cannot be judged now, and why."""
        ...


class FaultNotices:
    """Tells of each fault that is there, and when it is over.

    What the owner knows is kept in the state as `told`; the rest is told. `is_blind`
    says whether the gate could not be judged for an hour, None if that is not known.
    The end of a pause is told with the first good run after it, not at midnight.
    """

    def __init__(
        self,
        state: Memory,
        sight: Sight,
        notices: Notices,
        options: Callable[[], HeartbeatOptions],
        spawn: Spawn,
    ) -> None:
        """Tell for one heartbeat; `options` are those of now."""
        self.is_blind: bool | None = None
        self._state = state
        self._sight = sight
        self._notices = notices
        self._options = options
        self._spawn = spawn
        self._telling = asyncio.Lock()
        self._beginnings = 0
        self._paused_at: datetime | None = None  # when it was told, since the start
        self._has_worked = self._is_closed = False

    @callback
    def begin_anew(self) -> None:
        """The heartbeat was switched: drop what is just being told."""
        self._beginnings += 1
        self.is_blind = None

    @callback
    def close(self) -> None:
        """Tell no more."""
        self._is_closed = True

    @callback
    def run_ended(self, record: RunRecord) -> None:
        """Note a run: a pause that was told before it is over, if it went well.

        If it has spent the day's budget, that is another pause.
        """
        if self._state.meter.pause_reason is None:
            self._has_worked |= went_well(record) and not record.dry_run
        elif self._paused_at is None or self._paused_at <= record.started:
            self._state.put_told(self._state.told - {Fault.BUDGET})

    @callback
    def follow(self) -> None:
        """Tell what is due, if anything is."""
        if self._due() is not None:
            self._spawn(self._async_tell(), "fault notice")

    def _due(self) -> tuple[frozenset[Fault], bool] | None:
        """Return faults of which is to be told, and whether they are there or over."""
        if not self._state.is_on or self._is_closed:
            return None
        told = self._state.told
        if over := told & self._over:
            gate = over & {Fault.GATE}
            return gate or over, False
        untold = next((fault for fault in self._there if fault not in told), None)
        return None if untold is None else (frozenset({untold}), True)

    @property
    def _over(self) -> frozenset[Fault]:
        over = frozenset({Fault.GATE}) if self.is_blind is False else frozenset()
        if self._state.breaker.fault is not None:
            return over
        return over | _OF_RUNS | ({Fault.BUDGET} if self._has_worked else set())

    @property
    def _there(self) -> Iterator[Fault]:
        if self.is_blind:
            yield Fault.GATE
        if (fault := self._state.breaker.fault) is not None:
            yield fault
        if self._state.meter.pause_reason is not None:
            yield Fault.BUDGET

    async def _async_tell(self) -> None:
        async with self._telling:
            while (due := self._due()) is not None:
                beginning = self._beginnings
                faults, is_there = due
                await self._async_say(faults, is_there=is_there)
                if beginning != self._beginnings:
                    continue
                self._note(faults, is_there=is_there)
                await self._state.async_save()

    @callback
    def _note(self, faults: frozenset[Fault], *, is_there: bool) -> None:
        told = self._state.told
        self._state.put_told(told | faults if is_there else told - faults)
        if is_there and Fault.BUDGET in faults:
            self._has_worked, self._paused_at = False, dt_util.utcnow()

    async def _async_say(self, faults: frozenset[Fault], *, is_there: bool) -> None:
        options = self._options()
        if not is_there:
            await self._notices.works_again(options, faults)
        elif Fault.GATE in faults:
            await self._notices.gate_broken(options, self._sight.blindness)
        elif Fault.BUDGET not in faults:
            await self._notices.failing(options, self._state.breaker)
        elif (spent := self._state.meter.pause_reason) is not None:
            await self._notices.paused(options, spent)

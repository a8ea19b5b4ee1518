"""Whether there is reason to wake, and what a run is then given (C2, G1, G4)."""

from collections.abc import Callable
from datetime import datetime
import logging

from homeassistant.core import Context, HomeAssistant, callback

from ..engine.records import Cause, GateVerdict, RunRecord
from ..gate.keeper import GateKeeper
from ..guard.past_actions import PastActions
from ..home.home import Reach
from ..identity import without_own
from ..models import HeartbeatOptions
from ..run.hearing import Ears, Hearing
from ..run.plan import RunPlan
from ..store.memory import Memory
from .reach_now import ReachNow
from .situation import Situation

_LOGGER = logging.getLogger(__name__)


class Waker:
    """Decides for one heartbeat whether to wake, by its gate and by what has changed.

    After a tick, `is_blind` says that it could not be judged, `needs_build` that
    building the gate again may help.
    """

    def __init__(
        self,
        hass: HomeAssistant,
        heartbeat_id: str,
        options: HeartbeatOptions,
        memory: Memory,
    ) -> None:
        """Prepare; the gate is closed until it has been built."""
        self._hass = hass
        self._heartbeat_id = heartbeat_id
        self._options = options
        self._gate = GateKeeper(hass, heartbeat_id, options)
        self._ears = Ears(memory)
        self._situation = Situation(hass, memory, self._ears)
        self._is_closed = False
        self._reach = ReachNow(hass, options)
        self.needs_build = self.is_blind = self._has_failed = False

    @property
    def past_actions(self) -> PastActions:
        """What was done and has not helped (A7)."""
        return self._situation.past_actions

    def explain(self) -> tuple[GateVerdict, ...]:
        """Return what each condition says now, and why (G3)."""
        return self._gate.explain()

    def reach(self) -> Reach:
        """Return what may be seen and touched now."""
        return self._reach.get()

    async def async_build(self) -> None:
        """Build the gate of the present options (G1), and listen to it (G4)."""
        await self._gate.async_build()
        self._situation.follow(self._news_ids)

    @callback
    def start(self) -> None:
        """Listen to the home, now that Home Assistant has started."""
        self._reach.start()
        self._situation.start()

    @callback
    def close(self) -> None:
        """Let go of what is watched."""
        self._gate.close()
        self._reach.close()
        self._situation.close()

    @callback
    def forget(self) -> None:
        """Take everything for news from now on."""
        self._situation.forget()
        self._is_closed = False

    @callback
    def change(self, options: HeartbeatOptions) -> bool:
        """Take other options; returns whether the gate has to be built anew (C7)."""
        self._options = options
        self._reach.change(options)
        self.forget()
        return self._gate.change(options)

    def attempt(self, tick: Callable[[], bool]) -> bool:
        """Do a tick, return whether it woke; of errors in a row log the first."""
        try:
            has_woken = tick()
        except Exception:
            level = logging.DEBUG if self._has_failed else logging.ERROR
            title = self._options.title
            _LOGGER.log(level, "A tick of %s failed", title, exc_info=True)
            self._has_failed = self.is_blind = True
            return False
        self._has_failed = False
        return has_woken

    @property
    def is_still_blind(self) -> bool:
        """Whether what the last tick could not judge cannot be judged now (S7)."""
        try:
            return self._has_failed or (self.is_blind and self._gate.judge() is None)
        except Exception:  # noqa: BLE001 - the next tick says so
            return True

    @property
    def blindness(self) -> str:
        """Why the gate cannot be judged now; empty if it is not the gate."""
        try:
            verdicts = self.explain()
        except Exception:  # noqa: BLE001 - the next tick says so
            return ""
        return "; ".join(one.reason for one in verdicts if one.result is None)

    @property
    def sleeps_on(self) -> bool:
        """Whether the gate is as closed as at the last tick: most ticks end here (C4).

        There is nothing to note about such a tick that was not noted at that one.
        """
        try:
            return self._is_closed and self._gate.stays_closed
        except Exception:  # noqa: BLE001 - the tick goes on, and says so
            return False

    def is_reason(self, now: datetime) -> bool:
        """Judge gate and situation at a tick."""
        is_open = self._gate.judge()
        self._is_closed = is_open is False
        self.is_blind = is_open is None
        self.needs_build = is_open is None and self._gate.needs_rebuild
        self._situation.gate_was(is_open=is_open, now=now)
        if not is_open:
            return False
        return not self._situation.is_old_news(
            self._news_ids, self.reach(), self._options.manners, now
        )

    @property
    def _news_ids(self) -> frozenset[str]:
        """The gate's entities; what a heartbeat changes by running is no news (G4)."""
        return without_own(self._hass, self._gate.entity_ids, self._heartbeat_id)

    @callback
    def plan(
        self,
        cause: Cause,
        context: Context,
        *,
        dry_run: bool,
        requests: tuple[str, ...],
    ) -> RunPlan:
        """Return the plan of a run that begins now.

        `requests` are lines for the model about what its owner was asked before (P5).
        """
        reach = self.reach()
        gate_ids, manners = self._news_ids, self._options.manners
        states = self._situation.show(gate_ids, reach, manners, for_good=not dry_run)
        return RunPlan(
            options=self._options,
            cause=cause,
            dry_run=dry_run,
            context=context,
            gate=self._gate.explain(),
            grounds=self._gate.grounds() if cause is Cause.TICK else "",
            reach=reach,
            past_actions=self.past_actions,
            requests=requests,
            hearing=Hearing(self._ears, states, manners.recheck_after),
        )

    @callback
    def ended(self, record: RunRecord, *, now: datetime) -> None:
        """Note how a run ended, for the next comparison."""
        self._situation.ended(record.outcome, now=now)

"""Whether there is reason to wake, and what a run is then given (C2, G1, G4)."""

from datetime import datetime
import logging

from homeassistant.core import Context, HomeAssistant, callback

from .engine.records import Cause, GateVerdict, RunRecord
from .gate.keeper import GateKeeper
from .hearing import Ears, Hearing
from .home import Reach, resolve
from .models import HeartbeatOptions
from .past_actions import PastActions
from .run import RunPlan
from .situation import Situation

_LOGGER = logging.getLogger(__name__)


class Waker:
    """Looks at the home for one heartbeat: the gate, the reach, what has changed.

    `needs_build` after a tick at which the gate could not be judged, and may be once
    it is built again.
    """

    def __init__(
        self,
        hass: HomeAssistant,
        heartbeat_id: str,
        options: HeartbeatOptions,
        ears: Ears,
    ) -> None:
        """Prepare; the gate is closed until it has been built."""
        self._hass = hass
        self._options = options
        self._gate = GateKeeper(hass, heartbeat_id, options)
        self._ears = ears
        self._situation = Situation(hass, ears)
        self.needs_build = False

    @property
    def past_actions(self) -> PastActions:
        """What was done and has not helped (A7)."""
        return self._situation.past_actions

    def explain(self) -> tuple[GateVerdict, ...]:
        """Return what each condition says now, and why (G3)."""
        return self._gate.explain()

    def reach(self) -> Reach:
        """Return what may be seen and touched now."""
        return resolve(self._hass, self._options)

    async def async_build(self) -> None:
        """Build the gate of the present options (G1)."""
        await self._gate.async_build()

    @callback
    def close(self) -> None:
        """Let go of what is watched."""
        self._gate.close()
        self._situation.close()

    @callback
    def forget(self) -> None:
        """Take everything for new from now on."""
        self._situation.forget()

    @callback
    def change(self, options: HeartbeatOptions) -> bool:
        """Take other options; returns whether the gate has to be built anew (C7)."""
        self._options = options
        self._situation.forget()
        return self._gate.change(options)

    def is_reason(self, now: datetime) -> bool:
        """Judge gate and situation at a tick; raises nothing."""
        try:
            return self._is_reason(now)
        except Exception:
            _LOGGER.exception("A tick of %s failed", self._options.title)
            return False

    def _is_reason(self, now: datetime) -> bool:
        is_open = self._gate.judge()
        self.needs_build = is_open is None and self._gate.needs_rebuild
        self._situation.gate_was(is_open=is_open, now=now)
        if not is_open:
            return False
        return not self._situation.is_old_news(
            self._gate.entity_ids, self.reach(), self._options.manners, now
        )

    @callback
    def plan(
        self,
        cause: Cause,
        context: Context,
        *,
        dry_run: bool,
        requests: tuple[str, ...],
    ) -> RunPlan:
        """Take what is seen now for a run that begins.

        `requests` tell the model what its owner was asked before (P5).
        """
        reach = self.reach()
        gate_ids, manners = self._gate.entity_ids, self._options.manners
        if not dry_run:
            self._situation.show(gate_ids, reach, manners)
        return RunPlan(
            options=self._options,
            cause=cause,
            dry_run=dry_run,
            context=context,
            gate=self._gate.explain(),
            reach=reach,
            past_actions=self.past_actions,
            requests=requests,
            hearing=Hearing(
                self._ears,
                self._situation.states(gate_ids, reach),
                manners.recheck_after,
            ),
        )

    @callback
    def ended(self, record: RunRecord, *, now: datetime) -> None:
        """Keep how a run ended."""
        self._situation.ended(record.outcome, now=now)

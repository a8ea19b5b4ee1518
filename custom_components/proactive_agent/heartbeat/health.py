"""What keeps a heartbeat from its work, judged and told (F7, S7)."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir
from homeassistant.util import dt as dt_util

from ..alarm import Alarm
from ..const import ATTR_HEARTBEAT_ID, DOMAIN
from ..engine.breaker import Breaker, Fault
from ..engine.fuses import PauseReason, Stop
from ..engine.records import RunRecord
from ..spawning import Spawn
from ..store.memory import Memory
from ..telling.notices import Notices, failure_in_words
from ..texts import Texts, local_time
from .fault_notices import FaultNotices, Sight
from .ports import Ports

GATE_PATIENCE: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """Why ticks stay quiet, and until when; None is for as long as nothing changes."""

    reason: PauseReason | Fault
    until: datetime | None

    def as_dict(self) -> dict[str, str | None]:
        """Return it as plain data."""
        return {
            "reason": self.reason,
            "until": self.until.isoformat() if self.until else None,
        }


class Health:
    """The faults of one heartbeat: judged, told once, and told once when they are over.

    `sight` says whether the gate can be judged. `can_sign_in` says whether Home
    Assistant asks the owner for a new key when one is refused. `stop` is why it went
    off by itself, None if it did not since Home Assistant started.
    """

    def __init__(
        self,
        hass: HomeAssistant,
        heartbeat_id: str,
        ports: Ports,
        *,
        state: Memory,
        sight: Sight,
        notices: Notices,
        can_sign_in: Callable[[], bool],
        spawn: Spawn,
    ) -> None:
        """Follow one heartbeat."""
        self._hass = hass
        self._heartbeat_id = heartbeat_id
        self._issue_id = f"failing_{heartbeat_id}"
        self._state = state
        self._sight = sight
        self._notices = notices
        self._options = ports.options
        self._can_sign_in = can_sign_in
        self._spawn = spawn
        self._on_change = ports.on_change
        self._resume = Alarm(hass, self._follow_on)
        self._look = Alarm(hass, self._look_again)
        self.stop: Stop | None = None
        self._faults = FaultNotices(state, sight, notices, ports.options, spawn)
        self._is_over = False

    @property
    def failing(self) -> Breaker:
        """The runs that failed since the last good one."""
        return self._state.breaker

    @property
    def is_blind(self) -> bool:
        """Whether for an hour nothing could be judged (G2)."""
        return self._faults.is_blind is True

    @property
    def pause(self) -> Pause | None:
        """Why ticks stay quiet though it is on, a spent budget first (F5, F7)."""
        if not self._state.is_on:
            return None
        if (spent := self._state.meter.pause_reason) is not None:
            tomorrow = dt_util.now().date() + timedelta(days=1)
            midnight = dt_util.as_utc(dt_util.start_of_local_day(tomorrow))
            return Pause(reason=spent, until=midnight)
        breaker = self._state.breaker
        if breaker.fault is not None and breaker.waits(dt_util.utcnow()):
            return Pause(reason=breaker.fault, until=breaker.until)
        return None

    @callback
    def start(self) -> None:
        """Go on with what was remembered; a refused key is tried once (F7)."""
        self._state.put_breaker(self._state.breaker.restarted(dt_util.utcnow()))
        self._follow()

    @callback
    def begin_anew(self) -> None:
        """Begin anew: the heartbeat was switched on or off."""
        if self._state.is_on:
            self.stop = None
        self._faults.begin_anew()
        self._look.cancel()
        self._follow()

    @callback
    def close(self) -> None:
        """Cancel what is waited for, and take the issue back."""
        self._is_over = True
        self._faults.close()
        self._look.cancel()
        self._resume.cancel()
        ir.async_delete_issue(self._hass, DOMAIN, self._issue_id)

    @callback
    def try_again(self) -> None:
        """Let the next tick try: the options or the endpoint are others now (F7)."""
        if not self._is_over:
            self._state.put_breaker(self._state.breaker.tried_again(dt_util.utcnow()))
            self._follow_on()

    @callback
    def run_ended(self, record: RunRecord) -> None:
        """Count how a run ended; a dry run says nothing about the heartbeat (A9)."""
        if not self._state.is_on or self._is_over:
            return
        self._faults.run_ended(record)
        if not record.dry_run:
            now = dt_util.utcnow()
            breaker = self._state.breaker.after(
                record,
                now=now,
                interval=self._options().interval,
                anchor=self._state.anchor or now,
                is_told_of_change=self._can_sign_in(),
            )
            self._state.put_breaker(breaker)
        self._follow()

    @callback
    def stopped(self, stop: Stop) -> None:
        """Tell that the heartbeat goes off without its owner (F8)."""
        self.stop = stop
        self._spawn(self._async_tell_stopped(stop), "stop")

    async def _async_tell_stopped(self, stop: Stop) -> None:
        await self._state.async_save()
        await self._notices.stopped(self._options(), stop.reason, stop.detail)

    @callback
    def tick_judged(self, now: datetime) -> None:
        """Note after a tick whether it could be judged (G2)."""
        if self._sight.is_blind:
            if not self._look.is_set and not self._faults.is_blind:
                self._faults.is_blind = None
                self._look.set(now + GATE_PATIENCE)
        elif self._faults.is_blind is not False:
            self._look.cancel()
            was_blind, self._faults.is_blind = self._faults.is_blind, False
            # A budget that this tick's own wake has spent is told after its run.
            if Fault.GATE in self._state.told:
                self._faults.follow()
            if was_blind:
                self._on_change()

    @callback
    def _look_again(self) -> None:
        if self._sight.is_still_blind:
            self._faults.is_blind = True
            self._faults.follow()
            self._on_change()

    @callback
    def _follow_on(self) -> None:
        self._follow()
        self._on_change()

    @callback
    def _follow(self) -> None:
        """Bring timer, issue and owner up to date."""
        pause = self.pause
        self._resume.set(pause.until if pause is not None else None)
        if self._is_failing:
            self._spawn(self._async_report(), "failing")
        else:
            ir.async_delete_issue(self._hass, DOMAIN, self._issue_id)
        self._faults.follow()

    @property
    def _is_failing(self) -> bool:
        is_there = self._state.is_on and not self._is_over
        return is_there and self._state.breaker.fault is Fault.FAILURES

    async def _async_report(self) -> None:
        """Put up the one repair issue, or put new words into it (F7)."""
        texts = await Texts.async_load(self._hass)
        breaker = self._state.breaker
        since, until = breaker.since, breaker.until
        if not self._is_failing or since is None or until is None:
            return
        ir.async_create_issue(
            self._hass,
            DOMAIN,
            self._issue_id,
            data={ATTR_HEARTBEAT_ID: self._heartbeat_id},
            is_fixable=True,
            severity=ir.IssueSeverity.WARNING,
            translation_key="failing",
            translation_placeholders={
                "heartbeat": self._options().title,
                "count": str(breaker.failures),
                "reason": failure_in_words(texts, breaker),
                "since": local_time(since),
                "next": local_time(until),
            },
        )

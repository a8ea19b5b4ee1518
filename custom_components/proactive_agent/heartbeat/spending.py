"""A repair issue about a budget that is too small day after day (F5)."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Final

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir
from homeassistant.util import dt as dt_util

from ..alarm import Alarm
from ..const import ATTR_HEARTBEAT_ID, ATTR_LIMIT, DOMAIN
from ..engine.fuses import PauseReason
from ..engine.streak import Streak
from ..models import HeartbeatOptions
from ..store.slot import Slot
from ..store.store import HeartbeatStore
from .heartbeat import Heartbeat

_KEYS: Final = {PauseReason.WAKES: "budget_wakes", PauseReason.TOKENS: "budget_tokens"}


class Spending:
    """Counts the days on which one heartbeat has spent a budget, and reports them."""

    def __init__(
        self, hass: HomeAssistant, heartbeat: Heartbeat, store: HeartbeatStore
    ) -> None:
        """Prepare; what is remembered is read with the first `follow`."""
        self._hass = hass
        self._heartbeat = heartbeat
        self._slot = Slot(store, heartbeat.id)
        self._issue_id = f"budget_{heartbeat.id}"
        self._limits = _limits(heartbeat.options)
        self._end = Alarm(hass, self.follow)

    @callback
    def follow(self) -> None:
        """Count today if a budget of it is spent; other limits begin anew."""
        streak = self._streak
        limits = _limits(self._heartbeat.options)
        if limits != self._limits:
            self._limits, streak = limits, Streak()
        pause = self._heartbeat.health.pause
        if pause is not None and isinstance(pause.reason, PauseReason):
            streak = streak.spent(pause.reason, _today())
        self._keep(streak)
        self._report(streak)

    @callback
    def leave(self) -> None:
        """Report it no more, until other limits are set."""
        self._keep(replace(self._streak, is_left=True))
        self.follow()

    @callback
    def stop(self) -> None:
        """Wait for nothing and take the issue back."""
        self._end.cancel()
        ir.async_delete_issue(self._hass, DOMAIN, self._issue_id)

    @property
    def _streak(self) -> Streak:
        return self._slot.glance.streak

    def _keep(self, streak: Streak) -> None:
        if streak != self._streak:
            self._slot.put(replace(self._slot.glance, streak=streak))
            self._slot.save_soon()

    def _report(self, streak: Streak) -> None:
        self._end.cancel()
        is_due = self._heartbeat.is_on and streak.is_due(_today())
        if not is_due or streak.last is None or streak.reason is None:
            ir.async_delete_issue(self._hass, DOMAIN, self._issue_id)
            return
        # A whole day on which it did not happen, and it is no longer so.
        over = dt_util.start_of_local_day(streak.last + timedelta(days=2))
        self._end.set(dt_util.as_utc(over))
        limit = self._limits[streak.reason]
        ir.async_create_issue(
            self._hass,
            DOMAIN,
            self._issue_id,
            data={ATTR_HEARTBEAT_ID: self._heartbeat.id, ATTR_LIMIT: streak.reason},
            is_fixable=True,
            severity=ir.IssueSeverity.WARNING,
            translation_key=_KEYS[streak.reason],
            translation_placeholders={
                "heartbeat": self._heartbeat.options.title,
                "days": str(streak.days),
                "limit": str(limit),
            },
        )


def _limits(options: HeartbeatOptions) -> dict[PauseReason, int | None]:
    return {
        PauseReason.WAKES: options.fuses.max_wakes_per_day,
        PauseReason.TOKENS: options.fuses.max_tokens_per_day,
    }


def _today() -> date:
    return dt_util.now().date()

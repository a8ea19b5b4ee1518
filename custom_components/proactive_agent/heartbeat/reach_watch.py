"""A repair issue about entities that a heartbeat may use and that are not there."""

from datetime import timedelta
from typing import Final

from homeassistant.core import Event, EventStateChangedData, HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir
from homeassistant.util import dt as dt_util

from ..alarm import Alarm
from ..const import ATTR_HEARTBEAT_ID, DOMAIN
from ..home.missing import missing, named
from ..models import HeartbeatOptions
from ..tracking import StateTracker
from .heartbeat import Heartbeat

# What is reloaded is away for a moment.
PATIENCE: Final = timedelta(seconds=30)


class ReachWatch:
    """Keeps that issue of one heartbeat true until it is stopped."""

    def __init__(self, hass: HomeAssistant, heartbeat: Heartbeat) -> None:
        """Prepare; nothing is watched yet."""
        self._hass = hass
        self._heartbeat = heartbeat
        self._issue_id = f"missing_target_{heartbeat.id}"
        self._options: HeartbeatOptions | None = None
        self._tracker = StateTracker(hass, self._state_changed)
        self._look = Alarm(hass, self._refresh)

    @callback
    def follow(self) -> None:
        """Look again if the heartbeat has other options."""
        if self._heartbeat.options is not self._options:
            self._refresh()

    @callback
    def stop(self) -> None:
        """Stop watching and take the issue back."""
        self._look.cancel()
        self._tracker.follow(frozenset())
        ir.async_delete_issue(self._hass, DOMAIN, self._issue_id)

    @callback
    def _refresh(self) -> None:
        self._look.cancel()
        options = self._options = self._heartbeat.options
        self._tracker.follow(frozenset(named(self._hass, options).values()))
        gone = sorted(set(missing(self._hass, options).values()))
        if not gone:
            ir.async_delete_issue(self._hass, DOMAIN, self._issue_id)
            return
        ir.async_create_issue(
            self._hass,
            DOMAIN,
            self._issue_id,
            data={ATTR_HEARTBEAT_ID: self._heartbeat.id},
            is_fixable=True,
            severity=ir.IssueSeverity.WARNING,
            translation_key="missing_target",
            translation_placeholders={
                "heartbeat": options.title,
                "entities": ", ".join(gone),
            },
        )

    @callback
    def _state_changed(self, event: Event[EventStateChangedData]) -> None:
        if event.data["old_state"] is None:
            self._refresh()
        elif event.data["new_state"] is None:
            self._look.set(dt_util.utcnow() + PATIENCE)

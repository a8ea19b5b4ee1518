"""Repair issues about what keeps a gate from being judged (G2)."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from homeassistant.core import (
    Event,
    EventStateChangedData,
    HomeAssistant,
    State,
    callback,
)
from homeassistant.helpers import issue_registry as ir
from homeassistant.util import dt as dt_util

from ..alarm import Alarm
from ..const import ATTR_HEARTBEAT_ID, DOMAIN, SILENT_STATES
from ..tracking import StateTracker
from .gate import Gate

REPORT_AFTER = timedelta(hours=1)


class GateWatch:
    """Keeps the repair issues of one gate true until it is stopped.

    A missing entity and a condition that cannot be built are reported at once, an
    unavailable or unknown entity after an hour; each issue goes when its cause does.
    """

    def __init__(
        self, hass: HomeAssistant, *, heartbeat_id: str, title: str, gate: Gate
    ) -> None:
        """Prepare to watch a gate; nothing is reported yet."""
        self._hass = hass
        self._heartbeat_id = heartbeat_id
        self._title = title
        self._gate = gate
        self._tracker = StateTracker(hass, self._state_changed)
        self._look = Alarm(hass, self.async_refresh)
        self._silent_since: dict[str, datetime] = {}
        self._reported: dict[str, tuple[str, ...]] = {}

    @callback
    def async_start(self) -> None:
        """Report what is wrong now, and follow it from here on."""
        self.async_refresh()

    @callback
    def async_follow(self, gate: Gate, title: str) -> None:
        """Watch a newly built gate; what is still wrong just stays reported (C4)."""
        self._gate = gate
        self._title = title
        self.async_refresh()

    @callback
    def async_stop(self) -> None:
        """Stop watching and take back every issue."""
        self._tracker.follow(frozenset())
        self._look.cancel()
        self._silent_since.clear()
        self._report({})

    @callback
    def async_refresh(self) -> None:
        """Bring listeners, timer and issues up to date.

        Call it after a tick at which the gate may have looked at other entities; it
        writes to the issue registry only where something has changed (C4).
        """
        self._tracker.follow(self._gate.entity_ids)
        troubles = self._gate.unjudgeable()
        now = dt_util.utcnow()
        self._silent_since = {
            entity_id: self._silent_since.get(entity_id) or self._since(entity_id, now)
            for entity_id, trouble in troubles.items()
            if trouble == "unavailable"
        }
        overdue = {
            entity_id
            for entity_id, since in self._silent_since.items()
            if now - since >= REPORT_AFTER
        }
        issues = {
            self._issue_id("missing_entity", entity_id): ("missing_entity", entity_id)
            for entity_id, trouble in troubles.items()
            if trouble == "missing"
        }
        for entity_id in overdue:
            key = "unavailable_entity"
            issues[self._issue_id(key, entity_id)] = (key, entity_id)
        if faults := self._gate.faults:
            reasons = "; ".join(
                f"{fault.condition}: {fault.reason}" for fault in faults
            )
            issues[self._issue_id("invalid_conditions")] = (
                "invalid_conditions",
                reasons,
            )
        self._report(issues)
        waiting = [
            since + REPORT_AFTER
            for entity_id, since in self._silent_since.items()
            if entity_id not in overdue
        ]
        self._look.keep(min(waiting, default=None))

    def _since(self, entity_id: str, now: datetime) -> datetime:
        state = self._hass.states.get(entity_id)
        return state.last_changed if state else now

    def _issue_id(self, *parts: str) -> str:
        kind, *rest = parts
        return "_".join((kind, self._heartbeat_id, *rest))

    def _report(self, issues: Mapping[str, tuple[str, str]]) -> None:
        """Make these the issues there are: {issue id: (translation key, subject)}."""
        for issue_id in self._reported.keys() - issues.keys():
            ir.async_delete_issue(self._hass, DOMAIN, issue_id)
        reported: dict[str, tuple[str, ...]] = {
            issue_id: (self._title, *issue) for issue_id, issue in issues.items()
        }
        for issue_id, issue in issues.items():
            if self._reported.get(issue_id) == reported[issue_id]:
                continue
            key, subject = issue
            name = "reason" if key == "invalid_conditions" else "entity_id"
            ir.async_create_issue(
                self._hass,
                DOMAIN,
                issue_id,
                data={ATTR_HEARTBEAT_ID: self._heartbeat_id},
                is_fixable=key != "unavailable_entity",
                severity=ir.IssueSeverity.WARNING,
                translation_key=key,
                translation_placeholders={"heartbeat": self._title, name: subject},
            )
        self._reported = reported

    @callback
    def _state_changed(self, event: Event[EventStateChangedData]) -> None:
        # A sensor that only counts on is no reason to look.
        if _is_silent(event.data["old_state"]) or _is_silent(event.data["new_state"]):
            self.async_refresh()


def _is_silent(state: State | None) -> bool:
    return state is None or state.state in SILENT_STATES

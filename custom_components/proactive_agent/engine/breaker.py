"""What keeps a heartbeat from its work, and when it is tried again (F7, S7)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Self

from .cadence import next_due
from .errors import ErrorKind
from .records import Cause, Outcome, RunRecord
from .stored import moment_from

FAILURES_IN_A_ROW: Final = 5
FIRST_WAIT: Final = timedelta(minutes=15)
LONGEST_WAIT: Final = timedelta(hours=6)
QUOTA_WAIT: Final = timedelta(days=1)
MAX_REASON: Final = 255  # characters

# How much before its end a day may be over, for the tick that is due by then.
_EARLY: Final = timedelta(minutes=15)
_FARTHEST: Final = 2 * QUOTA_WAIT
# A timer may fire a little early.
_GRACE: Final = timedelta(seconds=1)
_NEUTRAL: Final = frozenset({Outcome.STOPPED, Outcome.TOKEN_LIMIT})
_FAILED: Final = frozenset(
    {Outcome.ERROR, Outcome.TIMEOUT, Outcome.TURN_LIMIT, Outcome.ACTION_LIMIT}
)


class Fault(StrEnum):
    """Why a heartbeat that is on cannot do its work (S7)."""

    FAILURES = "failures"
    AUTH = "auth"
    QUOTA = "quota"
    GATE = "gate"
    BUDGET = "budget"


_AT_ONCE: Final[Mapping[str, Fault]] = {
    ErrorKind.AUTH: Fault.AUTH,
    ErrorKind.QUOTA: Fault.QUOTA,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaker:
    """The failed runs in a row since the last good one, and the pause they lead to.

    `since` is when the first of them ended; `kind` and `reason` are those of the last,
    from its error or its outcome. While there is a `fault`, ticks stay quiet `until`
    then, or for None until something is changed.
    """

    failures: int = 0
    since: datetime | None = None
    kind: str | None = None
    reason: str = ""
    fault: Fault | None = None
    until: datetime | None = None

    def waits(self, now: datetime) -> bool:
        """Say whether a tick stays quiet.

        A moment too far ahead is from before the clock was set back.
        """
        if self.fault is None or self.until is None:
            return self.fault is Fault.AUTH
        return now + _GRACE < self.until <= now + _FARTHEST

    def after(
        self,
        record: RunRecord,
        *,
        now: datetime,
        interval: timedelta,
        anchor: datetime,
        is_told_of_change: bool,
    ) -> Breaker:
        """Return the breaker after a run has ended.

        A pause ends with the tick that is due next to its end, by `anchor` and
        `interval`. `is_told_of_change` says that a new key would be noticed, so that a
        refused one need not be tried again. A manual run that fails during a pause does
        not make it longer.
        """
        if record.outcome in _NEUTRAL:
            return self
        if record.outcome not in _FAILED:
            return Breaker()
        if record.cause is Cause.MANUAL and self.waits(now):
            return self
        kind = record.error.kind if record.error else record.outcome.value
        failed = replace(
            self,
            failures=self.failures + 1,
            since=self.since or now,
            kind=kind,
            reason=record.error.message[:MAX_REASON] if record.error else "",
        )
        fault = _AT_ONCE.get(kind) if record.outcome is Outcome.ERROR else None
        if fault is None and failed.failures >= FAILURES_IN_A_ROW:
            fault = Fault.FAILURES
        if fault is None:
            # An earlier fault is not over, but says nothing of this error.
            return replace(failed, until=now)
        if fault is Fault.AUTH and is_told_of_change:
            return replace(failed, fault=fault, until=None)
        over = now + _wait(fault, failed.failures, interval)
        early = _EARLY if fault is Fault.QUOTA else interval / 2
        until = next_due(anchor, interval, max(now, over - early))
        return replace(failed, fault=fault, until=until)

    def tried_again(self, now: datetime) -> Breaker:
        """Let the next tick try, and pauses begin short again."""
        if self.failures == 0:
            return self
        failures = min(self.failures, FAILURES_IN_A_ROW - 1)
        return replace(self, failures=failures, until=now)

    def restarted(self, now: datetime) -> Breaker:
        """Let a key that was refused be tried once after a start."""
        return replace(self, until=now) if self.fault is Fault.AUTH else self

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "failures": self.failures,
            "since": self.since and self.since.isoformat(),
            "kind": self.kind,
            "reason": self.reason,
            "fault": self.fault,
            "until": self.until and self.until.isoformat(),
        }

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Read what `as_dict` wrote; anything else is a breaker without failures."""
        try:
            return cls(
                failures=max(0, int(data["failures"])),
                since=data["since"] and moment_from(data["since"]),
                kind=data["kind"] and str(data["kind"])[:MAX_REASON],
                reason=str(data["reason"])[:MAX_REASON],
                fault=data["fault"] and Fault(data["fault"]),
                until=data["until"] and moment_from(data["until"]),
            )
        except KeyError, TypeError, ValueError:
            return cls()


def went_well(record: RunRecord) -> bool:
    """Say whether a run has shown that the heartbeat can do its work."""
    return record.outcome not in _NEUTRAL | _FAILED


def faults_from(data: Any) -> frozenset[Fault]:
    """Read the names of faults; what is none is left out."""
    listed = data if isinstance(data, list) else []
    return frozenset(fault for fault in Fault if fault in listed)


def _wait(fault: Fault, failures: int, interval: timedelta) -> timedelta:
    if fault is Fault.QUOTA:
        return QUOTA_WAIT
    if fault is Fault.AUTH:
        return LONGEST_WAIT
    longest_doubling = 5  # 15 minutes come to 6 hours before that
    doubled = min(failures - FAILURES_IN_A_ROW, longest_doubling)
    return min(max(interval, FIRST_WAIT) * (1 << doubled), LONGEST_WAIT)

"""What a heartbeat has used up, against what it may use."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Any, Self

from .stored import text_or_none_from

# Of a tick and a deadline that are due together either timer may come first; the tick
# still counts.
DEADLINE_GRACE = timedelta(seconds=1)
_A_DAY = timedelta(days=1)


class StopReason(StrEnum):
    """Why a heartbeat went off without its owner (F8)."""

    MAX_TICKS = "max_ticks"
    MAX_DURATION = "max_duration"
    STOP_AFTER_ACTING = "stop_after_acting"
    AGENT = "agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """A stop, and what the agent itself says for it."""

    reason: StopReason
    detail: str | None = None

    def as_dict(self) -> dict[str, str | None]:
        """Return it as plain data."""
        return {"reason": self.reason.value, "detail": self.detail}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `as_dict` wrote; raises as the readers in `stored` do."""
        return cls(
            reason=StopReason(data["reason"]), detail=text_or_none_from(data["detail"])
        )


class PauseReason(StrEnum):
    """Which budget of the day is spent (F5)."""

    WAKES = "max_wakes_per_day"
    TOKENS = "max_tokens_per_day"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits that hold between runs; None is no limit."""

    max_ticks: int | None = None
    max_duration: timedelta | None = None
    max_wakes_per_day: int | None = None
    max_tokens_per_day: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """What has been used: `wakes` and `tokens` on `day`, the home's local day."""

    ticks: int = 0
    deadline: datetime | None = None
    day: date | None = None
    wakes: int = 0
    tokens: int = 0

    def started(self, limits: Limits, now: datetime) -> Used:
        """Begin anew when switched on: fresh ticks and deadline, not a fresh day."""
        return replace(self, ticks=0, deadline=deadline_from(limits, now))

    def ticked(self, times: int = 1) -> Used:
        """Count ticks (F1)."""
        return replace(self, ticks=self.ticks + times)

    def counts_on(self, day: date) -> bool:
        """Say whether what was used counts on `day`.

        It does on the day before, which a clock that is set back or a journey brings
        again.
        """
        return self.day is not None and self.day - _A_DAY <= day <= self.day

    def on(self, day: date) -> Used:
        """Carry the budgets into `day`; another day begins at nothing."""
        if self.counts_on(day):
            return self
        return replace(self, day=day, wakes=0, tokens=0)

    def woken(self, day: date) -> Used:
        """Charge one wake to `day`."""
        today = self.on(day)
        return replace(today, wakes=today.wakes + 1)

    def charged(self, day: date, tokens: int) -> Used:
        """Charge tokens to `day`; a negative number settles an estimate."""
        today = self.on(day)
        return replace(today, tokens=max(0, today.tokens + tokens))


def deadline_from(limits: Limits, now: datetime) -> datetime | None:
    """Return the moment at which `max_duration` ends the heartbeat (F2)."""
    return now + limits.max_duration if limits.max_duration else None


def ticks_spent(limits: Limits, used: Used) -> bool:
    """Say whether the last tick allowed has been counted (F1)."""
    return limits.max_ticks is not None and used.ticks >= limits.max_ticks


def stop_reason(limits: Limits, used: Used, now: datetime) -> StopReason | None:
    """Return which limit of the whole heartbeat is reached, if one is (F1, F2)."""
    if used.deadline is not None and now > used.deadline + DEADLINE_GRACE:
        return StopReason.MAX_DURATION
    return StopReason.MAX_TICKS if ticks_spent(limits, used) else None


def pause_reason(limits: Limits, used: Used, today: date) -> PauseReason | None:
    """Return which budget of `today` is spent, if one is (F5)."""
    if not used.counts_on(today):
        return None
    if _spent(limits.max_wakes_per_day, used.wakes):
        return PauseReason.WAKES
    if _spent(limits.max_tokens_per_day, used.tokens):
        return PauseReason.TOKENS
    return None


def _spent(limit: int | None, used: int) -> bool:
    return limit is not None and used >= limit

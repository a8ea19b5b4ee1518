"""How many days in a row a budget was spent (F5)."""

from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any, Final, Self

from .fuses import PauseReason

DAYS_IN_A_ROW: Final = 3
_A_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Streak:
    """The days on which a budget was spent, up to the `last`, without one between.

    `reason` is the budget that was spent last; `is_left` once the owner has said that
    it shall be so, until they set other limits.
    """

    days: int = 0
    last: date | None = None
    reason: PauseReason | None = None
    is_left: bool = False

    def spent(self, reason: PauseReason, day: date) -> Streak:
        """Note that a budget of `day` is spent; a day counts once."""
        if self.last is not None and day <= self.last:
            return replace(self, reason=reason)
        days = self.days + 1 if self.goes_on(day) else 1
        return replace(self, days=days, last=day, reason=reason)

    def goes_on(self, day: date) -> bool:
        """Say whether a budget was spent on this day or on the one before."""
        return self.last is not None and day <= self.last + _A_DAY

    def is_due(self, day: date) -> bool:
        """Say whether the owner should hear of it."""
        is_long = self.days >= DAYS_IN_A_ROW and self.goes_on(day)
        return is_long and not self.is_left

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "days": self.days,
            "last": self.last and self.last.isoformat(),
            "reason": self.reason,
            "left": self.is_left,
        }

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Read what `as_dict` wrote; anything else is a streak of no days."""
        try:
            return cls(
                days=max(0, int(data["days"])),
                last=date.fromisoformat(data["last"]) if data["last"] else None,
                reason=PauseReason(data["reason"]) if data["reason"] else None,
                is_left=data["left"] is True,
            )
        except KeyError, TypeError, ValueError:
            return cls()

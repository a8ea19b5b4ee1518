"""What is remembered of one heartbeat, as it is written to disk (C6)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Self

from ..engine.approval_data import approval_as_dict, approval_from_dict
from ..engine.approvals import Approval
from ..engine.backoff import Shown
from ..engine.breaker import Breaker, Fault, faults_from
from ..engine.due import Due
from ..engine.fuses import Stop, Used
from ..engine.heard import Heard
from ..engine.repeats import PastAction, past_as_dict, past_from_dict
from ..engine.stored import count_from, flag_from, moment_from
from ..engine.streak import Streak


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatState:
    """What is remembered of one heartbeat; `anchor` is when its ticks began.

    `leaving` is a stop that waits for the owner's answers, `heard` what was told of
    which situation (S4). `told` are the faults of which the owner has heard, and not
    yet that they are over (S7). `shown` is what the last run saw (G4), `past` what was
    done and has not helped (A7), `due` what the owner has yet to hear (S5), `streak`
    the days on which a budget was spent (F5).
    """

    on: bool
    used: Used = field(default_factory=Used)
    tokens_total: int = 0
    anchor: datetime | None = None
    approvals: tuple[Approval, ...] = ()
    leaving: Stop | None = None
    heard: tuple[Heard, ...] = ()
    breaker: Breaker = field(default_factory=Breaker)
    told: frozenset[Fault] = frozenset()
    shown: Shown | None = None
    past: Mapping[str, PastAction] = field(default_factory=dict)
    due: tuple[Due, ...] = ()
    streak: Streak = field(default_factory=Streak)

    def as_dict(self, *, ticks: int, ahead: int = 0) -> dict[str, Any]:
        """Return what is written to disk, with `ticks` as the count.

        `ahead` are tokens that are about to be used.
        """
        deadline, day = self.used.deadline, self.used.day
        return {
            "on": self.on,
            "ticks": ticks,
            "deadline": deadline.isoformat() if deadline else None,
            "day": day.isoformat() if day else None,
            "wakes": self.used.wakes,
            "tokens": self.used.tokens + ahead,
            "tokens_total": self.tokens_total,
            "anchor": self.anchor.isoformat() if self.anchor else None,
            "approvals": [approval_as_dict(one) for one in self.approvals],
            "leaving": self.leaving and self.leaving.as_dict(),
            "heard": [one.as_dict() for one in self.heard],
            "breaker": self.breaker.as_dict(),
            "told": sorted(self.told),
            "shown": self.shown and self.shown.as_dict(),
            "past": past_as_dict(self.past),
            "due": [one.as_dict() for one in self.due],
            "streak": self.streak.as_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `as_dict` wrote.

        Raises `KeyError`, `TypeError` or `ValueError` for anything else.
        """
        deadline, day = data["deadline"], data["day"]
        anchor, leaving = data.get("anchor"), data.get("leaving")
        shown = data.get("shown")
        return cls(
            on=flag_from(data["on"]),
            used=Used(
                ticks=count_from(data["ticks"]),
                deadline=moment_from(deadline) if deadline else None,
                day=date.fromisoformat(day) if day else None,
                wakes=count_from(data["wakes"]),
                tokens=count_from(data["tokens"]),
            ),
            tokens_total=count_from(data["tokens_total"]),
            anchor=moment_from(anchor) if anchor else None,
            approvals=tuple(map(approval_from_dict, data.get("approvals", ()))),
            leaving=Stop.from_dict(leaving) if leaving is not None else None,
            heard=tuple(map(Heard.from_dict, data.get("heard", ()))),
            breaker=Breaker.from_dict(data.get("breaker")),
            told=faults_from(data.get("told")),
            shown=None if shown is None else Shown.from_dict(shown),
            past=past_from_dict(data.get("past", {})),
            due=tuple(map(Due.from_dict, data.get("due", ()))),
            streak=Streak.from_dict(data.get("streak")),
        )

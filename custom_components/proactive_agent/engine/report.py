"""How a run ended, and what its owner is told of it (S1, S2)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .errors import CutReason
from .plain_text import MAX_LENGTH, plain_line, shorten
from .records import ActionRecord, ActionStatus, Outcome, RunError

_ADDED = {
    ActionStatus.FAILED: "not_done",
    ActionStatus.WAITING: "waiting",
    ActionStatus.STILL_RUNNING: "still_running",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What is known when a run is over; `said` is the last `tell_owner`."""

    actions: tuple[ActionRecord, ...] = ()
    said: str | None = None
    cut: CutReason | None = None
    error: RunError | None = None

    @property
    def acted(self) -> bool:
        """At least one action was executed without error (A6)."""
        return any(action.status is ActionStatus.DONE for action in self.actions)

    @property
    def outcome(self) -> Outcome:
        """The first that fits, in the order of DESIGN §3."""
        if self.cut is not None:
            return Outcome(self.cut.value)
        if self.error is not None:
            return Outcome.ERROR
        if self.acted:
            return Outcome.ACTED
        if any(action.status is ActionStatus.WAITING for action in self.actions):
            return Outcome.WAITING
        return Outcome.SPOKE if self.said else Outcome.NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """The owner's language: `say(key, **placeholders)` and names of actions."""

    say: Callable[..., str]
    name_of: Callable[[ActionRecord], str]


def owner_message(ending: Ending, phrases: Phrases) -> str | None:
    """Return the one line the owner gets, None for silence (S1).

    The model's words come first; what failed, waits, still runs or was cut short
    is added by the code and never shortened away before them (S2).
    """
    if not ending.acted and not ending.said:
        return None
    base = plain_line(ending.said or "") or _written_by_code(ending.actions, phrases)
    added = plain_line(" ".join(_additions(ending, phrases)), MAX_LENGTH // 2)
    room = MAX_LENGTH - len(added) - 1 if added else MAX_LENGTH
    return f"{shorten(base, room)} {added}".strip() or None


def _written_by_code(actions: Sequence[ActionRecord], phrases: Phrases) -> str:
    names = _names(actions, ActionStatus.DONE, phrases)
    return phrases.say("done", actions=names) if names else ""


def _additions(ending: Ending, phrases: Phrases) -> list[str]:
    added = [
        phrases.say(key, actions=names)
        for status, key in _ADDED.items()
        if (names := _names(ending.actions, status, phrases))
    ]
    if ending.cut is not None:
        added.append(phrases.say(f"cut_{ending.cut.value}"))
    if ending.error is not None:
        added.append(phrases.say("cut_error"))
    return added


def _names(
    actions: Sequence[ActionRecord], status: ActionStatus, phrases: Phrases
) -> str:
    named = (phrases.name_of(action) for action in actions if action.status is status)
    return ", ".join(dict.fromkeys(named))

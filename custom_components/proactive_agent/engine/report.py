"""How a run ended, and what its owner is told of it (S1, S2)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from .errors import CutReason, ErrorKind
from .plain_text import MAX_LENGTH, plain_line, shorten
from .records import ActionRecord, ActionStatus, Outcome, RunError

_ADDED = ("not_done", "waiting", "still_running")
# What stands for each sort of action after a restart.
_INTERRUPTED = {
    "done": "done_before",
    "still_running": "cut_off",
    "not_done": "not_done",
}
# Room that the first words keep beside what the code adds, if they need it.
_LEAST_WORDS = 80
_NAME_WIDTHS = (MAX_LENGTH, 120, 80, 50, 30, 15)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What is known when a run is over; `said` is the last `tell_owner`.

    `unhelpful` is what was not repeated since it did not help the last time, as far
    as the owner has not heard of it (A7).
    """

    actions: tuple[ActionRecord, ...] = ()
    said: str | None = None
    cut: CutReason | None = None
    error: RunError | None = None
    unhelpful: tuple[ActionRecord, ...] = ()

    @property
    def acted(self) -> bool:
        """At least one action was executed without error (A6).

        One that got its yes during the run is not the run's: it is told by itself (S3).
        """
        return any(
            action.status is ActionStatus.DONE and action.answered_by is None
            for action in self.actions
        )

    @property
    def has_called(self) -> bool:
        """Whether it called an action that was done or may still be."""
        return self.acted or any(action.may_go_on for action in self.actions)

    @property
    def is_loading(self) -> bool:
        """Whether its time was over before the server had loaded the model."""
        was_loading = self.error is not None and self.error.kind == ErrorKind.LOADING
        return was_loading and self.cut is CutReason.TIMEOUT

    @property
    def outcome(self) -> Outcome:
        """The first that fits, in the order of docs/reference.md."""
        if self.cut is not None:
            return Outcome(self.cut.value)
        if self.error is not None:
            return Outcome.ERROR
        if self.acted:
            return Outcome.ACTED
        if any(action.was_asked for action in self.actions):
            return Outcome.WAITING
        return Outcome.SPOKE if self.said or self.unhelpful else Outcome.NOTHING


class Say(Protocol):
    """Returns one of the code's own sentences, its placeholders filled in."""

    def __call__(self, key: str, **placeholders: str) -> str:
        """Say what has this key."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """The owner's language: `say(key, **placeholders)` and names of actions."""

    say: Say
    name_of: Callable[[ActionRecord], str]


def owner_message(ending: Ending, phrases: Phrases) -> str | None:
    """Return the one line the owner gets, None for silence (S1).

    The model's words come first; what failed, waits, still runs or was cut short
    is added by the code, and is never what falls off the end (S2). So is what did
    not help; as its owner hears of that once, it is told even if nothing else is (A7).
    """
    if not ending.acted and not ending.said and not ending.unhelpful:
        return None
    base = plain_line(ending.said or "") or _written_by_code(ending.actions, phrases)
    added = _additions(ending, phrases, MAX_LENGTH - 1 - min(len(base), _LEAST_WORDS))
    room = MAX_LENGTH - len(added) - 1 if added else MAX_LENGTH
    return f"{shorten(base, room)} {added}".strip() or None


def settled_message(action: ActionRecord, phrases: Phrases) -> str:
    """Say what became of an action that outlived its run (R8, S2)."""
    if action.status is ActionStatus.DONE:
        key = "settled_done"
    elif action.may_go_on:
        key = "settled_unended"
    else:
        key = "settled_failed"
    return phrases.say(key, actions=phrases.name_of(action))


def interrupted_message(
    actions: Sequence[ActionRecord], phrases: Phrases
) -> str | None:
    """Say what was done before Home Assistant ended, None if nothing was (S5).

    What still ran was cut off with it: nobody saw how it ended.
    """
    named = {
        _INTERRUPTED[sort]: names
        for sort in _INTERRUPTED
        if (names := _named([one for one in actions if _sort(one) == sort], phrases))
    }
    if not named.keys() - {"not_done"}:
        return None
    head = phrases.say("interrupted")
    return f"{head} {_fitting(named, (), phrases, MAX_LENGTH - len(head) - 1)}"


def _written_by_code(actions: Sequence[ActionRecord], phrases: Phrases) -> str:
    """Say what was done, and of what nobody saw that it came true (S2)."""
    done = [action for action in actions if _sort(action) == "done"]
    sorts = {
        "done": [action for action in done if action.note is None],
        "unseen": [action for action in done if action.note is not None],
    }
    return " ".join(
        phrases.say(key, actions=_named(some, phrases))
        for key, some in sorts.items()
        if some
    )


def _additions(ending: Ending, phrases: Phrases, room: int) -> str:
    """Return what the code has to add, its names as long as there is room for."""
    named = {
        key: names
        for key in _ADDED
        if (names := _named([a for a in ending.actions if _sort(a) == key], phrases))
    }
    if ending.unhelpful:
        named["unhelpful"] = _named(ending.unhelpful, phrases)
    return _fitting(named, _shortfall(ending, phrases), phrases, room)


def _fitting(
    named: Mapping[str, str], more: Sequence[str], phrases: Phrases, room: int
) -> str:
    """Say a sentence about each, the names in them as long as there is room for."""
    told = ""
    for width in _NAME_WIDTHS:
        sentences = [
            phrases.say(key, actions=shorten(names, width))
            for key, names in named.items()
        ]
        told = " ".join((*sentences, *more))
        if len(told) <= room:
            break
    return shorten(told, room)


def _shortfall(ending: Ending, phrases: Phrases) -> list[str]:
    if ending.cut is not None:
        return [
            phrases.say(
                "cut_loading" if ending.is_loading else f"cut_{ending.cut.value}"
            )
        ]
    return [phrases.say("cut_error")] if ending.error is not None else []


def _sort(action: ActionRecord) -> str | None:
    """Return the sentence an action is named in, None for one that is not told."""
    if action.answered_by is not None:
        return None
    if action.may_go_on:
        return "still_running"
    match action.status:
        case ActionStatus.DONE:
            return "done"
        case ActionStatus.FAILED:
            return "not_done"
        case ActionStatus.WAITING:
            return "waiting"
    return None


def _named(actions: Sequence[ActionRecord], phrases: Phrases) -> str:
    # Each name by itself: markup in one must not swallow what stands behind it.
    named = (plain_line(phrases.name_of(one)) or one.action for one in actions)
    return ", ".join(dict.fromkeys(named))

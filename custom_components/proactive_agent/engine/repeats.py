"""What was done and has changed nothing since (A7)."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
import json
from typing import Any, Self

from .records import JsonObject
from .stored import dict_from, flag_from, moment_from, texts_by_name_from
from .trembling import differs

MAX_REMEMBERED = 64
# States that are written to disk, with the actions they belong to.
MAX_WRITTEN = 5_000
# What adds something to a list has done so, whatever its state shows.
ONLY_ADDS = frozenset({"calendar.create_event", "todo.add_item"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PastAction:
    """An action that was done, and the states it left.

    For the entities acted on these are the states after it: that they followed is not
    yet a help. For all others they are those from before it. `to_tell` while the owner
    has yet to hear that it did not help; that is never told of an action that has shown
    an effect (S2).
    """

    at: datetime
    states: Mapping[str, str]
    to_tell: bool = True

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "at": self.at.isoformat(),
            "states": {**self.states},
            "to_tell": self.to_tell,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `as_dict` wrote.

        Raises `KeyError`, `TypeError` or `ValueError` for anything else.
        """
        return cls(
            at=moment_from(data["at"]),
            states=texts_by_name_from(data["states"]),
            to_tell=flag_from(data["to_tell"]),
        )


class Repeats:
    """Remembers actions for as long as nothing of their situation has changed."""

    def __init__(self, known: Mapping[str, PastAction] | None = None) -> None:
        """Remember nothing but what is `known` already, by key, the latest last."""
        self._actions = OrderedDict(known or {})

    @property
    def all(self) -> Mapping[str, PastAction]:
        """What is remembered, by key, the latest last."""
        return {**self._actions}

    @property
    def entity_ids(self) -> frozenset[str]:
        """Everything that could change one of the situations."""
        return frozenset().union(*(past.states for past in self._actions.values()))

    def add(
        self,
        key: str,
        before: Mapping[str, str],
        after: Mapping[str, str],
        *,
        acted_on: Iterable[str],
        at: datetime,
        has_shown: bool = False,
    ) -> None:
        """Remember an action, unless it has changed something besides itself.

        `has_shown` if an effect was seen of it on the entities acted on.
        """
        self._actions.pop(key, None)
        touched = frozenset(acted_on)
        if any(
            entity_id not in touched and differs(state, after.get(entity_id, ""))
            for entity_id, state in before.items()
        ):
            return
        states = {
            entity_id: after.get(entity_id, state) if entity_id in touched else state
            for entity_id, state in before.items()
        }
        self._actions[key] = PastAction(at=at, states=states, to_tell=not has_shown)
        if len(self._actions) > MAX_REMEMBERED:
            self._actions.popitem(last=False)

    def change(self, entity_id: str, state: str) -> bool:
        """Forget the actions whose situation this changes; say if there were any."""
        changed = [
            key
            for key, past in self._actions.items()
            if (before := past.states.get(entity_id)) is not None
            and differs(before, state)
        ]
        for key in changed:
            del self._actions[key]
        return bool(changed)

    def find(self, key: str, *, now: datetime, within: timedelta) -> PastAction | None:
        """Return the action if it was done within this time, without any change."""
        past = self._actions.get(key)
        return past if past is not None and abs(now - past.at) < within else None

    def mark_told(self, key: str) -> None:
        """Note that the owner hears of this action."""
        if (past := self._actions.get(key)) is not None:
            self._actions[key] = replace(past, to_tell=False)

    def forget(self) -> None:
        """Forget every action."""
        self._actions.clear()


def past_as_dict(past: Mapping[str, PastAction]) -> dict[str, Any]:
    """Return actions as plain data; the oldest are left out of what is too much."""
    left = MAX_WRITTEN
    written: list[tuple[str, Any]] = []
    for key, one in reversed([*past.items()]):
        left -= len(one.states)
        if left < 0:
            break
        written.append((key, one.as_dict()))
    return dict(reversed(written))


def past_from_dict(data: Mapping[str, Any]) -> dict[str, PastAction]:
    """Read what `past_as_dict` wrote; raises as `PastAction.from_dict` does."""
    return {key: PastAction.from_dict(one) for key, one in dict_from(data).items()}


def action_key(name: str, entity_ids: Iterable[str], data: JsonObject) -> str:
    """Return what makes two actions the same one."""
    return json.dumps([name, sorted(entity_ids), data], sort_keys=True, default=str)

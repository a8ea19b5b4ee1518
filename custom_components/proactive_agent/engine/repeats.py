"""What was done and has changed nothing since (A7)."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
import json

from .backoff import differs
from .records import JsonObject

MAX_REMEMBERED = 64
_UNITS = ((3600, "hour"), (60, "minute"), (1, "second"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """An action that was executed, and the situation it left.

    `states` are those from before it, of the entities acted on those from after it:
    that these followed is no help yet. `is_told` if the owner knows.
    """

    at: datetime
    states: Mapping[str, str]
    is_told: bool = False


class Repeats:
    """Remembers deeds for as long as nothing of their situation has changed."""

    def __init__(self) -> None:
        """Remember nothing."""
        self._deeds: OrderedDict[str, Deed] = OrderedDict()

    @property
    def entity_ids(self) -> frozenset[str]:
        """Everything that could change one of the situations."""
        return frozenset().union(*(deed.states for deed in self._deeds.values()))

    def note(
        self,
        key: str,
        before: Mapping[str, str],
        after: Mapping[str, str],
        *,
        acted_on: Iterable[str],
        at: datetime,
    ) -> None:
        """Remember a deed, unless it has changed something besides itself."""
        self._deeds.pop(key, None)
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
        self._deeds[key] = Deed(at=at, states=states)
        if len(self._deeds) > MAX_REMEMBERED:
            self._deeds.popitem(last=False)

    def change(self, entity_id: str, state: str) -> None:
        """Forget the deeds after which this state is another one."""
        for key, deed in [*self._deeds.items()]:
            if (before := deed.states.get(entity_id)) is not None and differs(
                before, state
            ):
                del self._deeds[key]

    def find(self, key: str, *, now: datetime, within: timedelta) -> Deed | None:
        """Return the deed if it was done within this time, and nothing came of it."""
        deed = self._deeds.get(key)
        return deed if deed is not None and now - deed.at < within else None

    def tell(self, key: str) -> None:
        """Note that the owner hears of this deed."""
        if (deed := self._deeds.get(key)) is not None:
            self._deeds[key] = replace(deed, is_told=True)

    def forget(self) -> None:
        """Begin anew."""
        self._deeds.clear()


def action_key(name: str, entity_ids: Iterable[str], data: JsonObject) -> str:
    """Return what makes two actions the same one."""
    return json.dumps([name, sorted(entity_ids), data], sort_keys=True, default=str)


def ago(span: timedelta) -> str:
    """Say a time span in one round number."""
    seconds = max(1, int(span.total_seconds()))
    count, unit = next(
        (seconds // length, unit) for length, unit in _UNITS if seconds >= length
    )
    return f"{count} {unit}{'' if count == 1 else 's'} ago"

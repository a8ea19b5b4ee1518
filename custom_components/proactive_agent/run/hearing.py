"""Who has heard what, so that nobody is told the same again (S4)."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
import json
from typing import Final, Protocol

from homeassistant.core import callback
from homeassistant.util import dt as dt_util

from ..engine.heard import Heard, have_heard, still_known, with_heard
from ..engine.records import ActionRecord
from ..engine.repeats import action_key
from ..engine.spans import ago

# Stands for Home Assistant itself, where there is no other target.
_NO_TARGET: Final = ""
_SHOWN: Final = 5  # messages that the model is shown


class Memory(Protocol):
    """Where it is kept what was told."""

    @property
    def heard(self) -> tuple[Heard, ...]:
        """What was told, the latest last."""
        ...

    def put_heard(self, heard: tuple[Heard, ...]) -> None:
        """Keep this instead."""
        ...


class Ears:
    """What the targets of a heartbeat have been told of the situation (S4)."""

    def __init__(self, memory: Memory) -> None:
        """Go on with what the memory holds."""
        self._memory = memory
        self._age = 0

    @property
    def age(self) -> int:
        """How often `forget` was called, so that a run can tell if it was."""
        return self._age

    @property
    def heard(self) -> tuple[Heard, ...]:
        """What was told since then."""
        return self._memory.heard

    def still_known(self, recheck_after: timedelta) -> tuple[Heard, ...]:
        """Return what of it was told so lately that it need not be told again."""
        return still_known(
            self.heard, now=dt_util.utcnow(), recheck_after=recheck_after
        )

    @callback
    def add(self, latest: Heard) -> None:
        """Keep what has been told."""
        self._memory.put_heard(with_heard(self._memory.heard, latest))

    @callback
    def forget(self) -> None:
        """Forget all of it, so that everything may be told again."""
        self._age += 1
        self._memory.put_heard(())


class Hearing:
    """What the targets of a heartbeat have been told, for one run.

    `states` are what the run was shown; `recheck_after` is how long a message counts.
    """

    def __init__(
        self, ears: Ears, states: Mapping[str, str], recheck_after: timedelta
    ) -> None:
        """Begin with a run."""
        self._ears = ears
        self._age = ears.age
        self._states = states
        self._recheck_after = recheck_after

    def for_prompt(self) -> tuple[str, ...]:
        """Return what the owner was told lately, a line for each, for the model."""
        now = dt_util.utcnow()
        told = [
            f"{ago(now - one.at)}: {json.dumps(one.message, ensure_ascii=False)}"
            for one in self._ears.still_known(self._recheck_after)
            if one.message
        ]
        return tuple(told[-_SHOWN:])

    def not_heard(
        self, targets: Sequence[str], unhelpful: Collection[ActionRecord]
    ) -> tuple[str, ...] | None:
        """Return the targets for which it is news; None if it is for nobody.

        `unhelpful` are the actions of which it says that they did not help.
        """
        known = have_heard(
            self._ears.heard,
            self._states,
            _keys(unhelpful),
            now=dt_util.utcnow(),
            recheck_after=self._recheck_after,
        )
        left = tuple(one for one in targets or (_NO_TARGET,) if one not in known)
        return tuple(filter(None, left)) if left else None

    @callback
    def note(
        self,
        message: str,
        reached: Sequence[str],
        unhelpful: Collection[ActionRecord],
        *,
        kept: bool,
    ) -> None:
        """Remember whom a message has reached, `kept` if Home Assistant shows it.

        If all has become news again meanwhile, there is nothing to remember.
        """
        targets = reached or ((_NO_TARGET,) if kept else ())
        if targets and self._age == self._ears.age:
            self._ears.add(
                Heard(
                    at=dt_util.utcnow(),
                    states=self._states,
                    targets=frozenset(targets),
                    unhelpful=_keys(unhelpful),
                    message=message,
                )
            )


def _keys(actions: Collection[ActionRecord]) -> frozenset[str]:
    return frozenset(action_key(one.action, one.entity_id, one.data) for one in actions)

"""The actions of past runs, forgotten when their situation changes (A7)."""

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta

from homeassistant.core import HomeAssistant, callback
from homeassistant.util import dt as dt_util

from ..engine.repeats import PastAction, Repeats
from ..saying import Listening, all_said

type Past = Mapping[str, PastAction]


class PastActions:
    """Remembers what was done across the runs of one heartbeat (A7).

    `watch` says which entities make up the situation, and for how long an action
    counts. It listens to their states only while it remembers something.
    """

    def __init__(
        self,
        hass: HomeAssistant,
        known: Past | None = None,
        keep: Callable[[Past], None] | None = None,
    ) -> None:
        """Go on with what is `known`, and `keep` what is; listen to nothing yet."""
        self._hass = hass
        self._repeats = Repeats(known)
        self._keep = keep or _keep_nothing
        self._situation: frozenset[str] = frozenset()
        self._recheck_after = timedelta()
        self._listening = Listening(hass, self._change)
        self._closed = False

    @callback
    def resume(self) -> None:
        """Listen again after a start, to what is remembered from before it."""
        self._look()
        self._listen()

    @callback
    def watch(self, entity_ids: Iterable[str], recheck_after: timedelta) -> None:
        """Take these entities for the situation of what is done from now on."""
        self._situation = frozenset(entity_ids)
        self._recheck_after = recheck_after

    def situation(self) -> Mapping[str, str]:
        """Return the states that an action may change, as they are."""
        return self._states(self._situation)

    @callback
    def remember(
        self,
        key: str,
        before: Mapping[str, str],
        acted_on: Iterable[str],
        *,
        has_shown: bool = False,
    ) -> None:
        """Remember an action that was executed just now.

        `before` is the `situation` it was done in; see `Repeats.add`.
        """
        if self._closed:
            return
        self._repeats.add(
            key,
            before,
            self._states(before),
            acted_on=acted_on,
            at=dt_util.utcnow(),
            has_shown=has_shown,
        )
        self._changed()

    def without_effect(self, key: str) -> PastAction | None:
        """Return the last time of an action if nothing has changed since."""
        # Just after a start nobody listens yet.
        self._look()
        return self._repeats.find(key, now=dt_util.utcnow(), within=self._recheck_after)

    def mark_told(self, key: str) -> None:
        """Note that the owner hears that an action did not help."""
        self._repeats.mark_told(key)
        self._changed()

    @callback
    def forget(self) -> None:
        """Forget every action: something other than a state has changed."""
        self._repeats.forget()
        self._changed()

    @callback
    def close(self) -> None:
        """Stop listening for good; actions that still run are not noted any more."""
        self._closed = True
        self._repeats.forget()
        self._listening.follow(frozenset())

    def _states(self, entity_ids: Iterable[str]) -> dict[str, str]:
        return all_said(self._hass, entity_ids)

    @callback
    def _look(self) -> None:
        for entity_id, state in self._states(self._repeats.entity_ids).items():
            self._change(entity_id, state)

    @callback
    def _change(self, entity_id: str, state: str) -> None:
        if self._repeats.change(entity_id, state):
            self._keep(self._repeats.all)

    @callback
    def _changed(self) -> None:
        self._keep(self._repeats.all)
        self._listen()

    @callback
    def _listen(self) -> None:
        if not self._closed:
            self._listening.follow(self._repeats.entity_ids)


def _keep_nothing(_past: Past) -> None:
    """Stand for a memory that ends with the process."""

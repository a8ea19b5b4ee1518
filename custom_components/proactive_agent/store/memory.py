"""What one heartbeat remembers over a restart, beside what its meter counts (C6)."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from homeassistant.core import callback

from ..engine.approvals import Approval
from ..engine.backoff import Shown
from ..engine.breaker import Breaker, Fault
from ..engine.due import Due
from ..engine.fuses import Stop
from ..engine.heard import Heard
from ..engine.repeats import PastAction
from ..models import Fuses
from .meter import Meter
from .slot import Slot
from .store import SAVE_DELAY, HeartbeatState, HeartbeatStore


class Memory:
    """Whether one heartbeat is on, and all that it has to remember; in the store.

    `meter` counts what it uses against its limits.
    """

    def __init__(
        self, store: HeartbeatStore, heartbeat_id: str, fuses: Fuses, *, now: datetime
    ) -> None:
        """Read what the store knows; a new heartbeat is on (D2)."""
        self._store = store
        self._slot = Slot(store, heartbeat_id)
        self.meter = Meter(self._slot, fuses.limits)
        known = store.get(heartbeat_id)
        store.put(heartbeat_id, known or HeartbeatState(on=True))
        if known is None:
            self.meter.begin(now)
            # A process that is killed must not begin its time anew (C6).
            store.save_soon(0)
        elif known.on:
            self.meter.reserve()

    @property
    def is_on(self) -> bool:
        """Whether the heartbeat is switched on."""
        return self._slot.glance.on

    @property
    def anchor(self) -> datetime | None:
        """When the ticks began; the due times are whole intervals from there (C6)."""
        return self._slot.state.anchor

    @property
    def last_saved(self) -> datetime | None:
        """When Home Assistant was last known to be up before it started (C6)."""
        return self._store.last_saved

    @property
    def approvals(self) -> tuple[Approval, ...]:
        """The requests for a yes, open and settled (P1)."""
        return self._slot.state.approvals

    @property
    def leaving(self) -> Stop | None:
        """The stop that waits until the owner has answered (P7)."""
        return self._slot.state.leaving

    @property
    def heard(self) -> tuple[Heard, ...]:
        """What was told of which situation (S4)."""
        return self._slot.state.heard

    @property
    def shown(self) -> Shown | None:
        """What the last run was shown (G4)."""
        return self._slot.state.shown

    @property
    def past(self) -> Mapping[str, PastAction]:
        """What was done and has not helped (A7)."""
        return self._slot.state.past

    @property
    def due(self) -> tuple[Due, ...]:
        """What the owner has yet to hear (S5)."""
        return self._slot.state.due

    @property
    def breaker(self) -> Breaker:
        """The runs that failed since the last good one (F7)."""
        return self._slot.glance.breaker

    @property
    def told(self) -> frozenset[Fault]:
        """The faults of which the owner knows (S7)."""
        return self._slot.glance.told

    @callback
    def set_anchor(self, anchor: datetime) -> None:
        """Let the ticks begin anew from this moment."""
        self._slot.put(replace(self._slot.state, anchor=anchor))
        self._store.save_soon()

    @callback
    def switch_on(self, now: datetime) -> None:
        """Switch on, with fresh ticks, deadline and breaker (F6, F7)."""
        self._slot.put(
            replace(
                self._slot.state,
                on=True,
                breaker=Breaker(),
                told=frozenset(),
                leaving=None,
            )
        )
        self.meter.begin(now)

    @callback
    def switch_off(self) -> None:
        """Switch off; what has been used stays on record."""
        self._slot.put(replace(self._slot.state, on=False, leaving=None))

    @callback
    def leave(self, stop: Stop | None) -> None:
        """Stop once the owner has answered; None takes that back."""
        self._slot.put(replace(self._slot.state, leaving=stop))
        self._store.save_soon()

    @callback
    def put_heard(self, heard: tuple[Heard, ...]) -> None:
        """Keep what was told of which situation; it is written within seconds."""
        if heard != self.heard:
            self._slot.put(replace(self._slot.state, heard=heard))
            self._store.save_soon()

    @callback
    def put_shown(self, shown: Shown | None) -> None:
        """Keep what was shown; it is written when something else is (C4)."""
        if shown is not self.shown:
            self._slot.put(replace(self._slot.state, shown=shown))

    @callback
    def put_past(self, past: Mapping[str, PastAction]) -> None:
        """Keep what was done; it is written when something else is (C4)."""
        self._slot.put(replace(self._slot.state, past=past))

    @callback
    def put_due(self, due: tuple[Due, ...]) -> None:
        """Keep what the owner has yet to hear; who calls it has it written."""
        self._slot.put(replace(self._slot.state, due=due))

    @callback
    def put_breaker(self, breaker: Breaker) -> None:
        """Keep how the runs fail; it is written within seconds."""
        if breaker != self.breaker:
            self._slot.put(replace(self._slot.state, breaker=breaker))
            self._store.save_soon()

    @callback
    def put_told(self, told: frozenset[Fault]) -> None:
        """Keep of which faults the owner has heard."""
        self._slot.put(replace(self._slot.state, told=told))

    @callback
    def put_approvals(self, approvals: tuple[Approval, ...]) -> None:
        """Keep the requests for a yes; they are written within seconds."""
        self._slot.put(replace(self._slot.state, approvals=approvals))
        self._store.save_soon()

    async def async_save(self) -> bool:
        """Write to disk now and say whether the disk took it (D1)."""
        return await self._store.async_save()

    @callback
    def save_soon(self, delay: float = SAVE_DELAY) -> None:
        """Have the present state written within `delay` seconds."""
        self._store.save_soon(delay)

"""A stop that must not withdraw what its own run has asked (F8, P7)."""

from collections.abc import Callable
from typing import Final, Protocol

from homeassistant.core import callback

from ..engine.approvals import Approval
from ..engine.fuses import Stop, StopReason
from ..engine.records import ActionRecord, ActionStatus
from ..models import HeartbeatOptions

# A fuse does not wait for the owner.
_MAY_WAIT: Final = frozenset({StopReason.STOP_AFTER_ACTING, StopReason.AGENT})


class Memory(Protocol):
    """Where it is kept that the heartbeat is about to stop."""

    @property
    def is_on(self) -> bool:
        """Whether the heartbeat is switched on."""
        ...

    @property
    def ticks_spent(self) -> bool:
        """Whether the last tick allowed has been counted (F1)."""
        ...

    @property
    def approvals(self) -> tuple[Approval, ...]:
        """The requests for a yes, open and settled."""
        ...

    @property
    def leaving(self) -> Stop | None:
        """The stop that waits."""
        ...

    def leave(self, stop: Stop | None) -> None:
        """Keep a stop that waits."""
        ...


class Farewell:
    """Puts off the stop of one heartbeat until its owner has answered.

    `on_stop` is called when nothing is left to be answered.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        options: Callable[[], HeartbeatOptions],
        is_running: Callable[[], bool],
        on_stop: Callable[[Stop], None],
    ) -> None:
        """Follow one heartbeat; `options` are those of now."""
        self._memory = memory
        self._options = options
        self._is_running = is_running
        self._on_stop = on_stop

    @property
    def is_near(self) -> bool:
        """Whether it stops when its owner has answered, and wakes no more."""
        return self._leaving is not None

    @callback
    def at_end_of_run(self, stop: Stop | None) -> Stop | None:
        """Return the stop that comes with the end of a run, if it is for now."""
        if stop is not None and stop.reason not in _MAY_WAIT:
            return stop
        stop = stop or self._leaving
        if stop is not None and self._is_asking and not self._memory.ticks_spent:
            self._memory.leave(stop)
            return None
        return stop

    @callback
    def request_over(self, record: ActionRecord) -> None:
        """Stop if that was what it waited for, or if a yes was what it had to do."""
        stop = self._leaving
        manners = self._options().manners
        if record.status is ActionStatus.DONE and manners.stop_after_acting:
            stop = stop or Stop(reason=StopReason.STOP_AFTER_ACTING)
        # Also if there is none any more: with the option it would come back later,
        # when nothing is left that could end the wait.
        if self._memory.is_on and stop != self._memory.leaving:
            self._memory.leave(stop)
        self.look()

    @callback
    def look(self) -> None:
        """Stop if it is time to."""
        stop = self._leaving
        if stop is not None and not self._is_asking and not self._is_running():
            self._on_stop(stop)

    @property
    def _leaving(self) -> Stop | None:
        """The stop that waits, unless an option was changed and there is none."""
        stop = self._memory.leaving
        if stop is None or stop.reason is not StopReason.STOP_AFTER_ACTING:
            return stop
        return stop if self._options().manners.stop_after_acting else None

    @property
    def _is_asking(self) -> bool:
        return any(one.is_open for one in self._memory.approvals)

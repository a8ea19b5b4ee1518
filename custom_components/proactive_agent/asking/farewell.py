"""A stop that waits until its owner has answered what was asked (F8, P7)."""

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
    """Puts off the stop of one heartbeat while a request of it is open.

    Only a stop by the model or by `stop_after_acting` waits, as it would withdraw what
    its own run has asked. `on_stop` is called when nothing is open any more.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        options: Callable[[], HeartbeatOptions],
        is_running: Callable[[], bool],
        is_last_tick: Callable[[], bool],
        on_stop: Callable[[Stop], None],
    ) -> None:
        """Follow one heartbeat; `options` are those of now.

        `is_last_tick` says that the last tick allowed has been counted (F1): then no
        stop is put off.
        """
        self._memory = memory
        self._options = options
        self._is_running = is_running
        self._is_last_tick = is_last_tick
        self._on_stop = on_stop

    @property
    def is_near(self) -> bool:
        """Whether a stop waits: until then the heartbeat does not wake any more."""
        return self._leaving is not None

    @callback
    def at_end_of_run(self, stop: Stop | None) -> Stop | None:
        """Return the stop to be made now, as a run ends; None if it has to wait."""
        if stop is not None and stop.reason not in _MAY_WAIT:
            return stop
        stop = stop or self._leaving
        if stop is not None and self._is_asking and not self._is_last_tick():
            self._memory.leave(stop)
            return None
        return stop

    @callback
    def request_over(self, record: ActionRecord) -> None:
        """Make a stop that has waited for this request, or that its action brings.

        The action brings one if it was done and the option `stop_after_acting` is set.
        """
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
        """Make the stop that waits, if no request is open and no run in flight."""
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

"""What is watched of each heartbeat so that its owner may change it."""

from dataclasses import dataclass

from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback

from ..store.store import HeartbeatStore
from .heartbeat import Heartbeat
from .reach_watch import ReachWatch
from .spending import Spending


@dataclass(frozen=True, slots=True, kw_only=True)
class _Concern:
    """What is watched of one heartbeat."""

    reach: ReachWatch
    spending: Spending
    unlisten: CALLBACK_TYPE


class Concerns:
    """Watches each heartbeat from `follow` to `leave`; keeps its repair issues true."""

    def __init__(self, hass: HomeAssistant, store: HeartbeatStore) -> None:
        """Watch nobody yet."""
        self._hass = hass
        self._store = store
        self._concerns: dict[str, _Concern] = {}

    @callback
    def follow(self, heartbeat: Heartbeat) -> None:
        """Look at a heartbeat now, and whenever something about it has changed."""
        reach = ReachWatch(self._hass, heartbeat)
        spending = Spending(self._hass, heartbeat, self._store)

        @callback
        def look() -> None:
            reach.follow()
            spending.follow()

        self._concerns[heartbeat.id] = _Concern(
            reach=reach, spending=spending, unlisten=heartbeat.on_change.add(look)
        )
        look()

    @callback
    def leave_budget(self, heartbeat_id: str) -> None:
        """Speak no more of a budget that is spent day after day."""
        if (concern := self._concerns.get(heartbeat_id)) is not None:
            concern.spending.leave()

    @callback
    def leave(self, heartbeat_id: str) -> None:
        """Watch a heartbeat no longer, and take back what was said of it."""
        if (concern := self._concerns.pop(heartbeat_id, None)) is not None:
            concern.unlisten()
            concern.reach.stop()
            concern.spending.stop()

    @callback
    def close(self) -> None:
        """Watch nobody any more."""
        for heartbeat_id in [*self._concerns]:
            self.leave(heartbeat_id)

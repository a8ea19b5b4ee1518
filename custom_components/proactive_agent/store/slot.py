"""The place of one heartbeat in the store of its endpoint."""

from dataclasses import replace

from homeassistant.core import callback

from ..engine.fuses import Used
from .store import SAVE_DELAY, HeartbeatState, HeartbeatStore


class Slot:
    """Reads and replaces the state of one heartbeat; one that was removed is off."""

    def __init__(self, store: HeartbeatStore, heartbeat_id: str) -> None:
        """Stand for this heartbeat; nothing is read yet."""
        self.heartbeat_id = heartbeat_id
        self.store = store

    @property
    def state(self) -> HeartbeatState:
        """What is remembered now."""
        return self.store.get(self.heartbeat_id) or HeartbeatState(on=False)

    @property
    def glance(self) -> HeartbeatState:
        """The same without the latest ticks, which no limit counts: costs less (C4)."""
        return self.store.glance(self.heartbeat_id) or HeartbeatState(on=False)

    @callback
    def put(self, state: HeartbeatState) -> None:
        """Keep this state in memory; it is written with the next save."""
        self.store.update(self.heartbeat_id, state)

    @callback
    def use(self, used: Used) -> None:
        """Keep what has been used."""
        self.put(replace(self.state, used=used))

    @callback
    def save_soon(self, delay: float = SAVE_DELAY) -> None:
        """Have the present state written within `delay` seconds."""
        self.store.save_soon(delay)

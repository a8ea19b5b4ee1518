"""What the heartbeats of one endpoint have in common."""

from collections.abc import Callable
from dataclasses import dataclass

from homeassistant.core import Context

from .engine.ports import ChatModel
from .lineage import RunLineage
from .store import HeartbeatStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """The model of the day, the store, and which contexts descend from any run."""

    model: Callable[[], ChatModel]
    store: HeartbeatStore
    lineage: RunLineage
    descends: Callable[[Context], bool]

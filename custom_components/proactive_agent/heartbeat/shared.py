"""What the heartbeats of one endpoint have in common."""

from collections.abc import Callable
from dataclasses import dataclass

from homeassistant.core import Context

from ..engine.ports import Mind
from ..lineage import RunLineage
from ..models import HeartbeatOptions
from ..store.memory import Memory
from ..store.runs import RunFiles
from ..store.store import HeartbeatStore
from .book import Book
from .model_issues import ModelIssues


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What each heartbeat of an endpoint is given.

    `mind` returns what thinks in a run, by the endpoint as it is set up now, for the
    options of the heartbeat and the context of the run; `descends` says whether a
    context comes from a run of any endpoint (A2).
    """

    mind: Callable[[HeartbeatOptions, Context], Mind]
    store: HeartbeatStore
    logs: RunFiles
    lineage: RunLineage
    issues: ModelIssues
    descends: Callable[[Context], bool]

    def book(self, heartbeat_id: str, memory: Memory) -> Book:
        """Return where the runs of a heartbeat are put down."""
        log = self.logs.log(heartbeat_id)
        return Book(heartbeat_id, log, self.store.open_runs, memory)

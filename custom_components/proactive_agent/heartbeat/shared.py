"""What the heartbeats of one endpoint have in common."""

from collections.abc import Callable
from dataclasses import dataclass

from homeassistant.core import Context

from ..engine.ports import Mind
from ..lineage import RunLineage
from ..models import HeartbeatOptions
from ..store.store import HeartbeatStore
from .model_issues import ModelIssues


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What each of them is given.

    `mind` returns what thinks in a run with these options and this context, by the
    endpoint as it is set up now; `descends` says whether a context comes from a run
    of any endpoint (A2).
    """

    mind: Callable[[HeartbeatOptions, Context], Mind]
    store: HeartbeatStore
    lineage: RunLineage
    issues: ModelIssues
    descends: Callable[[Context], bool]

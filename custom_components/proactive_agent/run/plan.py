"""What a run is asked to do."""

from dataclasses import dataclass

from homeassistant.core import Context

from ..engine.reach import Reach
from ..engine.records import Cause, GateVerdict
from ..guard.past_actions import PastActions
from ..models import HeartbeatOptions
from .hearing import Hearing


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """What a run is asked to do, fixed when it begins.

    `grounds` says why the gate was open, empty by hand and without conditions.
    """

    options: HeartbeatOptions
    cause: Cause
    dry_run: bool
    context: Context
    gate: tuple[GateVerdict, ...]
    reach: Reach
    past_actions: PastActions
    hearing: Hearing
    requests: tuple[str, ...] = ()
    grounds: str = ""

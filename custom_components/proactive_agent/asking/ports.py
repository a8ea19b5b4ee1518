"""What asking needs of its heartbeat."""

from collections.abc import Callable
from dataclasses import dataclass

from ..engine.records import ActionRecord
from ..models import HeartbeatOptions
from ..spawning import Spawn


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """The heartbeat whose owner is asked.

    - `options` returns those of now, `is_on` says whether it is on.
    - `spawn` starts its tasks.
    - `on_answer` gets what became of an action, for the record of its run: the run's
      id, the action's index there, the action's record.
    """

    options: Callable[[], HeartbeatOptions]
    is_on: Callable[[], bool]
    spawn: Spawn
    on_answer: Callable[[str, int, ActionRecord], None]

"""What the parts of a heartbeat ask it for, and tell it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from ..activity import OnActivity
from ..engine.fuses import Stop
from ..engine.records import RunRecord
from ..models import HeartbeatOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """The heartbeat as its parts see it.

    - `options` returns those of now.
    - `on_tick` is called with the time of each tick, in UTC.
    - `on_stop` ends the heartbeat without its owner, for this reason.
    - `on_run_ended` gets the record of a run, and the stop it brings if it does.
    """

    options: Callable[[], HeartbeatOptions]
    on_activity: OnActivity
    on_change: Callable[[], None]
    on_tick: Callable[[datetime], None]
    on_stop: Callable[[Stop], None]
    on_run_ended: Callable[[RunRecord, Stop | None], None]

"""What a Home Assistant holds on to, and what it leaves behind."""

import asyncio
from dataclasses import dataclass
import gc
import os
import sys
from typing import Final

from homeassistant.core import HomeAssistant

from custom_components.proactive_agent.engine import records, run_log

from .hours import Hours

_OURS: Final = "custom_components.proactive_agent"
# The last fifty runs of each heartbeat are kept: in a month there are more and more.
_KEPT: Final = (records.__name__, run_log.__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Traces:
    """Counts: of tasks, timers, open files, listeners of the bus."""

    tasks: int
    timers: int
    files: int
    listeners: int

    @classmethod
    def of(cls, hours: Hours, hass: HomeAssistant | None) -> Traces:
        """Count what there is now, without what is only waiting to be collected."""
        gc.collect()
        listeners = hass.bus.async_listeners().values() if hass else ()
        return cls(
            tasks=len(asyncio.all_tasks()),
            timers=len(hours.timers),
            files=len(os.listdir("/proc/self/fd")),  # noqa: PTH208 - only counted
            listeners=sum(listeners),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What is held in memory.

    `blocks` of Python's allocator, `pages` of the process (its resident set),
    `objects` that are instances of the integration's own classes, but for those of
    which its records of runs are made.
    """

    blocks: int
    pages: int
    objects: int

    @classmethod
    def now(cls) -> Memory:
        """Weigh it, without what is only waiting to be collected."""
        gc.collect()
        with open("/proc/self/statm", encoding="ascii") as statm:  # noqa: PTH123
            pages = int(statm.read().split()[1])
        return cls(
            blocks=sys.getallocatedblocks(),
            pages=pages,
            objects=sum(map(_is_ours, gc.get_objects())),
        )


def _is_ours(one: object) -> bool:
    module = str(type(one).__module__)
    return module.startswith(_OURS) and module not in _KEPT

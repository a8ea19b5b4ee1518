"""Whether a heartbeat stops with a run, and why a run or its heartbeat stopped."""

from homeassistant.util import dt as dt_util

from ..engine.errors import CutReason
from ..engine.fuses import Stop, StopReason
from ..engine.records import Cause, StopCause
from ..engine.report import Ending
from ..run.run import Run
from ..store.memory import Memory
from ..telling.reporter import Told


def stop_with(run: Run, told: Told, state: Memory) -> Stop | None:
    """Return the stop that a run brings, None if it brings none (F1, F8)."""
    was_cut = run.ending.cut is CutReason.STOPPED
    if not state.is_on or was_cut or run.plan.dry_run:
        return None
    if run.stop_reason is not None:
        return Stop(reason=StopReason.AGENT, detail=run.stop_reason)
    # Also if its report failed: what was done, was done.
    did_something = told.message is not None or run.ending.acted
    if run.plan.options.manners.stop_after_acting and did_something:
        return Stop(reason=StopReason.STOP_AFTER_ACTING)
    if run.plan.cause is Cause.TICK and state.meter.ticks_spent:
        return Stop(reason=StopReason.MAX_TICKS)
    return None


def why_stopped(
    ending: Ending,
    stop: Stop | None,
    state: Memory,
    *,
    went_off: bool,
    is_unloaded: bool,
) -> str | None:
    """Return why a run was cut, or its heartbeat went off while it ran or with it."""
    if stop is not None:
        return stop.reason
    if ending.cut is CutReason.STOPPED:
        return StopCause.UNLOADED if is_unloaded else StopCause.SWITCHED_OFF
    return state.meter.stop_reason(dt_util.utcnow()) if went_off else None

"""What a heartbeat tells of itself: stops, pauses and faults (F5, F8, S7)."""

from collections.abc import Mapping
from typing import Final

from homeassistant.core import Context

from ..activity import Activity
from ..const import (
    ATTR_DETAIL,
    ATTR_MESSAGE,
    ATTR_REASON,
    EVENT_NOTICE,
    EVENT_STOPPED,
)
from ..engine.breaker import Breaker, Fault
from ..engine.errors import CutReason
from ..engine.fuses import PauseReason, StopReason
from ..engine.plain_text import plain_line
from ..models import HeartbeatOptions
from ..texts import Texts, local_time
from .speaker import Speaker

# The kind of notice that is replaced, and the last part of the sentence's name.
_WHAT_IS_OVER: Final[Mapping[frozenset[Fault], tuple[str, str]]] = {
    frozenset({Fault.GATE}): ("gate", "gate"),
    frozenset({Fault.BUDGET}): ("paused", "budget"),
}


class Notices:
    """Sends messages about the heartbeat itself; S4 does not hold these back."""

    def __init__(self, speaker: Speaker) -> None:
        """Tell through this speaker."""
        self._speaker = speaker

    async def stopped(
        self, options: HeartbeatOptions, reason: StopReason, detail: str | None
    ) -> None:
        """Tell that the heartbeat went off without its owner (F8, S7)."""
        context = Context()
        data = {ATTR_REASON: reason, ATTR_DETAIL: detail}
        self._speaker.fire(EVENT_STOPPED, options, data, context)
        self._speaker.note(Activity.STOPPED, data, context)
        texts = await self._speaker.async_texts()
        message = texts.say(f"stopped_{reason}", detail=detail or "")
        await self._send(options, message, "stopped", context)

    async def paused(self, options: HeartbeatOptions, reason: PauseReason) -> None:
        """Tell that a budget of the day is spent (F5, S7)."""
        texts = await self._speaker.async_texts()
        await self._tell(options, texts.say(f"paused_{reason}"), "paused")

    async def failing(self, options: HeartbeatOptions, breaker: Breaker) -> None:
        """Tell that runs fail, and when the next one is tried (F7, S7)."""
        texts = await self._speaker.async_texts()
        message = texts.say(
            f"fault_{breaker.fault}",
            count=str(breaker.failures),
            reason=failure_in_words(texts, breaker),
            time=local_time(breaker.until) if breaker.until else "",
        )
        await self._tell(options, message, "fault")

    async def gate_broken(self, options: HeartbeatOptions, reason: str) -> None:
        """Tell that for an hour nothing could be judged, for this reason (G2, S7).

        Without one, what failed is no condition.
        """
        texts = await self._speaker.async_texts()
        key = f"fault_{Fault.GATE}" if reason else "fault_inside"
        message = texts.say(key, reason=reason)
        await self._tell(options, message, "gate")

    async def works_again(
        self, options: HeartbeatOptions, faults: frozenset[Fault]
    ) -> None:
        """Tell that faults are over: that of the gate, or those of the runs (S7)."""
        texts = await self._speaker.async_texts()
        kind, what = _WHAT_IS_OVER.get(faults, ("fault", "runs"))
        await self._tell(options, texts.say(f"recovered_{what}"), kind)

    async def _tell(self, options: HeartbeatOptions, message: str, kind: str) -> None:
        """Tell the owner and the activity page."""
        context = Context()
        data = {"kind": kind, ATTR_MESSAGE: plain_line(message)}
        self._speaker.fire(EVENT_NOTICE, options, data, context)
        await self._send(options, message, kind, context)

    async def _send(
        self, options: HeartbeatOptions, message: str, kind: str, context: Context
    ) -> None:
        await self._speaker.async_send(
            options,
            message,
            notification_id=f"{self._speaker.heartbeat_id}_{kind}",
            context=context,
        )


def failure_in_words(texts: Texts, breaker: Breaker) -> str:
    """Say why the last run failed."""
    cut = breaker.kind if breaker.kind in CutReason else "error"
    return breaker.reason or texts.say(f"cut_{cut}")

"""A repair that tries again at once and says what came of it."""

import asyncio
from typing import Any, ClassVar

from homeassistant.components.repairs import RepairsFlowContext, RepairsFlowResult
from homeassistant.exceptions import ServiceValidationError

from ..engine.errors import CutReason
from ..engine.records import RunRecord
from ..texts import Texts
from .mending import GONE, Fix
from .waiting import WaitingFlow


class TryFix(WaitingFlow[RepairsFlowContext, RepairsFlowResult, str], Fix):
    """For faults of the model: asks it once more, in a dry run (A9).

    That changes nothing in the home, and works while the heartbeat is off.
    """

    ways = ("try_again", "change_endpoint", "change_heartbeat")
    is_dry: ClassVar[bool] = True
    _run: asyncio.Task[RunRecord] | None = None

    async def async_step_try_again(
        self, _user_input: dict[str, Any] | None = None
    ) -> RepairsFlowResult:
        """Wake the heartbeat; it runs to its end also if nobody waits for it."""
        if (affected := self.affected) is None:
            return self.async_abort(reason=GONE)
        try:
            self._run = affected.heartbeat.wake(dry_run=self.is_dry)
        except ServiceValidationError as err:
            return self.async_abort(
                reason="refused", description_placeholders={"reason": str(err)}
            )
        return await self._async_attempt(
            _until_over(self._run),
            doing="trying",
            then="tried",
            words=dict(self.words),
        )

    async def async_step_tried(
        self, _user_input: dict[str, Any] | None = None
    ) -> RepairsFlowResult:
        """Say what came of it: an issue that is over has gone by itself."""
        words = self.words
        if not words:
            return self.async_create_entry(data={})
        return self.async_abort(
            reason="still_there",
            description_placeholders={**words, "reason": await self._async_reason()},
        )

    async def _async_reason(self) -> str:
        texts = await Texts.async_load(self.hass)
        if self._run is None or self._run.cancelled() or self._run.exception():
            return texts.say(f"cut_{CutReason.STOPPED}")
        record = self._run.result()
        if record.error is not None:
            return record.error.message
        is_cut = record.outcome.value in CutReason
        return texts.say(f"cut_{record.outcome}") if is_cut else ""


class WakeFix(TryFix):
    """For a heartbeat that fails again and again: only a real run ends that (F7)."""

    is_dry = False


async def _until_over(run: asyncio.Task[RunRecord]) -> None:
    await asyncio.wait({run})

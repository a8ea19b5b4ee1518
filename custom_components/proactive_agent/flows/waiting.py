"""A dialog that waits for a server without looking dead."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final, override

from homeassistant.core import callback
from homeassistant.data_entry_flow import FlowContext, FlowHandler, FlowResult

from ..engine.errors import ModelError

# Seconds in which most servers answer: so long the form's own button shows a spinner.
MOMENT: Final = 1.0


class WaitingFlow[ContextT: FlowContext, ResultT: FlowResult[Any, Any], HandlerT](
    FlowHandler[ContextT, ResultT, HandlerT]
):
    """Tries something that may take minutes; a browser's request may not."""

    _attempt: asyncio.Task[ModelError | None] | None = None
    _doing = ""
    _then = ""
    _words: dict[str, str] | None = None

    @property
    def _failure(self) -> ModelError | None:
        """What the last attempt came to; None if it went well."""
        return self._attempt.result() if self._attempt else None

    async def _async_attempt(
        self,
        job: Coroutine[Any, Any, None],
        *,
        doing: str,
        then: str,
        words: dict[str, str] | None = None,
    ) -> ResultT:
        """Go on to the step `then` once the job has ended or raised a `ModelError`.

        Meanwhile the text `doing` is shown, filled in with `words`.
        """
        self._doing, self._then, self._words = doing, then, words
        self._drop_attempt()
        self._attempt = self.hass.async_create_background_task(
            _failure_of(job), f"proactive_agent flow {doing}"
        )
        await asyncio.wait({self._attempt}, timeout=MOMENT)
        return await self.async_step_attempt()

    async def async_step_attempt(
        self, _user_input: dict[str, Any] | None = None
    ) -> ResultT:
        """Show that something is being waited for, until it is there."""
        if self._attempt is not None and not self._attempt.done():
            return self.async_show_progress(
                step_id="attempt",
                progress_action=self._doing,
                progress_task=self._attempt,
                description_placeholders=self._words,
            )
        return self.async_show_progress_done(next_step_id=self._then)

    @callback
    @override
    def async_remove(self) -> None:
        """Stop waiting: the dialog has been closed."""
        self._drop_attempt()

    def _drop_attempt(self) -> None:
        if self._attempt is not None:
            self._attempt.cancel()


async def _failure_of(job: Coroutine[Any, Any, None]) -> ModelError | None:
    try:
        await job
    except ModelError as err:
        return err
    return None

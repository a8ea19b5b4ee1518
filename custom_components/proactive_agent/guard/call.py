"""Calls into Home Assistant, the wait for them bounded, their errors in one line."""

import asyncio
import logging
from typing import Any, Final

from homeassistant.const import ATTR_ENTITY_ID
from homeassistant.core import Context, HomeAssistant, SupportsResponse

from ..engine.one_line import one_line
from ..engine.records import NOT_ENDED, Json
from .checks import Action

_LOGGER = logging.getLogger(__name__)

ACTION_TIMEOUT: Final = 600  # seconds an action is waited for, whatever its run does
READING_TIMEOUT: Final = 30  # seconds an action that only answers may take
_MAX_ERROR = 300

type Answer = tuple[Json, str | None]


async def call_action(hass: HomeAssistant, action: Action, context: Context) -> Answer:
    """Call an action and wait for its end, at most `ACTION_TIMEOUT` seconds.

    Returns the response, None if there is none, and what went wrong in one line. Only
    Home Assistant's own end ends the call: neither the bound nor a cancelled wait does
    (R8).
    """
    call = _begin(hass, action, context)
    await _wait(call, ACTION_TIMEOUT)
    return _answer(call) if call.done() else (None, NOT_ENDED)


async def call_reading(hass: HomeAssistant, action: Action, context: Context) -> Answer:
    """Call an action that only answers, as `call_action` does.

    It is ended after `READING_TIMEOUT` seconds, or with the wait for it.
    """
    call = _begin(hass, action, context)
    try:
        await _wait(call, READING_TIMEOUT)
        return _answer(call) if call.done() else (None, "it took too long")
    finally:
        call.cancel()


def _begin(
    hass: HomeAssistant, action: Action, context: Context
) -> asyncio.Task[Answer]:
    # A task of its own: a cancel from within the action must not end the run (R4).
    return hass.async_create_background_task(
        _call(hass, action, context),
        f"proactive_agent call {action.name}",
        eager_start=True,
    )


async def _wait(call: asyncio.Task[Answer], limit: float) -> None:
    # What has ended at once is known at once, before its run can be cut.
    if not call.done():
        await asyncio.wait({call}, timeout=limit)


def _answer(call: asyncio.Task[Answer]) -> Answer:
    return (None, "it was cancelled") if call.cancelled() else call.result()


async def _call(hass: HomeAssistant, action: Action, context: Context) -> Answer:
    data: dict[str, Any] = {**action.data}
    if not action.is_script:
        data[ATTR_ENTITY_ID] = [*action.entity_id]
    supported = hass.services.supports_response(action.domain, action.service)
    try:
        response = await hass.services.async_call(
            action.domain,
            action.service,
            data,
            blocking=True,
            context=context,
            return_response=supported is not SupportsResponse.NONE,
        )
    except TimeoutError as err:
        return None, one_line(str(err) or "it timed out", _MAX_ERROR)
    except Exception as err:
        _LOGGER.debug("%s failed", action.name, exc_info=True)
        return None, one_line(str(err) or type(err).__name__, _MAX_ERROR)
    return response or None, None

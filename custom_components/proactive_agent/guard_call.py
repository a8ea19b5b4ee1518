"""One call into Home Assistant, bounded, its error in one line."""

import asyncio
import logging
from typing import Any, Final

from homeassistant.const import ATTR_ENTITY_ID
from homeassistant.core import Context, HomeAssistant, SupportsResponse

from .engine.one_line import one_line
from .engine.records import Json
from .guard_checks import Action

_LOGGER = logging.getLogger(__name__)

ACTION_TIMEOUT: Final = 600  # seconds an action may take, whatever its run does (R8)
READING_TIMEOUT: Final = 30  # seconds an action that only answers may take
_MAX_ERROR = 300


async def call_action(
    hass: HomeAssistant, action: Action, context: Context, *, limit: float
) -> tuple[Json, str | None]:
    """Call an action and wait for its end, at most `limit` seconds.

    Returns the response, None if there is none, and what went wrong in one line.
    """
    data: dict[str, Any] = {**action.data}
    if not action.is_script:
        data[ATTR_ENTITY_ID] = [*action.entity_id]
    supported = hass.services.supports_response(action.domain, action.service)
    bound = asyncio.timeout(limit)
    try:
        async with bound:
            response = await hass.services.async_call(
                action.domain,
                action.service,
                data,
                blocking=True,
                context=context,
                return_response=supported is not SupportsResponse.NONE,
            )
    except TimeoutError as err:
        said = "it took too long" if bound.expired() else str(err)
        return None, one_line(said or "it timed out", _MAX_ERROR)
    except Exception as err:
        _LOGGER.debug("%s failed", action.name, exc_info=True)
        return None, one_line(str(err) or type(err).__name__, _MAX_ERROR)
    return response or None, None

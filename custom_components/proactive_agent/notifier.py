"""The one door for messages to the owner (S1, S5, S6)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
import logging

from homeassistant.components import persistent_notification
from homeassistant.components.notify import NotifyEntityFeature
from homeassistant.const import (
    ATTR_ENTITY_ID,
    ATTR_SUPPORTED_FEATURES,
    STATE_UNAVAILABLE,
)
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import entity_registry as er

from .const import DOMAIN
from .engine.plain_text import plain_line

_LOGGER = logging.getLogger(__name__)

NOTIFY = "notify"
SEND_TIMEOUT = 30  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """Which targets a message reached; `kept` if only Home Assistant shows it."""

    reached: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    kept: bool = False


class Notifier:
    """Sends a message to each target; one that fails does not stop the others."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Send through this Home Assistant."""
        self._hass = hass

    async def async_send(
        self,
        targets: Sequence[str],
        *,
        title: str,
        message: str,
        notification_id: str,
        context: Context,
    ) -> Delivery:
        """Send one plain line to notify entities and `notify.*` actions (S5).

        Without a target, or if none was reached, a persistent notification with
        this id holds the message. Each target gets it once and has 30 seconds.
        """
        line = plain_line(message)
        targets = [*dict.fromkeys(targets)]
        sent = await asyncio.gather(
            *(self._reaches(target, title, line, context) for target in targets)
        )
        reached = tuple(t for t, ok in zip(targets, sent, strict=True) if ok)
        if not reached:
            persistent_notification.async_create(
                self._hass, line, title, f"{DOMAIN}_{notification_id}"
            )
        return Delivery(
            reached=reached,
            failed=tuple(t for t, ok in zip(targets, sent, strict=True) if not ok),
            kept=not reached,
        )

    async def _reaches(
        self, target: str, title: str, line: str, context: Context
    ) -> bool:
        try:
            async with asyncio.timeout(SEND_TIMEOUT):
                await self._call(target, title, line, context)
        except Exception as error:  # noqa: BLE001 - a notifier may raise anything
            reason = str(error) or type(error).__name__
            _LOGGER.warning("%s could not be told: %s", target, reason)
            return False
        return True

    async def _call(self, target: str, title: str, line: str, context: Context) -> None:
        data = {"title": title, "message": line}
        service = target.removeprefix(f"{NOTIFY}.")
        if self._is_entity(target):
            state = self._hass.states.get(target)
            # A missing entity would count as told: its action succeeds silently.
            if state is None or state.state == STATE_UNAVAILABLE:
                raise HomeAssistantError(f"{target} is not available")
            service = "send_message"
            data[ATTR_ENTITY_ID] = target
            features = state.attributes.get(ATTR_SUPPORTED_FEATURES, 0)
            if not features & NotifyEntityFeature.TITLE:
                del data["title"]
        await self._hass.services.async_call(
            NOTIFY, service, data, blocking=True, context=context
        )

    def _is_entity(self, target: str) -> bool:
        # An entity and an action can share a name: the entity is the newer way.
        if self._hass.states.get(target) is not None:
            return True
        known = er.async_get(self._hass).async_get(target)
        return known is not None and not known.disabled

"""What is done when the file of an endpoint cannot be read (D1, S7)."""

import asyncio
from typing import Final

from homeassistant.config_entries import ConfigEntry
from homeassistant.const import ATTR_CONFIG_ENTRY_ID
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir

from .const import DOMAIN, SUBENTRY_HEARTBEAT
from .models import HeartbeatOptions
from .notifier.notifier import Notifier
from .texts import Texts

_LOST: Final = "store_unreadable"
_TOO_NEW: Final = "store_too_new"


class Loss:
    """Reports that to the owners: a repair issue, and one message a heartbeat."""

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry) -> None:
        """Tell of this endpoint."""
        self._hass = hass
        self._entry = entry

    @callback
    def report_lost(self) -> None:
        """Report that the file makes no sense, so that all heartbeats are off."""
        self._drop(_TOO_NEW)
        self._report(_LOST, is_persistent=False)
        self._tell(_LOST)

    @callback
    def report_too_new(self) -> None:
        """Report, once, that a newer version wrote the file, so that none runs."""
        if self._report(_TOO_NEW, is_persistent=True):
            self._tell(_TOO_NEW)

    @callback
    def report_read(self) -> None:
        """Report that the file can be read, if it was reported that it cannot."""
        if self._drop(_TOO_NEW):
            self._tell("store_read")

    @callback
    def forget(self) -> None:
        """Drop what was reported: the endpoint is removed."""
        self._drop(_LOST)
        self._drop(_TOO_NEW)

    def _report(self, key: str, *, is_persistent: bool) -> bool:
        """Put up an issue; returns whether it is new."""
        issue_id = self._issue_id(key)
        is_new = not self._is_up(issue_id)
        ir.async_create_issue(
            self._hass,
            DOMAIN,
            issue_id,
            data={ATTR_CONFIG_ENTRY_ID: self._entry.entry_id},
            is_fixable=key == _LOST,
            is_persistent=is_persistent,
            severity=ir.IssueSeverity.ERROR,
            translation_key=key,
            translation_placeholders={"endpoint": self._entry.title},
        )
        return is_new

    def _drop(self, key: str) -> bool:
        """Take an issue back; returns whether it was there."""
        was_up = self._is_up(self._issue_id(key))
        ir.async_delete_issue(self._hass, DOMAIN, self._issue_id(key))
        return was_up

    def _is_up(self, issue_id: str) -> bool:
        return ir.async_get(self._hass).async_get_issue(DOMAIN, issue_id) is not None

    def _issue_id(self, key: str) -> str:
        return f"{key}_{self._entry.entry_id}"

    @callback
    def _tell(self, key: str) -> None:
        # Not the entry's own task: without its file the entry is not set up.
        self._hass.async_create_background_task(
            self._async_tell(key), f"{DOMAIN} {key} notice"
        )

    async def _async_tell(self, key: str) -> None:
        texts = await Texts.async_load(self._hass)
        notifier = Notifier(self._hass)
        everyone = [
            (subentry.subentry_id, HeartbeatOptions.from_subentry(subentry))
            for subentry in self._entry.subentries.values()
            if subentry.subentry_type == SUBENTRY_HEARTBEAT
        ]
        try:
            await asyncio.gather(
                *(
                    notifier.async_send(
                        options.notify,
                        title=options.title,
                        message=texts.say(key),
                        notification_id=f"{heartbeat_id}_store",
                        context=Context(),
                    )
                    for heartbeat_id, options in everyone
                )
            )
        finally:
            await notifier.async_finish()

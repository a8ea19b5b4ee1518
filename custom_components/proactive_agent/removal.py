"""What is left to do when an endpoint has been removed: nothing of it stays (P7)."""

import asyncio
from contextlib import suppress

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import ConfigEntryError

from .asking.reporter import shown_on, tag_of
from .engine.approvals import pending
from .models import HeartbeatOptions
from .notifier.notifier import Notifier
from .store.runs import RunFiles
from .store.store import HeartbeatStore


async def async_clean_up(hass: HomeAssistant, entry: ConfigEntry) -> None:
    """Take pending requests off every device, and delete what was remembered."""
    store = HeartbeatStore(hass, entry.entry_id)
    try:
        # What a newer version wrote cannot be read, and goes all the same.
        with suppress(ConfigEntryError):
            await store.async_load()
            await _clear_requests(hass, entry, store)
    finally:
        await store.async_remove()
        await RunFiles(hass, entry.entry_id).async_remove(entry.subentries)


async def _clear_requests(
    hass: HomeAssistant, entry: ConfigEntry, store: HeartbeatStore
) -> None:
    notifier = Notifier(hass)
    await asyncio.gather(
        *(
            notifier.async_clear(
                shown_on(approval, HeartbeatOptions.from_subentry(subentry)),
                tag=tag_of(approval),
                context=Context(),
            )
            for subentry_id, subentry in entry.subentries.items()
            if (state := store.get(subentry_id)) is not None
            for approval in pending(state.approvals)
        )
    )
    notifier.close()

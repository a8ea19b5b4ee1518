"""The AI Task entity of an endpoint followed under another id, and missed."""

from datetime import timedelta
from typing import Final

from homeassistant.config_entries import ConfigEntry
from homeassistant.const import ATTR_CONFIG_ENTRY_ID, CONF_ENTITY_ID
from homeassistant.core import (
    CALLBACK_TYPE,
    CoreState,
    Event,
    EventStateChangedData,
    HomeAssistant,
    callback,
)
from homeassistant.helpers import entity_registry as er, issue_registry as ir
from homeassistant.helpers.event import (
    async_track_entity_registry_updated_event,
    async_track_state_change_event,
)
from homeassistant.util import dt as dt_util

from ..alarm import Alarm
from ..const import DOMAIN
from ..models import TaskOptions, mind_options

# What is renamed or reloaded, or comes up with Home Assistant, is away for a while.
PATIENCE: Final = timedelta(seconds=30)


class TaskWatch:
    """Follows the AI Task entity of an endpoint when it gets another entity id.

    While it is gone there is a repair issue.
    """

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry) -> None:
        """Prepare; nothing is watched before `follow`."""
        self._hass = hass
        self._entry = entry
        self._issue_id = f"missing_ai_task_{entry.entry_id}"
        self._entity_id: str | None = None
        self._unlisten: tuple[CALLBACK_TYPE, ...] = ()
        self._look = Alarm(hass, self._look_for_it)

    @callback
    def follow(self) -> None:
        """Watch the entity that the endpoint has now, if it is one."""
        options = mind_options(self._entry)
        entity_id = options.entity_id if isinstance(options, TaskOptions) else None
        if entity_id == self._entity_id:
            return
        self.stop()
        self._entity_id = entity_id
        if entity_id is None:
            return
        self._unlisten = (
            async_track_entity_registry_updated_event(
                self._hass, entity_id, self._registry_updated
            ),
            async_track_state_change_event(self._hass, entity_id, self._state_changed),
        )
        if not self._is_there:
            self._wait()

    @callback
    def stop(self) -> None:
        """Watch nothing any more, and take the issue back."""
        self._entity_id = None
        self._look.cancel()
        for unlisten in self._unlisten:
            unlisten()
        self._unlisten = ()
        ir.async_delete_issue(self._hass, DOMAIN, self._issue_id)

    @property
    def _is_there(self) -> bool:
        return bool(self._entity_id and self._hass.states.get(self._entity_id))

    @callback
    def _registry_updated(
        self, event: Event[er.EventEntityRegistryUpdatedData]
    ) -> None:
        new_id = event.data["entity_id"]
        if event.data["action"] == "update" and new_id != self._entity_id:
            self._hass.config_entries.async_update_entry(
                self._entry, data={**self._entry.data, CONF_ENTITY_ID: new_id}
            )
            self.follow()

    @callback
    def _state_changed(self, event: Event[EventStateChangedData]) -> None:
        if event.data["new_state"] is None:
            self._wait()
        elif event.data["old_state"] is None:
            self._look.cancel()
            ir.async_delete_issue(self._hass, DOMAIN, self._issue_id)

    @callback
    def _wait(self) -> None:
        self._look.set(dt_util.utcnow() + PATIENCE)

    @callback
    def _look_for_it(self) -> None:
        if self._is_there or self._entity_id is None:
            return
        if self._hass.state is not CoreState.running:
            self._wait()
            return
        ir.async_create_issue(
            self._hass,
            DOMAIN,
            self._issue_id,
            data={ATTR_CONFIG_ENTRY_ID: self._entry.entry_id},
            is_fixable=True,
            severity=ir.IssueSeverity.ERROR,
            translation_key="missing_ai_task",
            translation_placeholders={
                "endpoint": self._entry.title,
                "entity": self._entity_id,
            },
        )

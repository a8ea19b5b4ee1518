"""How a heartbeat is known outside: its device, its switch, its name."""

from collections.abc import Iterable
from dataclasses import dataclass

from homeassistant.components.switch import DOMAIN as SWITCH_DOMAIN
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr, entity_registry as er

from .const import ATTR_HEARTBEAT, DOMAIN

KEY_ACTIVITY = "activity"
KEY_HEARTBEAT = "heartbeat"
KEY_STATUS = "status"


def unique_id(heartbeat_id: str, key: str) -> str:
    """Return the unique id of one of a heartbeat's entities."""
    return f"{heartbeat_id}_{key}"


def switch_of(hass: HomeAssistant, heartbeat_id: str) -> str | None:
    """Return the entity id of a heartbeat's switch, None if it is not registered."""
    return er.async_get(hass).async_get_entity_id(
        SWITCH_DOMAIN, DOMAIN, unique_id(heartbeat_id, KEY_HEARTBEAT)
    )


def without_own(
    hass: HomeAssistant, entity_ids: Iterable[str], heartbeat_id: str
) -> frozenset[str]:
    """Leave out the entities of this heartbeat."""
    entities = er.async_get(hass).entities
    return frozenset(
        entity_id
        for entity_id in entity_ids
        if (entry := entities.get(entity_id)) is None
        or entry.config_subentry_id != heartbeat_id
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The ids by which events and messages name a heartbeat."""

    entry_id: str
    heartbeat_id: str

    def describe(self, hass: HomeAssistant, title: str) -> dict[str, str | None]:
        """Return what each event says of the heartbeat (docs/reference.md)."""
        device = dr.async_get(hass).async_get_device_by_identifier(
            (DOMAIN, self.heartbeat_id), self.entry_id
        )
        return {
            ATTR_HEARTBEAT: title,
            "device_id": device.id if device else None,
            "entity_id": switch_of(hass, self.heartbeat_id),
        }

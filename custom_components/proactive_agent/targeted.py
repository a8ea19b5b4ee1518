"""Finds out whether an entity named in an automation belongs to a heartbeat."""

from collections.abc import Mapping
from typing import Any

from homeassistant.const import ATTR_ENTITY_ID
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import config_validation as cv, entity_registry as er

from .const import DOMAIN
from .identity import unique_id


def standing_for(hass: HomeAssistant, entity_ids: set[str], key: str) -> set[str]:
    """Return the entities whose unique id is that of a heartbeat's entity `key`."""
    return {entity_id for entity_id in entity_ids if _is(hass, entity_id, key)}


def require(hass: HomeAssistant, target: Mapping[str, Any], key: str) -> None:
    """Refuse named entities that are not a heartbeat's entity `key`.

    One that is not registered yet is let through. Raises `HomeAssistantError`.
    """
    entities = er.async_get(hass)
    for entity_id in cv.ensure_list(target.get(ATTR_ENTITY_ID)):
        if entities.async_get(entity_id) and not _is(hass, entity_id, key):
            raise HomeAssistantError(
                translation_domain=DOMAIN,
                translation_key=f"not_the_{key}",
                translation_placeholders={"entity": entity_id},
            )


def _is(hass: HomeAssistant, entity_id: str, key: str) -> bool:
    entry = er.async_get(hass).async_get(entity_id)
    return (
        entry is not None
        and entry.platform == DOMAIN
        and entry.config_subentry_id is not None
        and entry.unique_id == unique_id(entry.config_subentry_id, key)
    )

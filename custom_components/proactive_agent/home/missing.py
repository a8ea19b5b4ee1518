"""Entities that an owner has named for a heartbeat and that are not there."""

from collections.abc import Mapping

from homeassistant.const import ATTR_ENTITY_ID, ENTITY_MATCH_ALL, ENTITY_MATCH_NONE
from homeassistant.core import HomeAssistant
from homeassistant.helpers import config_validation as cv, entity_registry as er

from ..models import HeartbeatOptions

_NOT_ONE = frozenset({ENTITY_MATCH_ALL, ENTITY_MATCH_NONE})


def named(hass: HomeAssistant, options: HeartbeatOptions) -> Mapping[str, str]:
    """Return what is named one by one, as it is stored → its entity id now."""
    registry = er.async_get(hass)
    return {
        stored: er.async_resolve_entity_id(registry, stored) or stored
        for target in (options.look, options.act, options.ask)
        for stored in cv.ensure_list(target.get(ATTR_ENTITY_ID))
        if stored not in _NOT_ONE
    }


def missing(hass: HomeAssistant, options: HeartbeatOptions) -> Mapping[str, str]:
    """Return those of them that have no state: removed, renamed or disabled."""
    return {
        stored: entity_id
        for stored, entity_id in named(hass, options).items()
        if hass.states.get(entity_id) is None
    }

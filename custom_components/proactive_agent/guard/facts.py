"""What the guard has to know of an entity before it lets anything happen to it."""

from collections.abc import Iterable

from homeassistant.const import ATTR_DEVICE_CLASS, ATTR_ENTITY_ID
from homeassistant.core import HomeAssistant, split_entity_id
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.entity import entity_sources
from homeassistant.helpers.group import get_group_entities

from ..const import DOMAIN
from ..engine.policy import SCRIPT, Listed, Subject
from ..engine.reach import Reach

GROUP = "group"


def is_own(hass: HomeAssistant, entity_id: str) -> bool:
    """Tell whether an entity belongs to this integration (A2)."""
    entry = er.async_get(hass).async_get(entity_id)
    return entry is not None and entry.platform == DOMAIN


def entries_of(hass: HomeAssistant, entity_ids: Iterable[str]) -> dict[str, str]:
    """Return registry ids: an entity id may be given to another entity."""
    entities = er.async_get(hass)
    return {
        entity_id: entry.id
        for entity_id in entity_ids
        if (entry := entities.async_get(entity_id)) is not None
    }


def script_service(hass: HomeAssistant, entity_id: str) -> str:
    """Return the action that runs a script: a renamed script keeps its old one."""
    entry = er.async_get(hass).async_get(entity_id)
    if entry is not None and entry.platform == SCRIPT:
        return entry.unique_id
    return split_entity_id(entity_id)[1]


def members(hass: HomeAssistant, entity_id: str) -> tuple[str, ...]:
    """Return everything a group consists of, through groups in groups.

    Empty for an entity that is no group; the group itself is never among it.
    """
    found: dict[str, None] = {}
    open_ids = [entity_id]
    while open_ids:
        for member in _direct_members(hass, open_ids.pop()):
            if member not in found and member != entity_id:
                found[member] = None
                open_ids.append(member)
    return tuple(sorted(found))


def subjects(
    hass: HomeAssistant, entity_ids: Iterable[str], reach: Reach
) -> list[Subject]:
    """Describe for the policy what an action on these entities would touch."""
    touched = {
        one: None
        for entity_id in entity_ids
        for one in (entity_id, *members(hass, entity_id))
    }
    return [_subject(hass, entity_id, reach) for entity_id in touched]


def _subject(hass: HomeAssistant, entity_id: str, reach: Reach) -> Subject:
    state = hass.states.get(entity_id)
    return Subject(
        domain=split_entity_id(entity_id)[0],
        device_class=state.attributes.get(ATTR_DEVICE_CLASS) if state else None,
        listed=Listed.ASK if entity_id in reach.ask else Listed.ACT,
        own=is_own(hass, entity_id),
    )


def _direct_members(hass: HomeAssistant, entity_id: str) -> list[str]:
    """Ask the group itself; a group of the group integration says it as state."""
    entity = get_group_entities(hass).get(entity_id)
    if entity is not None and entity.group is not None:
        return [*entity.group.member_entity_ids]
    state = hass.states.get(entity_id)
    if state is None or not _is_group(hass, entity_id):
        return []
    listed = state.attributes.get(ATTR_ENTITY_ID)
    return [one for one in listed if isinstance(one, str)] if listed else []


def _is_group(hass: HomeAssistant, entity_id: str) -> bool:
    if split_entity_id(entity_id)[0] == GROUP:
        return True
    source = entity_sources(hass).get(entity_id)
    return source is not None and source["domain"] == GROUP

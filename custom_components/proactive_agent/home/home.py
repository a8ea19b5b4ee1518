"""The entities a heartbeat may see and touch, resolved from its owner's lists."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from homeassistant.const import ATTR_ENTITY_ID, ATTR_LABEL_ID, CONF_EXCLUDE
from homeassistant.core import HomeAssistant, split_entity_id, valid_entity_id
from homeassistant.helpers import config_validation as cv, entity_registry as er
from homeassistant.helpers.target import (
    TargetSelection,
    async_extract_referenced_entity_ids,
)

from ..engine.backoff import MAX_ENTITIES, UNSAID
from ..engine.policy import SECOND_VOICE
from ..engine.reach import Reach
from ..guard.facts import GROUP, is_own, members
from ..models import HeartbeatOptions
from ..saying import said
from .text import describe

__all__ = ["Reach", "describe", "members", "resolve", "snapshot"]

# Their owner has to mean each one of these: an area holds them by accident (A3).
NAMED_ONLY = frozenset(
    {"automation", "button", "input_button", "scene", "script", "update"}
)


def resolve(hass: HomeAssistant, options: HeartbeatOptions) -> Reach:
    """Resolve the lists of a heartbeat to entity ids, as of now (A1-A3)."""
    return Reach.of(
        look=_resolve(hass, options.look),
        act=_resolve(hass, options.act),
        ask=_resolve(hass, options.ask),
    )


def is_lasting(options: HeartbeatOptions, reach: Reach) -> bool:
    """Say whether a reach stays the same until a registry changes.

    One with a group does not, nor may one from which something was taken out: the
    members of a group are not in a registry.
    """
    lists = (options.look, options.act, options.ask)
    return not any(one.get(CONF_EXCLUDE) for one in lists) and not any(
        split_entity_id(one)[0] == GROUP for one in reach.visible
    )


def snapshot(hass: HomeAssistant, entity_ids: Iterable[str]) -> dict[str, str]:
    """Return what these entities say; what is silent or not there has not spoken.

    At most the first `MAX_ENTITIES` of them.
    """
    return {
        entity_id: said(hass.states.get(entity_id)) or UNSAID
        for entity_id in islice(entity_ids, MAX_ENTITIES)
    }


def _resolve(hass: HomeAssistant, target: Mapping[str, Any]) -> set[str]:
    if not target:
        return set()
    taken_out = _taken_out(hass, target.get(CONF_EXCLUDE) or {})
    return {
        one
        for one in _chosen(hass, target)
        if not _is_never(hass, one) and not _holds_any_of(hass, one, taken_out)
    }


def _chosen(hass: HomeAssistant, target: Mapping[str, Any]) -> set[str]:
    named = set(_named(hass, target))
    labelled = set(_labelled(hass, target))
    swept = async_extract_referenced_entity_ids(
        hass,
        TargetSelection({**target, ATTR_ENTITY_ID: None}),
        expand_group=False,
    ).indirectly_referenced
    found = (
        named
        | {one for one in labelled if _is_primary(hass, one)}
        | {one for one in swept - labelled if _may_be_swept(hass, one)}
    )
    # An old-style group has no action of its own: it stands for its members.
    grouped = {
        one
        for entity_id in found
        if split_entity_id(entity_id)[0] == GROUP
        for one in members(hass, entity_id)
        if valid_entity_id(one) and split_entity_id(one)[0] not in NAMED_ONLY
    }
    return found | grouped


def _taken_out(hass: HomeAssistant, exclude: Mapping[str, Any]) -> set[str]:
    """Resolve what the owner excluded from a target, groups with their members."""
    if not exclude:
        return set()
    swept = async_extract_referenced_entity_ids(
        hass,
        TargetSelection(dict(exclude)),
        expand_group=False,
        primary_entities_only=False,
    ).indirectly_referenced
    excluded = {*_named(hass, exclude), *_labelled(hass, exclude), *swept}
    return excluded.union(*(members(hass, one) for one in excluded))


def _holds_any_of(hass: HomeAssistant, entity_id: str, taken_out: set[str]) -> bool:
    """Say whether acting on an entity would act on one that was taken out (A1)."""
    return bool(taken_out) and not taken_out.isdisjoint(
        (entity_id, *members(hass, entity_id))
    )


def _named(hass: HomeAssistant, target: Mapping[str, Any]) -> Iterator[str]:
    registry = er.async_get(hass)
    for entity_id_or_uuid in cv.ensure_list(target.get(ATTR_ENTITY_ID)):
        entity_id = er.async_resolve_entity_id(registry, entity_id_or_uuid)
        if entity_id is not None:
            yield entity_id


def _labelled(hass: HomeAssistant, target: Mapping[str, Any]) -> Iterator[str]:
    registry = er.async_get(hass)
    for label_id in cv.ensure_list(target.get(ATTR_LABEL_ID)):
        for entry in er.async_entries_for_label(registry, label_id):
            yield entry.entity_id


def _may_be_swept(hass: HomeAssistant, entity_id: str) -> bool:
    return split_entity_id(entity_id)[0] not in NAMED_ONLY and _is_primary(
        hass, entity_id
    )


def _is_primary(hass: HomeAssistant, entity_id: str) -> bool:
    entry = er.async_get(hass).async_get(entity_id)
    return entry is None or not (
        entry.hidden_by or entry.disabled_by or entry.entity_category
    )


def _is_never(hass: HomeAssistant, entity_id: str) -> bool:
    return split_entity_id(entity_id)[0] in SECOND_VOICE or is_own(hass, entity_id)

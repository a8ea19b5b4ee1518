"""Which entities an action, a field or a selector is for."""

from collections.abc import Iterable, Mapping
from typing import Any

from homeassistant.const import ATTR_DEVICE_CLASS, ATTR_SUPPORTED_FEATURES
from homeassistant.core import HomeAssistant, State
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.entity import entity_sources


def targeted(
    hass: HomeAssistant, target: Mapping[str, Any] | None, entity_ids: Iterable[str]
) -> tuple[str, ...]:
    """Return those of the entities that an action's target is made for.

    An action that says neither domain nor integration is for nothing in
    particular; none of the entities then.
    """
    filters = [
        one
        for one in cv.ensure_list((target or {}).get("entity"))
        if one.get("domain") or one.get("integration")
    ]
    return tuple(
        entity_id
        for entity_id in entity_ids
        if any(matches(hass, entity_id, one) for one in filters)
    )


def matches(hass: HomeAssistant, entity_id: str, wanted: Mapping[str, Any]) -> bool:
    """Tell whether an entity that exists fits a filter of a target or a selector."""
    state = hass.states.get(entity_id)
    if state is None:
        return False
    if (integration := wanted.get("integration")) and integration != _integration(
        hass, entity_id
    ):
        return False
    domains = cv.ensure_list(wanted.get("domain"))
    if domains and state.domain not in domains:
        return False
    classes = cv.ensure_list(wanted.get("device_class"))
    if classes and state.attributes.get(ATTR_DEVICE_CLASS) not in classes:
        return False
    return _supports(state, wanted.get("supported_features"))


def field_applies(wanted: Mapping[str, Any] | None, state: State) -> bool:
    """Tell whether an entity supports a field of an action, by the field's filter."""
    if not wanted:
        return True
    if "attribute" in wanted:
        return any(
            _holds(state.attributes.get(name), options)
            for name, options in wanted["attribute"].items()
        )
    return _supports(state, wanted.get("supported_features"))


def _supports(state: State, masks: Any) -> bool:
    if not masks:
        return True
    features = state.attributes.get(ATTR_SUPPORTED_FEATURES) or 0
    return any(mask & features == mask for mask in cv.ensure_list(masks))


def _holds(attribute: Any, options: Iterable[Any] | None) -> bool:
    """Tell whether an attribute has one of the values; None stands for any value."""
    if options is None:
        return attribute is not None
    return not _values(attribute).isdisjoint(str(one) for one in options)


def _values(attribute: Any) -> set[str]:
    if isinstance(attribute, (list, tuple, set, frozenset)):
        return {str(one) for one in attribute}
    return {str(attribute)}


def _integration(hass: HomeAssistant, entity_id: str) -> str | None:
    source = entity_sources(hass).get(entity_id)
    return source["domain"] if source else None

"""Conditions and what they saw, in plain English for the owner (G3)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from homeassistant.const import (
    CONF_ABOVE,
    CONF_AFTER,
    CONF_ALIAS,
    CONF_ATTRIBUTE,
    CONF_BEFORE,
    CONF_BELOW,
    CONF_CONDITION,
    CONF_ENTITY_ID,
    CONF_FOR,
    CONF_MATCH,
    CONF_OPTIONS,
    CONF_STATE,
    CONF_TARGET,
    CONF_TYPE,
    CONF_VALUE_TEMPLATE,
    CONF_WEEKDAY,
    ENTITY_MATCH_ANY,
)
from homeassistant.core import HomeAssistant
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.template import Template

_NAME_LENGTH = 80
_ENTITIES_SHOWN = 6


def name(config: Mapping[str, Any]) -> str:
    """Name a condition: its alias, or its kind and the heart of it."""
    if alias := config.get(CONF_ALIAS):
        return _short(str(alias))
    kind = str(config.get(CONF_CONDITION))
    return _short(" ".join((kind, *_gist(kind, config))))


def group_name(config: Mapping[str, Any], parts: Iterable[str]) -> str:
    """Name an and, or or not after what is in it."""
    if alias := config.get(CONF_ALIAS):
        return _short(str(alias))
    return _short(f"{config[CONF_CONDITION]} ({', '.join(parts)})")


def raw_name(raw: object) -> str:
    """Name a condition that is not even valid."""
    if not isinstance(raw, Mapping):
        return _short(str(raw))
    for key in (CONF_ALIAS, CONF_CONDITION):
        if isinstance(raw.get(key), str):
            return _short(raw[key])
    return _short(", ".join(str(key) for key in raw) or "empty condition")


def error(err: Exception) -> str:
    """Put an error into one line."""
    return " ".join(str(err).split()) or type(err).__name__


def observation(
    hass: HomeAssistant,
    config: Mapping[str, Any],
    entity_ids: Sequence[str],
    *,
    result: bool | None,
) -> str:
    """Say what a condition that could be judged has seen."""
    match config[CONF_CONDITION]:
        case "state":
            return "; ".join(_seen_state(hass, config, entity_ids, result=result))
        case "numeric_state" if CONF_VALUE_TEMPLATE not in config:
            return "; ".join(_seen_number(hass, config, result=result))
        case "template":
            verdict = f"the template says {str(result).lower()}"
            return "; ".join([verdict, *_seen(hass, entity_ids)])
    verdict = "it holds" if result else "it does not hold"
    return "; ".join([verdict, *_seen(hass, entity_ids)])


def _gist(kind: str, config: Mapping[str, Any]) -> list[str]:
    attribute = [str(config[CONF_ATTRIBUTE])] if CONF_ATTRIBUTE in config else []
    match kind:
        case "state":
            several = ["any of"] if config.get(CONF_MATCH) == ENTITY_MATCH_ANY else []
            whose = [*several, _listed(config[CONF_ENTITY_ID]), *attribute]
            gist = [*whose, "is", _wanted(config)]
        case "numeric_state":
            gist = [_listed(config[CONF_ENTITY_ID]), *attribute, _limits(config)]
        case "template":
            gist = [config[CONF_VALUE_TEMPLATE].template]
        case "time":
            gist = _pairs(config, (CONF_AFTER, CONF_BEFORE, CONF_WEEKDAY))
        case "device":
            gist = [str(config.get(key, "")) for key in (CONF_TYPE, CONF_ENTITY_ID)]
        case _:
            targets = (config.get(CONF_TARGET) or {}).values()
            options = config.get(CONF_OPTIONS) or {}
            gist = [*(_listed(ids) for ids in targets), *_pairs(options, options)]
    return gist


def _seen_state(
    hass: HomeAssistant,
    config: Mapping[str, Any],
    entity_ids: Sequence[str],
    *,
    result: bool | None,
) -> Iterable[str]:
    attribute = config.get(CONF_ATTRIBUTE)
    wanted = cv.ensure_list(config[CONF_STATE])
    judged = config[CONF_ENTITY_ID]
    for seen, value in _values(hass, judged, attribute):
        if result or value in wanted:
            late = not result and CONF_FOR in config
            yield f"{seen}, but not for {_period(config[CONF_FOR])}" if late else seen
        else:
            yield f"{seen}, not {_wanted(config)}"
    yield from _seen(hass, [other for other in entity_ids if other not in judged])


def _seen_number(
    hass: HomeAssistant, config: Mapping[str, Any], *, result: bool | None
) -> Iterable[str]:
    attribute = config.get(CONF_ATTRIBUTE)
    limits = _limits(config)
    for limit in (config.get(CONF_ABOVE), config.get(CONF_BELOW)):
        if isinstance(limit, str) and (state := hass.states.get(limit)):
            limits = limits.replace(limit, f"{limit} ({state.state})")
    for seen, _ in _values(hass, config[CONF_ENTITY_ID], attribute):
        yield f"{seen}, {'' if result else 'not '}{limits}"


def _values(
    hass: HomeAssistant, entity_ids: Iterable[str], attribute: str | None
) -> Iterable[tuple[str, Any]]:
    """Yield what is compared of each entity, in words and as it is."""
    for state in filter(None, map(hass.states.get, entity_ids)):
        value = state.attributes.get(attribute) if attribute else state.state
        verb = f"has {attribute}" if attribute else "is"
        yield f"{state.entity_id} {verb} {value}", value


def _seen(hass: HomeAssistant, entity_ids: Sequence[str]) -> Iterable[str]:
    for entity_id in entity_ids[:_ENTITIES_SHOWN]:
        if state := hass.states.get(entity_id):
            yield f"{entity_id} is {state.state}"
        else:
            yield f"{entity_id} does not exist"
    if len(entity_ids) > _ENTITIES_SHOWN:
        yield f"and {len(entity_ids) - _ENTITIES_SHOWN} more"


def _wanted(config: Mapping[str, Any]) -> str:
    wanted = config[CONF_STATE]
    return " or ".join(str(item) for item in cv.ensure_list(wanted))


def _limits(config: Mapping[str, Any]) -> str:
    return " and ".join(_pairs(config, (CONF_ABOVE, CONF_BELOW)))


def _pairs(config: Mapping[str, Any], keys: Iterable[str]) -> list[str]:
    return [f"{key} {_value(config[key])}" for key in keys if key in config]


def _value(value: object) -> str:
    match value:
        case float() if value.is_integer():
            return str(int(value))
        case Mapping():
            return " ".join(_value(item) for item in value.values())
        case list():
            return _listed(value)
        case Template():
            return value.template
    return str(value)


def _period(period: object) -> str:
    if isinstance(period, Mapping):
        return " ".join(f"{_value(many)} {unit}" for unit, many in period.items())
    return _value(period)


def _listed(ids: object) -> str:
    return ", ".join(str(item) for item in ids) if isinstance(ids, list) else str(ids)


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _NAME_LENGTH else f"{flat[: _NAME_LENGTH - 1]}…"

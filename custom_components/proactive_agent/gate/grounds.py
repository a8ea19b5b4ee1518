"""Why a condition holds, by the names that the owner knows (G3)."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from itertools import islice
from typing import Any, Final

from homeassistant.const import (
    ATTR_DEVICE_CLASS,
    ATTR_UNIT_OF_MEASUREMENT,
    CONF_ABOVE,
    CONF_ALIAS,
    CONF_ATTRIBUTE,
    CONF_BELOW,
    CONF_CONDITION,
    CONF_ENTITY_ID,
    CONF_FOR,
    CONF_VALUE_TEMPLATE,
)
from homeassistant.core import HomeAssistant, State
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.translation import async_translate_state

from ..texts import cached_sentence
from . import words

_ENTITIES_NAMED: Final = 3


def grounds(
    hass: HomeAssistant, config: Mapping[str, Any], entity_ids: Iterable[str]
) -> str:
    """Say why a condition holds: in its owner's own words if it has any."""
    if alias := config.get(CONF_ALIAS):
        return str(alias)
    kind = config[CONF_CONDITION]
    if kind == "numeric_state" and CONF_VALUE_TEMPLATE not in config:
        seen = _numbers(hass, config)
    elif kind == "state" and CONF_ATTRIBUTE in config:
        attribute = config[CONF_ATTRIBUTE]
        seen = (_has(hass, one, attribute) for one in _states(hass, config))
    else:
        seen = whatever_is_seen(hass, entity_ids)
    said = listed(hass, seen) or words.name(config)
    if isinstance(duration := config.get(CONF_FOR), timedelta):
        return cached_sentence(hass, "because_for", seen=said, time=in_hours(duration))
    return said


def whatever_is_seen(hass: HomeAssistant, entity_ids: Iterable[str]) -> Iterator[str]:
    """Say of each entity what it says, whatever that means for a condition."""
    for state in filter(None, map(hass.states.get, entity_ids)):
        yield cached_sentence(
            hass, "because_is", name=state.name, state=state_in_words(hass, state)
        )


def listed(hass: HomeAssistant, sayings: Iterable[str]) -> str:
    """Put so many sayings into one, each once."""
    first, *others = [*islice(dict.fromkeys(sayings), _ENTITIES_NAMED)] or [""]
    for other in others:
        first = cached_sentence(hass, "because_and", one=first, other=other)
    return first


def state_in_words(hass: HomeAssistant, state: State) -> str:
    """Return a state as Home Assistant shows it: translated, or with its unit."""
    if unit := state.attributes.get(ATTR_UNIT_OF_MEASUREMENT):
        return f"{state.state} {unit}"
    entry = er.async_get(hass).async_get(state.entity_id)
    return async_translate_state(
        hass,
        state.state,
        state.domain,
        entry.platform if entry else None,
        entry.translation_key if entry else None,
        state.attributes.get(ATTR_DEVICE_CLASS),
    )


def _numbers(hass: HomeAssistant, config: Mapping[str, Any]) -> Iterator[str]:
    limits = {
        key: _limit(hass, config[key])
        for key in (CONF_ABOVE, CONF_BELOW)
        if config.get(key) is not None
    }
    sentence = "_".join(("because", *limits))
    attribute = config.get(CONF_ATTRIBUTE)
    for state in _states(hass, config):
        seen = (
            _has(hass, state, attribute)
            if attribute
            else cached_sentence(
                hass, "because_is", name=state.name, state=state_in_words(hass, state)
            )
        )
        yield cached_sentence(hass, sentence, seen=seen, **limits)


def _limit(hass: HomeAssistant, limit: object) -> str:
    """Return a limit, or the name of the entity that sets it."""
    if isinstance(limit, str) and (state := hass.states.get(limit)):
        return f"{state.name} ({state.state})"
    if isinstance(limit, float) and limit.is_integer():
        return str(int(limit))
    return str(limit)


def _has(hass: HomeAssistant, state: State, attribute: str) -> str:
    return cached_sentence(
        hass,
        "because_has",
        name=state.name,
        attribute=attribute.replace("_", " "),
        value=str(state.attributes.get(attribute)),
    )


def _states(hass: HomeAssistant, config: Mapping[str, Any]) -> Iterator[State]:
    yield from filter(None, map(hass.states.get, config[CONF_ENTITY_ID]))


def in_hours(duration: timedelta) -> str:
    """Write a time as h:mm:ss, which reads in any language."""
    minutes, seconds = divmod(round(duration.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"

"""What each kind of condition needs, read from its configuration (G2)."""

from collections.abc import Iterator, Mapping
from typing import Any

from homeassistant.const import (
    CONF_ABOVE,
    CONF_AFTER,
    CONF_ATTRIBUTE,
    CONF_BEFORE,
    CONF_BELOW,
    CONF_CONDITION,
    CONF_DEVICE_ID,
    CONF_ENTITY_ID,
    CONF_FOR,
    CONF_OPTIONS,
    CONF_STATE,
    CONF_TARGET,
    CONF_VALUE_TEMPLATE,
    CONF_ZONE,
)
from homeassistant.core import HomeAssistant
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.condition import ConditionChecker, EntityConditionBase
from homeassistant.helpers.template import Template
from homeassistant.helpers.typing import ConfigType

from ..const import SILENT_STATES
from .needs import (
    DevicesNeed,
    EntityNeed,
    Need,
    TemplateNeed,
    holds_number,
    holds_number_in,
    holds_time,
)
from .reading import ReadTemplate
from .registries import Registries
from .target import TargetNeed, limit_test


def needs_of(
    hass: HomeAssistant,
    config: ConfigType,
    checker: ConditionChecker,
    registries: Registries,
) -> Iterator[Need]:
    """Yield the needs of a validated condition; a template's are found elsewhere."""
    match config[CONF_CONDITION]:
        case "state":
            return _state(hass, config)
        case "numeric_state":
            return _numeric_state(hass, config)
        case "time":
            return _time(hass, config)
        case "device":
            return _device(hass, config)
        case _:
            return _by_platform(hass, config, checker, registries)


def _state(hass: HomeAssistant, config: ConfigType) -> Iterator[Need]:
    wanted = config[CONF_STATE]
    texts = {
        item
        for item in (wanted if isinstance(wanted, list) else [wanted])
        if isinstance(item, str)
    }
    asked = frozenset() if CONF_ATTRIBUTE in config else SILENT_STATES & texts
    for entity_id in config[CONF_ENTITY_ID]:
        yield EntityNeed(hass=hass, entity_id=entity_id, asked=asked)
    for text in sorted(texts):
        # Home Assistant compares with the state of an input helper named here.
        if cv.INPUT_ENTITY_ID.match(text):
            yield EntityNeed(hass=hass, entity_id=text)
    for template in _templates(config.get(CONF_FOR)):
        yield TemplateNeed(hass=hass, template=ReadTemplate.of(template))


def _numeric_state(hass: HomeAssistant, config: ConfigType) -> Iterator[Need]:
    attribute = config.get(CONF_ATTRIBUTE)
    template = config.get(CONF_VALUE_TEMPLATE)
    for entity_id in config[CONF_ENTITY_ID]:
        fit = holds_number_in(attribute) if attribute and not template else None
        yield EntityNeed(hass=hass, entity_id=entity_id, fit=fit)
        if template:
            # Of each entity it may read others: each keeps what its own has read.
            own = ReadTemplate.of(template)
            yield TemplateNeed(hass=hass, template=own, state_of=entity_id, number=True)
    for key in (CONF_ABOVE, CONF_BELOW):
        if isinstance(limit := config.get(key), str):
            yield EntityNeed(hass=hass, entity_id=limit, fit=holds_number)


def _time(hass: HomeAssistant, config: ConfigType) -> Iterator[Need]:
    for key in (CONF_AFTER, CONF_BEFORE):
        if isinstance(moment := config.get(key), str):
            yield EntityNeed(hass=hass, entity_id=moment, fit=holds_time)


def _device(hass: HomeAssistant, config: ConfigType) -> Iterator[Need]:
    if entity_id := config.get(CONF_ENTITY_ID):
        yield EntityNeed(hass=hass, entity_id=entity_id)
    else:
        yield DevicesNeed(hass=hass, device_ids=(config[CONF_DEVICE_ID],))


def _by_platform(
    hass: HomeAssistant,
    config: ConfigType,
    checker: ConditionChecker,
    registries: Registries,
) -> Iterator[Need]:
    """Yield the needs of a condition that an integration brings."""
    options = config.get(CONF_OPTIONS) or {}
    for key in (CONF_ENTITY_ID, CONF_ZONE):
        for entity_id in cv.ensure_list(options.get(key)):
            yield EntityNeed(hass=hass, entity_id=entity_id)
    for limit in _limit_entities(options):
        yield EntityNeed(hass=hass, entity_id=limit, fit=limit_test(checker))
    if devices := cv.ensure_list(options.get(CONF_DEVICE_ID)):
        yield DevicesNeed(hass=hass, device_ids=tuple(devices))
    if (target := config.get(CONF_TARGET)) is not None:
        yield TargetNeed(
            hass=hass,
            target=target,
            checker=checker if isinstance(checker, EntityConditionBase) else None,
            registries=registries,
        )


def _limit_entities(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield the entities that stand where a number could (a threshold's)."""
    for key, value in options.items():
        if key == "entity" and isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            yield from _limit_entities(value)


def _templates(value: object) -> Iterator[Template]:
    match value:
        case Template():
            yield value
        case Mapping():
            for item in value.values():
                yield from _templates(item)

"""The owner's raw conditions → a tree that can be judged."""

from copy import deepcopy

from homeassistant.const import (
    CONF_CONDITION,
    CONF_CONDITIONS,
    CONF_ENABLED,
    CONF_ENTITY_ID,
    CONF_MATCH,
    CONF_VALUE_TEMPLATE,
    ENTITY_MATCH_ALL,
    ENTITY_MATCH_ANY,
)
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import TemplateError
from homeassistant.helpers import (
    condition,
    config_validation as cv,
    entity_registry as er,
)
from homeassistant.helpers.condition import ConditionChecker
from homeassistant.helpers.template import Template
from homeassistant.helpers.typing import ConfigType

from . import words
from .asked import Asked
from .kinds import needs_of
from .leaf import Leaf, TemplateLeaf
from .reading import ReadTemplate
from .registries import Registries
from .tree import Broken, Group, Node

_LIST_KINDS = ("state", "numeric_state", "zone")


class HopelessConditionError(Exception):
    """The condition will not get better by itself."""


class Builder:
    """Builds the conditions of one gate and keeps what has to be unloaded."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Start with nothing built."""
        self._hass = hass
        self.registries = Registries(hass)
        self.checkers: list[ConditionChecker] = []
        self.references: list[tuple[str, str]] = []

    def discard(self) -> None:
        """Give back what was built so far."""
        self.registries.close()
        for checker in self.checkers:
            checker.async_unload()

    async def async_condition(self, raw: object) -> Node | None:
        """Build one condition; None if it is disabled, `Broken` if it cannot be."""
        try:
            config = _valid(raw)
        except Exception as err:  # noqa: BLE001 - whatever was stored, it is the gate's
            return _broken(words.raw_name(raw), err, curable=False)
        try:
            return await self._node(config, under_not=False)
        except HopelessConditionError as err:
            return _broken(words.raw_name(config), err, curable=False)
        except Exception as err:  # noqa: BLE001 - any integration may bring a condition
            return _broken(words.raw_name(config), err, curable=True)

    async def _node(self, config: ConfigType, *, under_not: bool) -> Node | None:
        if not _enabled(config):
            return None
        kind = config[CONF_CONDITION]
        if kind == "trigger":
            raise HopelessConditionError(
                "a trigger condition cannot hold here: no trigger wakes a heartbeat"
            )
        if kind in _LIST_KINDS and config.get(CONF_ENTITY_ID) == []:
            raise HopelessConditionError("it names no entity")
        if kind in ("and", "or", "not"):
            return await self._group(config, under_not=under_not or kind == "not")
        if kind == "state" and config[CONF_MATCH] == ENTITY_MATCH_ANY:
            return await self._any_of(config)
        return await self._leaf(config, under_not=under_not)

    async def _group(self, config: ConfigType, *, under_not: bool) -> Node | None:
        nodes = [
            await self._node(part, under_not=under_not)
            for part in config[CONF_CONDITIONS]
        ]
        parts = [node for node in nodes if node is not None]
        joint = config[CONF_CONDITION]
        if joint == "and" and not parts:
            # As if disabled itself: it must not open an `or` above it.
            return None
        names = [part.name for part in parts]
        return Group(joint=joint, name=words.group_name(config, names), parts=parts)

    async def _any_of(self, config: ConfigType) -> Node:
        """Split into one condition an entity, so that one can answer for all.

        Home Assistant's own checker fails as a whole if one entity is missing.
        """
        parts = [
            await self._leaf(
                {**config, CONF_ENTITY_ID: [entity_id], CONF_MATCH: ENTITY_MATCH_ALL},
                under_not=False,
            )
            for entity_id in config[CONF_ENTITY_ID]
        ]
        return Group(joint="or", name=words.name(config), parts=parts)

    async def _leaf(self, config: ConfigType, *, under_not: bool) -> Leaf:
        named = cv.ensure_list(config.get(CONF_ENTITY_ID))
        validated = await condition.async_validate_condition_config(self._hass, config)
        validated.pop(CONF_ENABLED, None)
        if isinstance(template := validated.get(CONF_VALUE_TEMPLATE), Template):
            validated[CONF_VALUE_TEMPLATE] = ReadTemplate.of(template)
        checker = await condition.async_from_config(self._hass, validated)
        self.checkers.append(checker)
        self._resolve(validated, named)
        if validated[CONF_CONDITION] == "template":
            source = validated[CONF_VALUE_TEMPLATE].template
            # Under a `not` a guard turns into its opposite.
            asked = Asked() if under_not else Asked.in_template(source)
            return TemplateLeaf(self._hass, validated, checker, asked=asked)
        needs = tuple(needs_of(self._hass, validated, checker, self.registries))
        return Leaf(self._hass, validated, checker, needs)

    def _resolve(self, config: ConfigType, named: list[str]) -> None:
        """Put entity ids in place of registry ids, and remember those."""
        registry = er.async_get(self._hass)
        for reference in named:
            entity_id = er.async_resolve_entity_id(registry, reference)
            if entity_id and entity_id != reference:
                self.references.append((reference, entity_id))
                if config.get(CONF_ENTITY_ID) == reference:
                    config[CONF_ENTITY_ID] = entity_id


def _valid(raw: object) -> ConfigType:
    if isinstance(raw, str):
        cv.dynamic_template(raw)  # says what is wrong, which the schema does not
    validated: ConfigType = cv.CONDITION_SCHEMA(deepcopy(raw))
    return validated


def _enabled(config: ConfigType) -> bool:
    enabled = config.get(CONF_ENABLED, True)
    if isinstance(enabled, Template):
        try:
            enabled = enabled.async_render(limited=True)
        except TemplateError as err:
            raise HopelessConditionError(f"its `enabled` fails: {err}") from err
    return bool(enabled)


def _broken(name: str, err: Exception, *, curable: bool) -> Broken:
    return Broken(name=name, reason=words.error(err), curable=curable)

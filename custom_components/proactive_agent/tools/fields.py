"""The fields of an action or a script as parameters that can be checked."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from homeassistant.core import HomeAssistant, State
from homeassistant.helpers import config_validation as cv, selector
import probatio

from .match import field_applies, matches

# What such a selector yields reaches further than the entities it may name (A3).
_WIDE = frozenset(
    {
        "action",
        "area",
        "choose",
        "condition",
        "device",
        "floor",
        "label",
        "target",
        "template",
        "trigger",
    }
)
_SHOWN_OPTIONS = 20
_FILTER_KEYS = ("integration", "domain", "device_class", "supported_features")


class Choice:
    """Some of a fixed set of words, as a list or as one of them."""

    def __init__(self, options: Iterable[str], *, multiple: bool) -> None:
        """Take the options in the order in which they are to be shown."""
        self.options = tuple(options)
        self.multiple = multiple

    def __call__(self, value: Any) -> str | list[str]:
        """Return the choice, or raise with the options in the sentence."""
        if not self.multiple:
            return self._one(value)
        values = value if isinstance(value, list) else [value]
        if not values:
            raise probatio.Invalid("must not be empty")
        return [*dict.fromkeys(self._one(one) for one in values)]

    def _one(self, value: Any) -> str:
        if isinstance(value, str) and value in self.options:
            return value
        shown = ", ".join(self.options[:_SHOWN_OPTIONS]) or "nothing"
        more = ", …" if len(self.options) > _SHOWN_OPTIONS else ""
        raise probatio.Invalid(f"must be one of: {shown}{more}")


class Field:
    """A field of which a selector says what it takes."""

    def __init__(self, inner: selector.Selector[Any], *, is_wide: bool) -> None:
        """Wrap a selector; `is_wide` fields are not described in detail."""
        self.inner = inner
        self.is_wide = is_wide

    def __call__(self, value: Any) -> Any:
        """Check a value; return it as JSON, not as what a selector makes of it."""
        checked = self.inner(value)  # type: ignore[operator]
        if isinstance(self.inner, selector.NumberSelector):
            return _number(value, checked)
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """What a tool takes.

    `entity_fields` hold entity ids beside the target; `must_ask` if a field reaches
    further than entities (A3).
    """

    schema: probatio.Schema
    entity_fields: tuple[str, ...] = ()
    must_ask: bool = False


def action_parameters(
    hass: HomeAssistant,
    fields: Mapping[str, Any],
    *,
    targets: Sequence[str],
    actors: Sequence[str],
) -> Parameters:
    """Build what an action takes: its target and the fields that fit a target."""
    states = [state for one in targets if (state := hass.states.get(one))]
    fitting = {
        name: config
        for name, config in _flat(fields)
        if name not in cv.ENTITY_SERVICE_FIELDS and _fits_action(config, states)
    }
    target = {
        probatio.Required("entity_id"): Choice(targets, multiple=True),
    }
    return _parameters(hass, fitting, actors=actors, first=target, in_script=False)


def script_parameters(
    hass: HomeAssistant, fields: Mapping[str, Any], *, actors: Sequence[str]
) -> Parameters:
    """Build what a script takes."""
    return _parameters(hass, dict(_flat(fields)), actors=actors, in_script=True)


def _parameters(
    hass: HomeAssistant,
    fields: Mapping[str, Any],
    *,
    actors: Sequence[str],
    first: Mapping[Any, Any] | None = None,
    in_script: bool,
) -> Parameters:
    schema: dict[Any, Any] = {**(first or {})}
    entity_fields: list[str] = []
    must_ask = False
    for name, config in fields.items():
        validator = _validator(hass, config, actors, in_script=in_script)
        if isinstance(validator, Choice):
            if not validator.options and not config.get("required"):
                continue
            entity_fields.append(name)
        elif validator.is_wide or (in_script and name in cv.ENTITY_SERVICE_FIELDS):
            must_ask = True
        marker = probatio.Required if config.get("required") else probatio.Optional
        description = config.get("description") or config.get("name")
        schema[marker(name, description=description or None)] = validator
    return Parameters(
        schema=probatio.Schema(schema),
        entity_fields=tuple(entity_fields),
        must_ask=must_ask,
    )


def _validator(
    hass: HomeAssistant,
    config: Mapping[str, Any],
    actors: Sequence[str],
    *,
    in_script: bool,
) -> Choice | Field:
    inner = selector.selector(config.get("selector") or {"text": {}})
    if isinstance(inner, selector.EntitySelector):
        return Choice(
            _selectable(hass, inner, actors), multiple=bool(inner.config["multiple"])
        )
    return Field(inner, is_wide=_is_wide(inner, in_script=in_script))


def _selectable(
    hass: HomeAssistant, inner: selector.EntitySelector, actors: Sequence[str]
) -> Iterator[str]:
    config = inner.config
    filters = cv.ensure_list(config.get("filter"))
    if not filters and (legacy := {**config}):
        filters = [
            {key: legacy[key] for key in _FILTER_KEYS if legacy.get(key) is not None}
        ]
    included = config.get("include_entities")
    excluded = config.get("exclude_entities") or ()
    for entity_id in actors:
        if entity_id in excluded or (included and entity_id not in included):
            continue
        if any(matches(hass, entity_id, one) for one in filters):
            yield entity_id


def _is_wide(inner: selector.Selector[Any], *, in_script: bool) -> bool:
    if inner.selector_type in _WIDE:
        return True
    if not isinstance(inner, selector.ObjectSelector):
        return False
    fields = inner.config.get("fields")
    if not fields:
        # An action knows what to do with its object; in a script it may be anything.
        return in_script
    parts = (selector.selector(part["selector"]) for part in fields.values())
    return any(
        isinstance(part, selector.EntitySelector) or _is_wide(part, in_script=in_script)
        for part in parts
    )


def _fits_action(config: Mapping[str, Any], states: Sequence[State]) -> bool:
    if not any(field_applies(config.get("filter"), state) for state in states):
        return False
    kind = next(iter(config.get("selector") or {"text": None}))
    # An optional field of which nobody says what it holds helps no model.
    return bool(config.get("required")) or kind != "object"


def _flat(fields: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, config in fields.items():
        if isinstance(section := (config or {}).get("fields"), Mapping):
            yield from _flat(section)
        else:
            yield name, config or {}


def _number(value: Any, checked: float) -> float:
    if isinstance(value, bool) or not isfinite(checked):
        raise probatio.Invalid("must be a number")
    return int(checked) if checked.is_integer() else checked

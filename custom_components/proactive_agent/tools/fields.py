"""The fields of an action or a script as parameters that can be checked."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from homeassistant.core import HomeAssistant, State
from homeassistant.helpers import config_validation as cv, selector
import probatio

from ..engine.one_line import one_line
from .amendments import helpful, is_left_out, is_whole
from .choices import (
    Span,
    hangs_on_entity,
    pattern_of,
    union_of_options,
    widest_length,
    widest_span,
)
from .match import field_applies, matches
from .values import Choice, Field, Number, shown_range

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
_FILTER_KEYS = ("integration", "domain", "device_class", "supported_features")
# A longer list costs more with every turn than the error that names the words.
_MAX_OPTIONS = 100
_MAX_PATTERN = 100

type Validator = Choice | Field | Number


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """What a tool takes.

    `entity_fields` hold entity ids beside the target; `must_ask` if a field reaches
    further than entities (A3); `filters` say which entities support a field.
    """

    schema: probatio.Schema
    entity_fields: tuple[str, ...] = ()
    must_ask: bool = False
    filters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The arguments, in the order in which they are shown."""
        return [str(marker) for marker in self.schema.schema]


def action_parameters(
    hass: HomeAssistant,
    domain: str,
    fields: Mapping[str, Any],
    *,
    targets: Sequence[str],
    actors: Sequence[str],
) -> Parameters:
    """Build what an action takes: its target and the fields that fit a target."""
    states = [state for one in targets if (state := hass.states.get(one))]
    schema: dict[Any, Any] = {
        probatio.Required("entity_id"): Choice(targets, multiple=True)
    }
    maker = _Maker(hass, actors)
    filters: dict[str, Mapping[str, Any]] = {}
    for name, config in _flat(fields):
        wanted = config.get("filter")
        fitting = [state for state in states if field_applies(wanted, state)]
        if not fitting or not _is_useful(domain, name, config):
            continue
        if wanted:
            filters[name] = wanted
        span = widest_span(domain, name, fitting)
        choice = _worded(domain, name, fitting)
        validator = (
            _ranged(span, config, whole=is_whole(domain, name))
            or choice
            or maker.validator(config)
        )
        text = " ".join(
            part
            for part in (
                helpful(_text(config), is_choice=choice is not None),
                _step_hint(span),
                _length_hint(domain, name, fitting),
            )
            if part
        )
        maker.put(schema, name, config, validator, text)
    return maker.parameters(schema, filters)


def script_parameters(
    hass: HomeAssistant, fields: Mapping[str, Any], *, actors: Sequence[str]
) -> Parameters:
    """Build what a script takes."""
    schema: dict[Any, Any] = {}
    maker = _Maker(hass, actors, in_script=True)
    for name, config in _flat(fields):
        maker.put(schema, name, config, maker.validator(config), _text(config))
    return maker.parameters(schema, {})


class _Maker:
    """Makes the fields of one tool, and notes what the guard has to know of them."""

    def __init__(
        self, hass: HomeAssistant, actors: Sequence[str], *, in_script: bool = False
    ) -> None:
        self._hass = hass
        self._actors = actors
        self._in_script = in_script
        self._entity_fields: list[str] = []
        self._must_ask = False

    def validator(self, config: Mapping[str, Any]) -> Choice | Field:
        selecting = config.get("selector") or {"text": {}}
        if "entity" in selecting:
            wanted = _validated(selecting["entity"] or {})
            return Choice(
                _selectable(self._hass, wanted, self._actors),
                multiple=bool(wanted.get("multiple")),
            )
        try:
            inner = selector.selector(selecting)
        except probatio.Invalid:
            # Nobody knows what it takes: the owner is asked.
            return Field(selector.ObjectSelector(), is_wide=True)
        return Field(inner, is_wide=_is_wide(inner, in_script=self._in_script))

    def put(
        self,
        schema: dict[Any, Any],
        name: str,
        config: Mapping[str, Any],
        validator: Validator,
        text: str,
    ) -> None:
        required = bool(config.get("required"))
        if "entity" in (config.get("selector") or ()):
            if not (isinstance(validator, Choice) and validator.options) and (
                not required
            ):
                return
            self._entity_fields.append(name)
        elif self._reaches_far(name, validator):
            self._must_ask = True
        marker = probatio.Required if required else probatio.Optional
        schema[marker(name, description=text.strip() or None)] = validator

    def parameters(
        self, schema: dict[Any, Any], filters: Mapping[str, Mapping[str, Any]]
    ) -> Parameters:
        return Parameters(
            schema=probatio.Schema(schema),
            entity_fields=tuple(self._entity_fields),
            must_ask=self._must_ask,
            filters=filters,
        )

    def _reaches_far(self, name: str, validator: Validator) -> bool:
        if isinstance(validator, Field) and validator.is_wide:
            return True
        return self._in_script and name in cv.ENTITY_SERVICE_FIELDS


def _text(config: Mapping[str, Any]) -> str:
    return config.get("description") or config.get("name") or ""


def _ranged(
    span: Span | None, config: Mapping[str, Any], *, whole: bool
) -> Number | None:
    """Take the range of the entities; where they name none, the action's own."""
    if span is None:
        if not whole:
            return None
        span = Span()
    described = (config.get("selector") or {}).get("number") or {}
    return Number(
        low=described.get("min") if span.low is None else span.low,
        high=described.get("max") if span.high is None else span.high,
        whole=whole,
    )


def _worded(domain: str, name: str, states: Sequence[State]) -> Choice | None:
    if not hangs_on_entity(domain, name):
        return None
    options = union_of_options(domain, name, states)
    if options is None or len(options) > _MAX_OPTIONS:
        return None
    return Choice(options, multiple=False)


def _step_hint(span: Span | None) -> str:
    return f"(step {span.step:g})" if span is not None and span.step else ""


def _length_hint(domain: str, name: str, states: Sequence[State]) -> str:
    span = widest_length(domain, name, states)
    if span is None or span.high is None:
        return ""
    pattern = pattern_of(domain, name, states)
    matching = f", matching {one_line(pattern, _MAX_PATTERN)}" if pattern else ""
    return f"({shown_range(span.low or None, span.high)} characters{matching})"


def _validated(config: Any) -> Mapping[str, Any]:
    """Fill in what an entity selector left out; one with features is filled already."""
    try:
        validated: Mapping[str, Any] = selector.EntitySelector(config).config
    except probatio.Invalid:
        validated = config
    return validated


def _selectable(
    hass: HomeAssistant, config: Mapping[str, Any], actors: Sequence[str]
) -> Iterator[str]:
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


def _is_useful(domain: str, name: str, config: Mapping[str, Any]) -> bool:
    if name in cv.ENTITY_SERVICE_FIELDS:
        return False
    if config.get("required"):
        return True
    # An optional field of which nobody says what it holds helps no model.
    kind = next(iter(config.get("selector") or {"object": None}))
    return kind != "object" and not is_left_out(domain, name)


def _flat(fields: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, config in fields.items():
        if isinstance(section := (config or {}).get("fields"), Mapping):
            yield from _flat(section)
        else:
            yield name, config or {}

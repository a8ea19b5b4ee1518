"""Tool parameters as plain JSON schema that strict servers take too."""

from collections.abc import Iterable, Mapping
from typing import Any

from homeassistant.helpers.llm import selector_serializer
from homeassistant.helpers.selector import DurationSelector
import probatio

from .values import Choice, Field, Number

# The words every server knows; whatever else a converter writes is left out.
_KEPT = (
    "type",
    "description",
    "enum",
    "minimum",
    "maximum",
    "items",
    "minItems",
    "maxItems",
    "required",
    "additionalProperties",
)
_MAX_EXACT = 2**53
_DURATION = {
    "type": "object",
    "properties": {
        part: {"type": "number"} for part in ("hours", "minutes", "seconds")
    },
    "additionalProperties": False,
}
_HINTS = {
    "RGB": "[red, green, blue], each 0 to 255",
    "date": "YYYY-MM-DD",
    "date-time": "YYYY-MM-DD HH:MM:SS",
    "time": "HH:MM:SS",
}


def json_schema(parameters: probatio.Schema) -> dict[str, Any]:
    """Convert a tool's parameters; the same parameters give the same bytes."""
    converted = _plain(
        probatio.to_openapi(
            parameters, custom_serializer=_serialize, openapi_version="3.1.0"
        )
    )
    return {"type": "object", "properties": {}, **converted}


def _serialize(node: Any) -> Any:
    if isinstance(node, Choice):
        choice: dict[str, Any] = {"type": "string"}
        if node.options:  # an empty enum is no valid schema
            choice["enum"] = [*node.options]
        if not node.multiple:
            return choice
        is_bound = node.most is not None and node.most < len(node.options)
        most = {"maxItems": node.most} if is_bound else {}
        return {"type": "array", "items": choice, "minItems": 1, **most}
    if isinstance(node, Number):
        bounds = {"minimum": node.low, "maximum": node.high}
        return {"type": "integer" if node.whole else "number"} | {
            word: bound for word, bound in bounds.items() if bound is not None
        }
    return _of_field(node) if isinstance(node, Field) else selector_serializer(node)


def _of_field(field: Field) -> Any:
    if field.is_wide:
        return {"type": "object"}
    if isinstance(field.inner, DurationSelector):
        return _DURATION
    return selector_serializer(field.inner)


def _bound(word: str, value: float) -> dict[str, float]:
    """Leave out a bound that only says how numbers are stored."""
    if abs(value) > _MAX_EXACT:
        return {}
    return {word: int(value) if float(value).is_integer() else value}


def _words(enum: Iterable[Any]) -> dict[str, list[str]]:
    """Keep a choice of words, each once; of anything else the type says enough."""
    words = [*dict.fromkeys(one for one in enum if isinstance(one, str))]
    return {"enum": words} if words else {}


def _plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Keep what every server understands; of alternatives keep the first."""
    for word in ("anyOf", "oneOf", "allOf"):
        if options := schema.get(word):
            said = (one for one in options if one.get("type") != "null")
            schema = {**next(said, {}), **schema}
    plain = {word: schema[word] for word in _KEPT if word in schema}
    kinds = plain.get("type") or "string"
    if isinstance(kinds, list):
        kinds = next(kind for kind in kinds if kind != "null")
    plain["type"] = kinds
    plain.update(_words(plain.pop("enum", ())))
    for word in ("minimum", "maximum"):
        if word in plain:
            plain |= _bound(word, plain.pop(word))
    if (items := plain.get("items")) is not None:
        plain["items"] = _plain(items)
    if hint := _HINTS.get(schema.get("format", "")):
        plain["description"] = f"{plain.get('description', '')} ({hint})".lstrip()
    if "properties" in schema:
        plain["properties"] = {
            name: _plain(value) for name, value in schema["properties"].items()
        }
    return plain

"""The schemas of tools with less in them than they had."""

from collections.abc import Callable, Collection
from typing import Any, Final

from .values import as_dict

# A schema without these says nothing of use any more.
_NEEDED: Final = frozenset({"type", "properties", "items", "required"})
# Those that a model can do without: the guard checks what it is given in any case.
ORNAMENTS: Final = frozenset(
    {"$schema", "$id", "$comment", "title", "default", "examples", "deprecated"}
    | {"additionalProperties", "unevaluatedProperties", "propertyNames"}
    | {"pattern", "patternProperties", "format", "minLength", "maxLength"}
    | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
    | {"minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"}
    | {"contentEncoding", "contentMediaType", "readOnly", "writeOnly", "nullable"}
)
_BY_NAME: Final = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)
_INNER: Final = frozenset(
    {"items", "prefixItems", "contains", "additionalProperties", "propertyNames"}
    | {"anyOf", "oneOf", "allOf", "not", "if", "then", "else"}
    | {"unevaluatedItems", "unevaluatedProperties"}
)


def strip_schemas(tools: list[Any], keywords: Collection[str]) -> list[Any]:
    """Take keywords out of the schemas of tools, at any depth.

    A property that bears the name of a keyword stays, and so does what a schema
    cannot do without.
    """
    taken = frozenset(keywords) - _NEEDED
    if not taken:
        return tools

    def strip(schema: dict[str, Any]) -> dict[str, Any]:
        kept = {key: value for key, value in schema.items() if key not in taken}
        return {key: _inside(key, value, strip) for key, value in kept.items()}

    return [_with_parameters(tool, strip) for tool in tools]


def keywords_of(tools: list[Any]) -> set[str]:
    """Return the keywords in the schemas of tools that could be taken out."""
    found: set[str] = set()

    def collect(schema: dict[str, Any]) -> dict[str, Any]:
        found.update(schema)
        return {key: _inside(key, value, collect) for key, value in schema.items()}

    for tool in tools:
        _with_parameters(tool, collect)
    return found - _NEEDED


def without_parameters(tools: list[Any]) -> list[Any]:
    """Leave the schema out where a tool takes no parameters."""
    return [
        {**tool, "function": _without(as_dict(tool.get("function")))}
        for tool in map(as_dict, tools)
    ]


def _without(function: dict[str, Any]) -> dict[str, Any]:
    if as_dict(function.get("parameters")).get("properties"):
        return function
    return {key: value for key, value in function.items() if key != "parameters"}


def _with_parameters(
    tool: Any, change: Callable[[dict[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    fields = as_dict(tool)
    function = as_dict(fields.get("function"))
    if not isinstance(function.get("parameters"), dict):
        return fields
    parameters = change(function["parameters"])
    return {**fields, "function": {**function, "parameters": parameters}}


def _inside(
    key: str, value: Any, change: Callable[[dict[str, Any]], dict[str, Any]]
) -> Any:
    """Change the schemas that stand under a keyword, and nothing else."""
    if key in _BY_NAME:
        return {name: _one(schema, change) for name, schema in as_dict(value).items()}
    if key not in _INNER:
        return value
    if isinstance(value, list):
        return [_one(schema, change) for schema in value]
    return _one(value, change)


def _one(schema: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    return change(schema) if isinstance(schema, dict) else schema

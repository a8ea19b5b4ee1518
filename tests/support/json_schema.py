"""Plain JSON schema, as strict servers know it: what is wrong with one, and values."""

from collections.abc import Iterator, Mapping
from typing import Any

from hypothesis import strategies as st

WORDS = {
    "additionalProperties": (bool,),
    "description": (str,),
    "enum": (list,),
    "items": (dict,),
    "maxItems": (int,),
    "maximum": (int, float),
    "minItems": (int,),
    "minimum": (int, float),
    "properties": (dict,),
    "required": (list,),
    "type": (str,),
}
TYPES = {"array", "boolean", "integer", "number", "object", "string"}
_ONLY_FOR = {
    "array": {"items", "maxItems", "minItems"},
    "object": {"additionalProperties", "properties", "required"},
    "number": {"maximum", "minimum"},
    "integer": {"maximum", "minimum"},
}


def faults(schema: Any, path: str = "") -> Iterator[str]:
    """Yield a sentence for everything a strict server would refuse."""
    if not isinstance(schema, Mapping):
        yield f"{path}: is no object"
        return
    kind = schema.get("type")
    if not isinstance(kind, str) or kind not in TYPES:
        yield f"{path}: has the type {kind!r}"
        return
    for word, value in schema.items():
        if word not in WORDS:
            yield f"{path}: says {word}"
        elif not isinstance(value, WORDS[word]):
            yield f"{path}: {word} is {value!r}"
    for other, words in _ONLY_FOR.items():
        if other != kind and (
            strange := (words - _ONLY_FOR.get(kind, set())) & {*schema}
        ):
            yield f"{path}: {strange} in a {kind}"
    yield from _value_faults(schema, path)
    for name, inner in schema.get("properties", {}).items():
        yield from faults(inner, f"{path}.{name}")
    if "items" in schema:
        yield from faults(schema["items"], f"{path}[]")


def _value_faults(schema: Mapping[str, Any], path: str) -> Iterator[str]:
    if schema.get("description") == "":
        yield f"{path}: describes nothing"
    if (enum := schema.get("enum")) is not None and (
        not enum
        or len({*enum}) != len(enum)
        or not all(isinstance(e, str) for e in enum)
    ):
        yield f"{path}: has the enum {enum!r}"
    if schema["type"] == "array" and "items" not in schema:
        yield f"{path}: lists what?"
    if schema.get("minimum", -1e400) > schema.get("maximum", 1e400):
        yield f"{path}: has an empty range"
    if missing := {*schema.get("required", ())} - {*schema.get("properties", ())}:
        yield f"{path}: requires {missing}"


def values(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """Return values that a schema takes."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema["type"]:
        case "boolean":
            return st.booleans()
        case "string":
            return st.text(max_size=20) | st.sampled_from(
                ["2026-12-01", "08:30:00", "2026-12-01 08:30:00", "{{ 1 }}", "5"]
            )
        case "integer" | "number":
            return _numbers(schema)
        case "array":
            low = schema.get("minItems", 0)
            high = schema.get("maxItems", max(3, low))
            return st.lists(values(schema["items"]), min_size=low, max_size=high)
    return _objects(schema)


def _numbers(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    low, high = schema.get("minimum", -1e6), schema.get("maximum", 1e6)
    whole = st.integers(min_value=int(-(-low // 1)), max_value=int(high // 1))
    if schema["type"] == "integer":
        return whole
    broken = st.floats(min_value=low, max_value=high, allow_nan=False)
    return broken if -(-low // 1) > high // 1 else whole | broken


def _objects(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    properties = schema.get("properties", {})
    required = {*schema.get("required", ())}
    return st.fixed_dictionaries(
        {name: values(properties[name]) for name in sorted(required)},
        optional={
            name: values(inner)
            for name, inner in properties.items()
            if name not in required
        },
    )

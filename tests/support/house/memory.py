"""What template entities remember: a text helper for each value, read and written."""

from collections.abc import Iterable
from typing import Any


def kept(key: str, kind: str = "") -> str:
    """Return the template that reads a value, converted by a filter if one is named."""
    convert = f" | {kind}" if kind else ""
    return f"{{{{ states('input_text.{key}'){convert} }}}}"


def keep(key: str, value: str) -> dict[str, Any]:
    """Return the action that writes a value, or what a template makes of it."""
    return {
        "action": "input_text.set_value",
        "target": {"entity_id": f"input_text.{key}"},
        "data": {"value": value},
    }


def switched(name: str, key: str) -> dict[str, Any]:
    """Return what every entity has that is on or off."""
    return {
        "name": name,
        "unique_id": key,
        "state": kept(key),
        "turn_on": keep(key, "on"),
        "turn_off": keep(key, "off"),
    }


def memory(initial: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return the helpers with their first values."""
    return {key: {"initial": value} for key, value in initial}

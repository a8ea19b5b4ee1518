"""The name of a tool as a model wrote it → the tool it means, if it means one."""

from collections.abc import Sequence
import re
from typing import Final

from ..records import ToolSpec

# Namespaces that some templates put before every tool; no tool has a dot in its name.
_NAMESPACES: Final = ("functions.", "default_api.")
_UNFIT: Final = re.compile(r"[^A-Za-z0-9_-]")
_MAX_LENGTH: Final = 64
_MAX_KEPT: Final = 100  # longer than any tool's name, so that none is cut into one
_MAX_LISTED: Final = 40


def clean_name(raw: str, tools: Sequence[ToolSpec]) -> str:
    """Cut leftovers of the model's template off; never guess a similar name."""
    name = raw.strip()
    bare = name.partition("<|")[0].strip()
    for namespace in _NAMESPACES:
        bare = bare.removeprefix(namespace)
    return bare if find_tool(bare, tools) else name[:_MAX_KEPT]


def find_tool(name: str, tools: Sequence[ToolSpec]) -> ToolSpec | None:
    """Return the tool of this very name."""
    return next((tool for tool in tools if tool.name == name), None)


def history_name(name: str) -> str:
    """Write a name so that every server takes it back in the history."""
    return _UNFIT.sub("_", name)[:_MAX_LENGTH]


def unknown_tool(tools: Sequence[ToolSpec]) -> str:
    """Tell the model that it named no tool (R4)."""
    names = ", ".join(tool.name for tool in tools[:_MAX_LISTED])
    return f"There is no tool of this name; nothing was called. The tools are: {names}."

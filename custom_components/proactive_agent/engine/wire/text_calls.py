"""Tool calls that a server left in the text of an answer."""

# ruff: noqa: RUF001 - some marks of models use bars of another alphabet

from collections.abc import Iterator, Sequence
from dataclasses import replace
import re
from typing import Any, Final

from ..records import ToolSpec
from .arguments import UnreadableArgumentsError, read_arguments
from .calls import Wanted
from .dialects import (
    DIALECTS,
    Dialect,
    NoCallError,
    Written,
    read_json_calls,
)
from .names import clean_name, find_tool, unknown_tool
from .values import as_dict, as_list, as_text, read_value

# A last word is a line; to search a book for calls would hold up everything else.
_MAX_LENGTH: Final = 32_000
_LEFTOVERS: Final = re.compile(
    r"</?(?:tool_call|tool_calls|function_call|function_calls|minimax:tool_call)>"
    r"|<｜tool▁calls▁(?:begin|end)｜>|<｜end▁of▁sentence｜>"
    r"|<\|tool_calls_section_(?:begin|end)\|>|<\|(?:im_end|eom_id|eot_id)\|>|</s>"
)


class BrokenCallError(ValueError):
    """The text holds a call that is not whole: nothing of it may be run or shown."""


_JSON_TYPES: Final = (
    (bool, {"boolean"}),  # before int, which it is in Python
    (int, {"integer", "number"}),
    (float, {"number"}),
    (list, {"array"}),
    (dict, {"object"}),
    (object, {"null"}),
)


def find_calls(text: str, tools: Sequence[ToolSpec]) -> tuple[list[Wanted], str]:
    """Return the calls written in a text, and the text without them.

    Only whole calls count, and outside of an envelope only those of declared tools;
    a call quoted as an example is text. Raises `BrokenCallError`.
    """
    if not tools:
        return [], text
    if len(text) > _MAX_LENGTH:
        raise BrokenCallError("too long to be searched")
    bare = _bare_calls(text, tools)
    if bare:
        return bare, ""
    wanted: list[Wanted] = []
    rest: list[str] = []
    position = 0
    for start, end, written, whole in _envelopes(text):
        rest.append(text[position:start])
        position = end
        for call in written:
            wanted += _read(call, tools, whole=whole)
    if not wanted:
        return [], text
    rest.append(text[position:])
    return wanted, _LEFTOVERS.sub("", "".join(rest)).strip()


def _bare_calls(text: str, tools: Sequence[ToolSpec]) -> list[Wanted]:
    """Read a text that is nothing but calls in JSON; another name makes it data."""
    if not text.lstrip().startswith(("{", "[", "```")):
        return []
    try:
        written = read_json_calls(text)
    except NoCallError:
        return []
    if not all(find_tool(clean_name(call.name, tools), tools) for call in written):
        return []
    return [wanted for call in written for wanted in _read(call, tools, whole=True)]


def _envelopes(text: str) -> Iterator[tuple[int, int, list[Written], bool]]:
    position = 0
    fences = 0
    for dialect, opener in _openers(text):
        if opener.start() < position:
            continue
        fences += text.count("```", position, opener.start())
        position = opener.start()
        if fences % 2 or text.endswith("`", 0, position):
            continue  # an example in a code block, or behind a backtick
        closer = dialect.closer.search(text, opener.end())
        if closer is None:
            raise BrokenCallError("cut off")
        try:
            written = dialect.read(text[opener.end() : closer.start()])
        except NoCallError as err:
            raise BrokenCallError(str(err)) from err
        yield opener.start(), closer.end(), written, bool(closer[0])
        position = closer.end()


def _openers(text: str) -> list[tuple[Dialect, re.Match[str]]]:
    found = [
        (dialect, opener)
        for dialect in DIALECTS
        for opener in dialect.opener.finditer(text)
    ]
    return sorted(found, key=lambda item: item[1].start())


def _read(call: Written, tools: Sequence[ToolSpec], *, whole: bool) -> list[Wanted]:
    name = clean_name(call.name, tools)
    tool = find_tool(name, tools)
    first = Wanted(name=name)
    if tool is None:
        return [replace(first, fault=unknown_tool(tools))]
    if call.untyped:
        return [replace(first, arguments=_typed(call.arguments, tool))]
    whole = whole or isinstance(call.arguments, dict)  # cut out of whole JSON
    try:
        objects = read_arguments(call.arguments, whole=whole)
    except UnreadableArgumentsError as err:
        raise BrokenCallError(str(err)) from err
    return [replace(first, arguments=arguments) for arguments in objects]


def _typed(values: dict[str, str], tool: ToolSpec) -> dict[str, Any]:
    properties = as_dict(tool.parameters.get("properties"))
    return {
        key: _coerce(value, as_dict(properties.get(key)))
        for key, value in values.items()
    }


def _coerce(text: str, schema: dict[str, Any]) -> Any:
    """Read a value as the type its schema names; what does not fit stays text."""
    types = _types(schema)
    if not types or "string" in types:
        return text
    bare = text.strip()
    try:
        value, end = read_value(bare.lower() if "boolean" in types else bare)
    except ValueError:
        return text
    return value if end == len(bare) and _json_type(value) & types else text


def _types(schema: dict[str, Any]) -> set[str]:
    named = schema.get("type")
    types = {as_text(name) for name in as_list(named)} | {as_text(named)} - {""}
    for choice in as_list(schema.get("anyOf")) + as_list(schema.get("oneOf")):
        types |= _types(as_dict(choice))
    return types


def _json_type(value: Any) -> set[str]:
    return next(names for kind, names in _JSON_TYPES if isinstance(value, kind))

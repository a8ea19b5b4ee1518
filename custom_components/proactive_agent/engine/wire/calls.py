"""The tool calls of a message → calls to run, and the same calls as history."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final
from uuid import uuid4

from ..records import ToolCall, ToolSpec
from .arguments import UnreadableArgumentsError, read_arguments
from .names import clean_name, find_tool, history_name, unknown_tool
from .values import as_dict, as_list, as_text, write

# Mistral takes only ids of nine letters and digits; everybody else takes them too.
_ID_LENGTH: Final = 9
_CALL_KEYS: Final = frozenset({"id", "type", "index", "function"})
# The first is the wire's own; the others are what models are used to elsewhere.
_ARGUMENT_KEYS: Final = ("arguments", "parameters", "args", "input")
_FUNCTION_KEYS: Final = frozenset({"name", *_ARGUMENT_KEYS})


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A call before it has an id of its own; `extra` is the provider's own data."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    fault: str | None = None
    id: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)
    function_extra: Mapping[str, Any] = field(default_factory=dict)


def structured_calls(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the calls of a message as the server wrote them, in order."""
    calls = message.get("tool_calls")
    if isinstance(calls, dict):
        calls = [calls]
    if as_list(calls):
        return [as_dict(call) for call in as_list(calls)]
    legacy = as_dict(message.get("function_call"))
    return [{"function": legacy}] if as_text(legacy.get("name")).strip() else []


def read_calls(
    raw_calls: Sequence[dict[str, Any]], tools: Sequence[ToolSpec], *, cut_off: bool
) -> list[Wanted]:
    """Read structured calls; a call without a name is left out.

    Nobody could answer it, and no server would take it back in the history.
    """
    return [
        wanted
        for raw in raw_calls
        for wanted in _read_call(raw, tools, whole=not cut_off)
    ]


def identify(wanted: Sequence[Wanted]) -> list[Wanted]:
    """Give each call an id that no other has; the server's own are kept."""
    taken: set[str] = set()
    identified: list[Wanted] = []
    for call in wanted:
        unique = call.id if call.id and call.id not in taken else _new_id()
        taken.add(unique)
        identified.append(replace(call, id=unique))
    return identified


def to_call(wanted: Wanted) -> ToolCall:
    """Return the call as the loop runs it, or answers its fault."""
    return ToolCall(
        id=wanted.id,
        name=wanted.name,
        arguments=wanted.arguments,
        fault=wanted.fault,
    )


def to_history(wanted: Wanted) -> dict[str, Any]:
    """Return the call as it goes back to the server, always in valid JSON."""
    return {
        **wanted.extra,
        "id": wanted.id,
        "type": "function",
        "function": {
            **wanted.function_extra,
            "name": history_name(wanted.name),
            "arguments": write(wanted.arguments),
        },
    }


def sound_extra(data: Mapping[str, Any], known: frozenset[str]) -> dict[str, Any]:
    """Keep a provider's own fields, but for those that are empty or no JSON."""
    return {
        key: value
        for key, value in data.items()
        if key not in known and value is not None and _is_writable(value)
    }


def _read_call(
    raw: dict[str, Any], tools: Sequence[ToolSpec], *, whole: bool
) -> list[Wanted]:
    function = raw.get("function")
    flat = not isinstance(function, dict)
    fields = raw if flat else as_dict(function)
    name = clean_name(as_text(fields.get("name")), tools)
    if not name:
        return []
    first = Wanted(
        name=name,
        id=as_text(raw.get("id")).strip(),
        extra=sound_extra(raw, _CALL_KEYS | (_FUNCTION_KEYS if flat else frozenset())),
        function_extra={} if flat else sound_extra(fields, _FUNCTION_KEYS),
    )
    if find_tool(name, tools) is None:
        return [replace(first, fault=unknown_tool(tools))]
    try:
        objects = read_arguments(_arguments_of(fields), whole=whole)
    except UnreadableArgumentsError as err:
        return [replace(first, fault=str(err))]
    return [
        replace(first, arguments=objects[0]),
        *(Wanted(name=name, arguments=arguments) for arguments in objects[1:]),
    ]


def _arguments_of(fields: Mapping[str, Any]) -> Any:
    """Return the arguments under whatever name: without them it is another call."""
    given = filter(None, map(fields.get, _ARGUMENT_KEYS))
    return next(given, fields.get("arguments"))


def _is_writable(value: Any) -> bool:
    try:
        write(value)
    except ValueError:
        return False
    return True


def _new_id() -> str:
    return uuid4().hex[:_ID_LENGTH]

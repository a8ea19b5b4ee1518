"""The history of a conversation in another form, for servers that ask for one."""

from collections.abc import Callable, Collection
from hashlib import sha1
import json
from typing import Any, Final

from .arguments import UnreadableArgumentsError, read_arguments
from .values import as_dict, as_list, as_text

type _Message = dict[str, Any]

# What a history is made of; only what is beside it may be left out.
MESSAGE_KEYS: Final = frozenset({"role", "content", "tool_calls", "tool_call_id"})
CALL_KEYS: Final = frozenset({"id", "type", "function"})
FUNCTION_KEYS: Final = frozenset({"name", "arguments"})
_ID_LENGTH: Final = 9


def extra_keys(messages: list[Any]) -> set[str]:
    """Return the fields of a history that only the server knows that wrote them."""
    found: set[str] = set()
    for message in map(as_dict, messages):
        found |= message.keys() - MESSAGE_KEYS
        for call in map(as_dict, as_list(message.get("tool_calls"))):
            found |= call.keys() - CALL_KEYS
            found |= as_dict(call.get("function")).keys() - FUNCTION_KEYS
    return found


def strip_history(messages: list[Any], keys: Collection[str]) -> list[Any]:
    """Leave fields out of messages and calls, but for those a history is made of."""

    def strip(fields: Any, needed: frozenset[str]) -> dict[str, Any]:
        return {
            key: value
            for key, value in as_dict(fields).items()
            if key in needed or key not in keys
        }

    def strip_call(call: _Message) -> _Message:
        stripped = strip(call, CALL_KEYS)
        return {**stripped, "function": strip(call.get("function"), FUNCTION_KEYS)}

    return [_with_calls(strip(one, MESSAGE_KEYS), strip_call) for one in messages]


def add_to_assistant(messages: list[Any], keys: Collection[str]) -> list[Any]:
    """Give each message of the model fields that must not be missing.

    What is known of its reasoning is put there, else an empty text.
    """

    def add(message: _Message) -> _Message:
        known = as_text(message.get("reasoning")) or as_text(
            message.get("reasoning_content")
        )
        return {**dict.fromkeys(sorted(keys), known), **message}

    return [add(one) if _is_assistant(one) else one for one in messages]


def rewrite_arguments(messages: list[Any]) -> list[Any]:
    """Write the arguments of each call anew, as one plain JSON object."""

    def rewrite(call: _Message) -> _Message:
        function = as_dict(call.get("function"))
        try:
            arguments = read_arguments(function.get("arguments"))[0]
        except UnreadableArgumentsError:
            arguments = {}
        written = json.dumps(arguments, allow_nan=False)
        return {**call, "function": {**function, "arguments": written}}

    return [_with_calls(as_dict(one), rewrite) for one in messages]


def shorten_ids(messages: list[Any]) -> list[Any]:
    """Give each call an id of nine letters and digits, the same in its answer."""

    def shorten(call: _Message) -> _Message:
        return {**call, "id": _short(as_text(call.get("id")))}

    shortened = [_with_calls(as_dict(one), shorten) for one in messages]
    return [
        {**one, "tool_call_id": _short(as_text(one["tool_call_id"]))}
        if "tool_call_id" in one
        else one
        for one in shortened
    ]


def unblank(messages: list[Any]) -> list[Any]:
    """Say nothing in place of an empty text beside calls."""
    return [
        {**one, "content": None}
        if one.get("tool_calls") and not as_text(one.get("content")).strip()
        else one
        for one in map(as_dict, messages)
    ]


def without_system(messages: list[Any]) -> list[Any]:
    """Put what the system says behind what the user says first (R1)."""
    told = [as_text(one.get("content")) for one in messages if _is_system(one)]
    rest = [one for one in messages if not _is_system(one)]
    for place, one in enumerate(rest):
        if told and one.get("role") == "user" and isinstance(one.get("content"), str):
            joined = "\n\n".join([one["content"], *told])
            return [*rest[:place], {**one, "content": joined}, *rest[place + 1 :]]
    return messages


def _with_calls(message: _Message, change: Callable[[_Message], _Message]) -> _Message:
    calls = as_list(message.get("tool_calls"))
    if not calls:
        return message
    return {**message, "tool_calls": [change(as_dict(call)) for call in calls]}


def _is_assistant(message: Any) -> bool:
    return as_dict(message).get("role") == "assistant"


def _is_system(message: Any) -> bool:
    return as_dict(message).get("role") in ("system", "developer")


def _short(call_id: str) -> str:
    return sha1(call_id.encode("utf-8", "replace")).hexdigest()[:_ID_LENGTH]  # noqa: S324 - no secret

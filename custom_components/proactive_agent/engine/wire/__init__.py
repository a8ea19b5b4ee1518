"""Chat completions, encoded and decoded without any I/O.

The faults of real servers are mended where a rule can tell what was meant; the rest
is a `ModelError`, never another exception, and never half a call.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..records import JsonObject, ToolSpec
from .decode import decode_reply
from .errors import classify_error
from .models import decode_models
from .url import normalise_url

__all__ = [
    "classify_error",
    "decode_models",
    "decode_reply",
    "encode_request",
    "normalise_url",
    "tool_message",
]

# Several choices would be several answers, and streams are not read.
_RESERVED: Final = frozenset(
    {"model", "messages", "tools", "stream", "stream_options", "n"}
)


def encode_request(
    model: str,
    messages: Sequence[JsonObject],
    tools: Sequence[ToolSpec],
    extra_body: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the body of a request; `extra_body` adds to it and replaces nothing."""
    extra = {key: value for key, value in extra_body.items() if key not in _RESERVED}
    body = {**extra, "model": model, "messages": list(messages), "stream": False}
    if tools:
        body["tools"] = [_declare(tool) for tool in tools]
    return body


def tool_message(call_id: str, content: str) -> JsonObject:
    """Return the answer to a tool call as it goes into the history."""
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def _declare(tool: ToolSpec) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        },
    }

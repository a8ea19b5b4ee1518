"""The same answer in other hands: other ids, another order, other blanks."""

from collections.abc import Callable
from dataclasses import replace
import json
import re
from typing import Any, Final

from .conformance import body_of
from .wire_catalogue import Case

_BLOCK: Final = re.compile(r"<tool_call>.*?</tool_call>", re.DOTALL)


def other_form(case: Case) -> Case:
    """Turn the keys and the calls of an answer round, and give the calls other ids.

    What is expected of them turns round with them.
    """
    body = body_of(case)
    if body is None:
        return case
    wanted = [*case.expected.get("tool_calls", ())]
    if len(wanted) > 1 and _turn_calls(body):
        wanted.reverse()
        case = replace(case, expected=_turned(case.expected, wanted))
    body = _reversed_keys(_with_other_ids(body))
    tail = "\n\ndata: [DONE]\n\n" if b"[DONE]" in case.body else "\n"
    return replace(case, body=(json.dumps(body, indent=3) + tail).encode())


def _turn_calls(body: Any) -> bool:
    """Turn the order of the calls round, unless all of them are one in the answer."""
    message = body["choices"][0]["message"]
    calls = message.get("tool_calls") or []
    blocks = _BLOCK.findall(message.get("content") or "")
    if len(calls) > 1:
        calls.reverse()
    elif len(blocks) > 1:
        left = iter(reversed(blocks))
        message["content"] = _BLOCK.sub(lambda _: next(left), message["content"])
    else:
        return False
    return True


def _turned(expected: dict[str, Any], wanted: list[Any]) -> dict[str, Any]:
    echo = expected.get("echo")
    if isinstance(echo, dict):
        last = f"tool_calls[{len(wanted) - 1}]"
        echo = {
            path.replace("tool_calls[0]", last): value for path, value in echo.items()
        }
    turned = {**expected, "tool_calls": wanted}
    return turned | ({"echo": echo} if echo else {})


def _with_other_ids(body: Any) -> Any:
    """Replace each id by a longer one; what had the same id still has."""

    def change(fields: dict[str, Any]) -> dict[str, Any]:
        if "function" in fields and fields.get("id"):
            fields = {**fields, "id": f"toolu_01-{fields['id']}-{'f' * 40}"}
        return fields

    return _everywhere(body, change)


def _reversed_keys(body: Any) -> Any:
    return _everywhere(body, lambda fields: dict(reversed([*fields.items()])))


def _everywhere(value: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    if isinstance(value, list):
        return [_everywhere(item, change) for item in value]
    if isinstance(value, dict):
        return {key: _everywhere(one, change) for key, one in change(value).items()}
    return value

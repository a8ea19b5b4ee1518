"""The pieces of one streamed message → the message."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from .values import as_dict, as_list, as_text, decode

_TEXTS: Final = ("content", "refusal", "reasoning", "thinking", "thought")


def merge(deltas: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Put a message together from what each piece adds to it."""
    message: dict[str, Any] = {}
    grown: dict[str, list[Any]] = {}
    calls = _Calls()
    legacy = _Calls()
    for delta in deltas:
        for key, value in delta.items():
            if value is None:
                continue
            if key == "tool_calls":
                for raw in [value] if isinstance(value, dict) else as_list(value):
                    calls.add(as_dict(raw))
            elif key == "function_call":
                legacy.add({"index": 0, "function": value})
            elif key.startswith(_TEXTS) and isinstance(value, str | list):
                grown.setdefault(key, []).extend(as_list(value) or [value])
            else:
                message[key] = value
    message |= {key: _joined(parts) for key, parts in grown.items()}
    if found := calls.whole():
        message["tool_calls"] = found
    for call in legacy.whole()[:1]:
        message["function_call"] = call["function"]
    return message


def _joined(parts: list[Any]) -> Any:
    texts = [part for part in parts if isinstance(part, str)]
    kept = [part for part in parts if part != []]
    return "".join(texts) if len(texts) == len(kept) else kept


@dataclass(slots=True)
class _Call:
    """A call that grows; its arguments come in text, or all at once."""

    fields: dict[str, Any] = field(default_factory=dict)
    function: dict[str, Any] = field(default_factory=dict)
    name: str = ""
    texts: list[str] = field(default_factory=list)
    whole: Any = None

    def has_all_arguments(self) -> bool:
        """Say whether nothing can be added to the arguments any more."""
        if self.whole is not None:
            return True
        text = "".join(self.texts).strip()
        if not text.endswith("}"):
            return False
        try:
            return decode(text)[1] == len(text)
        except ValueError:
            return False

    def add(self, raw: dict[str, Any]) -> None:
        """Take a piece; what is empty in it says nothing."""
        function = as_dict(raw.get("function"))
        self.fields |= {key: value for key, value in raw.items() if value}
        self.function |= {key: value for key, value in function.items() if value}
        name = as_text(function.get("name"))
        if name != self.name:
            self.name += name
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            self.texts.append(arguments)
        elif arguments is not None:
            is_same = self.whole in (None, arguments)
            self.whole = arguments if is_same else [self.whole, arguments]

    def as_message(self) -> dict[str, Any]:
        """Return the call as it stands in a message that is not streamed."""
        arguments = "".join(self.texts) if self.whole is None else self.whole
        named = {"name": self.name, "arguments": arguments}
        fields = {key: value for key, value in self.fields.items() if key != "index"}
        return {**fields, "function": {**self.function, **named}}


class _Calls:
    """The calls of a message; each piece belongs to one that there is, or begins one.

    Servers tell by an index, or by an id, or not at all; some give all calls one
    index, some each piece another id.
    """

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._places: dict[str, _Call] = {}

    def add(self, raw: dict[str, Any]) -> None:
        """Add a piece to its call."""
        index, call_id = raw.get("index"), as_text(raw.get("id")).strip()
        place = f"index {index}" if index is not None else f"id {call_id}"
        call = self._places.get(place)
        if index is None and not (call_id and (call or _name(raw))):
            call = self._calls[-1] if self._calls else None
        if call is None or _is_another(call, raw, call_id):
            call = _Call()
            self._calls.append(call)
        self._places[place] = call
        call.add(raw)

    def whole(self) -> list[dict[str, Any]]:
        """Return the calls in the order in which they began."""
        return [call.as_message() for call in self._calls]


def _is_another(call: _Call, raw: dict[str, Any], call_id: str) -> bool:
    if not _name(raw):
        return False
    known_id = as_text(call.fields.get("id")).strip()
    if call_id and known_id:
        return call_id != known_id
    return call.has_all_arguments()


def _name(raw: dict[str, Any]) -> str:
    return as_text(as_dict(raw.get("function")).get("name"))

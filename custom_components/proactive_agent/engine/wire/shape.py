"""The shape in which an endpoint takes requests, where it is not the usual one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, Final, Self

from .reshape import (
    add_to_assistant,
    rewrite_arguments,
    shorten_ids,
    strip_history,
    unblank,
    without_system,
)
from .schemas import strip_schemas, without_parameters
from .values import as_dict, as_list

KEPT: Final = frozenset({"model", "messages", "tools"})
LIMITS: Final[tuple[str, str]] = ("max_tokens", "max_completion_tokens")
_MOST: Final = 64  # names of one sort; what is remembered has to stay small


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How requests to one model have to differ from the usual ones.

    `dropped` and `renamed` are keys of the body, `max_tokens` the most that an answer
    may be allowed (set also where nothing is), `is_tight` if that is what one long
    request has left, `schema_keywords` what the schemas of tools must do without,
    `message_keys` fields of the history that are not taken back, `assistant_keys`
    such as have to be there.
    """

    dropped: frozenset[str] = frozenset()
    renamed: Mapping[str, str] = field(default_factory=dict)
    max_tokens: int | None = None
    is_tight: bool = False
    schema_keywords: frozenset[str] = frozenset()
    message_keys: frozenset[str] = frozenset()
    assistant_keys: frozenset[str] = frozenset()
    rewritten_arguments: bool = False
    short_ids: bool = False
    no_blank_content: bool = False
    no_empty_parameters: bool = False
    no_system: bool = False
    streamed: bool = False

    @property
    def lasting(self) -> Self:
        """What holds for other requests too: these may leave more room."""
        if not self.is_tight:
            return self
        return replace(self, max_tokens=None, is_tight=False)

    def apply(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return a body in this shape; what is given stays as it is.

        `model`, `messages` and `tools` are never taken out.
        """
        shaped = {
            self.renamed.get(key, key): value
            for key, value in body.items()
            if key in KEPT or key not in self.dropped
        }
        if self.streamed:
            shaped["stream"] = True
        self._limit(shaped)
        if "tools" in shaped:
            shaped["tools"] = self._tools(as_list(shaped["tools"]))
        shaped["messages"] = self._messages(as_list(body.get("messages")))
        return shaped

    def with_names(self, key: str, *names: str) -> Self:
        """Return the shape with names added to one of its sets."""
        return replace(self, **{key: getattr(self, key) | {*names}})

    def with_flag(self, key: str) -> Self:
        """Return the shape with one of its flags set."""
        changes: dict[str, Any] = {key: True}
        return replace(self, **changes)

    def as_dict(self) -> dict[str, Any]:
        """Return what differs from the usual, as JSON."""
        return {
            one.name: _plain(value)
            for one in fields(self)
            if (value := getattr(self, one.name))
        }

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Read `as_dict`; what makes no sense is as if it were not there."""
        stored = as_dict(data)
        usual = cls()
        return cls(
            **{
                one.name: _READERS[type(getattr(usual, one.name))](stored[one.name])
                for one in fields(cls)
                if one.name in stored
            }
        )

    def _limit(self, body: dict[str, Any]) -> None:
        if self.max_tokens is None:
            return
        key = next((key for key in LIMITS if key in body), self._limit_key())
        given = body.get(key)
        is_less = isinstance(given, int) and given < self.max_tokens
        body[key] = given if is_less else self.max_tokens

    def _limit_key(self) -> str:
        if "max_tokens" in self.dropped:
            return "max_completion_tokens"
        return self.renamed.get("max_tokens", "max_tokens")

    def _tools(self, tools: list[Any]) -> list[Any]:
        if self.no_empty_parameters:
            tools = without_parameters(tools)
        return strip_schemas(tools, self.schema_keywords)

    def _messages(self, messages: list[Any]) -> list[Any]:
        changes = (
            (self.message_keys, partial(strip_history, keys=self.message_keys)),
            (self.assistant_keys, partial(add_to_assistant, keys=self.assistant_keys)),
            (self.rewritten_arguments, rewrite_arguments),
            (self.short_ids, shorten_ids),
            (self.no_blank_content, unblank),
            (self.no_system, without_system),
        )
        for is_on, change in changes:
            messages = change(messages) if is_on else messages
        return messages


USUAL: Final = Shape()


def _plain(value: Any) -> Any:
    return sorted(value) if isinstance(value, frozenset) else value


def _names(value: Any) -> frozenset[str]:
    found = [name for name in as_list(value) if isinstance(name, str)]
    return frozenset(found[:_MOST])


def _pairs(value: Any) -> dict[str, str]:
    return {
        old: new
        for old, new in as_dict(value).items()
        if old in LIMITS and new in LIMITS and old != new
    }


def _count(value: Any) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and value > 0
    return value if is_count else None


def _flag(value: Any) -> bool:
    return value is True


_READERS: Final[Mapping[type, Callable[[Any], Any]]] = {
    frozenset: _names,
    dict: _pairs,
    bool: _flag,
    type(None): _count,
}

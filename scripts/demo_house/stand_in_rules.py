"""What the stand-in model answers: rules instead of weights, and no memory.

As a real model would, it knows nothing but the request: the states in the first
message, the tools, and what those tools have answered so far.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
import json
import re
from typing import Any, Final

LOW: Final = 1.5
ENTITY_ID: Final = re.compile(r"\b[a-z_]+\.[a-z0-9_]+\b")
NUMBER: Final = re.compile(r"(?<![\w.-])-?\d+(?:\.\d+)?(?![\w:-])")
STATE: Final = re.compile(r"""\bstate["']?\s*[:=]\s*["']?(-?\d+(?:\.\d+)?)""")
ON: Final = re.compile(r"\b(on|off)\b")

type Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool the stand-in wants called."""

    name: str
    arguments: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One answer: words, or tool calls."""

    text: str | None = None
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Care:
    """What a falling gauge wants, and the words for it."""

    object_id: str
    noun: str
    call: Call
    story: str
    failure: str


CARES: Final = (
    Care(
        object_id="hunger",
        noun="hunger",
        call=Call(name="feed", arguments={"food": "meal"}),
        story="was hungry and has had a meal",
        failure="is hungry, but feeding her failed",
    ),
    Care(
        object_id="happy",
        noun="happiness",
        call=Call(name="play"),
        story="was bored and has had somebody to play with",
        failure="is bored, but playing with her failed",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A call of this conversation with what the tool said."""

    name: str
    arguments: Json
    answer: str

    @property
    def failed(self) -> bool:
        """Whether the tool says that it did not work."""
        try:
            content = json.loads(self.answer)
        except ValueError:
            return self.answer.lower().startswith("error")
        return isinstance(content, dict) and bool(content.get("error"))


def decide(request: Json) -> Decision:
    """Answer one chat-completions request."""
    messages: Sequence[Json] = request.get("messages", ())
    tools = {tool["function"]["name"]: tool["function"] for tool in _tools(request)}
    answered = tuple(_answered(messages))
    if tools and "tell_owner" not in tools:
        return _show_off(tools) if not answered else Decision(text="That worked.")
    texts = (_text(one) for one in messages if one.get("role") == "user")
    return _Milonga(tools, answered, readings("\n".join(texts))).decide()


def readings(text: str) -> dict[str, str]:
    """Map each entity id in a text to what stands behind it, up to the next one."""
    ids = list(ENTITY_ID.finditer(text))
    following = [one.start() for one in ids[1:]] + [len(text)]
    return {
        one.group(): text[one.end() : end]
        for one, end in zip(ids, following, strict=False)
    }


@dataclass(frozen=True)
class _Milonga:
    """The one job the stand-in has learned."""

    tools: Mapping[str, Json]
    answered: Sequence[Answered]
    states: Mapping[str, str]

    def decide(self) -> Decision:
        needs = [care for care in CARES if self._needs(care)]
        if not needs:
            return Decision(text="Milonga is fine; nothing was to be done.")
        steps = (self._care(needs), self._look_again(needs), self._tell(needs))
        for calls in steps:
            if calls:
                return Decision(calls=calls)
        return Decision(text="Milonga has been looked after and her owner knows.")

    def _needs(self, care: Care) -> bool:
        level = _number(self.states.get(self._gauge(care) or "", ""))
        return level is not None and level < LOW and care.call.name in self.tools

    def _gauge(self, care: Care) -> str | None:
        ids = (one for one in self.states if one.split(".")[1] == care.object_id)
        return next(ids, None)

    def _care(self, needs: Sequence[Care]) -> tuple[Call, ...]:
        return tuple(care.call for care in needs if not self._made(care.call.name))

    def _look_again(self, needs: Sequence[Care]) -> tuple[Call, ...]:
        """Read what was filled, and put the call light out that it had lit."""
        wanted = [
            Call(name="get_state", arguments={"entity_id": self._gauge(care)})
            for care in needs
        ]
        wanted += [
            Call(name="light_turn_off", arguments={"entity_id": entity_id})
            for entity_id, state in self.states.items()
            if entity_id.endswith(".call_light") and _is_on(state)
        ]
        return tuple(
            _fitted(call, self.tools[call.name])
            for call in wanted
            if call.name in self.tools and not self._made(call.name)
        )

    def _tell(self, needs: Sequence[Care]) -> tuple[Call, ...]:
        if self._made("tell_owner"):
            return ()
        line = " and ".join(self._story(care) for care in needs)
        return (Call(name="tell_owner", arguments={"message": f"Milonga {line}."}),)

    def _story(self, care: Care) -> str:
        if any(one.failed for one in self._made(care.call.name)):
            return care.failure
        gauge = self._gauge(care) or ""
        for one in self._made("get_state"):
            level = _level(one.answer)
            if level is not None and gauge in json.dumps(one.arguments):
                return f"{care.story} ({care.noun} is at {level:g} of 4 hearts)"
        return care.story

    def _made(self, name: str) -> list[Answered]:
        return [one for one in self.answered if one.name == name]


def _show_off(tools: Mapping[str, Json]) -> Decision:
    """Prove that it can call a tool, whatever the tool is."""
    name, function = next(iter(tools.items()))
    sample = _sample(function.get("parameters", {}))
    return Decision(calls=(Call(name=name, arguments=sample),))


def _sample(schema: Json) -> Any:
    if choices := schema.get("enum"):
        return choices[0]
    kind = schema.get("type", "object")
    if kind == "array":
        return [_sample(schema.get("items", {}))]
    if kind == "object":
        properties: Json = schema.get("properties", {})
        required: Sequence[str] = schema.get("required", ())
        return {name: _sample(properties.get(name, {})) for name in required}
    simple = {"string": "ok", "boolean": True, "integer": 1, "number": 1}
    return simple.get(kind)


def _fitted(call: Call, function: Json) -> Call:
    """Wrap an argument in a list where the tool's schema asks for one."""
    properties: Json = function.get("parameters", {}).get("properties", {})
    arguments = {
        name: [value] if properties.get(name, {}).get("type") == "array" else value
        for name, value in call.arguments.items()
    }
    return Call(name=call.name, arguments=arguments)


def _tools(request: Json) -> Sequence[Json]:
    return request.get("tools") or ()


def _answered(messages: Sequence[Json]) -> Iterator[Answered]:
    answers = {
        one["tool_call_id"]: _text(one) for one in messages if one.get("role") == "tool"
    }
    for message in messages:
        for call in message.get("tool_calls") or ():
            function = call["function"]
            yield Answered(
                name=function["name"],
                arguments=json.loads(function["arguments"] or "{}"),
                answer=answers.get(call["id"], ""),
            )


def _text(message: Json) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content)


def _number(text: str) -> float | None:
    found = NUMBER.search(text)
    return float(found.group()) if found else None


def _level(answer: str) -> float | None:
    found = STATE.search(answer)
    return float(found.group(1)) if found else _number(answer)


def _is_on(text: str) -> bool:
    found = ON.search(text)
    return found is not None and found.group() == "on"

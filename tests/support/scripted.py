"""A model and tools that follow a script, for the engine without Home Assistant."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from custom_components.proactive_agent.engine.records import (
    Json,
    JsonObject,
    Reply,
    ToolAnswer,
    ToolCall,
    ToolSpec,
    Usage,
)

type Step = Reply | Exception | Callable[[], Reply]
type Answer = ToolAnswer | Exception | Callable[[ToolCall], ToolAnswer]


def call(call_id: str, name: str, **arguments: Any) -> ToolCall:
    """A tool call with an id of its own."""
    return ToolCall(id=call_id, name=name, arguments=arguments)


def says(text: str | None, usage: Usage | None = None) -> Reply:
    """A reply without a tool call: the last word of a run."""
    message = {"role": "assistant", "content": text}
    return Reply(text=text, usage=usage, message=message)


def wants(*calls: ToolCall, usage: Usage | None = None) -> Reply:
    """A reply that calls tools, with a field that only its server knows."""
    message: dict[str, Json] = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": one.id, "function": {"name": one.name}} for one in calls],
        "reasoning_content": "kept as it came",
    }
    return Reply(text=None, calls=calls, usage=usage, message=message)


@dataclass(frozen=True, kw_only=True)
class Request:
    """What one turn sent to the model, as it was at that moment."""

    messages: list[dict[str, Any]]
    tools: tuple[ToolSpec, ...]


class ScriptedModel:
    """Plays its steps in order; a turn too many fails the test."""

    def __init__(self, *steps: Step) -> None:
        self.requests: list[Request] = []
        self._steps = [*steps]

    async def complete(
        self, messages: Sequence[JsonObject], tools: Sequence[ToolSpec]
    ) -> Reply:
        await asyncio.sleep(0)
        copied: list[dict[str, Any]] = deepcopy([dict(one) for one in messages])
        self.requests.append(Request(messages=copied, tools=tuple(tools)))
        assert self._steps, "the script has no such turn"
        step = self._steps.pop(0)
        if isinstance(step, Exception):
            raise step
        return step() if callable(step) else step

    @property
    def is_over(self) -> bool:
        """Whether every step was played."""
        return not self._steps


@dataclass
class ScriptedTools:
    """Answers each tool by its script; names in `acting` change the home."""

    answers: Mapping[str, Answer]
    acting: frozenset[str] = frozenset()
    called: list[ToolCall] = field(default_factory=list)

    @property
    def specs(self) -> Sequence[ToolSpec]:
        return tuple(
            ToolSpec(name=name, description=f"Does {name}", parameters={})
            for name in self.answers
        )

    @property
    def called_ids(self) -> list[str]:
        """The ids of the calls that were let through, in order."""
        return [one.id for one in self.called]

    def acts(self, name: str) -> bool:
        return name in self.acting

    async def call(self, call: ToolCall) -> ToolAnswer:
        self.called.append(call)
        await asyncio.sleep(0)
        answer = self.answers[call.name]
        if isinstance(answer, Exception):
            raise answer
        return answer(call) if callable(answer) else answer


def counting() -> Callable[[ToolCall], ToolAnswer]:
    """An answer that is another one each time."""
    numbers = iter(range(1_000))
    return lambda _call: ToolAnswer(content=f"answer {next(numbers)}")

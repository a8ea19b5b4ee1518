"""A model that knows what it reads, and acts and speaks as a sensible one would.

It reads the states from what it is asked, or asks for them with a tool; it knows no
more of the home. What the owner knows it learns from the prompt, or not at all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
import json
import re
from typing import Any, Final

from .jobs import DAMP, JOBS, Job

ALL_FINE: Final = "All is fine, there is nothing to do."
LIVE_CONTEXT: Final = "GetLiveContext"
TELL: Final = "tell_owner"
# Words of ours before what the owner knows.
TOLD: Final = "told already"
NOT_DONE: Final = re.compile(r'"error": ?"|not repeated')

type Json = dict[str, Any]

_OURS: Final = re.compile(
    r'^- (?P<id>\S+) "(?P<name>[^"]+)".*?: (?P<state>[^\s,]+)', re.MULTILINE
)
_CORES: Final = re.compile(
    r"^- names: (?P<name>.+)\n(?:  .*\n)*?  state: '?(?P<state>[^'\n]+)'?", re.MULTILINE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """What is to be done first, as a tool and its arguments, and what is to be said."""

    message: str
    action: tuple[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """A request as the model reads it."""

    messages: Sequence[Mapping[str, Any]]
    tools: Mapping[str, Any]
    states: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, request: Mapping[str, Any]) -> Conversation:
        """Read a request."""
        messages = request["messages"]
        tools = {one["function"]["name"]: one for one in request.get("tools") or ()}
        states: dict[str, str] = {}
        for text in (_text(one) for one in messages):
            for pattern in (_OURS, _CORES):
                states |= {one["name"]: one["state"] for one in pattern.finditer(text)}
        return cls(messages, tools, states)

    @property
    def job(self) -> Job | None:
        """The job that is asked for."""
        asked = [_text(one) for one in self.messages if one["role"] == "user"]
        return next((job for job in JOBS if asked and job.prompt in asked[-1]), None)

    @property
    def has_begun(self) -> bool:
        """Whether the model has said something already."""
        return any(one["role"] == "assistant" for one in self.messages)

    @property
    def told(self) -> str:
        """What the owner has been told, as far as it is said."""
        asked = _text(self.messages[1]) if len(self.messages) > 1 else ""
        return asked.partition(TOLD)[2].lower()

    def called(self, name: str) -> str | None:
        """Return what a tool has answered; None if it was not called."""
        ids = {
            call["id"]
            for one in self.messages
            for call in one.get("tool_calls") or ()
            if call["function"]["name"] == name
        }
        answers = [_text(m) for m in self.messages if m.get("tool_call_id") in ids]
        return answers[-1] if answers else None


def reply(request: Mapping[str, Any]) -> Json:
    """Answer one turn."""
    seen = Conversation.of(request)
    if (job := seen.job) is None:
        # A dialog that tries whether it can call a tool.
        name = next(iter(seen.tools), None)
        return call(name, {}) if name else say("Ready.")
    live = next((name for name in seen.tools if name.endswith(LIVE_CONTEXT)), None)
    if not seen.states and live is not None and seen.called(live) is None:
        return call(live, {})
    intent = _INTENTS[job.name](seen)
    return say(ALL_FINE) if intent is None else _carry_out(intent, seen)


def _carry_out(intent: Intent, seen: Conversation) -> Json:
    """Do what is to be done first, and speak of it only if it was done."""
    if intent.action is not None:
        name, arguments = intent.action
        if (answer := seen.called(name)) is None:
            return call(name, arguments)
        if NOT_DONE.search(answer):
            return say("It was tried before and does not help.")
    if TELL in seen.tools and seen.called(TELL) is None:
        return call(TELL, {"message": intent.message})
    return say(intent.message)


def _freezer(seen: Conversation) -> Intent | None:
    if seen.states.get("Freezer door") != "on" or "freezer door" in seen.told:
        return None
    celsius = seen.states.get("Freezer temperature", "unknown")
    return Intent(message=f"The freezer door is open, and it is {celsius} °C inside.")


def _washer(seen: Conversation) -> Intent | None:
    if seen.states.get("Washer") != "done" or "washing" in seen.told:
        return None
    return Intent(message="The washing is done.")


def _bath(seen: Conversation) -> Intent | None:
    if seen.states.get("Bath window") != "on" or seen.states.get("Bath heater") != "on":
        return None
    return Intent(
        message="A window of the bath is open, so the heater is off now.",
        action=_first(
            seen,
            {
                "input_boolean_turn_off": {"entity_id": ["input_boolean.bath_heater"]},
                "HassTurnOff": {"name": "Bath heater"},
            },
        ),
    )


def _cellar(seen: Conversation) -> Intent | None:
    humidity = seen.states.get("Cellar humidity", "")
    if not re.fullmatch(r"[\d.]+", humidity) or float(humidity) <= DAMP:
        return None
    return Intent(
        message=f"The cellar is damp, at {humidity} %: the drain pump runs.",
        action=_first(seen, {"drain_pump": {}}),
    )


_INTENTS: Final = {
    "Freezer": _freezer,
    "Washer": _washer,
    "Bath": _bath,
    "Cellar": _cellar,
}


def _first(seen: Conversation, moves: Mapping[str, Json]) -> tuple[str, Json] | None:
    """Return the first move of these whose tool is there, whatever stands before it."""
    for end, arguments in moves.items():
        for name in seen.tools:
            if name.endswith(end):
                return name, arguments
    return None


def call(name: str, arguments: Json) -> Json:
    """Call one tool."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    one = {"id": f"call_{name}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [one]}


def say(text: str) -> Json:
    """End with a text."""
    return {"role": "assistant", "content": text}


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    if not isinstance(content, str):
        content = "\n".join(part.get("text", "") for part in content)
    if message["role"] != "tool":
        return content
    try:
        found = json.loads(content)
    except ValueError:
        return content
    match found:
        case {"data": {"result": str() as result}} | {"result": str() as result}:
            return result
        case _:
            return content

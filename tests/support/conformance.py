"""A home whose scripts are the catalogue's tools, and what a run in it comes to.

The fixtures `stage` and `crowded_stage` (with twenty other tools) need `clock` and
`home` of `tests.support.heartbeats` in the test module::

    async def test_answered(stage):
        played = await stage.play(answer_of(case), text("Done."))
        assert played.ran == [Ran("get_weather", {"city": "Oslo"})]

Nobody waits for a pause between two tries: it is written down, and the frozen time
moves on by it, so that a run knows how long it has been at it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
import json
from typing import Any, Final, NamedTuple

from homeassistant.core import Event, callback
import pytest

from custom_components.proactive_agent import minds
from custom_components.proactive_agent.endpoint.endpoint import EndpointClient
from custom_components.proactive_agent.engine.records import ToolSpec

from . import heartbeats
from .heartbeats import Beat, Clock, Home, let_run
from .llm_server import CLOSE, Raw
from .wire_catalogue import TOOLS as DECLARED, Case

KEY: Final = "sk-owner-123456"
# A call that the model is told about, so that it can mend it within the run.
TOLD: Final = frozenset({"B12-array-or-scalar", "C4-unknown-tool"})
# What has to be sent for the server to refuse it; the hints of the catalogue say so.
SENT: Final[Mapping[str, Mapping[str, Any]]] = {
    "E8-reasoning-only-length": {"max_tokens": 64},
    "G1-max_tokens-renamed": {"max_tokens": 512},
    "G2-max_tokens-copilot-code": {"max_tokens": 512},
    "G3-max_completion_tokens-extra": {"max_completion_tokens": 512},
    "G4-temperature-value": {"temperature": 0.2},
    "G5-temperature-param-mislabelled": {"temperature": 0.2},
    "G7-auto-tool-choice-flag": {"tool_choice": "auto"},
    "G9-parallel_tool_calls": {"parallel_tool_calls": False},
    "I23-context-vllm-flat": {"max_tokens": 10_000},
    "I26-context-anthropic": {"max_tokens": 64_000},
}


def _script(name: str, fields: Mapping[str, str]) -> dict[str, Any]:
    """Make a script that tells what it was given, in an event and in its answer.

    A field is a `string` or an `integer`; with a question mark it may be left out.
    `max` is also a function of templates: only a number was given.
    """
    kinds = {key: _KINDS[kind.rstrip("?")] for key, kind in fields.items()}
    given = ", ".join(
        f"('{key}', {key} if {key} is {test} else none)"
        for key, (test, _) in kinds.items()
    )
    return {
        "alias": name.replace("_", " ").capitalize(),
        "description": f"The tool {name}.",
        "fields": {
            key: {
                "required": not fields[key].endswith("?"),
                "selector": selector,
            }
            for key, (_, selector) in kinds.items()
        },
        "sequence": [
            {
                "variables": {
                    "given": f"{{{{ dict([{given}] | rejectattr(1, 'none')) }}}}"
                }
            },
            {
                "event": "tool_ran",
                "event_data": {"tool": name, "given": "{{ given }}"},
            },
            {"variables": {"answer": {"tool": name, "given": "{{ given }}"}}},
            {"stop": "It has been told.", "response_variable": "answer"},
        ],
    }


_KINDS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "string": ("string", {"text": {}}),
    "integer": ("number", {"number": {"min": 0, "max": 100, "mode": "box"}}),
}


def _declared(tool: ToolSpec) -> dict[str, str]:
    """Read the fields of a tool as the catalogue declares it."""
    properties: Any = tool.parameters["properties"]
    required: Any = tool.parameters["required"]
    return {
        key: schema["type"] + ("" if key in required else "?")
        for key, schema in properties.items()
    }


TOOLS: Final = {tool.name: _script(tool.name, _declared(tool)) for tool in DECLARED}
# Names that are nearly those of the tools, and chores that have nothing to do with
# them: whoever guesses at a name finds one here.
OTHERS: Final = {
    name: _script(name, fields)
    for name, fields in {
        "weather": {"city": "string"},
        "get_weather_2": {"city": "string", "days": "integer?"},
        "get_weathers": {"city": "string?"},
        "now_playing": {},
        "nows": {},
        "llm_versions": {},
        "set_levels": {"name": "string", "level": "integer"},
        "level": {"level": "integer"},
        "write": {"path": "string", "text": "string"},
        "write_file_now": {"path": "string", "text": "string"},
        "browser_search": {"q": "string"},
        "oslo": {"population": "integer?"},
        **{f"chore_{number}": {"how": "string?"} for number in range(8)},
    }.items()
}


class Ran(NamedTuple):
    """A call as the script saw it."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What one answer of the model left in the history of the next request."""

    message: Mapping[str, Any]
    answers: Sequence[Mapping[str, Any]]

    @property
    def calls(self) -> list[dict[str, Any]]:
        return [*self.message.get("tool_calls", ())]

    @property
    def ids(self) -> list[str]:
        return [call["id"] for call in self.calls]


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What a run came to, in each place where it shows.

    `called` are the calls of actions on Home Assistant's bus, but for the wake itself
    and for what the owner was told.
    """

    record: Mapping[str, Any]
    chats: Sequence[Mapping[str, Any]]
    waits: Sequence[float]
    ran: Sequence[Ran]
    called: Sequence[tuple[str, Mapping[str, Any]]]
    told: Sequence[str]

    @property
    def turns(self) -> list[Turn]:
        """The turns that were answered, by the history that the last request has."""
        found: list[Turn] = []
        for message in self.chats[-1]["messages"][2:]:
            if message["role"] == "assistant":
                found.append(Turn(message=message, answers=[]))
            else:
                assert message["role"] == "tool"
                found[-1].answers.append(message)  # type: ignore[attr-defined]
        return found


class Pauses:
    """The pauses between tries: noted, and over as soon as the time has been turned.

    In steps, if it matters what else comes to its end in the middle of one.
    """

    def __init__(self, clock: Clock) -> None:
        self.waits: list[float] = []
        self.step = timedelta.max
        self._clock = clock

    async def __call__(self, seconds: float) -> None:
        self.waits.append(seconds)
        left = timedelta(seconds=seconds)
        while left > timedelta():
            step = min(left, self.step)
            self._clock.turn(step)
            left -= step
            await let_run()


@dataclass(slots=True, kw_only=True)
class Stage:
    """A heartbeat that may run the scripts, and the server that it asks."""

    home: Home
    pauses: Pauses
    acts_on: Sequence[str]
    beat: Beat = field(init=False)
    ran: list[Ran] = field(default_factory=list)
    called: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)

    async def begin(
        self, case: Case | None = None, *, forgets: bool = False, **fuses: Any
    ) -> None:
        """Set the heartbeat up as the case needs it, or as any would do.

        One that `forgets` does the same again, also where it did not help (A7).
        """
        extra = SENT.get(case.id, {}) if case else {}
        entry = self.home.entry
        data = {**entry.data, "api_key": KEY, "extra_body": dict(extra)}
        self.home.hass.config_entries.async_update_entry(entry, data=data)
        self.beat = await self.home.add_heartbeat(
            counted=False,
            act={"entity_id": [*self.acts_on]},
            fuses=fuses,
            manners={"recheck_after": {"seconds": 0}} if forgets else {},
        )

    async def play(self, *answers: Any, always: Any = None) -> Played:
        """Wake by hand, and let the model answer so."""
        server = self.home.llm_server
        server.play(*answers)
        server.always = always
        asked, told = len(server.chats), len(self.home.told)
        for noted in (self.ran, self.called, self.pauses.waits):
            noted.clear()
        record = await self.beat.wake()
        await self.home.settled()
        assert server.unplayed == 0
        assert KEY not in str(record)
        return Played(
            record=record,
            chats=server.chats[asked:],
            waits=[*self.pauses.waits],
            ran=[*self.ran],
            called=[*self.called],
            told=self.home.told[told:],
        )

    @callback
    def note_run(self, event: Event) -> None:
        """Keep what a script says of itself."""
        self.ran.append(Ran(event.data["tool"], event.data["given"]))

    @callback
    def note_call(self, event: Event) -> None:
        """Keep what was called."""
        domain, service = event.data["domain"], event.data["service"]
        if domain not in ("proactive_agent", "notify"):
            self.called.append((f"{domain}.{service}", event.data["service_data"]))


def answer_of(case: Case) -> Any:
    """Return what the server has to answer for a case."""
    if case.wire == "close":
        return CLOSE
    return Raw(status=case.status, headers=case.headers, body=case.body)


def body_of(case: Case) -> Any:
    """Return the JSON of a case's answer, None where it is no JSON."""
    try:
        return json.JSONDecoder().raw_decode(case.body.decode().lstrip())[0]
    except ValueError:
        return None


def usage_of(case: Case) -> tuple[int, int] | None:
    """Return the tokens that the answer itself says it has used."""
    body = body_of(case)
    usage = body.get("usage") if isinstance(body, dict) else None
    return (usage["prompt_tokens"], usage["completion_tokens"]) if usage else None


def message_of(case: Case) -> Mapping[str, Any]:
    """Return the message in a case's answer, as the server wrote it."""
    message: Mapping[str, Any] = body_of(case)["choices"][0]["message"]
    return message


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the home have the catalogue's tools as scripts."""
    monkeypatch.setattr(heartbeats, "SCRIPTS", TOOLS)


@pytest.fixture
def more_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the home have them among others."""
    monkeypatch.setattr(heartbeats, "SCRIPTS", {**OTHERS, **TOOLS})


def _furnish(
    home: Home, monkeypatch: pytest.MonkeyPatch, acts_on: Sequence[str]
) -> Stage:
    pauses = Pauses(home.clock)
    monkeypatch.setattr(minds, "EndpointClient", partial(EndpointClient, sleep=pauses))
    stage = Stage(home=home, pauses=pauses, acts_on=acts_on)
    home.hass.bus.async_listen("tool_ran", stage.note_run)
    home.hass.bus.async_listen("call_service", stage.note_call)
    return stage


@pytest.fixture
def stage(scripts: None, home: Home, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """Set up the home with the tools; `begin` adds the heartbeat."""
    return _furnish(home, monkeypatch, [f"script.{name}" for name in TOOLS])


@pytest.fixture
def crowded_stage(
    more_scripts: None, home: Home, monkeypatch: pytest.MonkeyPatch
) -> Stage:
    """Set up the home with the tools and as many as four times others."""
    names = [*OTHERS, *TOOLS]
    return _furnish(home, monkeypatch, [f"script.{name}" for name in names])

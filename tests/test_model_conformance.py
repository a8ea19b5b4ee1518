"""What servers really answer, through the whole integration.

Each answer of the catalogue meets a run of a heartbeat that may call the catalogue's
tools, which are scripts of the home; what the scripts were given, what went back to
the server and what the run's record says has to be what the case says.

Two words of the catalogue cannot be seen here. `finish` is not kept: a run goes on
where there are calls, and ends where there are none (R2). `reasoning` is only seen in
what it is not part of: the answer, and a call.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
import json
import random
import re
from typing import Any

from homeassistant.config_entries import SOURCE_REAUTH, SOURCE_USER, ConfigFlowResult
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
import pytest

from custom_components.proactive_agent.const import DOMAIN
from custom_components.proactive_agent.endpoint.endpoint import (
    MAX_SHAPES,
    EndpointClient,
)
from custom_components.proactive_agent.endpoint.retry import MAX_WAIT
from custom_components.proactive_agent.flows import (
    server as flow_server,
    waiting as flow_waiting,
)
from tests.support.conformance import (
    OTHERS,
    SENT,
    TOLD,
    TOOLS,
    Played,
    Ran,
    Stage,
    Turn,
    answer_of,
    crowded_stage,
    message_of,
    more_scripts,
    scripts,
    stage,
    usage_of,
)
from tests.support.conformance_variants import other_form
from tests.support.heartbeats import clock, home
from tests.support.llm_server import (
    MODEL,
    USAGE,
    LlmServer,
    calls,
    completion,
    llm_server,
    text,
)
from tests.support.wire_catalogue import CHATS, MODELS, TOOLS as DECLARED, Case

__all__ = [
    "clock",
    "crowded_stage",
    "home",
    "llm_server",
    "more_scripts",
    "scripts",
    "stage",
]

DONE = text("Done.")
# What a model does once its server is well again; no case calls it so.
LATER = ("set_level", {"name": "hall", "level": 3})
TOLD_TWICE = 3  # the same fault, told for the third time, ends the run (R6)
# Answers that do not say what they have used, of a model that may have thought.
UNKNOWN_USE = {
    "G15-groq-tool_use_failed",
    "H2-200-error-502",
    "H6-html-502",
    "H19-flat-error-200",
    "I32-closed-before-response",
}
# After a tool's answer a model may have nothing left to say: that ends the run (R2).
MAY_BE_SILENT = {"E1-null-no-calls", "E2-empty-string-no-calls"}
# What an error has to name, beside what its kind lets one say.
NAMED_IN_ERROR = {
    "E8-reasoning-only-length": "Allow it more tokens",
    "F6-content_filter": "content filter",
    "G4-temperature-value": "the option temperature",
    "G7-auto-tool-choice-flag": "--enable-auto-tool-choice",
    "G8-ollama-no-tools": "cannot call tools",
    "H1-200-error-rate": "temporarily rate-limited upstream",
    "H4-200-wrong-endpoint-string": "ends in /v1",
    "H5-html-200": "Open WebUI",
    "H6-html-502": "502 Bad Gateway",
    "H7-choices-empty": "choices, usage",
    "H17-fastapi-422-detail": "messages.2.content: Field required",
    "I12-404-ollama-model": MODEL,
    "I13-404-openai-model": MODEL,
    "I14-400-model-id": MODEL,
    "I35-redirect": "https://api.example.invalid/v1 ",
}


def of(expect: str) -> list[Case]:
    return [case for case in CHATS if case.expect == expect]


def named(*ids: str) -> list[Case]:
    return [case for case in CHATS if case.id.partition("-")[0] in ids]


def by_id(case: Case) -> str:
    return case.id


each = partial(pytest.mark.parametrize, "case", ids=by_id)


def wanted(case: Case) -> list[Ran]:
    return [
        Ran(call["name"], call["arguments"]) for call in case.expected["tool_calls"]
    ]


# What is the same of every run, whatever the server answered.


def assert_ran(played: Played, expected: Sequence[Ran]) -> None:
    """Hold the scripts, the bus, the record and the owner against what was called."""
    assert played.ran == expected
    assert played.called == [(f"script.{name}", data) for name, data in expected]
    assert [
        (action["action"], action["entity_id"], action["data"], action["status"])
        for action in played.record["actions"]
    ] == [
        (f"script.{name}", [f"script.{name}"], data, "done") for name, data in expected
    ]
    assert [
        Ran(call["tool"], call["arguments"])
        for call in played.record["calls"]
        if not call["error"]
    ] == expected
    error = played.record["error"]
    # Of these two its owner hears at once, for nobody else can mend them (S7).
    is_told = error is not None and error["kind"] in {"auth", "quota"}
    assert len(played.told) == bool(expected) + is_told


def assert_history(played: Played, expected: Sequence[Sequence[Ran]]) -> None:
    """Hold each request against the one before it, and each call against its answer.

    `expected` are the calls of each turn, those that were refused included.
    """
    for earlier, later in zip(played.chats, played.chats[1:], strict=False):
        kept = len(earlier["messages"])
        assert later["messages"][:kept] == earlier["messages"]
        assert later["tools"] == earlier["tools"]
    turns = played.turns
    assert [len(turn.calls) for turn in turns] == [*map(len, expected)]
    for turn, ran in zip(turns, expected, strict=True):
        assert_turn(turn, ran)


def assert_turn(turn: Turn, expected: Sequence[Ran]) -> None:
    assert isinstance(turn.message["content"], str)
    assert [
        Ran(call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in turn.calls
    ] == expected
    assert {call["type"] for call in turn.calls} == {"function"}
    assert all(turn.ids)
    assert len({*turn.ids}) == len(turn.ids)
    assert [answer["tool_call_id"] for answer in turn.answers] == turn.ids
    for (name, arguments), answer in zip(expected, turn.answers, strict=True):
        told = json.loads(answer["content"])
        if "error" not in told:
            assert told["response"] == {"tool": name, "given": arguments}


def assert_record(
    played: Played, outcome: str, *, turns: int, answer: str | None
) -> None:
    record = played.record
    assert (record["outcome"], record["error"]) == (outcome, None)
    assert (record["turns"], record["answer"]) == (turns, answer)
    assert record["seconds"] == pytest.approx(sum(played.waits), abs=0.01)


def assert_tokens(played: Played, *used: tuple[int, int] | None) -> None:
    """Hold the tokens against what the answers said; None is what nobody knows."""
    known = [one for one in used if one is not None]
    prompt, completion = (sum(part) for part in zip(*known, strict=True))
    tokens, is_guessed = played.record["tokens"], len(known) < len(used)
    assert played.record["tokens_estimated"] is is_guessed
    assert (tokens["prompt"] > prompt) is is_guessed
    assert tokens["prompt"] >= prompt
    assert tokens["completion"] == completion


def used_by(case: Case) -> tuple[int, int] | None:
    """Return what an answer has used: one that was turned away, nothing."""
    if case.id in UNKNOWN_USE:
        return None
    return usage_of(case) or (0, 0)


FULL = (USAGE["prompt_tokens"], USAGE["completion_tokens"])


def assert_failed(played: Played, case: Case) -> None:
    """Hold a run that an error has ended before anything was called (R7)."""
    assert_ran(played, [])
    record = played.record
    assert (record["outcome"], record["error"]["kind"]) == (
        "error",
        case.expected["kind"],
    )
    assert (record["turns"], record["calls"], record["answer"]) == (1, [], None)
    # The bound of one request may end its last pause.
    assert record["seconds"] == pytest.approx(sum(played.waits), abs=1)
    message = record["error"]["message"]
    assert len(message) > 20
    assert str(case.expected.get("limit", "")) in message
    assert NAMED_IN_ERROR.get(case.id, "") in message


# What a case says of the history.


def assert_echo(turn: Turn, case: Case) -> None:
    echo = case.expected.get("echo", {})
    if echo == "two calls":
        assert len(turn.calls) == 2
        return
    for path, value in echo.items():
        if path == "arguments_type":
            kinds = {
                type(call["function"]["arguments"]).__name__ for call in turn.calls
            }
            assert kinds == {value}
        elif path in ("arguments", "name"):
            assert [call["function"][path] for call in turn.calls] == [value]
        else:
            assert at(turn.message, path) == value


def at(message: Mapping[str, Any], path: str) -> Any:
    """Follow a path such as `tool_calls[0].extra_content`."""
    found: Any = message
    for key, index in re.findall(r"(\w+)(?:\[(\d+)\])?", path):
        found = found[key][int(index)] if index else found[key]
    return found


def assert_own_fields_kept(turn: Turn, case: Case) -> None:
    """Hold that a provider gets back what is its own, on the call it came with."""
    raw = message_of(case).get("tool_calls") or []
    for written, echoed in zip(raw, turn.calls, strict=False):
        own = {"id", "type", "index", "function"}
        assert {key: value for key, value in echoed.items() if key not in own} == {
            key: value for key, value in written.items() if key not in own
        }


def assert_ids(turn: Turn, case: Case) -> None:
    """Hold that ids are kept where they are unique, and new ones are new."""
    raw = [call.get("id") or "" for call in message_of(case).get("tool_calls") or []]
    raw += [""] * (len(turn.ids) - len(raw))
    taken: set[str] = set()
    for given, sent in zip(raw, turn.ids, strict=True):
        if given and given not in taken:
            assert sent == given
        else:
            assert re.fullmatch(r"[A-Za-z0-9]{9}", sent)
            assert sent not in raw
        taken.add(sent)


# The cases.


async def conform_accepted(stage: Stage, case: Case) -> None:
    expected, said = wanted(case), case.expected["content"]
    if not expected:
        played = await stage.play(answer_of(case))
        assert_ran(played, [])
        assert_record(played, "nothing", turns=1, answer=said)
        assert_tokens(played, usage_of(case))
        assert len(played.chats) == 1
        return
    played = await stage.play(answer_of(case), DONE)
    assert_ran(played, expected)
    assert_history(played, [expected])
    assert_record(played, "acted", turns=2, answer="Done.")
    assert_tokens(played, usage_of(case), FULL)
    (turn,) = played.turns
    assert turn.message["content"].strip() == (said or "")
    assert_echo(turn, case)
    assert_own_fields_kept(turn, case)
    assert_ids(turn, case)
    assert played.waits == []


async def conform_told(stage: Stage, case: Case) -> None:
    """Play a call that cannot be run: the model is told so, and goes on (R4)."""
    fault = answer_of(case)
    played = await stage.play(fault, calls(LATER), DONE)
    assert_ran(played, [Ran(*LATER)])
    assert_record(played, "acted", turns=3, answer="Done.")
    assert_tokens(played, usage_of(case), FULL, FULL)
    told, _ = played.turns
    (raw,) = message_of(case)["tool_calls"]
    name = re.sub(r"\W", "_", raw["function"]["name"])
    assert_history(played, [[Ran(name, {})], [Ran(*LATER)]])
    assert_ids(told, case)
    refused = json.loads(told.answers[0]["content"])
    assert [*refused] == ["error"]
    if name not in TOOLS:
        assert all(name in refused["error"] for name in TOOLS)
    first, second = played.record["calls"]
    assert (first["error"], second["error"]) == (True, False)
    assert first["tool"] == raw["function"]["name"]

    played = await stage.play(always=fault)
    assert_ran(played, [])
    assert_record(played, "action_limit", turns=TOLD_TWICE, answer=None)


async def conform_retried(stage: Stage, case: Case) -> None:
    """Play a fault once, once more behind a tool's answer, and then for ever."""
    fault = answer_of(case)
    played = await stage.play(fault, calls(LATER), DONE)
    assert_ran(played, [Ran(*LATER)])
    assert_history(played, [[Ran(*LATER)]])
    assert_record(played, "acted", turns=2, answer="Done.")
    assert_tokens(played, used_by(case), FULL, FULL)
    assert_same_again(*played.chats[:2])
    assert_paused(played, case)

    silent = case.id in MAY_BE_SILENT
    rest = [] if silent else [DONE]
    played = await stage.play(calls(("now", {})), fault, *rest)
    assert_ran(played, [Ran("now", {})])
    assert_history(played, [[Ran("now", {})]])
    assert_record(played, "acted", turns=2, answer=None if silent else "Done.")

    played = await stage.play(always=fault)
    assert_failed(played, case)
    is_loading = case.expected["kind"] == "loading"
    assert (100 if is_loading else 2) <= len(played.chats) <= (300 if is_loading else 4)
    assert len(played.waits) in (len(played.chats), len(played.chats) - 1)
    for chat in played.chats:
        assert_same_again(played.chats[0], chat)


def assert_same_again(chat: Mapping[str, Any], later: Mapping[str, Any]) -> None:
    """Hold that a second try asks for the same; its answer may be a longer one (E8)."""
    limit = "max_tokens"
    if limit not in chat:
        assert later == chat
        return
    assert {**later, limit: 0} == {**chat, limit: 0}
    assert later[limit] >= chat[limit]


def assert_paused(played: Played, case: Case) -> None:
    """Hold the pause before the second try: the server's, or a moment (R7)."""
    (wait,) = played.waits
    stated = case.expected.get("retry_after")
    if stated is None:
        stated = 2 if case.expected["kind"] == "loading" else 1
    assert stated <= wait <= stated * 1.25


async def conform_refused(stage: Stage, case: Case) -> None:
    """Play what no second try can mend; the next run tries again (R7)."""
    played = await stage.play(answer_of(case))
    assert_failed(played, case)
    assert_tokens(played, used_by(case))
    assert len(played.chats) == 1
    assert played.waits == []
    flows = stage.home.hass.config_entries.flow.async_progress_by_handler(DOMAIN)
    is_asked = [flow["context"]["source"] for flow in flows] == [SOURCE_REAUTH]
    assert is_asked is (case.expected["kind"] == "auth")

    played = await stage.play(text("Fine."))
    assert_record(played, "nothing", turns=1, answer="Fine.")


async def conform_adapted(stage: Stage, case: Case) -> None:
    """Play a refusal: asked again in another shape, which is remembered."""
    needs_history = bool({"add", "sanitise_history_arguments"} & change_of(case).keys())
    before = [calls(LATER, ("now", {}))] if needs_history else []
    ran = [Ran(*LATER), Ran("now", {})] if needs_history else []
    played = await stage.play(*before, answer_of(case), DONE)
    assert_ran(played, ran)
    outcome = "acted" if ran else "nothing"
    assert_record(played, outcome, turns=1 + len(before), answer="Done.")
    assert_tokens(played, *[FULL for _ in before], used_by(case), FULL)
    assert played.waits == []
    *_, refused, taken = played.chats
    assert len(played.chats) == 2 + len(before)
    assert {key: refused[key] for key in SENT.get(case.id, {})} == SENT.get(case.id, {})
    assert taken == changed(refused, case)

    await stage.home.reload()
    played = await stage.play(text("Fine."))
    (chat,) = played.chats
    rest = {key: value for key, value in taken.items() if key != "messages"}
    assert {key: value for key, value in chat.items() if key != "messages"} == rest

    played = await stage.play(always=answer_of(case))
    assert_failed(played, case)
    assert 1 <= len(played.chats) <= MAX_SHAPES
    for chat in played.chats:
        assert chat["model"] == MODEL
        assert len(chat["tools"]) == len(taken["tools"])
        assert [one["role"] for one in chat["messages"]] == ["system", "user"]


def change_of(case: Case) -> Mapping[str, Any]:
    change: Mapping[str, Any] = case.expected["adapt"]
    return change


def changed(request: Mapping[str, Any], case: Case) -> dict[str, Any]:
    """Return a request as the case wants it sent again, all else as it was."""
    change, body = change_of(case), {**request}
    for old, new in change.get("rename", {}).items():
        body[new] = body.pop(old)
    for key in change.get("drop", ()):
        del body[key]
    body |= change.get("lower", {})
    if keywords := change.get("strip_schema_keys"):
        body["tools"] = [without(tool, {*keywords}) for tool in body["tools"]]
        assert body["tools"] != request["tools"]
    if "add" in change:
        body["messages"] = [
            {"reasoning_content": "", **one} if one["role"] == "assistant" else one
            for one in body["messages"]
        ]
    if "sanitise_history_arguments" in change:
        body["messages"] = [rewritten(one) for one in body["messages"]]
    return body


def without(value: Any, keywords: set[str], *, named: bool = False) -> Any:
    """Take keywords out of schemas; under `properties` stand names, not keywords."""
    if isinstance(value, list):
        return [without(item, keywords) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: without(one, keywords, named=key == "properties" and not named)
        for key, one in value.items()
        if named or key not in keywords
    }


def rewritten(message: Mapping[str, Any]) -> dict[str, Any]:
    """Write the arguments of each call as Python does, as good as any other way."""
    if "tool_calls" not in message:
        return {**message}
    calls = json.loads(json.dumps(message["tool_calls"]))
    for call in calls:
        function = call["function"]
        function["arguments"] = json.dumps(json.loads(function["arguments"]))
    return {**message, "tool_calls": calls}


async def conform(stage: Stage, case: Case) -> None:
    match case.expect:
        case "accept":
            await conform_accepted(stage, case)
        case "retry" if case.id in TOLD:
            await conform_told(stage, case)
        case "retry":
            await conform_retried(stage, case)
        case "adapt":
            await conform_adapted(stage, case)
        case _:
            await conform_refused(stage, case)


@pytest.mark.contract("R1", "R2", "R3")
@each(of("accept"))
async def test_what_is_accepted(stage: Stage, case: Case) -> None:
    await stage.begin(case)
    await conform(stage, case)


@pytest.mark.contract("R3", "R4", "R7")
@each([case for case in of("retry") if case.id != "I3-429-epoch"])
async def test_what_is_tried_again(stage: Stage, case: Case) -> None:
    await stage.begin(case, run_timeout=100_000)
    await conform(stage, case)


@pytest.mark.contract("R7")
@each(of("adapt"))
async def test_what_is_asked_in_another_shape(stage: Stage, case: Case) -> None:
    await stage.begin(case)
    await conform(stage, case)


@pytest.mark.contract("R7")
@each(of("error"))
async def test_what_ends_the_run(stage: Stage, case: Case) -> None:
    await stage.begin(case)
    await conform(stage, case)


@pytest.mark.contract("R1", "R3")
async def test_the_tools_are_those_of_the_catalogue(stage: Stage) -> None:
    """Hold the names and schemas that the cases count on.

    A number's selector says nothing of whole numbers: such a field is a `number`.
    """
    await stage.begin()
    played = await stage.play(text("Fine."))
    (chat,) = played.chats
    declared = {tool["function"]["name"]: tool["function"] for tool in chat["tools"]}
    assert [*declared] == ["get_state", *sorted(TOOLS), "tell_owner"]
    for tool in DECLARED:
        parameters = declared[tool.name]["parameters"]
        properties: Any = tool.parameters["properties"]
        assert parameters.get("required", []) == tool.parameters["required"]
        assert {
            key: {"number": "integer"}.get(schema["type"], schema["type"])
            for key, schema in parameters["properties"].items()
        } == {key: schema["type"] for key, schema in properties.items()}


(EPOCH,) = named("I3")


@pytest.mark.contract("R7")
@pytest.mark.freeze_time("2026-02-18 08:48:40")
async def test_a_moment_that_is_near_is_waited_for(stage: Stage) -> None:
    await stage.begin(EPOCH)
    played = await stage.play(answer_of(EPOCH), calls(LATER), DONE)
    assert_ran(played, [Ran(*LATER)])
    (wait,) = played.waits
    assert 19 <= wait <= 20 * 1.25


@pytest.mark.contract("R7")
@pytest.mark.freeze_time("2026-01-01 00:00:00")
async def test_a_moment_that_is_far_ends_the_run_at_once(stage: Stage) -> None:
    await stage.begin(EPOCH)
    played = await stage.play(answer_of(EPOCH))
    assert_failed(played, EPOCH)
    assert (len(played.chats), played.waits) == (1, [])
    (seconds,) = re.findall(r"\d{5,}", played.record["error"]["message"])
    assert int(seconds) > MAX_WAIT


@pytest.mark.contract("F3", "R7")
@each(named("I1", "I8", "I9", "H6"))
async def test_nothing_is_tried_beyond_the_time_of_a_run(
    stage: Stage, case: Case
) -> None:
    stage.pauses.step = timedelta(seconds=0.5)
    await stage.begin(case, run_timeout=5)
    played = await stage.play(always=answer_of(case))
    assert_ran(played, [])
    assert played.record["outcome"] == "timeout"
    assert played.record["seconds"] == pytest.approx(5, abs=0.6)
    asked = len(stage.home.llm_server.chats)
    await stage.home.clock.tick_beside(3, every=timedelta(seconds=30))
    assert len(stage.home.llm_server.chats) == asked

    played = await stage.play(text("Fine."))
    assert_record(played, "nothing", turns=1, answer="Fine.")


# The same kinds of answer in another form, to a model with many more tools.


AGAIN = {
    "called": named("A1", "A5", "A6", "A7", "B1", "B5", "B10", "B13", "C3", "C6"),
    "with fields of its own": named("F1", "F3"),
    "in text": named("D1", "D4", "D5", "D10"),
    "told": named("B12", "C4"),
    "later": named("D11", "E1", "G15", "H1", "I5"),
    "refused": named("F6", "G8", "I14"),
    **{case.id: [case] for case in named("F4", "G1", "G10", "I26")},
}


@pytest.mark.contract("R3", "R4", "R7")
@pytest.mark.parametrize("kind", AGAIN)
async def test_the_same_in_other_hands(crowded_stage: Stage, kind: str) -> None:
    """Play several in one home: none may leave anything behind for the next."""
    stage, (first, *_) = crowded_stage, AGAIN[kind]
    await stage.begin(first, forgets=True, run_timeout=100_000)
    for case in AGAIN[kind]:
        varied = other_form(case)
        assert varied.body != case.body
        with naming(case):
            await conform(stage, varied)
    names = [one["function"]["name"] for one in stage.home.llm_server.chats[0]["tools"]]
    assert len(OTHERS) >= 20
    assert {*names} >= {*OTHERS, *TOOLS}


@contextmanager
def naming(case: Case) -> Iterator[None]:
    """Say which of several cases it was that did not hold."""
    try:
        yield
    except AssertionError as err:
        err.add_note(f"The case is {case.id}.")
        raise


@pytest.mark.contract("R3", "R4", "A8")
@pytest.mark.parametrize("seed", range(3))
async def test_every_kind_of_call_in_one_answer(
    crowded_stage: Stage, seed: int
) -> None:
    """Each case's calls about a city of its own, all of them in one turn."""
    whole = [
        case
        for case in of("accept")
        if case.expected["tool_calls"] and message_of(case).get("tool_calls")
    ]
    cases = [*whole, *(case for case in CHATS if case.id in TOLD)]
    random.Random(seed).shuffle(cases)  # noqa: S311 - an order, no secret
    written: list[Any] = []
    expected: list[Ran] = []
    for number, case in enumerate(cases):
        own = f"Oslo {number}"
        raw = json.dumps(message_of(case)["tool_calls"])
        written += json.loads(raw.replace("Oslo", own).replace("Rome", f"{own} too"))
        expected += renamed(wanted(case), own)
    ran = [*dict.fromkeys(map(repr, expected))]  # the same in one turn is done once
    assert len(ran) > 15

    await crowded_stage.begin(max_actions=100)
    message = {"role": "assistant", "content": None, "tool_calls": written}
    played = await crowded_stage.play(completion(message, "stop"), DONE)
    assert [*map(repr, played.ran)] == ran
    (turn,) = played.turns
    assert len({*turn.ids}) == len(turn.ids)
    assert [answer["tool_call_id"] for answer in turn.answers] == turn.ids
    answers = [json.loads(answer["content"]) for answer in turn.answers]
    refused = [answer for answer in answers if "error" in answer]
    assert len(refused) == len(TOLD)
    assert [
        Ran(answer["response"]["tool"], answer["response"]["given"])
        for answer in answers
        if answer not in refused
    ] == expected
    assert_record(played, "acted", turns=2, answer="Done.")


def renamed(ran: Sequence[Ran], city: str) -> list[Ran]:
    other = {"Oslo": city, "Rome": f"{city} too"}
    return [
        Ran(
            one.tool,
            {
                key: other.get(value, value) if isinstance(value, str) else value
                for key, value in one.arguments.items()
            },
        )
        for one in ran
    ]


# The lists of models, in the dialog that asks for them.


class Dialog:
    """The dialog of a new endpoint, as far as its model."""

    def __init__(self, hass: HomeAssistant, server: LlmServer) -> None:
        self.hass = hass
        self.server = server
        self.waits: list[float] = []
        self._form: ConfigFlowResult | None = None

    async def pause(self, seconds: float) -> None:
        self.waits.append(seconds)

    async def look_for_server(self) -> ConfigFlowResult:
        manager = self.hass.config_entries.flow
        menu = await manager.async_init(DOMAIN, context={"source": SOURCE_USER})
        assert menu["type"] is FlowResultType.MENU
        form = await self.answer(menu, {"next_step_id": "server"})
        return await self.answer(form, {"url": self.server.url, "api_key": "sk-1"})

    async def answer(
        self, form: ConfigFlowResult, answers: Mapping[str, Any]
    ) -> ConfigFlowResult:
        result = await self.hass.config_entries.flow.async_configure(
            form["flow_id"], dict(answers)
        )
        await self.hass.async_block_till_done()
        return result

    async def choose(self, form: ConfigFlowResult, model: str) -> None:
        """Choose or type a model, which is then the endpoint's."""
        self.server.play(calls(("report_ready", {})))
        result = await self.answer(form, {"model": model})
        assert result["type"] is FlowResultType.CREATE_ENTRY
        (entry,) = self.hass.config_entries.async_entries(DOMAIN)
        assert (entry.data["url"], entry.data["model"]) == (self.server.url, model)
        assert [chat["model"] for chat in self.server.chats][-1] == model


@pytest.fixture
def dialog(
    hass: HomeAssistant, llm_server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> Dialog:
    dialog = Dialog(hass, llm_server)
    patient = partial(EndpointClient, sleep=dialog.pause)
    monkeypatch.setattr(flow_server, "EndpointClient", patient)
    monkeypatch.setattr(flow_waiting, "MOMENT", 20)  # nothing here shows a spinner
    return dialog


def models_in(form: ConfigFlowResult) -> list[str]:
    """Return what may be chosen; nothing where the model is to be typed."""
    assert (form["step_id"], form["errors"]) == ("model", {})
    assert form["data_schema"] is not None
    field = form["data_schema"].schema["model"]
    return [*field.config.get("options", ())]


@each([case for case in MODELS if case.expect == "accept"])
async def test_models_that_are_listed(dialog: Dialog, case: Case) -> None:
    dialog.server.models_answer = answer_of(case)
    form = await dialog.look_for_server()
    listed = case.expected["models"]
    assert models_in(form) == listed
    assert (len(dialog.server.requests), dialog.waits) == (1, [])
    # A name may be typed without what the server puts before it.
    await dialog.choose(form, listed[0].removeprefix("models/") if listed else "typed")


@each([case for case in MODELS if case.expect == "retry"])
async def test_models_that_come_later(dialog: Dialog, case: Case) -> None:
    listed = {"object": "list", "data": [{"id": "late", "object": "model"}]}
    answers = iter([answer_of(case), listed])
    dialog.server.models_answer = lambda _: next(answers)
    form = await dialog.look_for_server()
    assert models_in(form) == ["late"]
    (wait,) = dialog.waits
    assert 2 <= wait <= 2.5
    await dialog.choose(form, "late")


@each([case for case in MODELS if case.expect == "retry"])
async def test_models_that_never_come_are_typed(dialog: Dialog, case: Case) -> None:
    dialog.server.models_answer = answer_of(case)
    form = await dialog.look_for_server()
    assert models_in(form) == []
    assert 2 <= len(dialog.server.requests) <= 5
    await dialog.choose(form, "typed")


@each([case for case in MODELS if case.expect == "adapt"])
async def test_models_that_no_list_names_are_typed(dialog: Dialog, case: Case) -> None:
    assert case.expected["adapt"] == {"use_configured_model": True}
    dialog.server.models_answer = answer_of(case)
    dialog.server.play(calls(("report_ready", {})))  # asked whether it can chat at all
    form = await dialog.look_for_server()
    assert models_in(form) == []
    await dialog.choose(form, "typed")


@each([case for case in MODELS if case.expect == "error"])
async def test_what_lists_no_models_and_cannot_chat(dialog: Dialog, case: Case) -> None:
    """A server that could chat would do without a list, as in the case before."""
    dialog.server.models_answer = answer_of(case)
    (deaf,) = named("H4")
    dialog.server.always = answer_of(deaf)
    form = await dialog.look_for_server()
    assert (form["step_id"], form["errors"]) == (
        "server",
        {"url": case.expected["kind"]},
    )
    assert not dialog.waits

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
import itertools
import json

import pytest

from custom_components.proactive_agent.engine.answer import ANSWER_LIMIT
from custom_components.proactive_agent.engine.answering import (
    LAST_TURN,
    NOT_CALLED_LIMIT,
    NOT_CALLED_TURNS,
)
from custom_components.proactive_agent.engine.errors import (
    CutReason,
    ErrorKind,
    ModelError,
    RunCutError,
)
from custom_components.proactive_agent.engine.journal import Journal
from custom_components.proactive_agent.engine.loop import converse
from custom_components.proactive_agent.engine.records import (
    CallRecord,
    Json,
    Reply,
    ToolAnswer,
    ToolCall,
    TurnRecord,
    Usage,
)
from tests.support.scripted import (
    ScriptedModel,
    ScriptedTools,
    Step,
    call,
    counting,
    says,
    wants,
)

OPENING = (
    {"role": "system", "content": "rules"},
    {"role": "user", "content": "Check on Milonga."},
)
FED = ToolAnswer(content={"result": "fed"})
LOW = ToolAnswer(content={"hunger": 1})


def make_tools() -> ScriptedTools:
    return ScriptedTools(
        answers={
            "look": LOW,
            "feed": FED,
            "play": ToolAnswer(content={"result": "played"}),
            "watch": counting(),
            "broken": ToolAnswer(content="The cupboard is locked.", error=True),
        },
        acting=frozenset({"feed", "play"}),
    )


async def run(
    model: ScriptedModel, tools: ScriptedTools, max_turns: int = 8
) -> Journal:
    journal = Journal()
    await converse(model, tools, OPENING, max_turns=max_turns, journal=journal)
    assert model.is_over
    return journal


async def run_cut(
    steps: Sequence[Step], tools: ScriptedTools, max_turns: int = 8
) -> tuple[CutReason, Journal]:
    journal = Journal()
    model = ScriptedModel(*steps)
    with pytest.raises(RunCutError) as cut:
        await converse(model, tools, OPENING, max_turns=max_turns, journal=journal)
    assert model.is_over
    return cut.value.kind, journal


def tool_messages(model: ScriptedModel, turn: int) -> dict[str, Json]:
    """Return the tool answers that a turn's request ends with, by their ids."""
    return {
        message["tool_call_id"]: json.loads(message["content"])
        for message in model.requests[turn - 1].messages
        if message["role"] == "tool"
    }


@pytest.mark.contract("R1", "R2", "R3")
async def test_a_run_sends_this_very_history_turn_by_turn() -> None:
    first = wants(call("a", "look"), call("b", "feed", food="meal"))
    second = wants(call("c", "play"))
    model = ScriptedModel(first, second, says("All is well."))

    journal = await run(model, make_tools())

    answered = [
        *OPENING,
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "a", "function": {"name": "look"}},
                {"id": "b", "function": {"name": "feed"}},
            ],
            "reasoning_content": "kept as it came",
        },
        {"role": "tool", "tool_call_id": "a", "content": '{"hunger": 1}'},
        {"role": "tool", "tool_call_id": "b", "content": '{"result": "fed"}'},
    ]
    assert [request.messages for request in model.requests] == [
        [*OPENING],
        answered,
        [
            *answered,
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c", "function": {"name": "play"}}],
                "reasoning_content": "kept as it came",
            },
            {"role": "tool", "tool_call_id": "c", "content": '{"result": "played"}'},
        ],
    ]
    assert journal == Journal(
        turns=3,
        usage=Usage(),
        calls=[
            record(1, "look", {}, {"hunger": 1}),
            record(1, "feed", {"food": "meal"}, {"result": "fed"}),
            record(2, "play", {}, {"result": "played"}),
        ],
        answer="All is well.",
        answered=[turn(1), turn(2), turn(3)],
    )


def record(
    turn: int,
    tool: str,
    arguments: dict[str, Json],
    answer: Json,
    *,
    error: bool = False,
) -> CallRecord:
    return CallRecord(
        turn=turn, tool=tool, arguments=arguments, answer=answer, error=error
    )


def turn(number: int, tokens: Usage | None = None) -> TurnRecord:
    return TurnRecord(turn=number, seconds=0, tokens=tokens)


@pytest.mark.contract("R1", "F4")
async def test_the_same_tools_are_offered_at_every_turn() -> None:
    tools = make_tools()
    model = ScriptedModel(wants(call("a", "look")), says("Done."))

    await run(model, tools, max_turns=2)

    assert [request.tools for request in model.requests] == [tools.specs, tools.specs]


@pytest.mark.contract("R1")
async def test_the_opening_is_left_as_it_was() -> None:
    opening = [dict(message) for message in OPENING]
    model = ScriptedModel(wants(call("a", "look")), says("Done."))

    await converse(model, make_tools(), opening, max_turns=2, journal=Journal())

    assert opening == [*OPENING]


@pytest.mark.contract("R2")
@pytest.mark.parametrize("text", ["Nothing to do.", "", None])
async def test_an_answer_without_a_call_ends_the_run(text: str | None) -> None:
    tools = make_tools()

    journal = await run(ScriptedModel(says(text)), tools)

    assert journal == Journal(turns=1, answer=text, answered=[turn(1)])
    assert tools.called == []


@pytest.mark.contract("R3")
async def test_calls_of_a_turn_run_one_after_another_in_order() -> None:
    events: list[str] = []

    class SlowTools(ScriptedTools):
        async def call(self, call: ToolCall) -> ToolAnswer:
            events.append(f"{call.id} begins")
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            events.append(f"{call.id} ends")
            return FED

    model = ScriptedModel(
        wants(call("z", "feed"), call("a", "play"), call("m", "look")), says("Done.")
    )

    await run(model, SlowTools(answers={}, acting=frozenset({"feed", "play"})))

    assert events == [
        f"{one} {what}" for one in ("z", "a", "m") for what in ("begins", "ends")
    ]
    assert [*tool_messages(model, 2)] == ["z", "a", "m"]


@pytest.mark.contract("R3")
async def test_identical_acting_calls_in_a_turn_are_executed_once() -> None:
    tools = make_tools()
    model = ScriptedModel(
        wants(
            call("a", "feed", food="meal", portions=1),
            call("b", "feed", portions=1, food="meal"),
            call("c", "feed", food="snack", portions=1),
            call("d", "feed", food="meal", portions=1),
        ),
        says("Fed."),
    )

    journal = await run(model, tools)

    assert tools.called_ids == ["a", "c"]
    assert tool_messages(model, 2) == {one: {"result": "fed"} for one in "abcd"}
    assert len(journal.calls) == 4


@pytest.mark.contract("R3")
async def test_an_acting_call_may_be_made_again_in_a_later_turn() -> None:
    tools = make_tools()
    model = ScriptedModel(
        wants(call("a", "feed")), wants(call("b", "feed")), says("Fed twice.")
    )

    await run(model, tools)

    assert tools.called_ids == ["a", "b"]


@pytest.mark.contract("R3")
async def test_identical_reading_calls_are_each_made() -> None:
    tools = make_tools()
    model = ScriptedModel(
        wants(call("a", "watch"), call("b", "feed"), call("c", "watch")), says("Seen.")
    )

    await run(model, tools)

    assert tools.called_ids == ["a", "b", "c"]
    assert tool_messages(model, 2)["a"] == "answer 0"
    assert tool_messages(model, 2)["c"] == "answer 1"


@pytest.mark.contract("R3")
async def test_an_unreadable_call_is_not_taken_for_one_without_arguments() -> None:
    def answer(call: ToolCall) -> ToolAnswer:
        return ToolAnswer(content=call.fault, error=True) if call.fault else FED

    tools = ScriptedTools(answers={"feed": answer}, acting=frozenset({"feed"}))
    garbled = ToolCall(id="a", name="feed", fault="The arguments are no JSON.")
    broken_off = ToolCall(id="b", name="feed", fault="The arguments break off.")
    model = ScriptedModel(wants(garbled, broken_off, call("c", "feed")), says("Fed."))

    await run(model, tools)

    assert tools.called_ids == ["a", "b", "c"]
    assert tool_messages(model, 2) == {
        "a": {"error": "The arguments are no JSON."},
        "b": {"error": "The arguments break off."},
        "c": {"result": "fed"},
    }


@pytest.mark.contract("R4")
async def test_an_error_of_a_tool_is_told_and_the_run_goes_on() -> None:
    model = ScriptedModel(
        wants(call("a", "broken"), call("b", "feed")), says("Fed anyway.")
    )

    journal = await run(model, make_tools())

    assert tool_messages(model, 2) == {
        "a": {"error": "The cupboard is locked."},
        "b": {"result": "fed"},
    }
    assert [one.error for one in journal.calls] == [True, False]
    assert journal.answer == "Fed anyway."


@pytest.mark.contract("R5")
async def test_a_long_answer_is_capped_for_the_model_and_kept_for_the_owner() -> None:
    long = "x" * 3 * ANSWER_LIMIT
    tools = ScriptedTools(answers={"look": ToolAnswer(content=long)})
    model = ScriptedModel(wants(call("a", "look")), says("Seen."))

    journal = await run(model, tools)

    assert len(model.requests[1].messages[-1]["content"]) <= ANSWER_LIMIT
    assert journal.calls[0].answer == long


@pytest.mark.contract("R6")
async def test_the_same_call_with_the_same_answer_three_times_ends_the_run() -> None:
    tools = make_tools()

    kind, journal = await run_cut(
        [wants(call(one, "look", deep=True)) for one in "abc"], tools
    )

    assert kind is CutReason.ACTION_LIMIT
    assert journal.turns == 3
    assert tools.called_ids == ["a", "b", "c"]
    assert len(journal.calls) == 3


@pytest.mark.contract("R6")
async def test_it_ends_also_if_other_calls_came_between() -> None:
    kind, journal = await run_cut(
        [
            wants(call("a", "look")),
            wants(call("b", "watch"), call("c", "look")),
            wants(call("d", "feed")),
            wants(call("e", "look")),
        ],
        make_tools(),
    )

    assert kind is CutReason.ACTION_LIMIT
    assert journal.turns == 4


@pytest.mark.contract("R6")
@pytest.mark.parametrize("same", ["a call", "an answer"])
async def test_another_call_or_another_answer_is_not_the_same(same: str) -> None:
    turns = [
        wants(call(str(n), "watch"))
        if same == "a call"
        else wants(call(str(n), "look", n=n))
        for n in range(6)
    ]

    journal = await run(ScriptedModel(*turns, says("Enough.")), make_tools())

    assert journal.answer == "Enough."


@pytest.mark.contract("R6")
async def test_no_call_comes_through_after_the_third_time() -> None:
    tools = make_tools()

    kind, journal = await run_cut(
        [
            wants(
                call("a", "look"),
                call("b", "look"),
                call("c", "look"),
                call("d", "feed"),
            )
        ],
        tools,
    )

    assert kind is CutReason.ACTION_LIMIT
    assert tools.called_ids == ["a", "b", "c"]
    assert [one.tool for one in journal.calls] == ["look"] * 3


@pytest.mark.contract("R3", "R6")
async def test_acting_calls_that_were_made_once_count_once() -> None:
    tools = make_tools()
    thrice = wants(call("a", "feed"), call("b", "feed"), call("c", "feed"))
    model = ScriptedModel(thrice, says("Fed."))

    journal = await run(model, tools)

    assert tools.called_ids == ["a"]
    assert journal.answer == "Fed."


@pytest.mark.contract("R6")
async def test_the_same_error_three_times_ends_the_run_too() -> None:
    kind, _journal = await run_cut(
        [wants(call(one, "broken")) for one in "abc"], make_tools()
    )

    assert kind is CutReason.ACTION_LIMIT


@pytest.mark.contract("F4")
async def test_the_last_turn_is_announced_and_calls_in_it_are_refused() -> None:
    tools = make_tools()
    model = ScriptedModel(
        wants(call("a", "look")),
        wants(call("b", "watch"), call("c", "broken")),
        wants(call("d", "feed", food="meal"), call("e", "play")),
    )
    journal = Journal()

    with pytest.raises(RunCutError) as cut:
        await converse(model, tools, OPENING, max_turns=3, journal=journal)

    assert cut.value.kind is CutReason.TURN_LIMIT
    assert LAST_TURN not in json.dumps([r.messages for r in model.requests[:2]])
    assert tool_messages(model, 3) == {
        "a": {"hunger": 1},
        "b": "answer 0",
        "c": {"notice": LAST_TURN, "answer": {"error": "The cupboard is locked."}},
    }
    assert model.requests[2].tools == tools.specs
    assert tools.called_ids == ["a", "b", "c"]
    assert journal.turns == 3
    assert journal.calls[3:] == [
        record(3, "feed", {"food": "meal"}, NOT_CALLED_TURNS, error=True),
        record(3, "play", {}, NOT_CALLED_TURNS, error=True),
    ]


@pytest.mark.contract("F4")
async def test_a_text_in_the_last_turn_is_a_good_end() -> None:
    model = ScriptedModel(wants(call("a", "look")), says("All is well."))

    journal = await run(model, make_tools(), max_turns=2)

    assert journal.answer == "All is well."
    assert tool_messages(model, 2)["a"] == {
        "notice": LAST_TURN,
        "answer": {"hunger": 1},
    }


@pytest.mark.contract("F4")
@pytest.mark.parametrize(
    "content",
    [
        "x" * 2 * ANSWER_LIMIT,
        [[[[n] * 20] * 20] * 20 for n in range(20)],
        {str(n): {"deep": ["y" * 50] * 50} for n in range(50)},
        float("nan"),
    ],
    ids=["text", "lists", "objects", "nan"],
)
async def test_no_answer_is_so_long_that_the_notice_is_cut(content: Json) -> None:
    tools = ScriptedTools(answers={"look": ToolAnswer(content=content)})
    model = ScriptedModel(wants(call("a", "look")), says("Seen."))

    await run(model, tools, max_turns=2)

    text = model.requests[1].messages[-1]["content"]
    assert json.loads(text)["notice"] == LAST_TURN
    assert len(text) <= ANSWER_LIMIT


@pytest.mark.contract("F4", "R1")
async def test_with_one_turn_the_first_message_announces_it() -> None:
    tools = make_tools()
    model = ScriptedModel(wants(call("a", "feed")))
    journal = Journal()

    with pytest.raises(RunCutError) as cut:
        await converse(model, tools, OPENING, max_turns=1, journal=journal)

    assert cut.value.kind is CutReason.TURN_LIMIT
    [request] = model.requests
    assert request.messages == [
        OPENING[0],
        {"role": "user", "content": f"Check on Milonga.\n\n{LAST_TURN}"},
    ]
    assert tools.called == []
    assert journal.calls == [record(1, "feed", {}, NOT_CALLED_TURNS, error=True)]


@pytest.mark.contract("F4")
@pytest.mark.contract("F5")
async def test_a_request_that_was_not_made_is_no_turn() -> None:
    steps = (wants(call("a", "look")), RunCutError(CutReason.TOKEN_LIMIT))

    reason, journal = await run_cut(steps, make_tools())

    assert (reason, journal.turns) == (CutReason.TOKEN_LIMIT, 1)


async def test_with_turns_to_spare_nothing_is_announced() -> None:
    model = ScriptedModel(wants(call("a", "look")), says("Done."))

    await run(model, make_tools(), max_turns=3)

    assert LAST_TURN not in json.dumps([r.messages for r in model.requests])


@pytest.mark.contract("R7")
async def test_an_error_of_the_model_ends_the_run_with_what_it_had() -> None:
    used = Usage(prompt=7, estimated=True)
    error = ModelError(ErrorKind.OVERLOADED, retry_after=3, usage=used)
    journal = Journal()

    with pytest.raises(ModelError) as raised:
        await converse(
            ScriptedModel(wants(call("a", "feed"), usage=Usage(prompt=5)), error),
            make_tools(),
            OPENING,
            max_turns=8,
            journal=journal,
        )

    assert raised.value is error
    assert journal == Journal(
        turns=2,
        usage=Usage(prompt=12, estimated=True),
        calls=[record(1, "feed", {}, {"result": "fed"})],
        answered=[turn(1, Usage(prompt=5)), turn(2, used)],
    )


@pytest.mark.contract("F5", "R8")
async def test_a_cut_by_a_tool_ends_the_run_and_says_which_call_met_it() -> None:
    tools = ScriptedTools(
        answers={"feed": FED, "play": RunCutError(CutReason.STOPPED)},
        acting=frozenset({"feed", "play"}),
    )

    kind, journal = await run_cut(
        [wants(call("a", "feed"), call("b", "play"), call("c", "feed", n=2))], tools
    )

    assert kind is CutReason.STOPPED
    assert tools.called_ids == ["a", "b"]
    assert journal.calls == [
        record(1, "feed", {}, {"result": "fed"}),
        record(1, "play", {}, NOT_CALLED_LIMIT, error=True),
    ]


@pytest.mark.contract("R8", "F3")
async def test_the_journal_can_be_read_after_a_cut_at_any_point() -> None:
    waiting = asyncio.Event()

    class StuckTools(ScriptedTools):
        async def call(self, call: ToolCall) -> ToolAnswer:
            if call.name == "feed":
                return FED
            waiting.set()
            await asyncio.Event().wait()
            raise AssertionError

    journal = Journal()
    calls = (call("a", "feed"), call("b", "play"))
    conversation = asyncio.create_task(
        converse(
            ScriptedModel(wants(*calls, usage=Usage(prompt=7, completion=2))),
            StuckTools(answers={}),
            OPENING,
            max_turns=8,
            journal=journal,
        )
    )
    await waiting.wait()
    snapshot = journal.copy()
    conversation.cancel()
    await asyncio.wait({conversation})

    assert conversation.cancelled()
    assert snapshot == journal
    assert journal == Journal(
        turns=1,
        usage=Usage(prompt=7, completion=2),
        calls=[record(1, "feed", {}, {"result": "fed"})],
        answered=[turn(1, Usage(prompt=7, completion=2))],
    )


def test_a_copy_of_the_journal_stays_as_it_was() -> None:
    journal = Journal(turns=1)
    copied = journal.copy()

    journal.calls.append(record(1, "feed", {}, None))
    journal.turns = 2

    assert copied == Journal(turns=1)


def ticking() -> Callable[[], float]:
    """A clock that goes on by a second and a half with each look at it."""
    return itertools.count(0, 1.5).__next__


async def test_each_turn_and_each_call_is_timed() -> None:
    journal = Journal(clock=ticking())
    reply = replace(wants(call("a", "feed"), usage=Usage(prompt=5)), text="I feed her.")

    await converse(
        ScriptedModel(reply, says("Fed.")),
        make_tools(),
        OPENING,
        max_turns=2,
        journal=journal,
    )

    assert journal.answered == [
        TurnRecord(turn=1, seconds=1.5, tokens=Usage(prompt=5), text="I feed her."),
        TurnRecord(turn=2, seconds=1.5),
    ]
    assert [one.seconds for one in journal.calls] == [1.5]


def test_a_request_that_is_still_out_ends_with_the_copy() -> None:
    journal = Journal(clock=ticking())
    journal.open_turn()
    copied = journal.copy()

    journal.close_turn(Usage(prompt=5))

    assert copied.answered == [TurnRecord(turn=1, seconds=1.5)]
    assert journal.answered == [
        TurnRecord(turn=1, seconds=3, tokens=Usage(prompt=5)),
    ]


def test_a_request_that_was_not_made_leaves_no_turn() -> None:
    journal = Journal()
    journal.open_turn()
    journal.cancel_turn()

    assert journal == journal.copy() == Journal()


@pytest.mark.contract("F5")
async def test_usage_is_summed_and_one_estimate_marks_the_sum() -> None:
    replies: list[Reply] = [
        wants(call("a", "watch"), usage=Usage(prompt=10, completion=1)),
        wants(call("b", "watch")),
        wants(call("c", "watch"), usage=Usage(prompt=20, completion=2, estimated=True)),
        says("Done.", usage=Usage(prompt=30, completion=3)),
    ]

    journal = await run(ScriptedModel(*replies), make_tools())

    assert journal.usage == Usage(prompt=60, completion=6, estimated=True)
    assert journal.usage.total == 66


async def test_arguments_that_json_cannot_say_are_compared_all_the_same() -> None:
    tools = make_tools()
    model = ScriptedModel(
        wants(
            call("a", "feed", n=float("nan")),
            call("b", "feed", n=float("nan")),
            call("c", "feed", n=float("inf")),
        ),
        says("Fed."),
    )

    await run(model, tools)

    assert tools.called_ids == ["a", "c"]

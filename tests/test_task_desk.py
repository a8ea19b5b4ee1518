"""Calls that come at once, answered one after another and in their order."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import llm
import probatio
import pytest

from custom_components.proactive_agent.engine.answering import (
    NOT_CALLED_LIMIT,
    Answering,
)
from custom_components.proactive_agent.engine.errors import CutReason, RunCutError
from custom_components.proactive_agent.engine.journal import Journal
from custom_components.proactive_agent.engine.records import ToolAnswer, ToolSpec
from custom_components.proactive_agent.task.api import TaskApi
from custom_components.proactive_agent.task.desk import Desk
from tests.support.scripted import ScriptedTools


class Counter:
    """A desk with a few tools behind it."""

    def __init__(self) -> None:
        self.tools = ScriptedTools(
            answers={
                "look": ToolAnswer(content=["a", "b"]),
                "feed": ToolAnswer(content={"result": "fed"}),
            }
        )
        self.journal = Journal(turns=1)
        self.cut: CutReason | None = None
        answering = Answering(self.tools, self.journal, max_turns=5)
        self.desk = Desk(answering, self._check)

    def _check(self) -> None:
        if self.cut is not None:
            raise RunCutError(self.cut)


@pytest.fixture
def counter() -> Counter:
    return Counter()


@pytest.fixture
async def serving(counter: Counter) -> AsyncIterator[asyncio.Task[None]]:
    """Serve until the test is over."""
    task = asyncio.create_task(counter.desk.serve())
    yield task
    counter.desk.close()
    with suppress(RunCutError):
        await task


def call(call_id: str, name: str = "feed", arguments: Any = None) -> llm.ToolInput:
    return llm.ToolInput(tool_name=name, tool_args=arguments or {}, id=call_id)


@pytest.mark.contract("R3")
async def test_none_is_answered_before_its_turn(
    counter: Counter, serving: asyncio.Task[None]
) -> None:
    for call_id in ("one", "two", "three"):
        counter.desk.expect(call_id)
    late = [
        asyncio.create_task(counter.desk.hand_in(call(call_id, name)))
        for call_id, name in (("three", "look"), ("two", "feed"))
    ]
    await asyncio.sleep(0)
    assert counter.tools.called == []
    await counter.desk.hand_in(call("one"))
    await asyncio.gather(*late)
    assert counter.tools.called_ids == ["one", "two", "three"]


@pytest.mark.contract("R3")
async def test_one_that_was_not_announced_waits_for_nobody(
    counter: Counter, serving: asyncio.Task[None]
) -> None:
    counter.desk.expect("one")
    await counter.desk.hand_in(call("stranger"))
    assert counter.tools.called_ids == ["stranger"]


async def test_the_same_id_twice_is_two_calls(
    counter: Counter, serving: asyncio.Task[None]
) -> None:
    counter.desk.expect("one")
    counter.desk.expect("one")
    first, second = await asyncio.gather(
        counter.desk.hand_in(call("one")), counter.desk.hand_in(call("one", "look"))
    )
    assert first.data == {"result": "fed"}
    assert second.data == {"result": ["a", "b"]}


@pytest.mark.contract("R8")
async def test_a_call_that_nobody_waits_for_is_not_made(counter: Counter) -> None:
    left = asyncio.create_task(counter.desk.hand_in(call("one")))
    stays = asyncio.create_task(counter.desk.hand_in(call("two")))
    await asyncio.sleep(0)
    left.cancel()
    await asyncio.sleep(0)
    serving = asyncio.create_task(counter.desk.serve())
    await stays
    counter.desk.close()
    await serving
    assert counter.tools.called_ids == ["two"]


async def test_one_who_leaves_while_it_is_answered_gets_nothing(
    counter: Counter, serving: asyncio.Task[None]
) -> None:
    leaving = asyncio.create_task(counter.desk.hand_in(call("one")))

    def leave(_: Any) -> ToolAnswer:
        leaving.cancel()
        return ToolAnswer(content={})

    counter.tools.answers = {**counter.tools.answers, "feed": leave}
    with pytest.raises(asyncio.CancelledError):
        await leaving
    answer = await counter.desk.hand_in(call("two", "look"))
    assert not answer.error
    assert [one.tool for one in counter.journal.calls] == ["feed", "look"]


@pytest.mark.contract("C5")
async def test_a_run_that_was_cut_answers_nobody(counter: Counter) -> None:
    counter.cut = CutReason.STOPPED
    waiting = asyncio.create_task(counter.desk.hand_in(call("one")))
    with pytest.raises(RunCutError):
        await counter.desk.serve()
    counter.desk.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert counter.tools.called == []


@pytest.mark.contract("R4")
async def test_a_closed_desk_refuses(counter: Counter) -> None:
    counter.desk.close()
    answer = await counter.desk.hand_in(call("one"))
    assert (answer.data, answer.error) == ({"error": NOT_CALLED_LIMIT}, True)


# The tools as they are handed to an entity


def api_of(hass: HomeAssistant, counter: Counter, followed: list[Any]) -> TaskApi:
    spec = ToolSpec(
        name="feed",
        description="Feeds.",
        parameters={"type": "object", "properties": {}},
    )
    return TaskApi(
        hass,
        rules="Rules.",
        tools=(spec,),
        follow=followed.append,
        hand_in=counter.desk.hand_in,
    )


def context() -> llm.LLMContext:
    return llm.LLMContext(
        platform="thinker",
        context=Context(),
        language=None,
        assistant="ai_task",
        device_id=None,
    )


async def test_without_a_chat_log_nothing_could_be_counted(
    hass: HomeAssistant, counter: Counter
) -> None:
    followed: list[Any] = []
    with pytest.raises(HomeAssistantError):
        await api_of(hass, counter, followed).async_get_api_instance(context())
    assert followed == []


async def test_a_tool_shows_what_is_written_and_hands_in_its_calls(
    hass: HomeAssistant,
    counter: Counter,
    serving: asyncio.Task[None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from homeassistant.components.conversation import chat_log  # noqa: PLC0415

    followed: list[Any] = []
    log = chat_log.ChatLog(hass, "one")
    token = chat_log.current_chat_log.set(log)
    instance = await api_of(hass, counter, followed).async_get_api_instance(context())
    chat_log.current_chat_log.reset(token)
    assert followed == [log]
    (tool,) = instance.tools
    # How Google's integration asks whether a tool takes anything.
    assert not tool.parameters.schema
    assert tool.parameters({"food": "meal"}) == {"food": "meal"}
    assert probatio.to_openapi(
        tool.parameters, custom_serializer=instance.custom_serializer
    ) == {"type": "object", "properties": {}}
    assert probatio.to_openapi(
        probatio.Schema(str), custom_serializer=instance.custom_serializer
    ) == {"type": "string"}
    answer = await tool.async_call(hass, call("one"), context())
    assert isinstance(answer, llm.ToolResult)
    assert answer.data == {"result": "fed"}

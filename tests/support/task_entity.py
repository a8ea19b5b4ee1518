"""An AI Task entity that plays a script through Home Assistant's own chat log.

Import the fixture `tasks` beside `home` (from `tests.support.heartbeats`)::

    async def test_feeds(home, tasks):
        tasks.play(wants(("feed", {"food": "meal"})), says("Fed."))
        beat = await home.add_heartbeat(act=FEED)   # the endpoint is the entity
        await home.clock.tick()
        assert len(tasks.requests) == 2

An answer is one of

* `says("…")` or `wants((tool, arguments), …)`, both with `used=(input, output)` tokens
  where the integration tells them,
* an exception: the integration raises it,
* `Held(answer)`: waits; `await held.reached.wait()`, then `held.release.set()`,
* `Deaf(answer)`: waits, and answers only when it is told to let go,
* a function of the request that gives one of these.

What integrations do differently can be set: `in_parts` puts each call into a message
of its own, as OpenAI's does; `at_once` starts calls before the message is whole, and
`late` all but the first, as Ollama's does; `streams=False` hands messages over as a
whole; `most_turns` is how often it asks.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, override

from homeassistant.components import ai_task, conversation
from homeassistant.config_entries import ConfigEntry, ConfigFlow
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import llm
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback
from homeassistant.setup import async_setup_component
import probatio
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    MockModule,
    MockPlatform,
    mock_config_flow,
    mock_integration,
    mock_platform,
)

from .heartbeats import Home
from .llm_server import Held

DOMAIN = "thinker"
ENTITY = "ai_task.thinker"


@dataclass(frozen=True, kw_only=True)
class Said:
    """One answer of the model; `used` is what a provider tells of its tokens.

    `goes_on` if the provider asks for the rest of it, `fails` if it breaks off,
    `has_searched` if the provider has called a tool of its own.
    """

    text: str | None = None
    calls: tuple[tuple[str, Any], ...] = ()
    used: tuple[int, int] | None = None
    goes_on: bool = False
    fails: Exception | None = None
    has_searched: bool = False


@dataclass(frozen=True)
class Deaf:
    """An answer that comes only when it is not wanted any more."""

    answer: Said
    reached: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request, as the integration would send it."""

    messages: list[conversation.Content]
    tools: dict[str, Any]
    context: llm.LLMContext | None

    @property
    def system(self) -> str:
        (system,) = [one.content for one in self.messages if one.role == "system"]
        return system

    @property
    def user(self) -> str:
        (user,) = [one.content for one in self.messages if one.role == "user"]
        return user

    @property
    def results(self) -> list[llm.ToolResult]:
        """What the calls so far were answered, in the order of the log."""
        return [one.result for one in self.messages if one.role == "tool_result"]


def says(text: str | None, used: tuple[int, int] | None = None) -> Said:
    """Answer in words: the model is done."""
    return Said(text=text, used=used)


def wants(*calls: tuple[str, Any], used: tuple[int, int] | None = None) -> Said:
    """Answer with calls, all of one turn."""
    return Said(calls=calls, used=used)


@dataclass(slots=True)
class Tasks:
    """What the entity will answer, and what it was asked."""

    requests: list[Asked] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    in_parts: bool = False
    at_once: bool = False
    late: bool = False
    streams: bool = True
    most_turns: int = 1000
    always: Any = None
    script: list[Any] = field(default_factory=list)
    entity: ThinkingEntity | None = None

    def play(self, *answers: Any) -> None:
        """Add answers to the script."""
        self.script.extend(answers)

    async def next(self, asked: Asked) -> Said:
        """Give the next answer of the script, or raise it."""
        self.requests.append(asked)
        if not self.script and self.always is None:
            raise AssertionError("the script is over")
        answer = self.script.pop(0) if self.script else self.always
        while not isinstance(answer, Said):
            if isinstance(answer, Held):
                answer.reached.set()
                await answer.release.wait()
                answer = answer.answer
            elif isinstance(answer, Deaf):
                answer.reached.set()
                with suppress(asyncio.CancelledError):
                    await asyncio.Event().wait()
                answer = answer.answer
            elif isinstance(answer, Exception):
                raise answer
            else:
                answer = answer(asked)
        return answer


class ThinkingEntity(ai_task.AITaskEntity):
    """Does what the integrations of Home Assistant do with a chat log."""

    _attr_name = "Thinker"
    _attr_unique_id = "thinker"
    _attr_supported_features = ai_task.AITaskEntityFeature.GENERATE_DATA

    def __init__(self, tasks: Tasks) -> None:
        self.tasks = tasks

    @override
    async def _async_generate_data(
        self, task: ai_task.GenDataTask, chat_log: conversation.ChatLog
    ) -> ai_task.GenDataTaskResult:
        assert chat_log.llm_api is not None
        self.tasks.names.append(task.name)
        tools = {
            tool.name: {
                "description": tool.description,
                "parameters": probatio.to_openapi(
                    tool.parameters,
                    custom_serializer=chat_log.llm_api.custom_serializer,
                    openapi_version="3.1.0",
                ),
            }
            for tool in chat_log.llm_api.tools
        }
        for _ in range(self.tasks.most_turns):
            asked = Asked(
                messages=[*chat_log.content],
                tools=tools,
                context=chat_log.llm_api.llm_context,
            )
            said = await self.tasks.next(asked)
            await self._take_in(chat_log, said)
            if not chat_log.unresponded_tool_results and not said.goes_on:
                break
        last = chat_log.content[-1]
        if not isinstance(last, conversation.AssistantContent):
            raise HomeAssistantError("The last content is no answer")
        return ai_task.GenDataTaskResult(
            conversation_id=chat_log.conversation_id, data=last.content or ""
        )

    async def _take_in(self, chat_log: conversation.ChatLog, said: Said) -> None:
        if self.tasks.streams:
            stream = chat_log.async_add_delta_content_stream(
                self.entity_id, self._deltas(chat_log, said)
            )
        else:
            stream = chat_log.async_add_assistant_content(
                conversation.AssistantContent(
                    agent_id=self.entity_id,
                    content=said.text,
                    tool_calls=[*map(_input, said.calls)] or None,
                )
            )
            self._trace(chat_log, said)
        async for _ in stream:
            pass

    async def _deltas(
        self, chat_log: conversation.ChatLog, said: Said
    ) -> AsyncGenerator[Delta]:
        inputs = [*map(_input, said.calls)]
        for delta in _search() if said.has_searched else ():
            yield delta
        if self.tasks.in_parts:
            for one in inputs:
                yield {"role": "assistant"}
                yield {"tool_calls": [one]}
        elif inputs:
            first = self._first(len(inputs))
            yield {"role": "assistant", "tool_calls": inputs[:first]}
            for one in inputs[first:]:
                yield {"tool_calls": [one]}
        if said.text is not None:
            yield {"role": "assistant", "content": said.text}
        self._trace(chat_log, said)
        if said.fails is not None:
            raise said.fails

    def _first(self, count: int) -> int:
        """Return how many calls come with the beginning of a message."""
        if self.tasks.at_once:
            return 0
        return 1 if self.tasks.late else count

    def _trace(self, chat_log: conversation.ChatLog, said: Said) -> None:
        if said.used is not None:
            given, written = said.used
            stats = {"input_tokens": given, "output_tokens": written}
            chat_log.async_trace({"stats": stats})


type Delta = (
    conversation.AssistantContentDeltaDict | conversation.ToolResultContentDeltaDict
)


def _search() -> Iterator[Delta]:
    """Call a tool of the provider's own, as OpenAI's integration tells of it."""
    search = llm.ToolInput(tool_name="search", tool_args={}, external=True)
    yield {"role": "assistant", "tool_calls": [search]}
    yield {
        "role": "tool_result",
        "tool_call_id": search.id,
        "tool_name": search.tool_name,
        "result": llm.ToolResult(data={"found": "rain"}),
    }


def _input(call: tuple[str, Any]) -> llm.ToolInput:
    name, arguments = call
    if isinstance(arguments, Mapping):
        arguments = dict(arguments)
    return llm.ToolInput(tool_name=name, tool_args=arguments)


async def add_ai_task(hass: HomeAssistant) -> None:
    """Set up the base component, as every Home Assistant does when it starts."""
    assert await async_setup_component(hass, ai_task.DOMAIN, {})


@pytest.fixture
async def tasks(hass: HomeAssistant, home: Home) -> AsyncIterator[Tasks]:
    """Make an AI Task entity the endpoint of the home."""
    await add_ai_task(hass)
    made = Tasks()

    async def set_up(_: HomeAssistant, entry: ConfigEntry) -> bool:
        await hass.config_entries.async_forward_entry_setups(entry, [ai_task.DOMAIN])
        return True

    async def unload(_: HomeAssistant, entry: ConfigEntry) -> bool:
        return await hass.config_entries.async_unload_platforms(entry, [ai_task.DOMAIN])

    async def add_entity(
        _: HomeAssistant, __: ConfigEntry, add: AddConfigEntryEntitiesCallback
    ) -> None:
        made.entity = ThinkingEntity(made)
        add([made.entity])

    mock_integration(
        hass,
        MockModule(DOMAIN, async_setup_entry=set_up, async_unload_entry=unload),
        built_in=False,
    )
    mock_platform(
        hass, f"{DOMAIN}.{ai_task.DOMAIN}", MockPlatform(async_setup_entry=add_entity)
    )
    mock_platform(hass, f"{DOMAIN}.config_flow", None)
    entry = MockConfigEntry(domain=DOMAIN)
    entry.add_to_hass(hass)
    with mock_config_flow(DOMAIN, ConfigFlow):
        assert await hass.config_entries.async_setup(entry.entry_id)
        await hass.async_block_till_done()
        hass.config_entries.async_update_entry(home.entry, data={"entity_id": ENTITY})
        yield made

"""Where an AI Task entity hands in the calls of its model, to be answered in order."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
import json
from typing import Any

from homeassistant.core import callback
from homeassistant.helpers import llm

from .engine.answering import NOT_CALLED_LIMIT, Answered, Answering
from .engine.records import ToolCall

_NO_OBJECT = "The arguments of a call must be a JSON object."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Slip:
    call: ToolCall
    answer: asyncio.Future[llm.ToolResult]


class Desk:
    """Takes calls in as they come, many at once, and answers one after another (R3).

    Home Assistant starts the calls of one turn together; the run answers them in its
    own task, so that it is the run which is cut, and never the caller that fails.
    `check` raises when the run may not go on.
    """

    def __init__(self, answering: Answering, check: Callable[[], None]) -> None:
        """Open, with nothing handed in."""
        self._answering = answering
        self._check = check
        self._slips: asyncio.Queue[_Slip | None] = asyncio.Queue()
        self._awaited: set[asyncio.Future[llm.ToolResult]] = set()
        self._is_closed = False

    async def hand_in(self, tool_input: llm.ToolInput) -> llm.ToolResult:
        """Wait for the answer of a call; raises nothing of its own (R4)."""
        if self._is_closed:
            return llm.ToolResult(data={"error": NOT_CALLED_LIMIT}, error=True)
        answer: asyncio.Future[llm.ToolResult] = (
            asyncio.get_running_loop().create_future()
        )
        self._awaited.add(answer)
        self._slips.put_nowait(_Slip(call=_call_of(tool_input), answer=answer))
        return await answer

    async def serve(self) -> None:
        """Answer until the desk is closed; raises `RunCutError` at a limit."""
        while (slip := await self._slips.get()) is not None and not self._is_closed:
            if self._answering.is_over:
                raise self._answering.refuse([slip.call, *self._others()])
            if slip.answer.done():
                continue  # whoever asked has left
            self._check()
            answered = await self._answering.answer(slip.call, is_last=True)
            if not slip.answer.done():
                slip.answer.set_result(_result_of(answered))

    @callback
    def close(self) -> None:
        """Take no more calls, and let nobody wait for an answer."""
        self._is_closed = True
        self._slips.put_nowait(None)
        for answer in self._awaited:
            answer.cancel()

    def _others(self) -> list[ToolCall]:
        """Take what else has been handed in."""
        calls = []
        while not self._slips.empty():
            if (slip := self._slips.get_nowait()) is not None:
                calls.append(slip.call)
        return calls


def _call_of(tool_input: llm.ToolInput) -> ToolCall:
    arguments: Any = tool_input.tool_args
    is_readable = isinstance(arguments, Mapping)
    return ToolCall(
        id=tool_input.id,
        name=tool_input.tool_name,
        arguments=arguments if is_readable else {},
        fault=None if is_readable else _NO_OBJECT,
    )


def _result_of(answered: Answered) -> llm.ToolResult:
    data = json.loads(answered.content)
    if not isinstance(data, dict):
        data = {"result": data}
    return llm.ToolResult(data=data, error=answered.error)

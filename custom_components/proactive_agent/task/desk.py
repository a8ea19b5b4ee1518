"""Where an AI Task entity hands in the calls of its model, to be answered in order."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
import json
from typing import Any

from homeassistant.core import callback
from homeassistant.helpers import llm

from ..engine.answering import NOT_CALLED_LIMIT, Answered, Answering
from ..engine.records import ToolCall

_NO_OBJECT = "The arguments of a call must be a JSON object."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Slip:
    call: ToolCall
    answer: asyncio.Future[llm.ToolResult]


class Desk:
    """Takes calls in as they come, many at once, and answers one after another (R3).

    Home Assistant starts the calls of one turn together, and not always in the order
    of the model; the run answers them in its own task, so that it is the run which is
    cut, and never the caller that fails. `check` raises when the run may not go on.
    """

    def __init__(self, answering: Answering, check: Callable[[], None]) -> None:
        """Open, with nothing handed in."""
        self._answering = answering
        self._check = check
        self._slips: list[_Slip] = []
        self._expected: dict[str, None] = {}
        self._served: _Slip | None = None
        self._news = asyncio.Event()
        self._is_closed = False

    @callback
    def expect(self, call_id: str) -> None:
        """Note whose turn it is: a call that the model has written, in its order."""
        self._expected[call_id] = None

    async def hand_in(self, tool_input: llm.ToolInput) -> llm.ToolResult:
        """Wait for the answer of a call; raises nothing of its own (R4)."""
        if self._is_closed:
            return llm.ToolResult(data={"error": NOT_CALLED_LIMIT}, error=True)
        answer: asyncio.Future[llm.ToolResult] = (
            asyncio.get_running_loop().create_future()
        )
        self._slips.append(_Slip(call=_call_of(tool_input), answer=answer))
        self._news.set()
        return await answer

    async def serve(self) -> None:
        """Answer until the desk is closed; raises `RunCutError` at a limit."""
        while not self._is_closed:
            if (slip := self._take()) is None:
                self._news.clear()
                await self._news.wait()
            elif self._answering.is_over:
                others = [one.call for one in self._slips]
                raise self._answering.refuse([slip.call, *others])
            elif not slip.answer.done():  # else whoever asked has left
                self._check()
                answered = await self._answering.answer(slip.call, is_last=True)
                if not slip.answer.done():
                    slip.answer.set_result(_result_of(answered))

    @callback
    def close(self) -> None:
        """Take no more calls, and let nobody wait for an answer."""
        self._is_closed = True
        self._news.set()
        for slip in (*self._slips, *filter(None, (self._served,))):
            slip.answer.cancel()

    def _take(self) -> _Slip | None:
        """Take the next call, but none before its turn."""
        first = next(iter(self._expected), None)
        for slip in self._slips:
            if slip.call.id == first or slip.call.id not in self._expected:
                self._slips.remove(slip)
                self._expected.pop(slip.call.id, None)
                self._served = slip
                return slip
        return None


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

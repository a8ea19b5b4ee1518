"""What an AI Task entity writes down of its talk: turns, tokens, and its end."""

from collections.abc import AsyncGenerator, AsyncIterable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from homeassistant.core import callback
from homeassistant.exceptions import HomeAssistantError

from ..engine.errors import CutReason, RunCutError
from ..engine.journal import Journal
from ..engine.records import JsonObject, Usage
from ..engine.tab import Tab
from .desk import Desk

if TYPE_CHECKING:
    from homeassistant.components.conversation import ChatLog, Content

# Some integrations of Home Assistant ask so often, and then fail.
_MOST_TURNS = 10


class TaskLog:
    """Follows one chat log: how often its model is asked, and what that uses (F4, F5).

    No event says that a model is asked again, and how often an answer comes in parts
    differs: some integrations make a message of each call. What is certain is that
    each answer is put into the log once, and the next is asked for only after that.

    `cut` is the limit that has ended it. `is_silent` if the model has said nothing more
    after it was answered: it is finished, though the entity might ask on and on.
    """

    def __init__(
        self, journal: Journal, tab: Tab, desk: Desk, *, max_turns: int
    ) -> None:
        """Begin before anything is asked; the desk hears in which order calls come."""
        self.cut: CutReason | None = None
        self.is_silent = False
        self._journal = journal
        self._tab = tab
        self._desk = desk
        self._max_turns = max_turns
        self._usage: Usage | None = None
        self._is_asked = self._is_taking_in = self._is_closed = False

    @callback
    def ask(self, messages: Sequence[JsonObject]) -> None:
        """Charge the next request; raises `RunCutError` if it may not be made."""
        self._tab.open(messages)
        self._journal.open_turn()
        self._is_asked = True

    @callback
    def follow(self, chat_log: ChatLog) -> None:
        """Hear of what this chat log takes in from now on."""
        take_in = chat_log.async_add_delta_content_stream
        trace = chat_log.async_trace

        def take_in_order(agent_id: str, stream: Any) -> AsyncGenerator[Content]:
            return take_in(agent_id, self._in_order(stream))

        def hear(details: dict[str, Any]) -> None:
            self._hear(details.get("stats"))
            trace(details)

        # Each is handed one answer of the model, and gives what the log takes of it.
        whole = self._taking_in(chat_log, chat_log.async_add_assistant_content)
        streamed = self._taking_in(chat_log, take_in_order)
        setattr(chat_log, "async_add_assistant_content", whole)  # noqa: B010
        setattr(chat_log, "async_add_delta_content_stream", streamed)  # noqa: B010
        setattr(chat_log, "async_trace", hear)  # noqa: B010 - a method to mypy

    @callback
    def has_given_up(self, err: BaseException) -> bool:
        """Say whether the entity failed since it would not ask so often."""
        if (
            not self._is_asked
            or self._journal.turns != _MOST_TURNS + 1
            or not isinstance(err, HomeAssistantError)
            or err.__cause__ is not None
        ):
            return False
        self._journal.cancel_turn()
        self._tab.cancel()
        return True

    @callback
    def close(self) -> None:
        """Let nothing more be taken in, and settle what was broken off."""
        self._is_closed = True
        if self._usage is not None:
            self._settle([])

    def _taking_in(
        self,
        chat_log: ChatLog,
        take_in: Callable[..., AsyncGenerator[Content]],
    ) -> Callable[..., AsyncGenerator[Content]]:
        async def watched(*args: Any, **kwargs: Any) -> AsyncGenerator[Content]:
            # The one uses the other.
            is_outer = not self._is_taking_in
            known = len(chat_log.content)
            if is_outer:
                self._begin()
            try:
                async for content in take_in(*args, **kwargs):
                    yield content
            finally:
                self._is_taking_in = not is_outer
            if is_outer:
                self._end(chat_log, chat_log.content[known:])

        return watched

    async def _in_order(self, stream: AsyncIterable[Any]) -> AsyncGenerator[Any]:
        """Pass an answer on, and the calls in it to the desk before they are made."""
        async for delta in stream:
            for call in delta.get("tool_calls") or ():
                if not call.external:
                    self._desk.expect(call.id)
            yield delta

    def _begin(self) -> None:
        if self._is_closed:
            raise RunCutError(CutReason.STOPPED)
        # Some ask on although nothing was called, to have a pause continued.
        if not self._is_asked:
            self._journal.open_turn()
        self._is_asked = False
        self._is_taking_in = True
        if self._journal.turns > self._max_turns:
            raise self._cut_by(CutReason.TURN_LIMIT)

    def _end(self, chat_log: ChatLog, heard: Sequence[Content]) -> None:
        self._settle([_message(one) for one in heard if one.role == "assistant"])
        if not chat_log.unresponded_tool_results:
            return
        if not heard:
            self.is_silent = True
            raise RunCutError(CutReason.STOPPED)
        try:
            self.ask([_message(one) for one in chat_log.content])
        except RunCutError as err:
            raise self._cut_by(err.kind) from err

    def _cut_by(self, reason: CutReason) -> RunCutError:
        # Kept, as the entity may make an error of its own out of it.
        self.cut = reason
        return RunCutError(reason)

    def _hear(self, stats: Any) -> None:
        match stats:
            case {"input_tokens": int(prompt), "output_tokens": int(completion)}:
                # The last counts: some tell it again with each part of an answer.
                self._usage = Usage(prompt=prompt, completion=completion)

    def _settle(self, answered: Sequence[JsonObject]) -> None:
        self._tab.settle(self._usage, answered)
        self._journal.close_turn(self._usage, _beside_calls(answered))
        self._usage = None


def _beside_calls(answered: Sequence[JsonObject]) -> str | None:
    """Return what was written in an answer that calls something."""
    if not any("calls" in one for one in answered):
        return None
    return "\n".join(str(one["content"]) for one in answered if one["content"]) or None


def _message(content: Content) -> JsonObject:
    if content.role == "tool_result":
        return {"data": content.result.data}
    message: JsonObject = {"role": content.role, "content": content.content}
    if content.role == "assistant" and content.tool_calls:
        calls = [{call.tool_name: call.tool_args} for call in content.tool_calls]
        return {**message, "calls": calls}
    return message

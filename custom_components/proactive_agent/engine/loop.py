"""The agent loop: model and tools in turn until it is finished or cut."""

from collections.abc import Sequence

from .answering import Answering
from .errors import ModelError, RunCutError
from .journal import Journal
from .ports import ChatModel, Tools
from .records import JsonObject, ToolCall, Usage
from .wire import tool_message


async def converse(
    model: ChatModel,
    tools: Tools,
    opening: Sequence[JsonObject],
    *,
    max_turns: int,
    journal: Journal,
) -> None:
    """Let the model work until it answers without a tool call (R2).

    Raises `RunCutError` when a limit ends it (F4, R6) and `ModelError` when the
    model fails (R7); the journal tells what happened until then.
    """
    answering = Answering(tools, journal, max_turns=max_turns)
    messages = answering.opened(opening)
    while True:
        journal.open_turn()
        try:
            reply = await model.complete(messages, tools.specs)
        except RunCutError:
            # Nothing was asked: the budget was spent before.
            journal.cancel_turn()
            raise
        except ModelError as err:
            journal.spend(err.usage or Usage())
            journal.close_turn(err.usage)
            raise
        if reply.usage is not None:
            journal.spend(reply.usage)
        journal.close_turn(reply.usage, reply.text if reply.calls else None)
        if not reply.calls:
            journal.answer = reply.text
            return
        if answering.is_over:
            raise answering.refuse(reply.calls)
        messages.append(reply.message)
        messages.extend(await _answer_calls(answering, reply.calls))


async def _answer_calls(
    answering: Answering, calls: Sequence[ToolCall]
) -> list[JsonObject]:
    """Answer each call of a turn in order, once, by its id (R3)."""
    messages: list[JsonObject] = []
    for position, call in enumerate(calls, start=1):
        answered = await answering.answer(call, is_last=position == len(calls))
        messages.append(tool_message(call.id, answered.content))
    return messages

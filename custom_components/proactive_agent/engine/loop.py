"""The agent loop: model and tools in turn until it is finished or cut."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
import json

from .answer import encode_answer
from .errors import CutReason, RunCutError
from .ports import ChatModel, Tools
from .records import CallRecord, JsonObject, Reply, ToolAnswer, ToolCall, Usage
from .wire import tool_message

LAST_TURN = (
    "This is your last turn: no tool can be called any more."
    " End now with a short text on how it stands."
)
SAME_ANSWER_LIMIT = 3


@dataclass(slots=True)
class Journal:
    """What a run has come to so far; readable at any time, also after a cut."""

    turns: int = 0
    usage: Usage = field(default_factory=Usage)
    calls: list[CallRecord] = field(default_factory=list)
    answer: str | None = None

    def copy(self) -> Journal:
        """Return what stands now, out of reach of whoever still writes."""
        return replace(self, calls=[*self.calls])


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
    messages = [*opening]
    repeats: Counter[str] = Counter()
    if max_turns == 1:
        messages[-1] = _with_last_turn_notice(messages[-1])
    for turn in range(1, max_turns + 1):
        journal.turns = turn
        reply = await model.complete(messages, tools.specs)
        if reply.usage is not None:
            journal.usage += reply.usage
        if not reply.calls:
            journal.answer = reply.text
            return
        if turn == max_turns:
            journal.calls.extend(_refused(turn, call) for call in reply.calls)
            raise RunCutError(CutReason.TURN_LIMIT)
        messages.append(reply.message)
        messages.extend(
            await _answer_calls(
                tools, reply, journal, repeats, last_turn_next=turn == max_turns - 1
            )
        )


async def _answer_calls(
    tools: Tools,
    reply: Reply,
    journal: Journal,
    repeats: Counter[str],
    *,
    last_turn_next: bool,
) -> list[JsonObject]:
    """Answer each call of a turn in order, once, by its id (R3)."""
    messages: list[JsonObject] = []
    acted: dict[str, ToolAnswer] = {}
    for position, call in enumerate(reply.calls, start=1):
        key = _call_key(call)
        answer = acted.get(key)
        if answer is None:
            answer = await tools.call(call)
            if tools.acts(call.name):
                acted[key] = answer
            repeats[f"{key} {encode_answer(answer)}"] += 1
        journal.calls.append(_record(journal.turns, call, answer))
        if last_turn_next and position == len(reply.calls):
            answer = _announcing_last_turn(answer)
        messages.append(tool_message(call.id, encode_answer(answer)))
    if max(repeats.values()) >= SAME_ANSWER_LIMIT:
        raise RunCutError(CutReason.ACTION_LIMIT)
    return messages


def _call_key(call: ToolCall) -> str:
    return f"{call.name} {json.dumps(call.arguments, sort_keys=True, default=str)}"


def _record(turn: int, call: ToolCall, answer: ToolAnswer) -> CallRecord:
    return CallRecord(
        turn=turn,
        tool=call.name,
        arguments=call.arguments,
        answer=answer.content,
        error=answer.error,
    )


def _refused(turn: int, call: ToolCall) -> CallRecord:
    sentence = "Not called: the run had no turn left."
    return _record(turn, call, ToolAnswer(content=sentence, error=True))


def _announcing_last_turn(answer: ToolAnswer) -> ToolAnswer:
    return ToolAnswer(
        content={"notice": LAST_TURN, "answer": answer.content}, error=answer.error
    )


def _with_last_turn_notice(message: JsonObject) -> JsonObject:
    return {**message, "content": f"{message['content']}\n\n{LAST_TURN}"}

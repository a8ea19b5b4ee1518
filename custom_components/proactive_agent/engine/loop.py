"""The agent loop: model and tools in turn until it is finished or cut."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
import json

from .answer import ANSWER_LIMIT, encode_answer
from .errors import CutReason, ModelError, RunCutError
from .ports import ChatModel, Tools
from .records import CallRecord, JsonObject, Reply, ToolAnswer, ToolCall, Usage
from .wire import tool_message

LAST_TURN = (
    "This is your last turn: no tool can be called any more."
    " End now with a short text on how it stands."
)
NOT_CALLED_TURNS = "Not called: the run had no turn left."
NOT_CALLED_LIMIT = "Not called: the run had reached its end."
SAME_ANSWER_LIMIT = 3
_NOTICE_FRAME = 30


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
    while True:
        journal.turns += 1
        try:
            reply = await model.complete(messages, tools.specs)
        except RunCutError:
            # Nothing was asked: the budget was spent before.
            journal.turns -= 1
            raise
        except ModelError as err:
            journal.usage += err.usage or Usage()
            raise
        if reply.usage is not None:
            journal.usage += reply.usage
        if not reply.calls:
            journal.answer = reply.text
            return
        turns_left = max_turns - journal.turns
        if turns_left <= 0:
            journal.calls.extend(
                _refused(journal.turns, call, NOT_CALLED_TURNS) for call in reply.calls
            )
            raise RunCutError(CutReason.TURN_LIMIT)
        messages.append(reply.message)
        messages.extend(
            await _answer_calls(
                tools, reply, journal, repeats, last_turn_next=turns_left == 1
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
        is_repeated = key in acted
        answer = acted[key] if is_repeated else await _answer_call(tools, call, journal)
        if tools.acts(call.name):
            acted[key] = answer
        journal.calls.append(_record(journal.turns, call, answer))
        content = encode_answer(answer)
        repeats[f"{key} {content}"] += not is_repeated
        # At once: a limit that is reached lets no later call through.
        if repeats[f"{key} {content}"] >= SAME_ANSWER_LIMIT:
            raise RunCutError(CutReason.ACTION_LIMIT)
        if last_turn_next and position == len(reply.calls):
            content = _announcing_last_turn(answer)
        messages.append(tool_message(call.id, content))
    return messages


async def _answer_call(tools: Tools, call: ToolCall, journal: Journal) -> ToolAnswer:
    try:
        return await tools.call(call)
    except RunCutError:
        journal.calls.append(_refused(journal.turns, call, NOT_CALLED_LIMIT))
        raise


def _call_key(call: ToolCall) -> str:
    # With its fault: an unreadable call has no arguments, and is no call without any.
    parts = [call.name, call.arguments, call.fault]
    return json.dumps(parts, sort_keys=True, default=str)


def _record(turn: int, call: ToolCall, answer: ToolAnswer) -> CallRecord:
    return CallRecord(
        turn=turn,
        tool=call.name,
        arguments=call.arguments,
        answer=answer.content,
        error=answer.error,
    )


def _refused(turn: int, call: ToolCall, sentence: str) -> CallRecord:
    return _record(turn, call, ToolAnswer(content=sentence, error=True))


def _announcing_last_turn(answer: ToolAnswer) -> str:
    # The answer is cut to size before, or the cut could take the notice.
    room = ANSWER_LIMIT - len(LAST_TURN) - _NOTICE_FRAME
    told = encode_answer(answer, room)
    return f'{{"notice": {json.dumps(LAST_TURN)}, "answer": {told}}}'


def _with_last_turn_notice(message: JsonObject) -> JsonObject:
    return {**message, "content": f"{message['content']}\n\n{LAST_TURN}"}

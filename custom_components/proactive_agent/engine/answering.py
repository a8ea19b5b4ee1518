"""The answers to a model's calls: in order, each once, and on record (R3, F4, R6)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
import json

from .answer import ANSWER_LIMIT, encode_answer
from .errors import CutReason, RunCutError
from .journal import Journal
from .ports import Tools
from .records import CallRecord, JsonObject, ToolAnswer, ToolCall

LAST_TURN = (
    "This is your last turn: no tool can be called any more."
    " End now with a short text on how it stands."
)
NOT_CALLED_TURNS = "Not called: the run had no turn left."
NOT_CALLED_LIMIT = "Not called: the run had reached its end."
SAME_ANSWER_LIMIT = 3
_NOTICE_FRAME = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """An answer as the model gets it: valid JSON of bounded length (R5)."""

    content: str
    error: bool


class Answering:
    """Answers the calls of one run; `journal.turns` says which turn it is.

    `limit` is the length of an answer in characters.
    """

    def __init__(
        self,
        tools: Tools,
        journal: Journal,
        *,
        max_turns: int,
        limit: int = ANSWER_LIMIT,
    ) -> None:
        """Begin with nothing answered."""
        self._tools = tools
        self._journal = journal
        self._max_turns = max_turns
        self._limit = limit
        self._repeats: Counter[str] = Counter()
        self._acted: dict[str, ToolAnswer] = {}
        self._turn = 0

    def opened(self, opening: Sequence[JsonObject]) -> list[JsonObject]:
        """Return the opening messages; a run of one turn is told so (F4)."""
        messages = [*opening]
        if self._max_turns == 1:
            last = messages[-1]
            messages[-1] = {**last, "content": f"{last['content']}\n\n{LAST_TURN}"}
        return messages

    @property
    def is_over(self) -> bool:
        """Whether this is the turn in which nothing may be called (F4)."""
        return self._journal.turns >= self._max_turns

    def refuse(self, calls: Iterable[ToolCall]) -> RunCutError:
        """Record the calls of that turn; returns how the run ends."""
        self._journal.calls.extend(
            self._refused(call, NOT_CALLED_TURNS) for call in calls
        )
        return RunCutError(CutReason.TURN_LIMIT)

    async def answer(self, call: ToolCall, *, is_last: bool) -> Answered:
        """Answer the next call of this turn; an acting one is done once in it (R3).

        `is_last` marks the last call before the model reads on: its answer then says
        that the next turn is the last one (F4). Raises `RunCutError` when the run may
        not go on (R6).
        """
        if self._turn != self._journal.turns:
            self._turn = self._journal.turns
            self._acted.clear()
        key = _call_key(call)
        is_repeated = key in self._acted
        began = self._journal.clock()
        answer = self._acted[key] if is_repeated else await self._ask(call)
        if self._tools.acts(call.name):
            self._acted[key] = answer
        seconds = self._journal.since(began)
        self._journal.calls.append(self._record(call, answer, seconds))
        content = encode_answer(answer, self._limit)
        self._repeats[f"{key} {content}"] += not is_repeated
        # At once: a limit that is reached lets no later call through.
        if self._repeats[f"{key} {content}"] >= SAME_ANSWER_LIMIT:
            raise RunCutError(CutReason.ACTION_LIMIT)
        if is_last and self._max_turns - self._journal.turns == 1:
            content = self._announcing_last_turn(answer)
        return Answered(content=content, error=answer.error)

    async def _ask(self, call: ToolCall) -> ToolAnswer:
        try:
            return await self._tools.call(call)
        except RunCutError:
            self._journal.calls.append(self._refused(call, NOT_CALLED_LIMIT))
            raise

    def _refused(self, call: ToolCall, sentence: str) -> CallRecord:
        return self._record(call, ToolAnswer(content=sentence, error=True))

    def _record(
        self, call: ToolCall, answer: ToolAnswer, seconds: float = 0
    ) -> CallRecord:
        return CallRecord(
            turn=self._journal.turns,
            tool=call.name,
            arguments=call.arguments,
            answer=answer.content,
            error=answer.error,
            seconds=seconds,
        )

    def _announcing_last_turn(self, answer: ToolAnswer) -> str:
        # The answer is cut to size before, or the cut could take the notice.
        room = self._limit - len(LAST_TURN) - _NOTICE_FRAME
        told = encode_answer(answer, room)
        return f'{{"notice": {json.dumps(LAST_TURN)}, "answer": {told}}}'


def _call_key(call: ToolCall) -> str:
    # With its fault: an unreadable call has no arguments, and is no call without any.
    parts = [call.name, call.arguments, call.fault]
    return json.dumps(parts, sort_keys=True, default=str)

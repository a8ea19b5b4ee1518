"""A model whose every request is checked against a budget first (F5)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
import json

from .errors import CutReason, ModelError, RunCutError
from .ports import ChatModel
from .records import JsonObject, Reply, ToolSpec, Usage
from .truncation import Reading

CHARACTERS_PER_TOKEN = 4


class MeteredModel:
    """Charges each request before it is made and settles it after (F5).

    `remaining` gives the tokens left (None: no limit), `charge` takes tokens off
    them or, if negative, gives them back. `check` raises when the run may not go
    on (C5). `first` tells how much of the first request was read, if the server says.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        remaining: Callable[[], int | None],
        charge: Callable[[int], None],
        check: Callable[[], None],
    ) -> None:
        """Stand before `model`."""
        self.first: Reading | None = None
        self._is_first = True
        self._model = model
        self._remaining = remaining
        self._charge = charge
        self._check = check

    async def complete(
        self, messages: Sequence[JsonObject], tools: Sequence[ToolSpec]
    ) -> Reply:
        """Answer one turn; raises `RunCutError` if there is no budget left.

        A `ModelError` comes with what was used up all the same; where nobody knows,
        that is what was expected.
        """
        self._check()
        left = self._remaining()
        if left is not None and left <= 0:
            raise RunCutError(CutReason.TOKEN_LIMIT)
        asked = expected_usage(messages, tools)
        is_first, self._is_first = self._is_first, False
        self._charge(asked.total)
        try:
            reply = await self._model.complete(messages, tools)
        except ModelError as err:
            err.usage = asked if err.usage is None else err.usage
            self._charge(err.usage.total - asked.total)
            raise
        if is_first and reply.usage is not None and not reply.usage.estimated:
            self.first = Reading(expected=asked.prompt, reported=reply.usage.prompt)
        usage = reply.usage or asked + answered_usage(reply)
        self._charge(usage.total - asked.total)
        return replace(reply, usage=usage)


def expected_usage(messages: Sequence[JsonObject], tools: Sequence[ToolSpec]) -> Usage:
    """Estimate what a request will use before anything is answered."""
    described = sum(tool.length for tool in tools)
    return Usage(prompt=_estimate(messages) + _tokens(described), estimated=True)


def answered_usage(reply: Reply) -> Usage:
    """Estimate what an answer has used."""
    return Usage(completion=_estimate(reply.message), estimated=True)


def _estimate(value: object) -> int:
    return _tokens(len(json.dumps(value, ensure_ascii=False, default=str)))


def _tokens(characters: int) -> int:
    return characters // CHARACTERS_PER_TOKEN + 1

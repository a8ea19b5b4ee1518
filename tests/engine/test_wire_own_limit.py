"""An error that the owner's own limit has caused names that limit."""

from typing import Any

import pytest

from custom_components.proactive_agent.engine.errors import (
    Advice,
    ErrorKind,
    ModelError,
)
from custom_components.proactive_agent.engine.records import Usage
from custom_components.proactive_agent.engine.wire.errors import classify_error
from custom_components.proactive_agent.engine.wire.own_limit import name_own_limit
from custom_components.proactive_agent.engine.wire.shape import USUAL, Shape

pytestmark = pytest.mark.contract("R7")

THOUGHT = ModelError(ErrorKind.INVALID_RESPONSE, advice=Advice.ALL_THOUGHT)
EMPTY = ModelError(ErrorKind.INVALID_RESPONSE, advice=Advice.EMPTY_ANSWER)
TOO_LONG = ModelError(
    ErrorKind.CONTEXT_LENGTH,
    advice=Advice.CONTEXT_LIMIT,
    placeholders={"limit": "8192"},
)
SOMEHOW_TOO_LONG = ModelError(ErrorKind.CONTEXT_LENGTH)
RENAMED = Shape(renamed={"max_tokens": "max_completion_tokens"})
DROPPED = Shape(dropped=frozenset({"max_tokens"}))


def refusal(message: str) -> ModelError:
    body = f'{{"error": {{"message": "{message}"}}}}'.encode()
    return classify_error(400, {}, body)


@pytest.mark.parametrize(
    ("err", "extra", "shape", "prompt", "advice"),
    [
        (THOUGHT, {"max_tokens": 64}, USUAL, 100, Advice.OWN_LIMIT_LOW),
        (THOUGHT, {"max_completion_tokens": 64}, USUAL, 100, Advice.OWN_LIMIT_LOW),
        (THOUGHT, {"max_tokens": 64}, RENAMED, 100, Advice.OWN_LIMIT_LOW),
        (THOUGHT, {"max_tokens": 64}, Shape(max_tokens=64), 9, Advice.OWN_LIMIT_LOW),
        (THOUGHT, {}, USUAL, 100, None),
        (THOUGHT, {"max_tokens": "64"}, USUAL, 100, None),
        (THOUGHT, {"max_tokens": None}, USUAL, 100, None),
        # What the server has room for is less than the owner allows.
        (THOUGHT, {"max_tokens": 64}, Shape(max_tokens=32), 100, None),
        (THOUGHT, {"max_tokens": 64}, DROPPED, 100, None),
        (EMPTY, {"max_tokens": 64}, USUAL, 100, None),
        (TOO_LONG, {"max_tokens": 8192}, USUAL, 100, Advice.OWN_LIMIT_HIGH),
        (TOO_LONG, {"max_tokens": 4097}, USUAL, 4096, Advice.OWN_LIMIT_HIGH),
        (TOO_LONG, {"max_tokens": 4096}, USUAL, 4096, None),
        (TOO_LONG, {"max_tokens": 8192}, USUAL, 4097, None),
        (TOO_LONG, {}, USUAL, 9000, None),
        (SOMEHOW_TOO_LONG, {"max_tokens": 9000}, USUAL, 10, None),
        (
            refusal("max_tokens: 5 is odd"),
            {"max_tokens": 5},
            USUAL,
            9,
            "refused_option",
        ),
        (refusal("That is odd"), {"max_tokens": 5}, USUAL, 9, None),
        (refusal("max_tokens: 5 is odd"), {"seed": 5}, USUAL, 9, None),
    ],
)
def test_it_is_named_where_it_is_the_whole_cause(
    err: ModelError,
    extra: dict[str, Any],
    shape: Shape,
    prompt: int,
    advice: str | None,
) -> None:
    found = name_own_limit(err, extra, shape, lambda: Usage(prompt=prompt))
    assert (found and found.advice) == advice
    if found is not None:
        ((option, tokens),) = extra.items()
        assert found.kind is err.kind
        assert found.said == err.said
        assert found.placeholders["option"] == option
        assert found.placeholders["tokens"] == str(tokens)

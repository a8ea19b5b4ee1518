"""An error of which only the limit in the owner's own extra options is the cause."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from ..errors import Advice, ModelError
from ..records import Usage
from .shape import LIMITS, Shape

# The part of the room that a request may take and surely fit: its tokens are only
# estimated.
_SURELY: Final = 0.5


def name_own_limit(
    err: ModelError,
    extra: Mapping[str, Any],
    shape: Shape,
    expected: Callable[[], Usage],
) -> ModelError | None:
    """Return the error with the option to change, None if that is not all its cause.

    `extra` are the owner's extra options, `shape` is that of the request, of which
    `expected` estimates the length.
    """
    for option in LIMITS:
        tokens = extra.get(option)
        if isinstance(tokens, int) and _counts(option, tokens, shape):
            advice = _advice(err, option, tokens, expected)
            if advice is not None:
                return err.refined(advice=advice, option=option, tokens=str(tokens))
    return None


def _counts(option: str, tokens: int, shape: Shape) -> bool:
    """Say whether the owner's limit is what was sent, and no lower one."""
    is_lowest = shape.max_tokens is None or tokens <= shape.max_tokens
    return option not in shape.dropped and is_lowest


def _advice(
    err: ModelError, option: str, tokens: int, expected: Callable[[], Usage]
) -> Advice | None:
    match err.advice:
        case Advice.ALL_THOUGHT:
            return Advice.OWN_LIMIT_LOW
        case Advice.BAD_REQUEST if option in err.said:
            return Advice.REFUSED_OPTION
        case Advice.CONTEXT_LIMIT:
            limit, prompt = int(err.placeholders["limit"]), expected().prompt
            fits = prompt <= _SURELY * limit
            return Advice.OWN_LIMIT_HIGH if fits and prompt + tokens > limit else None
    return None

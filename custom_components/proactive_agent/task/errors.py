"""What went wrong with an AI Task entity, out of whatever its integration raises."""

from collections.abc import Iterator, Mapping
import json
import re
from typing import Final

from ..engine.errors import Advice, ErrorKind, ModelError
from ..engine.wire.errors import classify_error
from ..engine.wire.secrets import quote

# Where a sentence about a server and its address would mislead.
_ADVICE: Final[Mapping[Advice, Advice]] = {
    Advice.AUTH: Advice.TASK_AUTH,
    Advice.BAD_REQUEST: Advice.TASK_FAILED,
    Advice.CONNECTION: Advice.TASK_FAILED,
    Advice.INVALID_RESPONSE: Advice.TASK_FAILED,
    Advice.MODEL_NOT_FOUND: Advice.TASK_MODEL,
    Advice.UNSUPPORTED_PARAMETER: Advice.TASK_FAILED,
}
# How integrations speak of what their client has not given a status.
_WORDS: Final = (
    (ErrorKind.TIMEOUT, Advice.TIMEOUT, r"time(?:d )?out"),
    (ErrorKind.AUTH, Advice.AUTH, r"authentication"),
    (
        ErrorKind.INVALID_RESPONSE,
        Advice.FILTERED,
        r"content (?:filter|violation)|policy violation|prohibited_content|safety",
    ),
    (ErrorKind.MODEL_NOT_FOUND, Advice.MODEL_NOT_FOUND, r"models/.{1,80}not found"),
    (ErrorKind.CONNECTION, Advice.CONNECTION, r"connect|talking to|not found"),
)
_UNCLEAR: Final = frozenset({ErrorKind.INVALID_RESPONSE, ErrorKind.NOT_OPENAI_API})
_FAILED: Final = range(400, 600)


def to_model_error(err: BaseException, entity_id: str) -> ModelError:
    """Tell by words and status: integrations agree on no kinds of their own.

    What caused an error says more than what an integration makes of it.
    """
    chain = [*_chain(err)]
    told = " ".join(f"{type(one).__name__}: {one}" for one in chain[1:] or chain)
    error = _classify(_status(chain), told)
    return ModelError(
        error.kind,
        advice=_ADVICE.get(error.advice, error.advice),
        said=quote(": ".join(dict.fromkeys(filter(None, map(str, chain)))), ""),
        placeholders={**error.placeholders, "entity": entity_id},
    )


def _classify(status: int, told: str) -> ModelError:
    body = json.dumps({"error": {"message": told}}).encode()
    error = classify_error(status, {}, body)
    if error.kind not in _UNCLEAR:
        return error
    for kind, advice, words in _WORDS:
        if re.search(words, told, re.IGNORECASE):
            return ModelError(kind, advice=advice)
    return ModelError(ErrorKind.INVALID_RESPONSE)


def _chain(err: BaseException | None) -> Iterator[BaseException]:
    told: dict[int, BaseException] = {}
    # `raise err from err` makes an error its own cause.
    while err is not None and id(err) not in told:
        told[id(err)] = err
        err = err.__cause__
    yield from told.values()


def _status(chain: list[BaseException]) -> int:
    """Return the status that a client has kept of an answer, 200 if there is none."""
    for err in chain:
        for name in ("status_code", "status", "code"):
            status = getattr(err, name, None)
            if isinstance(status, int) and status in _FAILED:
                return status
    return 200

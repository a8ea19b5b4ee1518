"""An answer that is no answer → what is wrong, in a sentence that says what to do."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from ..errors import ErrorKind, ModelError
from .delay import retry_after
from .facts import Facts, facts_of, has_error, quote, read_facts
from .rules import diagnose
from .url import normalise_url
from .values import read_body

ADVICE: Final[Mapping[ErrorKind, str]] = {
    ErrorKind.AUTH: "The server refused the API key; enter a valid one.",
    ErrorKind.QUOTA: (
        "The account at the server has no credit left; top it up or raise its limit."
    ),
    ErrorKind.RATE_LIMIT: "The server takes no more requests for now; ask less often.",
    ErrorKind.OVERLOADED: "The server is overloaded or has failed; try again later.",
    ErrorKind.LOADING: "The server is still loading the model; try again in a moment.",
    ErrorKind.MODEL_NOT_FOUND: (
        "The server does not have this model; choose one that it has."
    ),
    ErrorKind.CONTEXT_LENGTH: (
        "The request is too long for this model; let the agent see fewer entities, "
        "or give the model a larger context."
    ),
    ErrorKind.BAD_REQUEST: (
        "The server does not accept the request; check the extra options."
    ),
    ErrorKind.UNSUPPORTED_PARAMETER: (
        "The server does not accept one of the options sent; "
        "take it out of the extra options."
    ),
    ErrorKind.INVALID_RESPONSE: (
        "The answer is no whole reply of a model; try another model."
    ),
    ErrorKind.NOT_OPENAI_API: (
        "No OpenAI-compatible API answers at this address; "
        "check the URL, which often ends in /v1."
    ),
    ErrorKind.TIMEOUT: "The server took too long to answer; try again later.",
    ErrorKind.CONNECTION: (
        "The server cannot be reached; check that it is running, and the URL."
    ),
}


def classify_error(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    api_key: str = "",
    now: datetime | None = None,
) -> ModelError:
    """Say what is wrong with an answer; `api_key` is masked wherever it shows up.

    `retry_after` is in seconds, however long the server asks for. `now` is the time
    that a date is held against, by default the server's own.
    """
    return to_error(read_facts(status, body), headers, api_key=api_key, now=now)


def read_answer(
    status: int, headers: Mapping[str, str], body: bytes, *, api_key: str = ""
) -> Any:
    """Return the JSON of an answer that is no error; raises `ModelError`.

    An error is looked for on status 200, too.
    """
    try:
        payload = read_body(body)
    except ValueError as err:
        raise classify_error(status, headers, body, api_key=api_key) from err
    if not 200 <= status < 300 or has_error(payload):  # noqa: PLR2004
        raise to_error(facts_of(status, payload), headers, api_key=api_key)
    return payload


def to_error(
    facts: Facts,
    headers: Mapping[str, str],
    *,
    api_key: str = "",
    now: datetime | None = None,
) -> ModelError:
    """Turn what an answer says into an error with a sentence for the owner."""
    delay = retry_after(headers, facts, now)
    kind, advice = diagnose(facts, has_delay=delay is not None)
    sentences = [advice or ADVICE[kind]]
    if target := _redirect(facts.status, headers, api_key):
        sentences.append(f"It sends on to {target}")
    said = quote(facts.message, api_key)
    if said or facts.status >= 300:  # noqa: PLR2004
        answer = f"{facts.status}: {said}" if said else str(facts.status)
        sentences.append(f"The server said: {answer}")
    return ModelError(kind, " ".join(sentences), retry_after=delay)


def _redirect(status: int, headers: Mapping[str, str], api_key: str) -> str:
    if not 300 <= status < 400:  # noqa: PLR2004
        return ""
    fields = {name.lower(): value for name, value in headers.items()}
    try:
        return quote(normalise_url(fields.get("location", "")), api_key)
    except ValueError:
        return ""

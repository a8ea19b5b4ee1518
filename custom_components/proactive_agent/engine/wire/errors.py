"""An answer that is no answer → what is wrong, and what to do about it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from ..errors import Advice, ErrorKind, ModelError
from ..records import Usage
from .body import read_body
from .delay import retry_after
from .facts import Facts, facts_of, facts_of_text, read_facts
from .room import context_limit
from .rules import diagnose
from .secrets import quote
from .shape import KEPT
from .url import normalise_url
from .usage import usage_of
from .values import has_error

_UNASKED: Final = frozenset(
    {
        ErrorKind.AUTH,
        ErrorKind.BAD_REQUEST,
        ErrorKind.CONTEXT_LENGTH,
        ErrorKind.LOADING,
        ErrorKind.MODEL_NOT_FOUND,
        ErrorKind.NOT_OPENAI_API,
        ErrorKind.QUOTA,
        ErrorKind.RATE_LIMIT,
        ErrorKind.UNSUPPORTED_PARAMETER,
    }
)
_FINAL: Final = frozenset(range(400, 500)) - {408, 429}
_TURNED_AWAY: Final = frozenset({503, 529})


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
        raise to_error(facts_of_text(status, body), headers, api_key=api_key) from err
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
    """Turn what an answer says into an error with advice for the owner."""
    delay = retry_after(headers, facts, now)
    kind, advice = diagnose(facts, has_delay=delay is not None)
    error = ModelError(
        kind,
        advice=advice,
        said=_said(facts, api_key),
        retry_after=delay,
        is_final=facts.status in _FINAL and kind is not ErrorKind.INVALID_RESPONSE,
        usage=usage_of(facts.payload) or _usage(kind, facts.status),
    )
    if target := _redirect(facts.status, headers, api_key):
        return error.refined(advice=Advice.REDIRECTED, target=target)
    if kind is ErrorKind.CONTEXT_LENGTH and (limit := context_limit(facts)):
        return error.refined(advice=Advice.CONTEXT_LIMIT, limit=str(limit))
    option = quote(facts.parameter, api_key)
    if advice is Advice.UNSUPPORTED_PARAMETER and option and option not in KEPT:
        return error.refined(advice=Advice.REFUSED_OPTION, option=option)
    return error


def _usage(kind: ErrorKind, status: int) -> Usage | None:
    """Return no usage where the model has certainly not been asked."""
    return Usage() if kind in _UNASKED or status in _TURNED_AWAY else None


def _said(facts: Facts, api_key: str) -> str:
    said = quote(facts.message, api_key)
    status = str(facts.status) if facts.status >= 300 else ""  # noqa: PLR2004
    return ": ".join(filter(None, (status, said)))


def _redirect(status: int, headers: Mapping[str, str], api_key: str) -> str:
    if not 300 <= status < 400:  # noqa: PLR2004
        return ""
    fields = {name.lower(): value for name, value in headers.items()}
    try:
        return quote(normalise_url(fields.get("location", "")), api_key)
    except ValueError:
        return ""

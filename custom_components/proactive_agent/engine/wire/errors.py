"""An answer that is no answer → what is wrong, and what to do about it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ..errors import Advice, ModelError
from .delay import retry_after
from .facts import Facts, facts_of, has_error, quote, read_facts
from .rules import diagnose
from .url import normalise_url
from .values import read_body


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
    """Turn what an answer says into an error with advice for the owner."""
    delay = retry_after(headers, facts, now)
    kind, advice = diagnose(facts, has_delay=delay is not None)
    error = ModelError(
        kind, advice=advice, said=_said(facts, api_key), retry_after=delay
    )
    if target := _redirect(facts.status, headers, api_key):
        return error.refined(advice=Advice.REDIRECTED, target=target)
    return error


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

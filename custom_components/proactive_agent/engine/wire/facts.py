"""What an error answer says, in whatever form a server says it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
import re
from typing import Any, Final

from .body import read_body
from .values import as_dict, as_list, as_text, unwrap

_MAX_LENGTH: Final = 2_000  # of what rules look at
_MAX_READ: Final = 100_000  # bytes of a page
_TITLE: Final = re.compile(r"<title[^>]*>([^<]*)", re.IGNORECASE)
_HTML: Final = re.compile(r"\s*<(?:!doctype|html|head|body)\b", re.IGNORECASE)
_BROKEN_OFF: Final = ("{", "[", "data:", "event:", ":")


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """An error in one form.

    `status` is the one that counts: on a 2xx answer the code in the body.
    `words` are what the server means for machines, `message` what for people.
    """

    status: int
    words: str = ""
    message: str = ""
    parameter: str = ""
    payload: Any = None
    is_json: bool = False
    is_html: bool = False


def read_facts(status: int, body: bytes) -> Facts:
    """Read the body of an answer for the error in it."""
    try:
        payload = read_body(body)
    except ValueError:
        return facts_of_text(status, body)
    return facts_of(status, payload)


def facts_of(status: int, payload: Any) -> Facts:
    """Read a parsed answer for the error in it."""
    outer = as_dict(unwrap(payload))
    error = outer.get("error") or outer
    inner = as_dict(error)
    if as_dict(inner.get("error")):  # a gateway's error around a server's
        inner = as_dict(inner["error"])
    message = as_text(error) or _message(inner) or _message(outer)
    words = _words(inner) or _words(outer)
    return Facts(
        status=_status(status, inner, outer),
        words=words,
        message=message[:_MAX_LENGTH],
        parameter=_parameter(inner),
        payload=payload,
        is_json=True,
    )


def facts_of_text(status: int, body: bytes) -> Facts:
    """Read an answer that is no JSON for the error in it."""
    text = body[:_MAX_READ].decode("utf-8", "replace")
    if status < 300 and text.lstrip().startswith(_BROKEN_OFF):  # noqa: PLR2004
        return Facts(status=status)  # the model's words, not the server's
    if not _HTML.match(text):
        return Facts(status=status, message=text.strip()[:_MAX_LENGTH])
    title = _TITLE.search(text)
    return Facts(
        status=status,
        message=title[1].strip()[:_MAX_LENGTH] if title else "",
        is_html=True,
    )


def _message(fields: Mapping[str, Any]) -> str:
    """Return the server's sentence, the most telling one first."""
    return next(filter(None, _messages(fields)), "")


def _messages(fields: Mapping[str, Any]) -> Iterator[str]:
    yield as_text(as_dict(fields.get("metadata")).get("raw"))
    for key in ("message", "msg", "detail", "error_description", "error", "errors"):
        value = fields.get(key)
        yield as_text(value)
        if inner := as_dict(value):
            yield _message(inner)
        yield "; ".join(filter(None, map(_located, as_list(value))))


def _located(item: Any) -> str:
    """Read one entry of a validation error: where, and what."""
    fields = as_dict(item)
    place = ".".join(str(step) for step in as_list(fields.get("loc")))
    said = as_text(fields.get("msg")) or as_text(fields.get("message"))
    return ": ".join(filter(None, (place, said)))


def _words(fields: Mapping[str, Any]) -> str:
    found = [as_text(fields.get(key)) for key in ("code", "type", "status")]
    found += [
        as_text(as_dict(detail).get("reason"))
        for detail in as_list(fields.get("details"))
    ]
    if "failed_generation" in fields:
        found.append("failed_generation")
    return " ".join(word for word in found if word and word != "None")


def _parameter(fields: Mapping[str, Any]) -> str:
    named = (as_text(fields.get(key)) for key in ("param", "parameter", "field"))
    return next(filter(None, named), "")


def _status(status: int, *levels: Mapping[str, Any]) -> int:
    if status >= 300:  # noqa: PLR2004
        return status
    for fields in levels:
        for key in ("code", "status"):
            code = str(fields.get(key)).strip().removesuffix(".0")
            if re.fullmatch(r"[45]\d\d", code):
                return int(code)
    return status

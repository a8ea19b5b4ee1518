"""The list of models a server offers."""

from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import ErrorKind, ModelError
from .errors import read_answer, to_error
from .facts import facts_of
from .values import as_dict, as_list, as_text


def decode_models(
    status: int, headers: Mapping[str, str], body: bytes, *, api_key: str = ""
) -> list[str]:
    """Return the ids of the models, verbatim and each once; raises `ModelError`."""
    payload = read_answer(status, headers, body, api_key=api_key)
    names = filter(None, map(_name, _entries(status, headers, payload, api_key)))
    return list(dict.fromkeys(names))


def is_listed(model: str, listed: Iterable[str]) -> bool:
    """Say whether a model is in a list, where some servers put a prefix before it."""
    return _bare(model) in map(_bare, listed)


def _bare(model: str) -> str:
    return model.removeprefix("models/")


def _entries(
    status: int, headers: Mapping[str, str], payload: Any, api_key: str
) -> list[Any]:
    if isinstance(payload, list):
        return payload
    fields = as_dict(payload)
    for key in ("data", "models"):
        if key in fields:
            return as_list(fields[key])
    error = to_error(facts_of(status, payload), headers, api_key=api_key)
    if error.kind is not ErrorKind.INVALID_RESPONSE:
        raise error
    raise ModelError(ErrorKind.NOT_OPENAI_API)


def _name(entry: Any) -> str:
    fields = as_dict(entry)
    ids = (as_text(fields.get(key)) for key in ("id", "name", "model"))
    return as_text(entry) or next(filter(None, ids), "")

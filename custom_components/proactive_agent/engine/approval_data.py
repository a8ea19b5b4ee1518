"""Requests for a yes as they are written to disk (P7)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from .approvals import OPEN, Approval, ApprovalStatus

_TEXTS: Final = (
    "approval_id",
    "action",
    "words",
    "because",
    "secret",
    "run_id",
    "context_id",
)
_OPTIONAL_TEXTS: Final = ("answered_by", "note")
_FLAGS: Final = ("must_ask", "is_risky", "is_asked", "has_changed")
_LISTS: Final = ("entity_id", "named")
_MAPS: Final = ("data", "states", "entries")
_MOMENTS: Final = ("asked", "expires")


def approval_as_dict(approval: Approval) -> dict[str, Any]:
    """Return a request as plain data."""
    plain = (*_TEXTS, *_OPTIONAL_TEXTS, *_FLAGS, "index")
    settled = approval.settled
    return {
        **{key: getattr(approval, key) for key in plain},
        **{key: [*getattr(approval, key)] for key in (*_LISTS, "targets")},
        **{key: {**getattr(approval, key)} for key in _MAPS},
        **{key: getattr(approval, key).isoformat() for key in _MOMENTS},
        "status": approval.status.value,
        "settled": settled.isoformat() if settled else None,
    }


def approval_from_dict(data: Mapping[str, Any]) -> Approval:
    """Read what `approval_as_dict` wrote.

    Raises `KeyError`, `TypeError` or `ValueError` for anything else: half a request
    must never be answered with a yes.
    """
    status = ApprovalStatus(data["status"])
    settled = None if data["settled"] is None else _moment(data["settled"])
    if (settled is None) is not (status in OPEN):
        raise ValueError("What has come to its end has done so at some moment")
    fields: dict[str, Any] = {
        **{key: _typed(data, key, str) for key in _TEXTS},
        **{key: _typed(data, key, bool) for key in _FLAGS},
        **{key: _texts(data, key) for key in _LISTS},
        # No answer depends on it, and requests of before have none.
        "targets": _texts({"targets": [], **data}, "targets"),
        "data": _typed(data, "data", dict),
        **{key: _pairs(data, key) for key in ("states", "entries")},
        **{key: _moment(data[key]) for key in _MOMENTS},
        **{key: _text_or_none(data, key) for key in _OPTIONAL_TEXTS},
    }
    return Approval(
        **fields,
        index=_index(data),
        status=status,
        settled=settled,
    )


def _typed(data: Mapping[str, Any], key: str, kind: type) -> Any:
    value = data[key]
    if not isinstance(value, kind):
        raise TypeError(f"{key} is no {kind.__name__}")
    return value


def _texts(data: Mapping[str, Any], key: str) -> tuple[str, ...]:
    values = _typed(data, key, list)
    if not all(isinstance(value, str) for value in values):
        raise TypeError(f"{key} holds more than texts")
    return tuple(values)


def _pairs(data: Mapping[str, Any], key: str) -> dict[str, str]:
    pairs: dict[str, str] = _typed(data, key, dict)
    if not all(isinstance(value, str) for value in pairs.values()):
        raise TypeError(f"{key} holds more than texts")
    return pairs


def _index(data: Mapping[str, Any]) -> int:
    index: int = _typed(data, "index", int)
    if index < 0 or isinstance(index, bool):
        raise ValueError("index is no place in a list")
    return index


def _text_or_none(data: Mapping[str, Any], key: str) -> str | None:
    return None if data[key] is None else str(_typed(data, key, str))


def _moment(value: Any) -> datetime:
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is None:
        raise ValueError("A moment needs a time zone")
    return moment

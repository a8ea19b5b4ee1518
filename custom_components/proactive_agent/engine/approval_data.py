"""Requests for a yes as they are written to disk (P7)."""

from collections.abc import Mapping
from typing import Any, Final

from .approvals import OPEN, Approval, ApprovalStatus
from .stored import (
    count_from,
    dict_from,
    flag_from,
    moment_from,
    text_from,
    text_or_none_from,
    texts_by_name_from,
    texts_from,
)

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
    settled = None if data["settled"] is None else moment_from(data["settled"])
    if (settled is None) is not (status in OPEN):
        raise ValueError("What has come to its end has done so at some moment")
    fields: dict[str, Any] = {
        **{key: text_from(data[key]) for key in _TEXTS},
        **{key: flag_from(data[key]) for key in _FLAGS},
        **{key: texts_from(data[key]) for key in _LISTS},
        # No answer depends on it, and requests of before have none.
        "targets": texts_from(data.get("targets", [])),
        "data": dict_from(data["data"]),
        **{key: texts_by_name_from(data[key]) for key in ("states", "entries")},
        **{key: moment_from(data[key]) for key in _MOMENTS},
        **{key: text_or_none_from(data[key]) for key in _OPTIONAL_TEXTS},
    }
    return Approval(
        **fields,
        index=count_from(data["index"]),
        status=status,
        settled=settled,
    )

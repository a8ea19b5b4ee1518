"""Readers of what was written to disk: each takes one kind of value and no other.

All raise `TypeError` for another type and `ValueError` for a value out of range, so
that who reads a record can tell rubbish from data by these two and `KeyError`.
"""

from datetime import datetime
from typing import Any


def text_from(value: Any) -> str:
    """Read a text."""
    if not isinstance(value, str):
        raise TypeError("A text was expected")
    return value


def text_or_none_from(value: Any) -> str | None:
    """Read a text, or that there is none."""
    return None if value is None else text_from(value)


def flag_from(value: Any) -> bool:
    """Read a yes or no."""
    if not isinstance(value, bool):
        raise TypeError("True or false was expected")
    return value


def count_from(value: Any) -> int:
    """Read a whole number of at least 0."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("A whole number was expected")
    if value < 0:
        raise ValueError("A number of at least 0 was expected")
    return value


def moment_from(value: Any) -> datetime:
    """Read a moment in ISO format, with its time zone."""
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is None:
        raise ValueError("A time zone was expected")
    return moment


def list_from(value: Any) -> list[Any]:
    """Read a list, whatever is in it."""
    if not isinstance(value, list):
        raise TypeError("A list was expected")
    return value


def texts_from(value: Any) -> tuple[str, ...]:
    """Read a list of texts."""
    return tuple(map(text_from, list_from(value)))


def dict_from(value: Any) -> dict[str, Any]:
    """Read a dictionary, whatever is in it."""
    if not isinstance(value, dict):
        raise TypeError("A dictionary was expected")
    return value


def texts_by_name_from(value: Any) -> dict[str, str]:
    """Read a dictionary of texts, such as states by their entities."""
    return {text_from(key): text_from(one) for key, one in dict_from(value).items()}

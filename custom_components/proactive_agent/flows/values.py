"""What was entered for a heartbeat → what is stored; one reader a kind of field."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from typing import Any, Final

from homeassistant.components.notify import (
    DOMAIN as NOTIFY_DOMAIN,
    SERVICE_SEND_MESSAGE,
)
from homeassistant.const import CONF_MODEL
from homeassistant.core import split_entity_id, valid_entity_id
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.template import is_template_string
import voluptuous as vol

from .. import const as c

LONGEST_DURATION: Final = timedelta(days=366)
LARGEST_NUMBER: Final = 1_000_000_000
LONGEST_RUN: Final = 86_400  # seconds

_TARGET: Final = vol.Schema(cv.TARGET_FIELDS)

type Reader = Callable[[Any], Any]


class FieldError(ValueError):
    """What was entered cannot be used; the text is the key of an error."""


def read_prompt(value: str) -> str:
    """Return a prompt word for word (R1)."""
    if not value.strip():
        raise FieldError("prompt_required")
    return value


def read_duration(value: Any, error: str) -> dict[str, float]:
    """Return a duration object of not more than a year; it may be zero."""
    if not timedelta() <= _span(value, error) <= LONGEST_DURATION:
        raise FieldError(error)
    return {unit: _tidy(float(amount)) for unit, amount in value.items()}


def read_optional_duration(value: Any, error: str) -> dict[str, float] | None:
    """Return a duration object as `read_duration` does, None for an empty field."""
    return read_duration(value, error) if value else None


def read_interval(value: Any) -> dict[str, float]:
    """Return a duration object of at least a second and not more than a year."""
    span = _span(value, "interval_too_short")
    if span < c.SHORTEST_INTERVAL:
        raise FieldError("interval_too_short")
    return read_duration(value, "interval_too_long")


def read_number(
    value: Any, error: str, *, least: int = 0, most: int = LARGEST_NUMBER
) -> int:
    """Return a whole number; the number field gives a float."""
    try:
        number = float(value)
    except (TypeError, ValueError) as err:
        raise FieldError(error) from err
    if not (least <= number <= most and number.is_integer()):
        raise FieldError(error)
    return int(number)


def read_conditions(value: Any) -> list[Any]:
    """Return raw conditions as a list; none of them may be about a trigger."""
    conditions: list[Any] = cv.ensure_list(value)
    if _mentions_trigger(conditions):
        raise FieldError("trigger_condition")
    return conditions


def read_target(value: Any) -> dict[str, Any]:
    """Return a target in lists; a template in it is refused (A1)."""
    try:
        target: dict[str, Any] = _TARGET(value or {})
    except vol.Invalid as err:
        raise FieldError("invalid_target") from err
    if _mentions_template(target):
        raise FieldError("invalid_target")
    return target


def read_notify(value: list[str]) -> list[str]:
    """Return notify entities and actions, each once."""
    for target in value:
        if not valid_entity_id(target):
            raise FieldError("invalid_notify")
        domain, name = split_entity_id(target)
        if domain != NOTIFY_DOMAIN or name == SERVICE_SEND_MESSAGE:
            raise FieldError("invalid_notify")
    return list(dict.fromkeys(value))


def read_model(value: str | None) -> str | None:
    """Return the name of a model, None for an empty field: the endpoint's own."""
    return (value or "").strip() or None


def _reader(key: str, reader: Callable[..., Any], **bounds: int) -> Reader:
    # Errors inside a section are shown above it, so each field has its own sentence.
    return partial(reader, error=f"invalid_{key}", **bounds)


READERS: Final[Mapping[str, Reader]] = {
    c.CONF_CHECK_PROMPT: read_prompt,
    c.CONF_INTERVAL: read_interval,
    c.CONF_CONDITIONS: read_conditions,
    c.CONF_LOOK: read_target,
    c.CONF_ACT: read_target,
    c.CONF_ASK: read_target,
    c.CONF_NOTIFY: read_notify,
    CONF_MODEL: read_model,
}
FUSE_READERS: Final[Mapping[str, Reader]] = {
    c.CONF_MAX_TICKS: _reader(c.CONF_MAX_TICKS, read_number),
    c.CONF_MAX_DURATION: _reader(c.CONF_MAX_DURATION, read_optional_duration),
    c.CONF_RUN_TIMEOUT: _reader(
        c.CONF_RUN_TIMEOUT, read_number, least=1, most=LONGEST_RUN
    ),
    c.CONF_MAX_TURNS: _reader(c.CONF_MAX_TURNS, read_number, least=1),
    c.CONF_MAX_ACTIONS: _reader(c.CONF_MAX_ACTIONS, read_number, least=1),
    c.CONF_MAX_WAKES_PER_DAY: _reader(c.CONF_MAX_WAKES_PER_DAY, read_number),
    c.CONF_MAX_TOKENS_PER_DAY: _reader(c.CONF_MAX_TOKENS_PER_DAY, read_number),
}
MANNER_READERS: Final[Mapping[str, Reader]] = {
    c.CONF_MAY_STOP: bool,
    c.CONF_STOP_AFTER_ACTING: bool,
    c.CONF_ASK_BEFORE_RISKY: bool,
    c.CONF_RECHECK_AFTER: _reader(c.CONF_RECHECK_AFTER, read_duration),
    c.CONF_SETTLE_FOR: _reader(c.CONF_SETTLE_FOR, read_duration),
    c.CONF_APPROVAL_TIMEOUT: _reader(c.CONF_APPROVAL_TIMEOUT, read_duration),
}


def _span(value: Any, error: str) -> timedelta:
    try:
        span: timedelta = cv.time_period_dict(value)
    except (vol.Invalid, OverflowError) as err:
        # Which of the two an overflow is depends on Home Assistant's version.
        if _is_huge(value):
            return timedelta.max
        raise FieldError(error) from err
    return span


def _is_huge(value: Any) -> bool:
    return isinstance(value, Mapping) and any(
        isinstance(amount, float | int) and amount > LARGEST_NUMBER
        for amount in value.values()
    )


def _tidy(number: float) -> float:
    return int(number) if number.is_integer() else number


def _mentions_trigger(raw: Any) -> bool:
    if isinstance(raw, Mapping):
        if raw.get("condition") == "trigger":
            return True
        raw = list(raw.values())
    return isinstance(raw, list) and any(map(_mentions_trigger, raw))


def _mentions_template(raw: Any) -> bool:
    # Since Home Assistant 2026.11 a target may hold another: what it excludes.
    if isinstance(raw, Mapping):
        raw = list(raw.values())
    if isinstance(raw, list):
        return any(map(_mentions_template, raw))
    return is_template_string(raw)

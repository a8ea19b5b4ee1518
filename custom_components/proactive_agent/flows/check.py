"""Everything that is entered for a heartbeat, checked together."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from homeassistant.const import CONF_NAME
from homeassistant.core import HomeAssistant
from homeassistant.helpers import config_validation as cv

from .. import const as c
from ..gate import Gate
from .schemas import FUSES_SCHEMA, MANNERS_SCHEMA
from .values import FUSE_READERS, MANNER_READERS, READERS, FieldError, Reader

_SECTIONS: Final = {
    c.CONF_FUSES: (FUSES_SCHEMA, FUSE_READERS),
    c.CONF_MANNERS: (MANNERS_SCHEMA, MANNER_READERS),
}


@dataclass(slots=True, kw_only=True)
class Checked:
    """A heartbeat as it would be stored, and what is wrong with it.

    `errors` are keyed by the field they are shown on, `reason` is what Home Assistant
    says of a condition or the server of a model, `missing` names entities of the
    conditions that do not exist.
    """

    name: str
    data: dict[str, Any] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    reason: str = ""
    missing: tuple[str, ...] = ()


async def async_check(
    hass: HomeAssistant, entered: Mapping[str, Any], taken: Iterable[str]
) -> Checked:
    """Check a filled-in form; `taken` are the names of the other heartbeats."""
    checked = Checked(name=entered[CONF_NAME].strip())
    if not checked.name:
        checked.errors[CONF_NAME] = "name_required"
    elif checked.name.casefold() in map(str.casefold, taken):
        checked.errors[CONF_NAME] = "name_taken"
    checked.data, errors = _read(entered, READERS)
    checked.errors |= errors
    for section, (schema, readers) in _SECTIONS.items():
        # A section that was never unfolded may not be sent at all.
        filled = schema(entered.get(section, {}))
        checked.data[section], errors = _read(filled, readers)
        if errors:
            # The frontend shows an error above a section, and one at a time.
            checked.errors[section] = next(iter(errors.values()))
    if _never_ticks(checked):
        checked.errors[c.CONF_INTERVAL] = "interval_longer_than_duration"
    if c.CONF_CONDITIONS in checked.data:
        await _async_check_conditions(hass, checked)
    return checked


def _read(
    entered: Mapping[str, Any], readers: Mapping[str, Reader]
) -> tuple[dict[str, Any], dict[str, str]]:
    data: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for key, read in readers.items():
        try:
            value = read(entered.get(key))
        except FieldError as err:
            errors[key] = str(err)
            continue
        # A limit that was left empty is not stored: it is off.
        if value is not None:
            data[key] = value
    return data, errors


def _never_ticks(checked: Checked) -> bool:
    interval = checked.data.get(c.CONF_INTERVAL)
    limit = checked.data[c.CONF_FUSES].get(c.CONF_MAX_DURATION)
    if not interval or not limit:
        return False
    longest = cv.time_period(limit)
    return bool(longest) and cv.time_period(interval) > longest


async def _async_check_conditions(hass: HomeAssistant, checked: Checked) -> None:
    gate = await Gate.async_build(
        hass, checked.data[c.CONF_CONDITIONS], checked.name or c.SUBENTRY_HEARTBEAT
    )
    try:
        if gate.faults:
            checked.errors[c.CONF_CONDITIONS] = "invalid_condition"
            checked.reason = gate.faults[0].reason
        troubles = gate.unjudgeable()
    finally:
        gate.async_unload()
    checked.missing = tuple(
        sorted(one for one, trouble in troubles.items() if trouble == "missing")
    )

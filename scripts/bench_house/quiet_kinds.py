"""The kinds of conditions with which a quiet tick is measured.

Each kind comes last, after two plain conditions that hold, and does not hold.
"""

from collections.abc import Mapping
from copy import deepcopy
from datetime import timedelta
from typing import Any, Final

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    condition,
    config_validation as cv,
    device_registry as dr,
    entity_registry as er,
    label_registry as lr,
)
from homeassistant.helpers.condition import ConditionChecker
from homeassistant.util import dt as dt_util

type Condition = Mapping[str, Any] | str

LAMPS: Final = 20  # that a template walks through
PHONE: Final = "device_tracker.bench_phone"
ZONE: Final = "zone.bench_school"
PLACED: Final = {"latitude": 52.37, "longitude": 4.9}
ELSEWHERE: Final = {"latitude": 48.1, "longitude": 11.5, "radius": 100}
IS_COLD: Final = {
    "condition": "numeric_state",
    "entity_id": "sensor.freezer",
    "below": -30,
}
LONG: Final = {"minutes": 5}


async def kinds(hass: HomeAssistant, entry: ConfigEntry) -> dict[str, Condition]:
    """Put up what they look at, and return a condition of each that does not hold."""
    area = ar.async_get(hass).async_get_or_create("Bench hall").id
    label = lr.async_get(hass).async_create("Bench doors").label_id
    device = dr.async_get(hass).async_get_or_create(
        config_entry_id=entry.entry_id, identifiers={("bench", "door")}
    )
    dr.async_get(hass).async_update_device(device.id, area_id=area)
    door = _door(hass, entry, device.id, label)
    hass.states.async_set(PHONE, "not_home", {**PLACED, "gps_accuracy": 5})
    hass.states.async_set(ZONE, "0", ELSEWHERE)
    for number in range(LAMPS):
        hass.states.async_set(f"light.bench_{number}", "off")
    await hass.async_block_till_done()
    is_open = {"condition": "state", "entity_id": door, "state": "on"}
    closed = {**is_open, "state": "off"}
    ever = f"now() - states.{door}.last_changed > timedelta(days=30)"
    return {
        "state": {**is_open, "for": LONG},
        "numeric_state": IS_COLD,
        "numeric_state_template": {
            **IS_COLD,
            "value_template": "{{ state.state | float + 1 }}",
        },
        "template": f"{{{{ is_state('{door}', 'on') }}}}",
        "template_domain": (
            "{{ states.light | selectattr('state', 'eq', 'on') | list | count > 0 }}"
        ),
        "template_now": f"{{{{ {ever} }}}}",
        "entity": _doors_open(entity_id=door),
        "area": _doors_open(area_id=area),
        "label": _doors_open(label_id=label),
        "area_for": _doors_open(LONG, area_id=area),
        "or": {"or": [is_open, IS_COLD]},
        "and": {"and": [closed, IS_COLD]},
        "not": {"not": [is_open, closed]},
        "or_now": {"or": [is_open, f"{{{{ {ever} }}}}"]},
        "time": _later_today(),
        "sun": {"condition": "sun", "after": "sunset", "after_offset": "24:00:00"},
        "zone": {"condition": "zone", "entity_id": PHONE, "zone": ZONE},
        "device": {
            "condition": "device",
            "device_id": device.id,
            "domain": "binary_sensor",
            "entity_id": door,
            "type": "is_open",
        },
    }


async def own_checker(hass: HomeAssistant, raw: Condition) -> ConditionChecker:
    """Build what Home Assistant itself judges a condition with."""
    config = cv.CONDITION_SCHEMA(deepcopy(raw))
    config = await condition.async_validate_condition_config(hass, config)
    return await condition.async_from_config(hass, config)


def _door(hass: HomeAssistant, entry: ConfigEntry, device_id: str, label: str) -> str:
    registry = er.async_get(hass)
    door = registry.async_get_or_create(
        "binary_sensor",
        "bench",
        "door",
        config_entry=entry,
        device_id=device_id,
        original_device_class="door",
    ).entity_id
    registry.async_update_entity(door, labels={label})
    hass.states.async_set(door, "off", {"device_class": "door"})
    return door


def _doors_open(duration: Mapping[str, int] | None = None, **target: str) -> Condition:
    options = {"behavior": "any"} | ({"for": duration} if duration else {})
    return {"condition": "door.is_open", "target": target, "options": options}


def _later_today() -> Condition:
    """Return a time of day that is not within the hours of a measurement."""
    after, before = (dt_util.now() + timedelta(hours=hours) for hours in (8, 9))
    return {
        "condition": "time",
        "after": f"{after:%H:%M:%S}",
        "before": f"{before:%H:%M:%S}",
    }

"""The states of what a run may see, one line an entity, for the prompt (R1)."""

from collections.abc import Iterable
from datetime import datetime
import json
import re
from typing import Any

from homeassistant.const import (
    ATTR_DEVICE_CLASS,
    ATTR_UNIT_OF_MEASUREMENT,
    STATE_UNKNOWN,
)
from homeassistant.core import HomeAssistant, State
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
)
from homeassistant.util import dt as dt_util

from ..const import SILENT_STATES
from ..engine.one_line import one_line
from ..engine.reach import Reach
from ..engine.spans import ago

MAX_ENTITIES = 200
MAX_CHARACTERS = 16_000
_MAX_TEXT = 80
_MAX_ITEMS = 20
_PLAIN = re.compile(r"[\w.:+\-]+")

# The few attributes without which a state of the domain says too little. What an
# entity could be set to is no state: its tools say so.
TELLING: dict[str, tuple[str, ...]] = {
    "automation": ("last_triggered",),
    "binary_sensor": (ATTR_DEVICE_CLASS,),
    "calendar": ("message", "start_time", "end_time"),
    "climate": (
        "current_temperature",
        "temperature",
        "target_temp_low",
        "target_temp_high",
        "current_humidity",
        "hvac_action",
        "preset_mode",
        "fan_mode",
        "swing_mode",
        "swing_horizontal_mode",
    ),
    "cover": (ATTR_DEVICE_CLASS, "current_position", "current_tilt_position"),
    "event": ("event_type",),
    "fan": ("percentage", "preset_mode", "oscillating", "direction"),
    "group": ("entity_id",),
    "humidifier": ("humidity", "current_humidity", "mode"),
    "input_number": ("min", "max"),
    "light": ("brightness", "color_temp_kelvin", "rgb_color", "effect"),
    "media_player": (
        "media_title",
        "media_artist",
        "source",
        "volume_level",
        "is_volume_muted",
    ),
    "number": ("min", "max"),
    "remote": ("current_activity",),
    "script": ("last_triggered",),
    "sensor": (ATTR_DEVICE_CLASS,),
    "sun": ("next_rising", "next_setting"),
    "timer": ("duration", "remaining", "finishes_at"),
    "update": ("installed_version", "latest_version"),
    "vacuum": ("battery_level", "fan_speed"),
    "valve": (ATTR_DEVICE_CLASS, "current_position"),
    "water_heater": ("current_temperature", "temperature", "away_mode"),
    "weather": ("temperature", "temperature_unit", "humidity", "wind_speed"),
}

# What a state of the domain counts, where no unit says it.
COUNTED: dict[str, str] = {"todo": "open"}

# An unknown state here is no fault: there was no first time yet.
NEVER_USED = frozenset({"button", "input_button", "scene"})


def describe(hass: HomeAssistant, reach: Reach) -> str:
    """Write one line for each entity of the reach, actors first.

    Bounded by `MAX_ENTITIES` and `MAX_CHARACTERS`; what was cut is said. Names,
    states and attributes are data: they can neither end a line nor look like
    another one (A1).
    """
    now = dt_util.utcnow()
    lines: list[str] = []
    shown = length = 0
    for heading, entity_ids in (
        ("You may act on:", reach.act),
        ("You may act on, but the owner has to say yes first:", reach.ask),
        ("You may only look at:", reach.look),
    ):
        block = [_line(hass, entity_id, now) for entity_id in entity_ids]
        fitting = _fitting(block, MAX_ENTITIES - shown, MAX_CHARACTERS - length)
        if fitting:
            lines += [heading, *block[:fitting]]
        shown += fitting
        length += sum(len(line) + 1 for line in block[:fitting])
        if fitting < len(block):
            break
    if missing := len(reach.visible) - shown:
        lines.append(f"{missing} more are not shown here; get_state reads them too.")
    return "\n".join(lines)


def _fitting(lines: Iterable[str], count: int, characters: int) -> int:
    fitting = 0
    for line in lines:
        characters -= len(line) + 1
        if fitting == count or characters < 0:
            break
        fitting += 1
    return fitting


def _line(hass: HomeAssistant, entity_id: str, now: datetime) -> str:
    state = hass.states.get(entity_id)
    if state is None:
        return f"- {entity_id}: does not exist"
    details = [_state(state)]
    details.extend(
        f"{name} {_value(value)}"
        for name in TELLING.get(state.domain, ())
        if (value := state.attributes.get(name)) is not None
    )
    details.append(f"changed {ago(now - state.last_changed)}")
    return f"- {entity_id} {_names(hass, state)}: {', '.join(details)}"


def _state(state: State) -> str:
    if state.state == STATE_UNKNOWN and state.domain in NEVER_USED:
        return "never used"
    text = _text(state.state)
    unit = state.attributes.get(ATTR_UNIT_OF_MEASUREMENT) or COUNTED.get(state.domain)
    if not unit or state.state in SILENT_STATES:
        return text
    return f"{text} {one_line(str(unit), 20)}"


def _names(hass: HomeAssistant, state: State) -> str:
    name = _quoted(state.name)
    area = _area(hass, state.entity_id)
    return f"{name} in {_quoted(area)}" if area else name


def _area(hass: HomeAssistant, entity_id: str) -> str | None:
    entry = er.async_get(hass).async_get(entity_id)
    if entry is None:
        return None
    area_id = entry.area_id
    if area_id is None and entry.device_id is not None:
        device = dr.async_get(hass).async_get(entry.device_id)
        area_id = device.area_id if device else None
    area = ar.async_get(hass).async_get_area(area_id) if area_id else None
    return area.name if area else None


def _value(value: Any) -> str:
    if isinstance(value, (list, tuple, set, frozenset)):
        shown = [_single(one) for one in [*value][:_MAX_ITEMS]]
        more = ["…"] if len(value) > _MAX_ITEMS else []
        return f"[{', '.join([*shown, *more])}]"
    return _single(value)


def _single(value: Any) -> str:
    if isinstance(value, datetime):
        value = dt_util.as_local(value).strftime("%Y-%m-%d %H:%M")
    elif isinstance(value, float) and value.is_integer():
        value = int(value)
    return _text(str(value))


def _text(text: str) -> str:
    return text if _PLAIN.fullmatch(text) and len(text) <= _MAX_TEXT else _quoted(text)


def _quoted(text: str) -> str:
    return json.dumps(one_line(text, _MAX_TEXT), ensure_ascii=False)

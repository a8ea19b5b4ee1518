"""One row a kind of condition: when it holds, when not, and what it stands on."""

from dataclasses import dataclass
from typing import Any

type States = dict[str, str | tuple[str, dict[str, Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A condition with states under which it holds and under which it does not.

    `stands_on` lists groups of entities: with one whole group missing, unavailable
    or unknown, nothing can be said.
    """

    id: str
    condition: Any
    true: States
    false: States
    stands_on: tuple[tuple[str, ...], ...]


def _case(
    name: str,
    condition: Any,
    true: States,
    false: States,
    *stands_on: str | tuple[str, ...],
) -> Case:
    return Case(
        id=name,
        condition=condition,
        true=true,
        false=false,
        stands_on=tuple(
            (group,) if isinstance(group, str) else group for group in stands_on
        ),
    )


def _state(entity_id: str | list[str], state: Any, **more: Any) -> dict[str, Any]:
    return {"condition": "state", "entity_id": entity_id, "state": state, **more}


def _number(entity_id: str | list[str], **more: Any) -> dict[str, Any]:
    return {"condition": "numeric_state", "entity_id": entity_id, **more}


def _template(text: str) -> dict[str, Any]:
    return {"condition": "template", "value_template": text}


def _aimed(kind: str, *entity_ids: str, **options: Any) -> dict[str, Any]:
    return {
        "condition": kind,
        "target": {"entity_id": list(entity_ids)},
        "options": options,
    }


A, B, LIMIT = "input_boolean.a", "input_boolean.b", "input_number.limit"
HUNGER, LAMP, DESK = "input_number.hunger", "light.lamp", "light.desk"
PERSON, HOME = "person.ann", "zone.home"
HOME_ZONE = ("0", {"latitude": 32.87, "longitude": -117.22, "radius": 100})
NEAR = ("home", {"latitude": 32.87, "longitude": -117.22, "gps_accuracy": 1})
FAR = ("not_home", {"latitude": 50.0, "longitude": 7.0, "gps_accuracy": 1})
BATTERY = "binary_sensor.battery"
CHARGE, CHARGE_2 = "sensor.charge", "sensor.charge_2"
HEAT, HEAT_2 = "sensor.heat", "sensor.heat_2"
DOOR = "binary_sensor.door"


def _charge(value: str) -> tuple[str, dict[str, Any]]:
    return value, {"device_class": "battery", "unit_of_measurement": "%"}


def _heat(value: str) -> tuple[str, dict[str, Any]]:
    return value, {"device_class": "temperature", "unit_of_measurement": "°C"}


def _low(value: str) -> tuple[str, dict[str, Any]]:
    return value, {"device_class": "battery"}


def _door(value: str) -> tuple[str, dict[str, Any]]:
    return value, {"device_class": "door"}


def _person(*zones: str) -> tuple[str, dict[str, Any]]:
    return "home" if zones else "not_home", {"in_zones": list(zones)}


_STATE = [
    _case("state", _state(A, "on"), {A: "on"}, {A: "off"}, A),
    _case("state-list", _state(A, ["on", "x"]), {A: "x"}, {A: "off"}, A),
    _case(
        "state-all",
        _state([A, B], "on"),
        {A: "on", B: "on"},
        {A: "on", B: "off"},
        A,
        B,
        (A, B),
    ),
    _case(
        "state-any",
        _state([A, B], "on", match="any"),
        {A: "on", B: "off"},
        {A: "off", B: "off"},
        (A, B),
    ),
    _case(
        "state-attribute",
        _state(LAMP, 255, attribute="brightness"),
        {LAMP: ("on", {"brightness": 255})},
        {LAMP: ("on", {"brightness": 10})},
        LAMP,
    ),
    _case(
        "state-attribute-absent",
        _state(LAMP, "HDMI", attribute="source"),
        {LAMP: ("on", {"source": "HDMI"})},
        {LAMP: "off"},
        LAMP,
    ),
    _case(
        "state-attribute-unavailable-is-not-the-state",
        _state(LAMP, "unavailable", attribute="link"),
        {LAMP: ("on", {"link": "unavailable"})},
        {LAMP: ("on", {"link": "up"})},
        LAMP,
    ),
    _case(
        "state-of-another-entity",
        _state("sensor.mode", "input_select.mode"),
        {"sensor.mode": "eco", "input_select.mode": "eco"},
        {"sensor.mode": "eco", "input_select.mode": "max"},
        "sensor.mode",
        "input_select.mode",
    ),
    _case(
        "state-for-nothing",
        _state(A, "on", **{"for": {"seconds": 0}}),
        {A: "on"},
        {A: "off"},
        A,
    ),
    _case(
        "state-for-template",
        _state(A, "on", **{"for": "{{ states('input_number.wait') | int(-1) }}"}),
        {A: "on", "input_number.wait": "0"},
        {A: "off", "input_number.wait": "0"},
        A,
        "input_number.wait",
    ),
    _case(
        "state-for-template-in-parts",
        _state(
            A,
            "on",
            **{"for": {"seconds": "{{ states('input_number.wait') | int(0) }}"}},
        ),
        {A: "on", "input_number.wait": "0"},
        {A: "on", "input_number.wait": "9"},
        A,
        "input_number.wait",
    ),
    _case(
        "state-disabled-by-nothing",
        _state(A, "on", enabled=True),
        {A: "on"},
        {A: "off"},
        A,
    ),
    _case(
        "state-enabled-by-template",
        _state(A, "on", enabled="{{ 1 == 1 }}", alias="Named", note="seen in the UI"),
        {A: "on"},
        {A: "off"},
        A,
    ),
]

_NUMERIC = [
    _case(
        "number-below", _number(HUNGER, below=1.5), {HUNGER: "1"}, {HUNGER: "3"}, HUNGER
    ),
    _case(
        "number-above", _number(HUNGER, above=1.5), {HUNGER: "3"}, {HUNGER: "1"}, HUNGER
    ),
    _case(
        "number-between",
        _number(HUNGER, above=1, below=3),
        {HUNGER: "2"},
        {HUNGER: "3"},
        HUNGER,
    ),
    _case(
        "number-below-entity",
        _number(HUNGER, below=LIMIT),
        {HUNGER: "1", LIMIT: "2"},
        {HUNGER: "3", LIMIT: "2"},
        HUNGER,
        LIMIT,
    ),
    _case(
        "number-above-sensor",
        _number(HUNGER, above="sensor.limit"),
        {HUNGER: "3", "sensor.limit": "2"},
        {HUNGER: "1", "sensor.limit": "2"},
        HUNGER,
        "sensor.limit",
    ),
    _case(
        "number-between-entities",
        _number(HUNGER, above="number.low", below=LIMIT),
        {HUNGER: "3", "number.low": "2", LIMIT: "4"},
        {HUNGER: "5", "number.low": "2", LIMIT: "4"},
        HUNGER,
        "number.low",
        LIMIT,
    ),
    _case(
        "number-attribute",
        _number(LAMP, attribute="brightness", above=100),
        {LAMP: ("on", {"brightness": 200})},
        {LAMP: ("on", {"brightness": 10})},
        LAMP,
    ),
    _case(
        "number-template",
        _number(HUNGER, value_template="{{ state.state | float(0) * 2 }}", below=3),
        {HUNGER: "1"},
        {HUNGER: "2"},
        HUNGER,
    ),
    _case(
        "number-template-reads-another",
        _number(
            HUNGER,
            value_template="{{ state.state|float + states('sensor.b')|float(0) }}",
            below=3,
        ),
        {HUNGER: "1", "sensor.b": "1"},
        {HUNGER: "1", "sensor.b": "2"},
        HUNGER,
        "sensor.b",
    ),
    _case(
        "number-list",
        _number([HUNGER, "sensor.b"], below=2),
        {HUNGER: "1", "sensor.b": "1"},
        {HUNGER: "1", "sensor.b": "2"},
        HUNGER,
        "sensor.b",
    ),
]

_TEMPLATE = [
    _case(
        "template-is-state",
        _template("{{ is_state('input_boolean.a', 'on') }}"),
        {A: "on"},
        {A: "off"},
        A,
    ),
    _case(
        "template-bare",
        "{{ is_state('input_boolean.a', 'on') }}",
        {A: "on"},
        {A: "off"},
        A,
    ),
    _case(
        "template-with-a-default",
        _template("{{ states('sensor.b') | float(0) < 5 }}"),
        {"sensor.b": "1"},
        {"sensor.b": "6"},
        "sensor.b",
    ),
    _case(
        "template-without-a-default",
        _template("{{ states('sensor.b') | float < 5 }}"),
        {"sensor.b": "1"},
        {"sensor.b": "6"},
        "sensor.b",
    ),
    _case(
        "template-unequal",
        _template("{{ states('sensor.b') != 'idle' }}"),
        {"sensor.b": "busy"},
        {"sensor.b": "idle"},
        "sensor.b",
    ),
    _case(
        "template-dotted",
        _template("{{ states.sensor.b.state | int(0) < 5 }}"),
        {"sensor.b": "1"},
        {"sensor.b": "6"},
        "sensor.b",
    ),
    _case(
        "template-attribute",
        _template("{{ not state_attr('light.lamp', 'busy') }}"),
        {LAMP: ("on", {"busy": False})},
        {LAMP: ("on", {"busy": True})},
        LAMP,
    ),
    _case(
        "template-reads-as-it-goes",
        _template(
            "{% set wanted = 'on' %}{{ is_state('input_boolean.a', wanted)"
            " or is_state('input_boolean.b', wanted) }}"
        ),
        {A: "off", B: "on"},
        {A: "off", B: "off"},
        A,
        B,
    ),
    _case(
        "template-has-value",
        _template("{{ not has_value('sensor.b') or states('sensor.b') == 'x' }}"),
        {"sensor.b": "x"},
        {"sensor.b": "y"},
        "sensor.b",
    ),
]

_TIME_AND_PLACE = [
    _case(
        "time-after-helper",
        {"condition": "time", "after": "input_datetime.start"},
        {"input_datetime.start": ("01:00:00", {"hour": 1, "minute": 0, "second": 0})},
        {"input_datetime.start": ("23:00:00", {"hour": 23, "minute": 0, "second": 0})},
        "input_datetime.start",
    ),
    _case(
        "time-before-helper",
        {"condition": "time", "before": "input_datetime.end"},
        {"input_datetime.end": ("23:00:00", {"hour": 23, "minute": 0, "second": 0})},
        {"input_datetime.end": ("01:00:00", {"hour": 1, "minute": 0, "second": 0})},
        "input_datetime.end",
    ),
    _case(
        "time-before-time-entity",
        {"condition": "time", "before": "time.end"},
        {"time.end": "23:00:00"},
        {"time.end": "01:00:00"},
        "time.end",
    ),
    _case(
        "time-after-sensor",
        {"condition": "time", "after": "sensor.start"},
        {"sensor.start": ("2026-11-01T09:00:00+00:00", {"device_class": "timestamp"})},
        {"sensor.start": ("2026-11-01T21:00:00+00:00", {"device_class": "timestamp"})},
        "sensor.start",
    ),
    _case(
        "zone",
        {"condition": "zone", "entity_id": PERSON, "zone": HOME},
        {PERSON: NEAR, HOME: HOME_ZONE},
        {PERSON: FAR, HOME: HOME_ZONE},
        PERSON,
        HOME,
    ),
    _case(
        "zone-tracker",
        {"condition": "zone", "entity_id": "device_tracker.phone", "zone": HOME},
        {"device_tracker.phone": NEAR, HOME: HOME_ZONE},
        {"device_tracker.phone": FAR, HOME: HOME_ZONE},
        "device_tracker.phone",
        HOME,
    ),
    _case(
        "zone-in",
        _aimed("zone.in_zone", PERSON, zone=HOME),
        {PERSON: _person(HOME), HOME: HOME_ZONE},
        {PERSON: _person(), HOME: HOME_ZONE},
        PERSON,
        HOME,
    ),
    _case(
        "zone-not-in",
        _aimed("zone.not_in_zone", PERSON, zone=HOME, behavior="all"),
        {PERSON: _person(), HOME: HOME_ZONE},
        {PERSON: _person(HOME), HOME: HOME_ZONE},
        PERSON,
        HOME,
    ),
    _case(
        "zone-occupied",
        {"condition": "zone.occupancy_is_detected", "options": {"zone": HOME}},
        {HOME: "1"},
        {HOME: "0"},
        HOME,
    ),
    _case(
        "zone-empty",
        {"condition": "zone.occupancy_is_not_detected", "options": {"zone": HOME}},
        {HOME: "0"},
        {HOME: "1"},
        HOME,
    ),
    _case(
        "sun-elevation",
        {
            "condition": "sun.elevation",
            "options": {"threshold": {"type": "above", "value": {"number": 10}}},
        },
        {"sun.sun": ("above_horizon", {"elevation": 20})},
        {"sun.sun": ("above_horizon", {"elevation": 5})},
        "sun.sun",
    ),
]

_PURPOSE = [
    _case(
        "light-on-any",
        _aimed("light.is_on", LAMP, DESK, behavior="any"),
        {LAMP: "on", DESK: "off"},
        {LAMP: "off", DESK: "off"},
        (LAMP, DESK),
    ),
    _case(
        "light-on-all",
        _aimed("light.is_on", LAMP, DESK, behavior="all"),
        {LAMP: "on", DESK: "on"},
        {LAMP: "on", DESK: "off"},
        (LAMP, DESK),
    ),
    _case(
        "light-off-all",
        _aimed("light.is_off", LAMP, behavior="all"),
        {LAMP: "off"},
        {LAMP: "on"},
        LAMP,
    ),
    _case(
        "light-brightness",
        _aimed(
            "light.is_brightness",
            LAMP,
            threshold={"type": "above", "value": {"number": 50}},
        ),
        {LAMP: ("on", {"brightness": 255})},
        {LAMP: ("on", {"brightness": 1})},
        LAMP,
    ),
    _case(
        "switch-on",
        _aimed("switch.is_on", "switch.a", A, behavior="all"),
        {"switch.a": "on", A: "on"},
        {"switch.a": "on", A: "off"},
        ("switch.a", A),
    ),
    _case(
        "battery-low",
        _aimed("battery.is_low", BATTERY, behavior="any"),
        {BATTERY: _low("on")},
        {BATTERY: _low("off")},
        BATTERY,
    ),
    _case(
        "battery-not-low-all",
        _aimed("battery.is_not_low", BATTERY, behavior="all"),
        {BATTERY: _low("off")},
        {BATTERY: _low("on")},
        BATTERY,
    ),
    _case(
        "battery-level-below",
        _aimed(
            "battery.is_level",
            CHARGE,
            CHARGE_2,
            behavior="any",
            threshold={"type": "below", "value": {"number": 20}},
        ),
        {CHARGE: _charge("10"), CHARGE_2: _charge("90")},
        {CHARGE: _charge("80"), CHARGE_2: _charge("90")},
        (CHARGE, CHARGE_2),
    ),
    _case(
        "battery-level-below-entity",
        _aimed(
            "battery.is_level",
            CHARGE,
            behavior="all",
            threshold={"type": "below", "value": {"entity": LIMIT}},
        ),
        {CHARGE: _charge("10"), LIMIT: ("20", {"unit_of_measurement": "%"})},
        {CHARGE: _charge("80"), LIMIT: ("20", {"unit_of_measurement": "%"})},
        CHARGE,
        LIMIT,
    ),
    _case(
        "temperature-between",
        _aimed(
            "temperature.is_value",
            HEAT,
            behavior="all",
            threshold={
                "type": "between",
                "value_min": {"number": 10, "unit_of_measurement": "°C"},
                "value_max": {"entity": HEAT_2},
            },
        ),
        {HEAT: _heat("15"), HEAT_2: _heat("20")},
        {HEAT: _heat("25"), HEAT_2: _heat("20")},
        HEAT,
        HEAT_2,
    ),
    _case(
        "temperature-of-a-room-unit",
        _aimed(
            "temperature.is_value",
            "climate.room",
            behavior="all",
            threshold={
                "type": "above",
                "value": {"number": 20, "unit_of_measurement": "°C"},
            },
        ),
        {"climate.room": ("heat", {"current_temperature": 25})},
        {"climate.room": ("heat", {"current_temperature": 15})},
        "climate.room",
    ),
    _case(
        "door-open",
        _aimed("door.is_open", DOOR, behavior="any"),
        {DOOR: _door("on")},
        {DOOR: _door("off")},
        DOOR,
    ),
    _case(
        "door-closed-all",
        _aimed("door.is_closed", DOOR, behavior="all"),
        {DOOR: _door("off")},
        {DOOR: _door("on")},
        DOOR,
    ),
    _case(
        "select-option",
        _aimed("select.is_option_selected", "input_select.mode", option=["eco"]),
        {"input_select.mode": "eco"},
        {"input_select.mode": "max"},
        "input_select.mode",
    ),
    _case(
        "text-equal",
        _aimed("text.is_equal_to", "input_text.word", value="yes", behavior="all"),
        {"input_text.word": "yes"},
        {"input_text.word": "no"},
        "input_text.word",
    ),
    _case(
        "counter-value",
        _aimed(
            "counter.is_value",
            "counter.n",
            behavior="all",
            threshold={
                "type": "outside",
                "value_min": {"number": 1},
                "value_max": {"entity": LIMIT},
            },
        ),
        {"counter.n": "9", LIMIT: "5"},
        {"counter.n": "3", LIMIT: "5"},
        "counter.n",
        LIMIT,
    ),
    _case(
        "timer-idle",
        _aimed("timer.is_idle", "timer.t", behavior="all"),
        {"timer.t": "idle"},
        {"timer.t": "active"},
        "timer.t",
    ),
    _case(
        "todo-done",
        _aimed("todo.all_completed", "todo.list", behavior="all"),
        {"todo.list": "0"},
        {"todo.list": "2"},
        "todo.list",
    ),
    _case(
        "media-playing",
        _aimed("media_player.is_not_playing", "media_player.tv", behavior="all"),
        {"media_player.tv": "idle"},
        {"media_player.tv": "playing"},
        "media_player.tv",
    ),
]

_JOINED = [
    _case(
        "and",
        {"condition": "and", "conditions": [_state(A, "on"), _state(B, "on")]},
        {A: "on", B: "on"},
        {A: "off", B: "off"},
        (A, B),
    ),
    _case(
        "and-shorthand",
        {"and": [_state(A, "on"), _state(B, "on")]},
        {A: "on", B: "on"},
        {A: "off", B: "off"},
        (A, B),
    ),
    _case(
        "and-list-shorthand",
        {"condition": [_state(A, "on"), _state(B, "on")]},
        {A: "on", B: "on"},
        {A: "off", B: "off"},
        (A, B),
    ),
    _case(
        "or",
        {"condition": "or", "conditions": [_state(A, "on"), _state(B, "on")]},
        {A: "on", B: "off"},
        {A: "off", B: "off"},
        (A, B),
    ),
    _case(
        "or-shorthand",
        {"or": [_state(A, "on"), _number(HUNGER, below=1)]},
        {A: "on", HUNGER: "3"},
        {A: "off", HUNGER: "3"},
        (A, HUNGER),
    ),
    _case(
        "not",
        {"condition": "not", "conditions": [_state(A, "on")]},
        {A: "off"},
        {A: "on"},
        A,
    ),
    _case(
        "not-shorthand",
        {"not": [_number(HUNGER, below=2)]},
        {HUNGER: "3"},
        {HUNGER: "1"},
        HUNGER,
    ),
    _case(
        "not-purpose",
        {"not": [_aimed("light.is_on", LAMP, behavior="any")]},
        {LAMP: "off"},
        {LAMP: "on"},
        LAMP,
    ),
    _case(
        "not-template",
        {"not": ["{{ is_state('input_boolean.a', 'on') }}"]},
        {A: "off"},
        {A: "on"},
        A,
    ),
    _case(
        "not-not",
        {"not": [{"not": [_state(A, "on")]}]},
        {A: "on"},
        {A: "off"},
        A,
    ),
    _case(
        "nested",
        {
            "or": [
                {"and": [_state(A, "on"), {"not": [_state(B, "on")]}]},
                _number(HUNGER, below=1),
            ]
        },
        {A: "on", B: "off", HUNGER: "3"},
        {A: "off", B: "off", HUNGER: "3"},
        (A, HUNGER),
        (A, B, HUNGER),
    ),
    _case(
        "with-a-disabled-part",
        {"or": [_state(A, "on"), _state("sensor.gone", "x", enabled=False)]},
        {A: "on"},
        {A: "off"},
        A,
    ),
]

CASES = [*_STATE, *_NUMERIC, *_TEMPLATE, *_TIME_AND_PLACE, *_PURPOSE, *_JOINED]

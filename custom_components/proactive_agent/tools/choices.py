"""What hangs on an entity: which words a field takes, and between which numbers.

Home Assistant describes these fields for all entities of a domain; the entities
themselves say in their attributes what each of them takes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from math import isfinite
from typing import Any, Final

from homeassistant.const import ATTR_SUPPORTED_FEATURES
from homeassistant.core import State

# The attribute that lists the words, by domain and field of its actions.
OPTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "climate": {
        "fan_mode": "fan_modes",
        "hvac_mode": "hvac_modes",
        "preset_mode": "preset_modes",
        "swing_horizontal_mode": "swing_horizontal_modes",
        "swing_mode": "swing_modes",
    },
    "cover": {"speed": "supported_speeds"},
    "fan": {"preset_mode": "preset_modes"},
    "humidifier": {"mode": "available_modes"},
    "input_select": {"option": "options"},
    "light": {"effect": "effect_list"},
    "media_player": {"sound_mode": "sound_mode_list", "source": "source_list"},
    "remote": {"activity": "activity_list"},
    "select": {"option": "options"},
    "siren": {"tone": "available_tones"},
    "vacuum": {"fan_speed": "fan_speed_list"},
    "water_heater": {"operation_mode": "operation_list"},
}

# The words that stand and fall with a feature of the entity.
FEATURES: Final[Mapping[str, Mapping[str, Mapping[str, int]]]] = {
    "weather": {"type": {"daily": 1, "hourly": 2, "twice_daily": 4}},
}

_TEMPERATURE = ("min_temp", "max_temp", "target_temp_step")
_HUMIDITY = ("min_humidity", "max_humidity", "target_humidity_step")
_MIN_MAX_STEP = ("min", "max", "step")

# The attributes that hold the smallest and largest value and the step.
SPANS: Final[Mapping[str, Mapping[str, tuple[str, str, str]]]] = {
    "climate": {
        "humidity": _HUMIDITY,
        "target_temp_high": _TEMPERATURE,
        "target_temp_low": _TEMPERATURE,
        "temperature": _TEMPERATURE,
    },
    "counter": {"value": ("minimum", "maximum", "")},
    "humidifier": {"humidity": _HUMIDITY},
    "input_number": {"value": _MIN_MAX_STEP},
    "light": {
        "color_temp_kelvin": ("min_color_temp_kelvin", "max_color_temp_kelvin", "")
    },
    "number": {"value": _MIN_MAX_STEP},
    "water_heater": {"temperature": _TEMPERATURE},
}

# The attributes that hold how short and how long a text may be, and what it is like.
LENGTHS: Final[Mapping[str, Mapping[str, tuple[str, str, str]]]] = {
    "input_text": {"value": ("min", "max", "pattern")},
    "text": {"value": ("min", "max", "pattern")},
}

# Whatever of an entity shapes its tools; when none of it changed, the tools have not.
SHAPING: Final = frozenset(
    chain(
        (ATTR_SUPPORTED_FEATURES,),
        *(fields.values() for fields in OPTIONS.values()),
        *chain.from_iterable(
            fields.values() for fields in (*SPANS.values(), *LENGTHS.values())
        ),
    )
) - {""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Between which numbers a value lies, None is no bound; `step` is a hint only."""

    low: float | None = None
    high: float | None = None
    step: float | None = None


def hangs_on_entity(domain: str, field: str) -> bool:
    """Tell whether each entity has its own words for a field."""
    return field in OPTIONS.get(domain, {}) or field in FEATURES.get(domain, {})


def options_of(domain: str, field: str, state: State) -> tuple[str, ...]:
    """Return the words an entity takes, in its own order; empty if it names none."""
    if (words := FEATURES.get(domain, {}).get(field)) is not None:
        features = _features(state)
        return tuple(word for word, mask in words.items() if features & mask)
    return _words(state.attributes.get(OPTIONS[domain][field]))


def union_of_options(
    domain: str, field: str, states: Iterable[State]
) -> tuple[str, ...] | None:
    """Return every word that one of the entities takes; None if one names none."""
    each = [options_of(domain, field, state) for state in states]
    return tuple(dict.fromkeys(chain(*each))) if all(each) else None


def span_of(domain: str, field: str, state: State) -> Span | None:
    """Return the range of an entity; None for a field that has none of its own."""
    names = SPANS.get(domain, {}).get(field)
    if names is None:
        return None
    low, high, step = (_number(state.attributes.get(name)) for name in names)
    return Span(low=low, high=high, step=step)


def widest_span(domain: str, field: str, states: Iterable[State]) -> Span | None:
    """Return the range that holds the ranges of all the entities."""
    return _widest(span_of(domain, field, one) for one in states)


def length_of(domain: str, field: str, state: State) -> Span | None:
    """Return how long a text may be; None for a field without such bounds."""
    names = LENGTHS.get(domain, {}).get(field)
    if names is None:
        return None
    low, high = (_number(state.attributes.get(name)) for name in names[:2])
    return Span(low=low, high=high)


def widest_length(domain: str, field: str, states: Iterable[State]) -> Span | None:
    """Return the lengths that the entities take, all together."""
    return _widest(length_of(domain, field, one) for one in states)


def pattern_of(domain: str, field: str, states: Iterable[State]) -> str | None:
    """Return the regular expression that all the entities want a text to match."""
    if (names := LENGTHS.get(domain, {}).get(field)) is None:
        return None
    first, *others = [state.attributes.get(names[-1]) for state in states]
    is_common = isinstance(first, str) and all(one == first for one in others)
    return first if is_common else None


def _widest(each: Iterable[Span | None]) -> Span | None:
    spans = [span for span in each if span is not None]
    if not spans:
        return None
    lows, highs = [span.low for span in spans], [span.high for span in spans]
    steps = {span.step for span in spans}
    return Span(
        low=None if None in lows else min(low for low in lows if low is not None),
        high=None if None in highs else max(one for one in highs if one is not None),
        step=steps.pop() if len(steps) == 1 else None,
    )


def _words(listed: Any) -> tuple[str, ...]:
    match listed:
        case Mapping():
            words = [*listed.values()]
        case set() | frozenset():
            words = sorted(map(str, listed))  # a set has no order of its own
        case list() | tuple():
            words = [*listed]
        case _:
            words = []
    return tuple(dict.fromkeys(str(word) for word in words if word or word == 0))


def _features(state: State) -> int:
    features = state.attributes.get(ATTR_SUPPORTED_FEATURES)
    return features if isinstance(features, int) else 0


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if isfinite(value) else None

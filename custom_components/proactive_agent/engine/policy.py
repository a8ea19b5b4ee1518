"""What the model may do by itself: allow, ask or deny a resolved action (A1-A3).

The free list is data. What stands on it is allowed for entities in `act`; whatever
is not known here asks.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum, StrEnum


class Verdict(IntEnum):
    """What the policy says, the stricter the greater."""

    ALLOW = 0
    ASK = 1
    DENY = 2


class Listed(StrEnum):
    """Which of the owner's lists an entity stands in."""

    ACT = "act"
    ASK = "ask"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One entity an action would touch: itself or through a group.

    `own` marks the entities of this integration.
    """

    domain: str
    device_class: str | None = None
    listed: Listed = Listed.ACT
    own: bool = False


SECOND_VOICE = frozenset(
    {
        "ai_task",
        "assist_satellite",
        "conversation",
        "notify",
        "stt",
        "tts",
        "wake_word",
    }
)
GENERIC = "homeassistant"
SCRIPT = "script"

# A script is run by its own name; what the domain offers for all of them would
# take variables past the script's fields.
SCRIPT_CONTROLS = frozenset({"reload", "toggle", "turn_off", "turn_on"})

_ON_OFF = frozenset({"turn_on", "turn_off"})
_STEPS = frozenset({"increment", "decrement"})
_SELECT = frozenset(
    {
        "select_first",
        "select_last",
        "select_next",
        "select_option",
        "select_previous",
    }
)

FREE: dict[str, frozenset[str]] = {
    "calendar": frozenset({"create_event"}),
    "climate": _ON_OFF
    | {
        "set_fan_mode",
        "set_humidity",
        "set_hvac_mode",
        "set_preset_mode",
        "set_swing_horizontal_mode",
        "set_swing_mode",
        "set_temperature",
    },
    "counter": _STEPS | {"reset", "set_value"},
    "cover": frozenset(
        {
            "close_cover",
            "close_cover_tilt",
            "open_cover",
            "open_cover_tilt",
            "set_cover_position",
            "set_cover_tilt_position",
            "stop_cover",
            "stop_cover_tilt",
        }
    ),
    "fan": _ON_OFF
    | {
        "decrease_speed",
        "increase_speed",
        "oscillate",
        "set_direction",
        "set_percentage",
        "set_preset_mode",
    },
    "humidifier": _ON_OFF | {"set_humidity", "set_mode"},
    "input_boolean": _ON_OFF,
    "input_number": _STEPS | {"set_value"},
    "input_select": _SELECT,
    "light": _ON_OFF,
    "media_player": frozenset(
        {
            "media_pause",
            "media_play",
            "media_play_pause",
            "media_stop",
            "select_source",
            "volume_down",
            "volume_mute",
            "volume_set",
            "volume_up",
        }
    ),
    "number": frozenset({"set_value"}),
    "scene": frozenset({"turn_on"}),
    "select": _SELECT,
    "switch": _ON_OFF,
    "timer": frozenset({"cancel", "change", "finish", "pause", "start"}),
    "todo": frozenset({"add_item"}),
    "vacuum": frozenset({"pause", "return_to_base", "start"}),
    "water_heater": _ON_OFF
    | {"set_away_mode", "set_operation_mode", "set_temperature"},
}

# Where the domain alone says too little, only these device classes are free: a
# cover may be a blind, but as well a garage door.
FREE_DEVICE_CLASSES: dict[str, frozenset[str]] = {
    "cover": frozenset({"awning", "blind", "curtain", "shade", "shutter"}),
}


def judge(
    domain: str,
    action: str,
    subjects: Iterable[Subject],
    *,
    ask_before_risky: bool,
    must_ask: bool = False,
) -> Verdict:
    """Judge an action on everything it would touch; the strictest wins.

    `must_ask` marks a call that asks wherever its entities are listed (A3).
    """
    found = [_judge_one(domain, action, one, ask_before_risky) for one in subjects]
    if not found or is_never(domain, action):
        return Verdict.DENY
    return max(*found, Verdict.ASK if must_ask else Verdict.ALLOW)


def judge_reading(domain: str, action: str, subjects: Iterable[Subject]) -> Verdict:
    """Judge an action that only answers: allow or deny, nobody is asked.

    Only what a domain itself offers for its own entities is known to be harmless;
    an integration may answer with the codes of a lock.
    """
    found = [
        one.domain == domain and not one.own and one.domain not in SECOND_VOICE
        for one in subjects
    ]
    allowed = found and all(found) and domain != SCRIPT and not is_never(domain, action)
    return Verdict.ALLOW if allowed else Verdict.DENY


def is_never(domain: str, action: str) -> bool:
    """Tell whether an action is never a tool, whatever was chosen (A2)."""
    if domain == SCRIPT:
        return action in SCRIPT_CONTROLS
    return domain in SECOND_VOICE or domain == GENERIC or action.startswith("toggle")


def is_free(domain: str, action: str, device_class: str | None = None) -> bool:
    """Tell whether an action needs no yes on an entity of `act`."""
    if domain == SCRIPT:
        return True
    if action not in FREE.get(domain, frozenset()):
        return False
    classes = FREE_DEVICE_CLASSES.get(domain)
    return classes is None or device_class in classes


def _judge_one(
    domain: str,
    action: str,
    subject: Subject,
    ask_before_risky: bool,  # noqa: FBT001 - private, and always passed on
) -> Verdict:
    if subject.own or subject.domain in SECOND_VOICE:
        return Verdict.DENY
    if subject.listed is Listed.ASK:
        return Verdict.ASK
    fits = subject.domain == domain and is_free(domain, action, subject.device_class)
    return Verdict.ASK if ask_before_risky and not fits else Verdict.ALLOW

"""What Home Assistant's descriptions of its actions leave unsaid, or say too much of.

Each rule is a line in a table. A key is an action (`domain.action`), or a domain: then
the rule holds for all of its actions.
"""

from collections.abc import Collection, Mapping
import re
from typing import Any, Final

_TEXT: Final = {"required": True, "selector": {"text": {}}}
_ONLY_WITH_A_CODE: Final = {"code": {"filter": {"attribute": {"code_format": None}}}}

# Where a description says less of a field than the action itself knows. None as the
# values of an attribute stands for any: the entity has to have it.
CORRECTIONS: Final[Mapping[str, Mapping[str, Mapping[str, Any]]]] = {
    "alarm_control_panel": _ONLY_WITH_A_CODE,
    "climate.set_hvac_mode": {"hvac_mode": {"required": True}},
    "input_datetime.set_datetime": {
        "date": {
            "filter": {"attribute": {"has_date": [True]}},
            "selector": {"date": {}},
        },
        "time": {"filter": {"attribute": {"has_time": [True]}}},
    },
    "lock": _ONLY_WITH_A_CODE,
    "media_player.play_media": {
        # Its selector wants the player as well, which the action does not need.
        "media": {
            "selector": {
                "object": {
                    "fields": {"media_content_id": _TEXT, "media_content_type": _TEXT}
                }
            }
        }
    },
    "media_player.select_sound_mode": {"sound_mode": {"required": True}},
    "siren.turn_on": {"duration": {"selector": {"number": {"min": 0, "mode": "box"}}}},
}

# Actions that no model can make sense of, or that another one does as well: each tool
# costs tokens with every turn.
NO_TOOLS: Final[Mapping[str, frozenset[str]]] = {
    "input_select": frozenset(
        {"select_first", "select_last", "select_next", "select_previous"}
    ),
    "media_player": frozenset({"media_play_pause"}),  # a toggle by another name
    "scene": frozenset({"delete"}),  # only what an automation made on the way
    "select": frozenset(
        {"select_first", "select_last", "select_next", "select_previous"}
    ),
    "vacuum": frozenset({"send_command"}),  # nobody says which there are
}

# Fields that say what another one says as well, in a way that suits a model less, or
# what is rarely meant.
LEFT_OUT: Final[Mapping[str, frozenset[str]]] = {
    "input_datetime": frozenset({"datetime", "timestamp"}),
    "light": frozenset(
        {
            "brightness",
            "brightness_step",
            "brightness_step_pct",
            "color_name",
            "flash",
            "hs_color",
            "profile",
            "rgbw_color",
            "rgbww_color",
            "white",
            "xy_color",
        }
    ),
    "media_player": frozenset({"media_filter_classes"}),
}

# Fields of which Home Assistant silently cuts what is no whole number.
WHOLE: Final[Mapping[str, frozenset[str]]] = {
    "counter": frozenset({"value"}),
    "siren": frozenset({"duration"}),
}

# What has to be known of several fields, said where all of them are offered.
FIELDS_TOGETHER: Final[Mapping[str, Mapping[tuple[str, ...], str]]] = {
    "calendar.create_event": {
        ("start_date_time", "end_date_time", "start_date", "end_date"): (
            "Give start_date_time and end_date_time, or start_date and end_date."
        )
    },
    "calendar.get_events": {
        ("end_date_time", "duration"): "Give end_date_time or duration, not both."
    },
    "climate.set_temperature": {
        ("target_temp_high", "target_temp_low"): (
            "Give target_temp_high and target_temp_low together."
        )
    },
    "todo.add_item": {
        ("due_date", "due_datetime"): "Give due_date or due_datetime, not both."
    },
    "todo.update_item": {
        ("due_date", "due_datetime"): "Give due_date or due_datetime, not both."
    },
}

# What sends a model elsewhere, or warns of what is not offered anyway.
_UNHELPFUL: Final = re.compile(
    r"integration documentation|must be supported by the integration"
    r"|platform dependent|depends on the integration",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"\S.*?(?:[.!?](?=\s|$)|$)")


def is_superfluous(domain: str, service: str) -> bool:
    """Tell whether an action is of no use as a tool."""
    return service in NO_TOOLS.get(domain, ())


def is_left_out(domain: str, field: str) -> bool:
    """Tell whether a field is of no use to a model."""
    return field in LEFT_OUT.get(domain, ())


def is_whole(domain: str, field: str) -> bool:
    """Tell whether a field takes whole numbers only."""
    return field in WHOLE.get(domain, ())


def correction(domain: str, service: str, field: str) -> Mapping[str, Any]:
    """Return what a field's description should have said."""
    return {
        **CORRECTIONS.get(domain, {}).get(field, {}),
        **CORRECTIONS.get(f"{domain}.{service}", {}).get(field, {}),
    }


def with_rules(text: str, action: str, fields: Collection[str]) -> str:
    """Add to an action's description what holds for several of its fields."""
    rules = FIELDS_TOGETHER.get(action, {})
    said = (rule for names, rule in rules.items() if {*names} <= {*fields})
    return " ".join(filter(None, (text, *said)))


def helpful(text: str, *, is_choice: bool) -> str:
    """Leave out of a field's description what helps no model.

    Where the words that may be chosen stand beside it, its first sentence is enough.
    """
    sentences = _SENTENCE.findall(text)[: 1 if is_choice else None]
    return " ".join(one for one in sentences if not _UNHELPFUL.search(one))

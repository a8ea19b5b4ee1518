"""What an owner adds to the house without a device: helpers, scripts, scenes."""

from typing import Any, Final

from .memory import keep, kept

RADIO: Final = {
    "platform": "universal",
    "name": "Radio",
    "unique_id": "radio",
    "state_template": kept("radio"),
    "attributes": {
        "volume_level": "input_text.radio_volume",
        "is_volume_muted": "input_text.radio_muted",
        "source": "input_text.radio_source",
        "source_list": "input_select.stations|options",
    },
    "commands": {
        "turn_on": keep("radio", "idle"),
        "turn_off": keep("radio", "off"),
        "media_play": keep("radio", "playing"),
        "media_pause": keep("radio", "paused"),
        "media_stop": keep("radio", "idle"),
        "play_media": keep("radio", "playing"),
        "volume_set": keep("radio_volume", "{{ volume_level }}"),
        "volume_up": keep("radio_volume", "{{ 0.9 }}"),
        "volume_down": keep("radio_volume", "{{ 0.1 }}"),
        "volume_mute": keep("radio_muted", "{{ 'on' if is_volume_muted else 'off' }}"),
        "select_source": keep("radio_source", "{{ source }}"),
    },
}

THERMOSTAT: Final = {
    "platform": "generic_thermostat",
    "name": "Thermostat",
    "unique_id": "thermostat",
    "heater": "switch.heater",
    "target_sensor": "sensor.warmth",
    "min_temp": 7,
    "max_temp": 28,
    "target_temp": 17,
    "target_temp_step": 0.5,
    "initial_hvac_mode": "heat",
    "away_temp": 12,
}

HYGROSTAT: Final = {
    "platform": "generic_hygrostat",
    "name": "Mister",
    "unique_id": "mister",
    "humidifier": "switch.mist",
    "target_sensor": "sensor.damp",
    "min_humidity": 20,
    "max_humidity": 70,
    "target_humidity": 40,
    "initial_state": True,
    "away_humidity": 30,
}

ALARM: Final = {
    "platform": "manual",
    "name": "House",
    "unique_id": "house",
    "code_arm_required": False,
    "arming_time": 0,
    "arming_states": ["armed_away", "armed_home"],
}

HELPERS: Final[dict[str, dict[str, Any]]] = {
    "input_boolean": {"guests": {"name": "Guests"}},
    "input_number": {
        "target": {"name": "Target", "min": 0, "max": 10, "step": 0.5, "initial": 3}
    },
    "input_select": {
        "mood": {"name": "Mood", "options": ["calm", "wild"], "initial": "calm"},
        "stations": {"options": ["News", "Jazz"]},
    },
    "input_datetime": {
        "alarm_clock": {"name": "Alarm clock", "has_time": True, "initial": "07:00:00"},
        "trip": {"name": "Trip", "has_date": True, "has_time": True},
    },
    "input_button": {"bell": {"name": "Bell"}},
    "counter": {"cups": {"name": "Cups", "initial": 2, "minimum": 0, "maximum": 9}},
    "timer": {"eggs": {"name": "Eggs", "duration": "00:05:00"}},
}

NOTE: Final = {"note": {"name": "Note", "min": 2, "max": 20, "initial": "Nothing"}}

SCRIPTS: Final = {
    "feed": {
        "alias": "Feed",
        "description": "Give the pet something to eat.",
        "fields": {
            "food": {
                "description": "What it gets",
                "required": True,
                "selector": {"select": {"options": ["meal", "snack"]}},
            },
            "portions": {
                "description": "How many",
                "selector": {"number": {"min": 1, "max": 3}},
            },
        },
        "sequence": [{"event": "fed", "event_data": {"food": "{{ food }}"}}],
    },
}

SCENES: Final = [
    {"name": "Evening", "id": "evening", "entities": {"light.lamp": "on"}},
    {"name": "Party", "id": "party", "entities": {"light.lamp": "on"}},
]

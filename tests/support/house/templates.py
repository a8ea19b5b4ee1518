"""The devices of the house: template entities with states of their own."""

from typing import Any, Final

from .memory import keep, kept, memory, switched

MEMORY: Final = memory(
    {
        "lamp": "off",
        "lamp_level": "0",
        "lamp_kelvin": "2700",
        "lamp_effect": "none",
        "plug": "off",
        "heater": "off",
        "mist": "off",
        "fan": "off",
        "fan_percentage": "0",
        "fan_preset": "calm",
        "fan_oscillates": "False",
        "fan_direction": "forward",
        "aircon": "off",
        "aircon_low": "18",
        "aircon_high": "24",
        "aircon_fan": "quiet",
        "aircon_swing": "off",
        "blind": "100",
        "blind_tilt": "100",
        "garage": "open",
        "lock": "locked",
        "robot": "docked",
        "robot_power": "quiet",
        "brew": "20",
        "roast": "light",
        "pressed": "never",
        "firmware": "1.0",
        "radio": "idle",
        "radio_volume": "0.5",
        "radio_muted": "off",
        "radio_source": "News",
    }.items()
)

_LIGHT: Final = {
    **switched("Lamp", "lamp"),
    "level": kept("lamp_level", "int"),
    "set_level": [keep("lamp", "on"), keep("lamp_level", "{{ brightness }}")],
    "temperature": "{{ (1000000 / states('input_text.lamp_kelvin') | int) | int }}",
    "set_temperature": [
        keep("lamp", "on"),
        keep("lamp_kelvin", "{{ color_temp_kelvin }}"),
    ],
    "effect_list": "{{ ['none', 'candle', 'party'] }}",
    "effect": kept("lamp_effect"),
    "set_effect": [keep("lamp", "on"), keep("lamp_effect", "{{ effect }}")],
    "min_mireds": "{{ 153 }}",
    "max_mireds": "{{ 454 }}",
}

_FAN: Final = {
    **switched("Fan", "fan"),
    "percentage": kept("fan_percentage", "int"),
    "set_percentage": [
        keep("fan", "{{ 'on' if percentage else 'off' }}"),
        keep("fan_percentage", "{{ percentage }}"),
    ],
    "speed_count": 4,
    "preset_modes": ["calm", "storm"],
    "preset_mode": kept("fan_preset"),
    "set_preset_mode": keep("fan_preset", "{{ preset_mode }}"),
    "oscillating": kept("fan_oscillates"),
    "set_oscillating": keep("fan_oscillates", "{{ oscillating }}"),
    "direction": kept("fan_direction"),
    "set_direction": keep("fan_direction", "{{ direction }}"),
}

_AIRCON: Final = {
    "name": "Aircon",
    "unique_id": "aircon",
    "hvac_modes": "{{ ['off', 'cool', 'heat_cool'] }}",
    "hvac_mode": kept("aircon"),
    "set_hvac_mode": keep("aircon", "{{ hvac_mode }}"),
    "fan_modes": "{{ ['quiet', 'strong'] }}",
    "fan_mode": kept("aircon_fan"),
    "set_fan_mode": keep("aircon_fan", "{{ fan_mode }}"),
    "swing_modes": "{{ ['off', 'vertical'] }}",
    "swing_mode": kept("aircon_swing"),
    "set_swing_mode": keep("aircon_swing", "{{ swing_mode }}"),
    "current_temperature": "{{ 22 }}",
    "target_temperature_low": kept("aircon_low", "float"),
    "target_temperature_high": kept("aircon_high", "float"),
    "set_temperature": [
        keep("aircon_low", "{{ target_temp_low }}"),
        keep("aircon_high", "{{ target_temp_high }}"),
    ],
    "min_temperature": 16,
    "max_temperature": 30,
}

_BLIND: Final = {
    "name": "Blind",
    "unique_id": "blind",
    "device_class": "shade",
    "position": kept("blind", "int"),
    "open_cover": keep("blind", "100"),
    "close_cover": keep("blind", "0"),
    "stop_cover": [],
    "set_cover_position": keep("blind", "{{ position }}"),
    "tilt": kept("blind_tilt", "int"),
    "set_cover_tilt_position": keep("blind_tilt", "{{ tilt }}"),
}

_GARAGE: Final = {
    "name": "Garage",
    "unique_id": "garage",
    "device_class": "garage",
    "state": kept("garage"),
    "open_cover": keep("garage", "open"),
    "close_cover": keep("garage", "closed"),
    "stop_cover": [],
}

_LOCK: Final = {
    "name": "Front",
    "unique_id": "front",
    "state": kept("lock"),
    "lock": keep("lock", "locked"),
    "unlock": keep("lock", "unlocked"),
    "open": keep("lock", "open"),
}

_ROBOT: Final = {
    "name": "Robot",
    "unique_id": "robot",
    "state": kept("robot"),
    "start": keep("robot", "cleaning"),
    "pause": keep("robot", "paused"),
    "stop": keep("robot", "idle"),
    "return_to_base": keep("robot", "docked"),
    "clean_spot": keep("robot", "cleaning"),
    "locate": [],
    "fan_speeds": ["quiet", "strong"],
    "fan_speed": kept("robot_power"),
    "set_fan_speed": keep("robot_power", "{{ fan_speed }}"),
}

_WEATHER: Final = {
    "name": "Sky",
    "unique_id": "sky",
    "condition": "{{ 'sunny' }}",
    "temperature": "{{ 21 }}",
    "temperature_unit": "°C",
    "humidity": "{{ 40 }}",
    "forecast_daily": (
        "{{ [{'condition': 'rainy', 'datetime': '2026-12-02T00:00:00+00:00',"
        " 'temperature': 14}] }}"
    ),
    "forecast_hourly": (
        "{{ [{'condition': 'cloudy', 'datetime': '2026-12-01T09:00:00+00:00',"
        " 'temperature': 18}] }}"
    ),
}

TEMPLATE: Final[list[dict[str, Any]]] = [
    {
        "light": [_LIGHT],
        "switch": [
            switched("Plug", "plug"),
            switched("Heater", "heater"),
            switched("Mist", "mist"),
        ],
        "fan": [_FAN],
        "climate": [_AIRCON],
        "cover": [_BLIND, _GARAGE],
        "lock": [_LOCK],
        "vacuum": [_ROBOT],
        "number": [
            {
                "name": "Brew",
                "unique_id": "brew",
                "state": kept("brew", "float"),
                "set_value": keep("brew", "{{ value }}"),
                "min": "{{ 5 }}",
                "max": "{{ 60 }}",
                "step": "{{ 5 }}",
                "unit_of_measurement": "s",
            }
        ],
        "select": [
            {
                "name": "Roast",
                "unique_id": "roast",
                "state": kept("roast"),
                "options": "{{ ['light', 'dark'] }}",
                "select_option": keep("roast", "{{ option }}"),
            }
        ],
        "button": [
            {
                "name": "Descale",
                "unique_id": "descale",
                "press": keep("pressed", "once"),
            }
        ],
        "update": [
            {
                "name": "Firmware",
                "unique_id": "firmware",
                "installed_version": kept("firmware"),
                "latest_version": "{{ '1.1' }}",
                "install": keep("firmware", "1.1"),
                "backup": True,
                "specific_version": True,
            }
        ],
        "weather": [_WEATHER],
        "sensor": [
            {
                "name": "Warmth",
                "unique_id": "warmth",
                "state": "{{ 18.5 }}",
                "unit_of_measurement": "°C",
                "device_class": "temperature",
            },
            {
                "name": "Damp",
                "unique_id": "damp",
                "state": "{{ 35 }}",
                "unit_of_measurement": "%",
                "device_class": "humidity",
            },
        ],
    }
]

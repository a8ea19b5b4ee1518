"""What should be seen of an entity after each known action (A5)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .expect_checks import (
    Check,
    Field,
    attribute_if_shown,
    attribute_is,
    attribute_near,
    state_in,
    state_is,
    state_near,
    state_not_in,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What one action leads to.

    `moving` are states on the way there. `fields` say what to look for of the
    action's data; a field that only says how to get there is in `ways`. `steps`
    names the number that moves up or down, "" is the state. What is `momentary` may
    be called again although it looks done.
    """

    checks: tuple[Check, ...] = ()
    moving: frozenset[str] = frozenset()
    fields: Mapping[str, Field] = field(default_factory=dict)
    ways: frozenset[str] = frozenset()
    steps: tuple[str, int] | None = None
    momentary: bool = False


def _to(*states: str, moving: tuple[str, ...] = (), momentary: bool = False) -> Rule:
    return Rule(
        checks=(state_in(*states),), moving=frozenset(moving), momentary=momentary
    )


def _set(**fields: Field) -> Rule:
    return Rule(fields=fields)


def _step(attribute: str, direction: int, *ways: str) -> Rule:
    return Rule(steps=(attribute, direction), ways=frozenset(ways))


_ON = _to("on")
_OFF = _to("off")
_NOT_OFF = Rule(checks=(state_not_in("off"),))
_TEMPERATURE = attribute_near("temperature", exact=0.01, close=0.5)
_POSITION = attribute_near("current_position", close=3)
_TILT = attribute_near("current_tilt_position", close=3)
_PERCENTAGE = attribute_near("percentage", exact=0.5, close=5)
_VALUE = state_near(close=0.01)


def _moved_to(state: str, moving: str, position: int) -> Rule:
    """Follow a cover or a valve; one without positions says it all by its state."""
    return Rule(
        checks=(state_in(state), attribute_if_shown("current_position", position)),
        moving=frozenset({moving}),
    )


def _position(name: str, position: Field) -> Rule:
    return Rule(fields={name: position}, moving=frozenset({"opening", "closing"}))


_STOPPED = Rule(checks=(state_not_in("opening", "closing"),), momentary=True)

_ALARM = {
    f"alarm_control_panel.alarm_arm_{mode}": _to(
        f"armed_{mode}", moving=("arming", "pending")
    )
    for mode in ("away", "custom_bypass", "home", "night", "vacation")
}

_SWITCHED = {
    f"{domain}.turn_{state}": rule
    for domain in (
        "automation",
        "fan",
        "humidifier",
        "input_boolean",
        "light",
        "remote",
        "siren",
        "switch",
    )
    for state, rule in (("on", _ON), ("off", _OFF))
}

RULES: Mapping[str, Rule] = {
    **_SWITCHED,
    **_ALARM,
    "alarm_control_panel.alarm_disarm": _to("disarmed"),
    "alarm_control_panel.alarm_trigger": _to("triggered", moving=("pending",)),
    "climate.set_fan_mode": _set(fan_mode=attribute_is("fan_mode")),
    "climate.set_humidity": _set(humidity=attribute_near("humidity", close=1)),
    "climate.set_hvac_mode": _set(hvac_mode=state_is()),
    "climate.set_preset_mode": _set(preset_mode=attribute_is("preset_mode")),
    "climate.set_swing_horizontal_mode": _set(
        swing_horizontal_mode=attribute_is("swing_horizontal_mode")
    ),
    "climate.set_swing_mode": _set(swing_mode=attribute_is("swing_mode")),
    "climate.set_temperature": _set(
        temperature=_TEMPERATURE,
        target_temp_high=attribute_near("target_temp_high", exact=0.01, close=0.5),
        target_temp_low=attribute_near("target_temp_low", exact=0.01, close=0.5),
        hvac_mode=state_is(),
    ),
    "climate.turn_off": _OFF,
    "climate.turn_on": _NOT_OFF,
    "counter.decrement": _step("", -1),
    "counter.increment": _step("", 1),
    "counter.set_value": _set(value=_VALUE),
    "cover.close_cover": _moved_to("closed", "closing", 0),
    "cover.close_cover_tilt": Rule(checks=(_TILT(0),)),
    "cover.open_cover": _moved_to("open", "opening", 100),
    "cover.open_cover_tilt": Rule(checks=(_TILT(100),)),
    "cover.set_cover_position": _position("position", _POSITION),
    "cover.set_cover_tilt_position": _set(tilt_position=_TILT),
    "cover.stop_cover": _STOPPED,
    "fan.decrease_speed": _step("percentage", -1, "percentage_step"),
    "fan.increase_speed": _step("percentage", 1, "percentage_step"),
    "fan.oscillate": _set(oscillating=attribute_is("oscillating")),
    "fan.set_direction": _set(direction=attribute_is("direction")),
    "fan.set_percentage": _set(percentage=_PERCENTAGE),
    "fan.set_preset_mode": _set(preset_mode=attribute_is("preset_mode")),
    "fan.turn_on": Rule(
        checks=_ON.checks,
        fields={
            "percentage": _PERCENTAGE,
            "preset_mode": attribute_is("preset_mode"),
        },
    ),
    "humidifier.set_humidity": _set(humidity=attribute_near("humidity", close=1)),
    "humidifier.set_mode": _set(mode=attribute_is("mode")),
    "input_number.decrement": _step("", -1),
    "input_number.increment": _step("", 1),
    "input_number.set_value": _set(value=_VALUE),
    "input_select.select_option": _set(option=state_is()),
    "input_text.set_value": _set(value=state_is()),
    "lawn_mower.dock": _to("docked", moving=("returning",)),
    "lawn_mower.pause": _to("paused"),
    "lawn_mower.start_mowing": _to("mowing"),
    "light.turn_off": Rule(checks=_OFF.checks, ways=frozenset({"transition"})),
    "light.turn_on": Rule(
        checks=_ON.checks,
        fields={
            "brightness": attribute_near("brightness", exact=1, close=5),
            "brightness_pct": attribute_near(
                "brightness", exact=1, close=5, scale=2.55
            ),
            "color_temp_kelvin": attribute_near(
                "color_temp_kelvin", exact=1, close=100
            ),
            "effect": attribute_is("effect"),
            "hs_color": attribute_near("hs_color", exact=0.1, close=5),
            "rgb_color": attribute_near("rgb_color", close=20),
            "rgbw_color": attribute_near("rgbw_color", close=20),
            "rgbww_color": attribute_near("rgbww_color", close=20),
            "xy_color": attribute_near("xy_color", exact=0.001, close=0.03),
        },
        ways=frozenset({"transition"}),
    ),
    "lock.lock": _to("locked", moving=("locking",)),
    "lock.open": _to("open", "unlocked", moving=("opening",), momentary=True),
    "lock.unlock": _to("unlocked", moving=("unlocking",)),
    "media_player.media_pause": _to("paused"),
    "media_player.media_play": _to("playing", moving=("buffering",)),
    "media_player.media_stop": _to("idle", "off", "standby"),
    "media_player.repeat_set": _set(repeat=attribute_is("repeat")),
    "media_player.select_sound_mode": _set(sound_mode=attribute_is("sound_mode")),
    "media_player.select_source": _set(source=attribute_is("source")),
    "media_player.shuffle_set": _set(shuffle=attribute_is("shuffle")),
    "media_player.turn_off": _to("off", "standby"),
    "media_player.turn_on": Rule(checks=(state_not_in("off", "standby"),)),
    "media_player.volume_down": _step("volume_level", -1),
    "media_player.volume_mute": _set(is_volume_muted=attribute_is("is_volume_muted")),
    "media_player.volume_set": _set(
        volume_level=attribute_near("volume_level", exact=0.005, close=0.03)
    ),
    "media_player.volume_up": _step("volume_level", 1),
    "number.set_value": _set(value=_VALUE),
    "select.select_option": _set(option=state_is()),
    "text.set_value": _set(value=state_is()),
    "timer.cancel": _to("idle"),
    "timer.finish": _to("idle"),
    "timer.pause": _to("paused"),
    "timer.start": Rule(
        checks=(state_in("active"),), ways=frozenset({"duration"}), momentary=True
    ),
    "vacuum.pause": _to("paused", "idle"),
    "vacuum.return_to_base": _to("docked", moving=("returning",)),
    "vacuum.set_fan_speed": _set(fan_speed=attribute_is("fan_speed")),
    "vacuum.start": _to("cleaning"),
    "vacuum.stop": _to("idle", "paused", "docked"),
    "valve.close_valve": _moved_to("closed", "closing", 0),
    "valve.open_valve": _moved_to("open", "opening", 100),
    "valve.set_valve_position": _position("position", _POSITION),
    "valve.stop_valve": _STOPPED,
    "water_heater.set_away_mode": _set(
        away_mode=lambda value: attribute_is("away_mode")("on" if value else "off")
    ),
    "water_heater.set_operation_mode": _set(
        operation_mode=attribute_is("operation_mode")
    ),
    "water_heater.set_temperature": _set(
        temperature=_TEMPERATURE, operation_mode=attribute_is("operation_mode")
    ),
    "water_heater.turn_off": _OFF,
    "water_heater.turn_on": _NOT_OFF,
}

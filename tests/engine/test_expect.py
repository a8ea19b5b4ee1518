"""What an action should lead to, and what is seen of it (A5)."""

from typing import Any

import pytest

from custom_components.proactive_agent.engine.expect import (
    Expectation,
    Seen,
    View,
    expect,
    sentence,
)
from custom_components.proactive_agent.engine.expect_rules import RULES
from custom_components.proactive_agent.engine.policy import FREE

pytestmark = pytest.mark.contract("A5")


def look(state: str, **attributes: object) -> View:
    return View(state=state, attributes=attributes)


def expected(name: str, before: View, **data: Any) -> Expectation:
    found = expect(name, data, before)
    assert found is not None
    return found


def seen(name: str, view: View, **data: Any) -> Seen:
    return expected(name, look("before"), **data).find(view).seen


MET: list[tuple[str, dict[str, Any], View]] = [
    ("light.turn_on", {}, look("on")),
    ("light.turn_off", {}, look("off")),
    ("light.turn_off", {"transition": 3}, look("off")),
    ("light.turn_on", {"brightness_pct": 50}, look("on", brightness=128)),
    ("light.turn_on", {"brightness_pct": 50}, look("on", brightness=127)),
    ("light.turn_on", {"brightness_pct": 100}, look("on", brightness=255)),
    ("light.turn_on", {"brightness_pct": 1}, look("on", brightness=3)),
    ("light.turn_on", {"brightness": 40}, look("on", brightness=40)),
    ("light.turn_on", {"brightness": 40, "transition": 9}, look("on", brightness=40)),
    ("light.turn_on", {"brightness": 0}, look("off")),
    ("light.turn_on", {"brightness_pct": 0.0}, look("off")),
    (
        "light.turn_on",
        {"color_temp_kelvin": 2700},
        look("on", color_temp_kelvin=2700),
    ),
    ("light.turn_on", {"rgb_color": [255, 0, 9]}, look("on", rgb_color=(255, 0, 9))),
    ("light.turn_on", {"hs_color": [30, 50]}, look("on", hs_color=(30.0, 50.05))),
    ("light.turn_on", {"effect": "rainbow"}, look("on", effect="rainbow")),
    ("switch.turn_on", {}, look("on")),
    ("input_boolean.turn_off", {}, look("off")),
    ("siren.turn_off", {}, look("off")),
    ("humidifier.turn_on", {}, look("on")),
    ("humidifier.set_humidity", {"humidity": 45}, look("on", humidity=45)),
    ("humidifier.set_mode", {"mode": "eco"}, look("on", mode="eco")),
    ("fan.turn_on", {"percentage": 33}, look("on", percentage=33)),
    ("fan.set_percentage", {"percentage": 0}, look("off", percentage=0)),
    ("fan.set_preset_mode", {"preset_mode": "auto"}, look("on", preset_mode="auto")),
    ("fan.oscillate", {"oscillating": True}, look("on", oscillating=True)),
    ("cover.open_cover", {}, look("open")),
    ("cover.open_cover", {}, look("open", current_position=100)),
    ("cover.close_cover", {}, look("closed", current_position=0)),
    ("cover.set_cover_position", {"position": 40}, look("open", current_position=40)),
    (
        "cover.set_cover_tilt_position",
        {"tilt_position": 10},
        look("open", current_tilt_position=10),
    ),
    ("valve.close_valve", {}, look("closed")),
    (
        "valve.set_valve_position",
        {"position": 40},
        look("open", current_position=40),
    ),
    ("climate.set_temperature", {"temperature": 21}, look("heat", temperature=21.0)),
    (
        "climate.set_temperature",
        {"temperature": 21, "hvac_mode": "heat"},
        look("heat", temperature=21.0),
    ),
    (
        "climate.set_temperature",
        {"target_temp_low": 19, "target_temp_high": 24},
        look("heat_cool", target_temp_low=19, target_temp_high=24.0),
    ),
    ("climate.set_hvac_mode", {"hvac_mode": "off"}, look("off")),
    (
        "climate.set_preset_mode",
        {"preset_mode": "eco"},
        look("heat", preset_mode="eco"),
    ),
    ("climate.turn_on", {}, look("cool")),
    ("climate.turn_off", {}, look("off")),
    ("water_heater.set_temperature", {"temperature": 55}, look("eco", temperature=55)),
    ("water_heater.set_away_mode", {"away_mode": True}, look("eco", away_mode="on")),
    ("input_number.set_value", {"value": 3}, look("3.0")),
    ("number.set_value", {"value": 0.1}, look("0.1")),
    ("input_select.select_option", {"option": "calm"}, look("calm")),
    ("select.select_option", {"option": "wild"}, look("wild")),
    ("text.set_value", {"value": "hello"}, look("hello")),
    ("counter.set_value", {"value": 5}, look("5")),
    ("media_player.media_play", {}, look("playing")),
    ("media_player.media_pause", {}, look("paused")),
    ("media_player.media_stop", {}, look("idle")),
    (
        "media_player.volume_set",
        {"volume_level": 0.4},
        look("playing", volume_level=0.4),
    ),
    (
        "media_player.volume_mute",
        {"is_volume_muted": True},
        look("on", is_volume_muted=True),
    ),
    ("media_player.select_source", {"source": "TV"}, look("on", source="TV")),
    ("vacuum.start", {}, look("cleaning")),
    ("vacuum.pause", {}, look("paused")),
    ("vacuum.return_to_base", {}, look("docked")),
    ("lock.lock", {}, look("locked")),
    ("lock.unlock", {}, look("unlocked")),
    ("timer.pause", {}, look("paused")),
    ("timer.cancel", {}, look("idle")),
    ("alarm_control_panel.alarm_arm_night", {}, look("armed_night")),
    ("alarm_control_panel.alarm_disarm", {}, look("disarmed")),
]


@pytest.mark.parametrize(("name", "data", "view"), MET, ids=range(len(MET)))
def test_what_is_as_asked_is_seen_and_need_not_be_done(
    name: str, data: dict[str, Any], view: View
) -> None:
    assert seen(name, view, **data) is Seen.EXACT
    assert expected(name, view, **data).is_already_met
    assert expected(name, view, **data).describe("a.b", view) is None


CLOSE: list[tuple[str, dict[str, Any], View]] = [
    ("light.turn_on", {"brightness_pct": 50}, look("on", brightness=125)),
    ("light.turn_on", {"color_temp_kelvin": 2700}, look("on", color_temp_kelvin=2725)),
    ("light.turn_on", {"rgb_color": [255, 0, 9]}, look("on", rgb_color=(255, 10, 9))),
    ("cover.set_cover_position", {"position": 40}, look("open", current_position=42)),
    ("climate.set_temperature", {"temperature": 21.3}, look("heat", temperature=21.5)),
    ("fan.set_percentage", {"percentage": 30}, look("on", percentage=33)),
    ("input_number.set_value", {"value": 100}, look("100.5")),
    ("media_player.volume_set", {"volume_level": 0.4}, look("on", volume_level=0.42)),
]


@pytest.mark.parametrize(("name", "data", "view"), CLOSE, ids=range(len(CLOSE)))
def test_what_a_device_rounds_is_as_asked_but_is_asked_again(
    name: str, data: dict[str, Any], view: View
) -> None:
    assert seen(name, view, **data) is Seen.CLOSE
    assert not expected(name, view, **data).is_already_met
    assert expected(name, view, **data).describe("a.b", view) is None


ON_THE_WAY: list[tuple[str, dict[str, Any], str]] = [
    ("cover.open_cover", {}, "opening"),
    ("cover.close_cover", {}, "closing"),
    ("cover.set_cover_position", {"position": 40}, "closing"),
    ("valve.open_valve", {}, "opening"),
    ("lock.lock", {}, "locking"),
    ("lock.unlock", {}, "unlocking"),
    ("vacuum.return_to_base", {}, "returning"),
    ("alarm_control_panel.alarm_arm_away", {}, "arming"),
    ("media_player.media_play", {}, "buffering"),
]


@pytest.mark.parametrize(("name", "data", "state"), ON_THE_WAY)
def test_what_moves_there_is_on_its_way(
    name: str, data: dict[str, Any], state: str
) -> None:
    view = look(state, current_position=70)
    before = expected(name, look("before"), **data)
    assert before.find(view).seen is Seen.ON_ITS_WAY
    assert before.describe("a.b", view) == f"a.b is still {state}"
    assert not expected(name, view, **data).is_already_met


OTHER: list[tuple[str, dict[str, Any], View, str]] = [
    ("light.turn_on", {}, look("off"), "a.b is now off"),
    ("light.turn_on", {}, look("before"), "a.b is still before"),
    ("light.turn_on", {}, look("unavailable"), "a.b is now unavailable"),
    ("climate.turn_on", {}, look("unavailable"), "a.b is now unavailable"),
    (
        "light.turn_on",
        {"brightness_pct": 50},
        look("on", brightness=20),
        "the brightness of a.b is 20",
    ),
    (
        "light.turn_on",
        {"rgb_color": [255, 0, 9]},
        look("on", rgb_color=(0, 0, 9)),
        "the rgb_color of a.b is (0, 0, 9)",
    ),
    (
        "light.turn_on",
        {"rgb_color": [255, 0, 9]},
        look("on", rgb_color=(255, 0)),
        "the rgb_color of a.b is (255, 0)",
    ),
    ("cover.open_cover", {}, look("closing"), "a.b is now closing"),
    (
        "cover.open_cover",
        {},
        look("open", current_position=40),
        "the current_position of a.b is 40",
    ),
    (
        "climate.set_temperature",
        {"temperature": 21},
        look("heat", temperature=18),
        "the temperature of a.b is 18",
    ),
    ("input_number.set_value", {"value": 3}, look("7.0"), "a.b is now 7.0"),
    ("media_player.media_pause", {}, look("playing"), "a.b is now playing"),
    ("lock.lock", {}, look("jammed"), "a.b is now jammed"),
    ("text.set_value", {"value": "x"}, look("a\nb"), "a.b is now a b"),
]


@pytest.mark.parametrize(
    ("name", "data", "view", "words"), OTHER, ids=range(len(OTHER))
)
def test_what_is_otherwise_is_said_in_words(
    name: str, data: dict[str, Any], view: View, words: str
) -> None:
    before = expected(name, look("before"), **data)
    assert before.find(view).seen is Seen.OTHER
    assert before.describe("a.b", view) == words
    assert not expected(name, view, **data).is_already_met


@pytest.mark.parametrize(
    ("name", "data", "view"),
    [
        ("light.turn_on", {"brightness": 40}, look("on")),
        ("light.turn_on", {"brightness": "bright"}, look("on", brightness=40)),
        ("light.turn_on", {"brightness": True}, look("on", brightness=1)),
        ("light.turn_on", {"brightness": 10**400}, look("on", brightness=40)),
        ("light.turn_on", {"rgb_color": [1, 2, 3]}, look("on", rgb_color=None)),
        ("light.turn_on", {"effect": "x"}, look("on")),
        ("climate.set_temperature", {"temperature": 3}, look("off", temperature=None)),
        ("input_number.set_value", {"value": 3}, look("soon")),
        ("input_number.set_value", {"value": 3}, look("nan")),
        ("switch.turn_on", {}, look("unknown")),
    ],
    ids=range(10),
)
def test_where_nothing_shows_nothing_is_claimed(
    name: str, data: dict[str, Any], view: View
) -> None:
    before = expected(name, look("before"), **data)
    assert before.find(view).seen is Seen.UNCLEAR
    assert before.describe("a.b", view) is None
    assert not expected(name, view, **data).is_already_met


@pytest.mark.parametrize(
    ("name", "data", "view"),
    [
        ("light.turn_on", {}, look("on", assumed_state=True)),
        ("light.turn_on", {"flash": "short"}, look("on")),
        ("light.turn_on", {"color_name": "red"}, look("on", rgb_color=(255, 0, 0))),
        ("light.turn_on", {"brightness_step": 0}, look("on", brightness=9)),
        ("siren.turn_on", {"tone": "fire"}, look("on")),
        ("lock.lock", {"code": "1234"}, look("locked")),
        ("lock.open", {}, look("open")),
        ("cover.stop_cover", {}, look("open")),
        ("valve.stop_valve", {}, look("open")),
        ("timer.start", {}, look("active")),
        ("timer.start", {"duration": "00:01:00"}, look("active")),
    ],
    ids=range(11),
)
def test_what_is_not_certain_is_called(
    name: str, data: dict[str, Any], view: View
) -> None:
    there = expected(name, view, **data)
    assert there.find(view).seen is Seen.EXACT
    assert not there.is_already_met


@pytest.mark.parametrize(
    ("name", "before", "after", "stays"),
    [
        ("counter.increment", look("4"), look("5"), look("4")),
        ("counter.decrement", look("4"), look("3"), look("5")),
        ("input_number.increment", look("4.0"), look("4.5"), look("4.0")),
        (
            "media_player.volume_up",
            look("on", volume_level=0.3),
            look("on", volume_level=0.4),
            look("on", volume_level=0.3),
        ),
        (
            "fan.decrease_speed",
            look("on", percentage=66),
            look("on", percentage=33),
            look("on", percentage=66),
        ),
    ],
)
def test_a_step_is_seen_by_where_it_began(
    name: str, before: View, after: View, stays: View
) -> None:
    step = expected(name, before)
    assert step.is_step
    assert step.find(after).seen is Seen.EXACT
    assert step.find(stays).seen is Seen.OTHER
    assert step.find(look("on")).seen is Seen.UNCLEAR
    assert not step.is_already_met


@pytest.mark.parametrize(
    "name",
    [
        "scene.turn_on",
        "script.feed",
        "button.press",
        "todo.add_item",
        "calendar.create_event",
        "media_player.media_play_pause",
        "acme.do_something",
        "light.toggle",
    ],
)
def test_of_some_actions_nothing_is_expected(name: str) -> None:
    assert expect(name, {}, look("on")) is None


def test_an_action_without_what_could_be_seen_is_not_expected_to_show() -> None:
    assert expect("climate.set_temperature", {}, look("heat")) is None


def test_a_free_action_is_known_or_known_to_be_unseen() -> None:
    unseen = {
        "calendar.create_event",
        "counter.reset",
        "cover.stop_cover_tilt",
        "input_select.select_first",
        "input_select.select_last",
        "input_select.select_next",
        "input_select.select_previous",
        "media_player.media_play_pause",
        "scene.turn_on",
        "select.select_first",
        "select.select_last",
        "select.select_next",
        "select.select_previous",
        "timer.change",
        "todo.add_item",
    }
    free = {
        f"{domain}.{action}" for domain, actions in FREE.items() for action in actions
    }
    assert free - RULES.keys() == unseen


def test_one_sentence_holds_all_that_is_otherwise() -> None:
    assert sentence(["light.x is still off"], failed=True) == (
        "It was called without an error, but light.x is still off."
    )
    assert sentence(["cover.x is still opening"], failed=False) == (
        "cover.x is still opening."
    )
    many = sentence(
        [f"light.{number} is still off" for number in range(7)], failed=True
    )
    assert many.endswith("light.4 is still off; and 2 more.")
    assert "\n" not in many

"""What is free, what asks, what is never a tool."""

import pytest

from custom_components.proactive_agent.engine.policy import (
    FREE,
    SECOND_VOICE,
    Listed,
    Subject,
    Verdict,
    judge,
    judge_reading,
)


def verdict(
    name: str,
    *subjects: Subject,
    ask_before_risky: bool = True,
    must_ask: bool = False,
) -> Verdict:
    domain, action = name.split(".")
    return judge(
        domain,
        action,
        subjects or [Subject(domain=domain)],
        ask_before_risky=ask_before_risky,
        must_ask=must_ask,
    )


@pytest.mark.parametrize(
    "name",
    [
        "light.turn_on",
        "light.turn_off",
        "switch.turn_off",
        "fan.set_percentage",
        "input_boolean.turn_on",
        "climate.set_temperature",
        "climate.set_hvac_mode",
        "humidifier.set_humidity",
        "water_heater.set_temperature",
        "media_player.media_play",
        "media_player.media_pause",
        "media_player.media_stop",
        "media_player.volume_set",
        "media_player.select_source",
        "vacuum.start",
        "vacuum.pause",
        "vacuum.return_to_base",
        "timer.start",
        "counter.increment",
        "number.set_value",
        "input_number.set_value",
        "select.select_option",
        "input_select.select_option",
        "todo.add_item",
        "calendar.create_event",
        "script.feed",
        "script.toggle_the_gate",
        "scene.turn_on",
    ],
)
def test_free(name: str) -> None:
    assert verdict(name) is Verdict.ALLOW


@pytest.mark.parametrize(
    "name",
    [
        "lock.unlock",
        "lock.lock",
        "lock.open",
        "valve.open_valve",
        "valve.close_valve",
        "alarm_control_panel.alarm_disarm",
        "alarm_control_panel.alarm_arm_away",
        "siren.turn_on",
        "button.press",
        "input_button.press",
        "update.install",
        "todo.remove_item",
        "lawn_mower.start_mowing",
        "remote.send_command",
        "media_player.play_media",
        "automation.trigger",
        "automation.turn_off",
        "scene.delete",
        "vacuum.send_command",
        "acme.do_something",
    ],
)
def test_the_rest_asks_unless_the_owner_said_not_to(name: str) -> None:
    assert verdict(name) is Verdict.ASK
    assert verdict(name, ask_before_risky=False) is Verdict.ALLOW


@pytest.mark.parametrize(
    ("device_class", "expected"),
    [
        ("shade", Verdict.ALLOW),
        ("blind", Verdict.ALLOW),
        ("curtain", Verdict.ALLOW),
        ("shutter", Verdict.ALLOW),
        ("awning", Verdict.ALLOW),
        ("garage", Verdict.ASK),
        ("gate", Verdict.ASK),
        ("door", Verdict.ASK),
        ("window", Verdict.ASK),
        ("damper", Verdict.ASK),
        (None, Verdict.ASK),
    ],
)
@pytest.mark.parametrize("action", ["open_cover", "close_cover", "set_cover_position"])
def test_of_covers_only_shades_are_free(
    device_class: str | None, expected: Verdict, action: str
) -> None:
    cover = Subject(domain="cover", device_class=device_class)
    assert verdict(f"cover.{action}", cover) is expected


@pytest.mark.contract("A2")
@pytest.mark.parametrize(
    "name",
    [
        *(f"{domain}.anything" for domain in sorted(SECOND_VOICE)),
        "homeassistant.turn_on",
        "homeassistant.restart",
        "light.toggle",
        "cover.toggle_cover_tilt",
        "script.turn_on",
        "script.toggle",
        "script.reload",
    ],
)
def test_never(name: str) -> None:
    assert verdict(name, ask_before_risky=False) is Verdict.DENY


@pytest.mark.contract("A2")
def test_our_own_entities_and_a_second_voice_are_denied_in_any_company() -> None:
    lamp = Subject(domain="light")
    own = Subject(domain="switch", own=True)
    voice = Subject(domain="notify", listed=Listed.ASK)
    assert verdict("light.turn_on", lamp, own) is Verdict.DENY
    assert verdict("light.turn_on", lamp, voice) is Verdict.DENY


def test_nothing_to_act_on_is_denied() -> None:
    assert judge("light", "turn_on", [], ask_before_risky=False) is Verdict.DENY


def test_the_strictest_of_many_wins() -> None:
    lamp = Subject(domain="light")
    asked = Subject(domain="light", listed=Listed.ASK)
    assert verdict("light.turn_on", lamp, lamp) is Verdict.ALLOW
    assert verdict("light.turn_on", lamp, asked) is Verdict.ASK
    assert verdict("light.turn_on", asked, ask_before_risky=False) is Verdict.ASK
    lock = Subject(domain="lock")
    assert verdict("light.turn_on", lamp, lock) is Verdict.ASK


@pytest.mark.contract("A3")
def test_a_call_that_must_ask_asks_whatever_the_owner_said_of_risks() -> None:
    script = Subject(domain="script")
    assert (
        verdict("script.aim", script, must_ask=True, ask_before_risky=False)
        is Verdict.ASK
    )


def test_the_free_list_holds_nothing_that_is_never_offered() -> None:
    for domain, actions in FREE.items():
        for action in actions:
            assert verdict(f"{domain}.{action}") is not Verdict.DENY


@pytest.mark.parametrize(
    "name", ["weather.get_forecasts", "calendar.get_events", "todo.get_items"]
)
def test_a_domains_own_readings_are_allowed(name: str) -> None:
    domain, action = name.split(".")
    seen = Subject(domain=domain)
    assert judge_reading(domain, action, [seen]) is Verdict.ALLOW
    stranger = Subject(domain="lock")
    assert judge_reading(domain, action, [seen, stranger]) is Verdict.DENY
    own = Subject(domain=domain, own=True)
    assert judge_reading(domain, action, [own]) is Verdict.DENY
    assert judge_reading(domain, action, []) is Verdict.DENY


@pytest.mark.contract("A2")
@pytest.mark.parametrize(
    "name", ["assist_satellite.ask_question", "script.feed", "homeassistant.look"]
)
def test_some_domains_have_no_readings(name: str) -> None:
    domain, action = name.split(".")
    assert judge_reading(domain, action, [Subject(domain=domain)]) is Verdict.DENY

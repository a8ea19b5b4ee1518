"""What of a sentence may be told, and who is named in it."""

from typing import Any

from homeassistant.components.diagnostics import REDACTED
from hypothesis import given, strategies as st
import pytest

from custom_components.proactive_agent.handout.sentences import hidden, told
from custom_components.proactive_agent.handout.settings import heartbeat_options
from custom_components.proactive_agent.handout.veil import Veil

SECRET = "s3cret"
WORDS = st.sampled_from(
    [
        "state",
        "input_text.note",
        "lock.door",
        "sensor.depth",
        "is",
        "not",
        "or",
        "above",
        "has",
        "access_token",
        "21.5",
        "the template says",
        "Feed her",
    ]
)
SEPARATORS = st.sampled_from([" ", "; ", ", ", " (", ") "])


@pytest.mark.parametrize(
    "sentence",
    [
        "state input_boolean.hungry is on",
        "lock.door is locked, not unlocked",
        "sensor.depth is 21.5, not below 20",
        "numeric_state sensor.depth above 5 and below 7",
        "time after 07:30:00 before 22:00 weekday mon, tue",
        "the template says true; sensor.depth is unavailable",
        "light.lamp does not exist",
        "the conditions are still being prepared",
        "one of these must hold: sensor.depth is 4.0, not below 1.5",
        "none of these may hold: light.lamp is off",
        "none of its entities can be judged: light.lamp does not exist",
        "or (numeric_state sensor.depth below 1.5, numeric_state sensor.dep…",
    ],
)
def test_what_everybody_knows_stays(sentence: str) -> None:
    assert told(sentence) == sentence


@pytest.mark.parametrize(
    ("sentence", "left"),
    [
        ("input_text.code is 1234", f"input_text.code is {REDACTED}"),
        ("person.anna is home", f"person.anna is {REDACTED}"),
        ("sensor.note is fine", f"sensor.note is {REDACTED}"),
        ("camera.door has access_token abc", f"camera.door has {REDACTED}"),
        ("Code 1234 of Anna", f"{REDACTED} of {REDACTED}"),
        ("lock.door has code 1234", f"lock.door has {REDACTED}"),
        ("input_text.code above 1233", f"input_text.code above {REDACTED}"),
        ("template {{ 'x' == y }}", f"template {REDACTED}"),
        ("", ""),
    ],
)
def test_what_is_somebodys_own_does_not(sentence: str, left: str) -> None:
    assert told(sentence) == left


@pytest.mark.parametrize(
    ("condition", "stays"),
    [
        ({"entity_id": "light.lamp", "state": "on"}, True),
        ({"entity_id": ["climate.hall", "cover.door"], "state": ["heat"]}, True),
        ({"entity_id": "sensor.depth", "above": 5, "below": "sensor.limit"}, True),
        ({"entity_id": "sensor.depth", "state": "unavailable"}, True),
        ({"entity_id": "counter.visits", "state": "3"}, True),
        ({"entity_id": "input_text.code", "state": "1234"}, False),
        ({"entity_id": "input_text.code", "above": 1233}, False),
        ({"entity_id": "sensor.password", "state": "swordfish"}, False),
        ({"entity_id": ["sensor.word", "light.a"], "state": ["swordfish"]}, False),
        ({"entity_id": "0123456789abcdef", "state": "swordfish"}, False),
        ({"entity_id": "media_player.tv", "attribute": "app", "state": "tv"}, False),
        ({"entity_id": "alarm.door", "attribute": "pin", "state": 1234}, False),
        ({"entity_id": "device_tracker.car", "attribute": "lat", "above": 52}, False),
    ],
)
def test_what_a_condition_compares_with_is_told_where_it_says_nothing(
    condition: dict[str, Any], stays: bool
) -> None:
    asked = {"conditions": [{"or": [{"condition": "state", **condition}]}]}
    said = heartbeat_options({"check_prompt": "Look.", **asked})
    assert (said["conditions"] == asked["conditions"]) is stays


@given(
    before=st.lists(st.tuples(WORDS, SEPARATORS)),
    after=st.lists(st.tuples(SEPARATORS, WORDS)),
)
def test_wherever_a_secret_stands_it_is_hidden(
    before: list[tuple[str, str]], after: list[tuple[str, str]]
) -> None:
    around = ["".join("".join(pair) for pair in part) for part in (before, after)]
    assert SECRET not in told(SECRET.join(around))
    assert SECRET not in told(f"{around[0]} {SECRET} {around[1]}")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, None),
        ("", None),
        ("secret", f"{REDACTED} (6 characters)"),
        ({"a": 1}, f"{REDACTED} (8 characters)"),
    ],
)
def test_of_what_is_hidden_the_length_is_left(value: object, said: str | None) -> None:
    assert hidden(value) == said


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("light.annas_room", "light.redacted_room"),
        ("sensor.phone_of_anna", "sensor.phone_of_redacted"),
        ("Anna's lamp", "redacted lamp"),
        ("sensor.jurgen_battery", "sensor.redacted_battery"),
        ("Jürgen", "redacted"),
        ("light.hanna", "light.hanna"),
        ("light.bo", "light.bo"),
        ("zone.home", "zone.home"),
        ("notify.persistent_notification", "notify.persistent_notification"),
    ],
)
def test_nobody_is_named(text: str, left: str) -> None:
    assert Veil(["Anna", "Jürgen", "Bo"]).over(text) == left


def test_the_same_person_has_the_same_number() -> None:
    veil = Veil([])
    assert veil.over({"a": ["person.x", "person.y"], "b": ("person.x", 1, None)}) == {
        "a": ["person.redacted_1", "person.redacted_2"],
        "b": ["person.redacted_1", 1, None],
    }

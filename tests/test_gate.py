"""What a gate makes of its conditions as a whole."""

import asyncio
from copy import deepcopy
from datetime import timedelta
import logging
from typing import Any
from unittest.mock import patch

from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.proactive_agent.gate import Gate

ON = {"condition": "state", "entity_id": "input_boolean.a", "state": "on"}
OFF = {**ON, "enabled": False}
BELOW = {"condition": "numeric_state", "entity_id": "sensor.b", "below": 5}
ANY = {
    "condition": "state",
    "entity_id": ["input_boolean.a", "input_boolean.b"],
    "state": "on",
    "match": "any",
}


async def build(hass: HomeAssistant, *conditions: Any) -> Gate:
    return await Gate.async_build(hass, list(conditions), "Milonga")


@pytest.fixture
def a_is_on(hass: HomeAssistant) -> None:
    hass.states.async_set("input_boolean.a", "on")


@pytest.mark.contract("G1")
@pytest.mark.parametrize("raw", [[], (), None])
async def test_an_empty_gate_is_open(hass: HomeAssistant, raw: Any) -> None:
    gate = await Gate.async_build(hass, raw, "Milonga")
    assert gate.is_open()
    assert gate.explain() == ()


@pytest.mark.contract("G1")
async def test_all_conditions_must_hold(hass: HomeAssistant, a_is_on: None) -> None:
    gate = await build(hass, ON, BELOW)
    hass.states.async_set("sensor.b", "9")
    assert gate.judge() is False
    hass.states.async_set("sensor.b", "1")
    assert gate.judge() is True
    assert [verdict.result for verdict in gate.explain()] == [True, True]


@pytest.mark.contract("G1")
@pytest.mark.parametrize("enabled", [False, "{{ 1 == 2 }}", "false"])
async def test_a_disabled_condition_is_left_out(
    hass: HomeAssistant, a_is_on: None, enabled: Any
) -> None:
    gate = await build(hass, ON, {**BELOW, "enabled": enabled})
    assert gate.is_open()
    assert [verdict.result for verdict in gate.explain()] == [True]
    assert gate.entity_ids == {"input_boolean.a"}


@pytest.mark.contract("G1", "G2")
@pytest.mark.parametrize(
    "condition",
    [
        {"or": [OFF]},
        {"not": [OFF]},
        {"not": [{"or": [OFF]}]},
        {"not": [{"not": [OFF]}]},
        {"or": [{"and": [OFF]}]},
        {"or": [{"not": [OFF]}]},
        {"not": [{"and": [OFF]}]},
        {"or": [{"not": [{"and": [OFF]}]}]},
        {"or": []},
        {"not": []},
    ],
)
async def test_what_is_disabled_opens_nothing_by_itself(
    hass: HomeAssistant, a_is_on: None, condition: Any
) -> None:
    gate = await build(hass, ON, condition)
    assert not gate.is_open()


@pytest.mark.contract("G1")
async def test_a_disabled_part_does_not_matter_beside_others(
    hass: HomeAssistant, a_is_on: None
) -> None:
    assert (await build(hass, {"not": [{**ON, "state": "off"}, OFF]})).is_open()
    assert (await build(hass, {"or": [ON, OFF]})).is_open()
    assert (await build(hass, {"and": [ON, OFF]})).is_open()
    assert (await build(hass, ON, {"and": [OFF]})).is_open()


@pytest.mark.contract("G2")
async def test_a_disabled_condition_may_be_beyond_use(
    hass: HomeAssistant, a_is_on: None
) -> None:
    trigger = {"condition": "trigger", "id": "x", "enabled": False}
    device = {
        "condition": "device",
        "device_id": "gone",
        "domain": "light",
        "enabled": False,
    }
    gate = await build(hass, ON, trigger, {"or": [ON, device]})
    assert gate.is_open()


@pytest.mark.contract("G2", "G3")
@pytest.mark.parametrize(
    ("condition", "words", "curable"),
    [
        ({"condition": "trigger", "id": "x"}, "trigger", False),
        ({"or": [ON, {"condition": "trigger", "id": "x"}]}, "trigger", False),
        ({"condition": "no_such.thing"}, "no_such.thing", True),
        ({"condition": "light.no_such_thing"}, "light.no_such_thing", True),
        ({"condition": "state", "entity_id": "sensor.x"}, "state", False),
        ({**ON, "enabled": "{{ states('sensor.x') }}"}, "enabled", False),
        ({**ON, "entity_id": []}, "no entity", False),
        ({**ANY, "entity_id": []}, "no entity", False),
        ({**BELOW, "entity_id": []}, "no entity", False),
        ({**ON, "entity_id": "0123456789abcdef0123456789abcdef"}, "012345", True),
        (
            {"condition": "device", "device_id": "gone", "domain": "light"},
            "gone",
            True,
        ),
        ("not a template", "template", False),
        ("{{ broken", "template", False),
        (None, "dictionary", False),
        (5, "dictionary", False),
        ([], "dictionary", False),
        ({}, "condition", False),
        ({"foo": "bar"}, "condition", False),
    ],
)
async def test_what_cannot_be_built_keeps_the_gate_closed(
    hass: HomeAssistant,
    a_is_on: None,
    condition: Any,
    words: str,
    curable: bool,
) -> None:
    gate = await build(hass, ON, condition)
    assert gate.judge() is not True
    assert not gate.is_open()
    good, bad = gate.explain()
    assert good.result is True
    assert bad.result is None
    assert bad.condition
    assert words in f"{bad.condition} {bad.reason}"
    assert gate.needs_rebuild is curable
    assert gate.unjudgeable() == {}


@pytest.mark.contract("G2")
async def test_a_broken_condition_closes_the_gate_around_an_or(
    hass: HomeAssistant, a_is_on: None
) -> None:
    gate = await build(hass, {"or": [ON, {"condition": "no_such.thing"}]})
    assert gate.judge() is None
    assert len(gate.faults) == 1


@pytest.mark.contract("G2")
async def test_the_state_that_is_asked_for_counts(hass: HomeAssistant) -> None:
    asked = {**ON, "state": ["unavailable", "on"]}
    gate = await build(hass, asked)
    inverse = await build(hass, {"not": [asked]})
    answers = []
    for state in ("unavailable", "unknown", "on", "off"):
        hass.states.async_set("input_boolean.a", state)
        answers.append((gate.judge(), inverse.judge(), len(gate.unjudgeable())))
    assert answers == [
        (True, False, 0),
        (None, None, 1),
        (True, False, 0),
        (False, True, 0),
    ]
    hass.states.async_remove("input_boolean.a")
    assert gate.judge() is None
    assert gate.unjudgeable() == {"input_boolean.a": "missing"}


@pytest.mark.contract("G2")
async def test_one_of_several_can_answer_for_all(hass: HomeAssistant) -> None:
    hass.states.async_set("input_boolean.b", "on")
    gate = await build(hass, ANY)
    inverse = await build(hass, {"not": [ANY]})
    assert (gate.judge(), inverse.judge()) == (True, False)
    hass.states.async_set("input_boolean.b", "off")
    assert (gate.judge(), inverse.judge()) == (None, None)
    hass.states.async_set("input_boolean.a", "unavailable")
    assert (gate.judge(), inverse.judge()) == (None, None)
    hass.states.async_set("input_boolean.a", "off")
    assert (gate.judge(), inverse.judge()) == (False, True)
    (verdict,) = gate.explain()
    assert verdict.condition == ("state any of input_boolean.a, input_boolean.b is on")


@pytest.mark.contract("G2")
async def test_an_or_may_be_opened_by_another_part(
    hass: HomeAssistant, a_is_on: None
) -> None:
    assert (await build(hass, {"or": [BELOW, ON]})).is_open()
    assert (await build(hass, {"or": [BELOW, {"not": [ON]}]})).judge() is None
    assert (await build(hass, {"and": [BELOW, {"not": [ON]}]})).judge() is False


@pytest.mark.contract("G2")
@pytest.mark.parametrize(
    ("attributes", "answer"),
    [
        ({"level": 1}, True),
        ({"level": "7"}, False),
        ({"level": None}, None),
        ({"level": "unknown"}, None),
        ({"level": "high"}, None),
        ({}, None),
    ],
)
async def test_a_number_needs_something_to_compare(
    hass: HomeAssistant, attributes: dict[str, Any], answer: bool | None
) -> None:
    hass.states.async_set("sensor.b", "on", attributes)
    condition = {**BELOW, "attribute": "level"}
    gate = await build(hass, condition)
    assert gate.judge() is answer
    inverse = await build(hass, {"not": [condition]})
    assert inverse.is_open() is (answer is False)


@pytest.mark.contract("G2", "G3")
@pytest.mark.parametrize(
    ("limit", "words"),
    [("high", "no number"), ("unknown", "unknown"), (None, "does not exist")],
)
async def test_a_limit_must_be_a_number(
    hass: HomeAssistant, limit: str | None, words: str
) -> None:
    hass.states.async_set("sensor.b", "9")
    if limit:
        hass.states.async_set("sensor.limit", limit)
    gate = await build(hass, {"not": [{**BELOW, "below": "sensor.limit"}]})
    assert gate.judge() is None
    assert words in gate.explain()[0].reason


@pytest.mark.contract("G2")
@pytest.mark.parametrize(
    ("entity_id", "state", "attributes"),
    [
        ("sensor.moment", "soon", {"device_class": "timestamp"}),
        ("sensor.moment", "10:00:00", {}),
        ("time.moment", "soon", {}),
        ("input_datetime.moment", "2026-11-01", {"year": 2026}),
    ],
)
@pytest.mark.parametrize("word", ["before", "after"])
async def test_a_time_must_be_a_time(
    hass: HomeAssistant,
    entity_id: str,
    state: str,
    attributes: dict[str, Any],
    word: str,
) -> None:
    hass.states.async_set(entity_id, state, attributes)
    condition = {"condition": "time", word: entity_id}
    gate = await build(hass, condition)
    assert gate.judge() is None
    assert "no time" in gate.explain()[0].reason
    assert (await build(hass, {"not": [condition]})).judge() is None


@pytest.mark.contract("G1")
async def test_the_clock_and_the_sun(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory
) -> None:
    await hass.config.async_set_time_zone("UTC")
    morning = await build(
        hass,
        {"condition": "time", "after": "08:00:00", "before": "12:00:00"},
        {"condition": "time", "weekday": ["sun"]},
    )
    day = await build(hass, {"condition": "sun", "after": "sunrise"})
    night = await build(hass, {"not": [{"condition": "sun", "before": "sunset"}]})
    up = await build(hass, {"condition": "sun.is_up", "options": {}})
    answers = []
    for moment in (
        "2026-11-01T09:00:00+00:00",
        "2026-11-01T20:00:00+00:00",
        "2026-11-02T09:00:00+00:00",
    ):
        freezer.move_to(moment)
        answers.append((morning.judge(), day.judge(), night.judge(), up.judge()))
    assert answers == [
        (True, False, False, False),
        (False, True, False, True),
        (False, False, False, False),
    ]
    assert morning.explain()[0].condition == "time after 08:00:00 before 12:00:00"
    assert day.explain()[0].reason == "it does not hold"


@pytest.mark.contract("G1")
@pytest.mark.parametrize(
    "condition",
    [
        {
            "condition": "light.is_on",
            "target": {"entity_id": "light.lamp"},
            "options": {"behavior": "all", "for": {"minutes": 5}},
        },
        {
            "condition": "state",
            "entity_id": "light.lamp",
            "state": "on",
            "for": {"minutes": 5},
        },
    ],
)
async def test_a_state_that_must_last(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory, condition: Any
) -> None:
    hass.states.async_set("light.lamp", "on")
    gate = await build(hass, condition)
    assert gate.judge() is False
    freezer.tick(timedelta(minutes=5, seconds=1))
    assert gate.judge() is True
    hass.states.async_set("light.lamp", "unavailable")
    assert gate.judge() is None
    hass.states.async_set("light.lamp", "on")
    assert gate.judge() is False
    gate.async_unload()
    gate.async_unload()


@pytest.mark.contract("G1")
async def test_a_build_that_is_cut_short_leaves_no_listener(
    hass: HomeAssistant,
) -> None:
    lasting = {
        "condition": "light.is_on",
        "target": {"entity_id": "light.lamp"},
        "options": {"behavior": "all", "for": {"minutes": 5}},
    }
    text = {
        "condition": "text.is_equal_to",
        "target": {"entity_id": "text.word"},
        "options": {"value": "x"},
    }
    before = hass.bus.async_listeners()
    gate = await build(hass, lasting, text)
    gate.async_unload()
    with (
        patch(
            "homeassistant.components.text.condition.async_get_conditions",
            side_effect=asyncio.CancelledError,
        ),
        pytest.raises(asyncio.CancelledError),
    ):
        await build(hass, lasting, text)
    assert hass.bus.async_listeners() == before


@pytest.mark.contract("G1")
async def test_the_stored_conditions_are_left_as_they_are(hass: HomeAssistant) -> None:
    raw = [{"or": [ANY, {**ON, "for": {"minutes": 1}}]}, "{{ true }}"]
    before = deepcopy(raw)
    gate = await Gate.async_build(hass, raw, "Milonga")
    gate.is_open()
    assert raw == before


@pytest.mark.contract("G2")
async def test_entities_come_and_go_without_a_rebuild(hass: HomeAssistant) -> None:
    gate = await build(hass, BELOW, "{{ is_state('input_boolean.a', 'on') }}")
    assert gate.unjudgeable() == {
        "sensor.b": "missing",
        "input_boolean.a": "missing",
    }
    hass.states.async_set("sensor.b", "1")
    hass.states.async_set("input_boolean.a", "on")
    assert gate.is_open()
    assert gate.unjudgeable() == {}
    hass.states.async_remove("sensor.b")
    assert not gate.is_open()
    assert not gate.needs_rebuild


@pytest.mark.contract("G3")
@pytest.mark.parametrize(
    ("condition", "name", "reason"),
    [
        (
            {"condition": "numeric_state", "entity_id": "sensor.h", "below": 1.5},
            "numeric_state sensor.h below 1.5",
            "sensor.h is 3, not below 1.5",
        ),
        (
            {"condition": "numeric_state", "entity_id": "sensor.h", "above": 2},
            "numeric_state sensor.h above 2",
            "sensor.h is 3, above 2",
        ),
        (
            {
                "condition": "numeric_state",
                "entity_id": "sensor.h",
                "above": "sensor.h",
            },
            "numeric_state sensor.h above sensor.h",
            "sensor.h is 3, not above sensor.h (3)",
        ),
        (
            {
                "condition": "numeric_state",
                "entity_id": "light.l",
                "attribute": "brightness",
                "below": 5,
            },
            "numeric_state light.l brightness below 5",
            "light.l has brightness 9, not below 5",
        ),
        (
            {
                "condition": "numeric_state",
                "entity_id": "sensor.h",
                "value_template": "{{ 1 }}",
                "below": 5,
            },
            "numeric_state sensor.h below 5",
            "it holds; sensor.h is 3",
        ),
        (
            {"condition": "state", "entity_id": "sensor.gone", "state": "x"},
            "state sensor.gone is x",
            "sensor.gone does not exist",
        ),
        (
            {"condition": "state", "entity_id": "sensor.u", "state": "x"},
            "state sensor.u is x",
            "sensor.u is unavailable",
        ),
        (
            {"condition": "state", "entity_id": "light.l", "state": ["x", "y"]},
            "state light.l is x or y",
            "light.l is on, not x or y",
        ),
        (
            {
                "condition": "state",
                "entity_id": "light.l",
                "state": "on",
                "for": {"hours": 1},
            },
            "state light.l is on",
            "light.l is on, but not for 1:00:00",
        ),
        (
            {
                "condition": "state",
                "entity_id": "light.l",
                "state": "on",
                "for": "{{ 60 }}",
            },
            "state light.l is on",
            "light.l is on, but not for {{ 60 }}",
        ),
        (
            {
                "condition": "state",
                "entity_id": "light.l",
                "state": "on",
                "for": {"minutes": "{{ 6 }}"},
            },
            "state light.l is on",
            "light.l is on, but not for {{ 6 }} minutes",
        ),
        (
            {
                "condition": "state",
                "entity_id": "sensor.h",
                "state": "input_text.t",
            },
            "state sensor.h is input_text.t",
            "sensor.h is 3, not input_text.t; input_text.t is 4",
        ),
        (
            {"condition": "state", "entity_id": "light.l", "state": "x", "alias": "My"},
            "My",
            "light.l is on, not x",
        ),
        (
            "{{ is_state('light.l', 'on') }}",
            "template {{ is_state('light.l', 'on') }}",
            "the template says true; light.l is on",
        ),
        (
            {"or": [BELOW, "{{ false }}"]},
            "or (numeric_state sensor.b below 5, template {{ false }})",
            "one of these must hold: sensor.b does not exist; the template says false",
        ),
        (
            {"not": ["{{ false }}"], "alias": "Never"},
            "Never",
            "none of these may hold: the template says false",
        ),
        (
            {
                "condition": "battery.is_level",
                "target": {"entity_id": ["sensor.h"]},
                "options": {"threshold": {"type": "below", "value": {"number": 20}}},
            },
            "battery.is_level sensor.h threshold below 20 behavior any",
            "none of its entities can be judged: sensor.h is 3",
        ),
        (
            {"condition": "light.is_on", "target": {"entity_id": "light.l"}},
            "light.is_on light.l behavior any",
            "it holds; light.l is on",
        ),
        (
            {"condition": "zone", "entity_id": "person.a", "zone": "zone.z"},
            "zone entity_id person.a zone zone.z",
            "person.a does not exist",
        ),
    ],
)
async def test_the_reason_in_words(
    hass: HomeAssistant, condition: Any, name: str, reason: str
) -> None:
    for entity_id, state, attributes in (
        ("sensor.h", "3", {}),
        ("sensor.u", "unavailable", {}),
        ("light.l", "on", {"brightness": 9}),
        ("input_text.t", "4", {}),
    ):
        hass.states.async_set(entity_id, state, attributes)
    gate = await build(hass, condition)
    (verdict,) = gate.explain()
    assert (verdict.condition, verdict.reason) == (name, reason)


@pytest.mark.contract("G3")
async def test_reasons_stay_short(hass: HomeAssistant) -> None:
    lamps = [f"light.lamp_{number}" for number in range(30)]
    target = {"condition": "light.is_on", "target": {"entity_id": lamps}}
    reads = " or ".join(f"is_state('{lamp}', 'x')" for lamp in lamps)
    gate = await build(hass, target)
    assert "25 more" in gate.explain()[0].reason
    for lamp in lamps:
        hass.states.async_set(lamp, "on")
    gate = await build(hass, target, f"{{{{ {reads} }}}}")
    for verdict in gate.explain():
        assert len(verdict.condition) <= 80
        assert len(verdict.reason) < 300
        assert "and 24 more" in verdict.reason


@pytest.mark.contract("C4")
async def test_a_quiet_check_leaves_nothing(
    hass: HomeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    """Not for what is missing, fails, is undefined or cannot be used either."""
    await async_setup_component(hass, "logger", {})
    hass.states.async_set("sensor.b", "high")
    gate = await build(
        hass,
        {
            "or": [
                ON,
                BELOW,
                {**BELOW, "value_template": "{{ nothing_here }}"},
                {**BELOW, "value_template": "{{ 1 / 0 }}"},
                "{{ nothing_here }}",
                "{{ nothing_here.at_all }}",
                "{{ states('sensor.gone') | float }}",
                {"condition": "light.is_on", "target": {"entity_id": "light.gone"}},
                {"condition": "zone", "entity_id": "person.a", "zone": "zone.home"},
            ]
        },
    )
    assert not gate.faults
    await hass.async_block_till_done()
    seen = async_capture_events(hass, "*")
    caplog.clear()
    caplog.set_level(logging.INFO)
    for _ in range(3):
        assert not gate.is_open()
        gate.explain()
        gate.unjudgeable()
    await hass.async_block_till_done()
    assert seen == []
    assert caplog.records == []

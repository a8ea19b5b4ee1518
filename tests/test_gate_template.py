"""Templates: what they read, and what they may be told of it."""

from unittest.mock import patch

from homeassistant.core import HomeAssistant
from homeassistant.helpers.template import Template
import pytest

from custom_components.proactive_agent.gate import Gate
from custom_components.proactive_agent.gate.asked import Asked

A, B = "sensor.a", "sensor.b"


async def answers(
    hass: HomeAssistant, template: str, *states: dict[str, str | None]
) -> list[tuple[bool | None, bool | None]]:
    """Judge a template, plain and under a `not`, in each of these states."""
    gate = await Gate.async_build(hass, [template], "Milonga")
    inverse = await Gate.async_build(hass, [{"not": [template]}], "Milonga")
    assert not gate.faults
    result = []
    for situation in states:
        for entity_id, state in situation.items():
            if state is None:
                hass.states.async_remove(entity_id)
            else:
                hass.states.async_set(entity_id, state)
        result.append((gate.judge(), inverse.judge()))
    return result


@pytest.mark.contract("G2")
@pytest.mark.parametrize(
    ("template", "unavailable", "unknown"),
    [
        # named: the author thought of it
        ("{{ states('sensor.a') == 'unavailable' }}", True, None),
        ("{{ is_state('sensor.a', 'unavailable') }}", True, None),
        ('{{ is_state("sensor.a", ["unavailable", "unknown"]) }}', True, True),
        ("{{ states('sensor.a') in ('unknown', 'unavailable') }}", True, True),
        ("{{ states.sensor.a.state == 'unknown' }}", None, True),
        ("{{ states('sensor.a') not in ['unknown', 'unavailable'] }}", False, False),
        ("{% set bad = ['unavailable'] %}{{ states('sensor.a') in bad }}", True, None),
        ("{{ states('sensor.a') | lower == 'unavailable' }}", True, None),
        ("{% if is_state('sensor.a', 'unknown') %}true{% endif %}", None, True),
        # not named as a state of its own
        ("{{ states('sensor.a') != 'on' }}", None, None),
        ("{{ states('sensor.a') != 'is unavailable' }}", None, None),
        ("{{ states('sensor.a') | float(0) < 1 }}", None, None),
        ("{{ not has_value('sensor.a') }}", None, None),
        ("{{ states('sensor.a') != 5 and 1 in [1, 2, {}] }}", None, None),
        # a comment is no code
        ("{# 'unavailable' #}{{ states('sensor.a') != 'on' }}", None, None),
    ],
)
async def test_a_silent_state_counts_where_it_is_named(
    hass: HomeAssistant, template: str, unavailable: bool | None, unknown: bool | None
) -> None:
    plain, inverted = zip(
        *await answers(
            hass, template, {A: "unavailable"}, {A: "unknown"}, {A: None}, {A: "on"}
        ),
        strict=True,
    )
    assert plain[:3] == (unavailable, unknown, None)
    assert plain[3] is not None
    # Under a `not` a guard would open what it was to keep closed.
    assert inverted[:3] == (None, None, None)
    assert inverted[3] is not plain[3]


@pytest.mark.contract("G2")
@pytest.mark.parametrize(
    "template",
    [
        "{{ states('sensor.a')|float(0) < 5 and states('sensor.b') != 'unavailable' }}",
        "{{ states('sensor.a')|float(0) < 5 and not is_state('sensor.b','unknown') }}",
        (
            "{{ states('sensor.a') | int(0) < 5"
            " and states.sensor.b.state not in ['unavailable', 'unknown'] }}"
        ),
    ],
)
async def test_a_guard_for_one_entity_is_none_for_another(
    hass: HomeAssistant, template: str
) -> None:
    assert await answers(
        hass,
        template,
        {A: "unavailable", B: "1"},
        {A: "unknown", B: "1"},
        {A: "1", B: "1"},
    ) == [(None, None), (None, None), (True, False)]


@pytest.mark.contract("G2")
async def test_a_guard_works(hass: HomeAssistant) -> None:
    template = (
        "{{ states('sensor.a') not in ['unavailable', 'unknown']"
        " and states('sensor.a') | float(0) < 5 }}"
    )
    plain = [
        answer
        for answer, _ in await answers(
            hass, template, {A: "1"}, {A: "9"}, {A: "unavailable"}, {A: "unknown"}
        )
    ]
    assert plain == [True, False, False, False]


@pytest.mark.contract("G2")
@pytest.mark.parametrize(
    "template",
    [
        "{{ not nothing_here }}",
        "{{ nothing_here != 'x' }}{{ nothing_here }}",
        "{{ nothing_here.at_all }}",
        "{{ 1 / 0 }}",
        "{{ 'x' | float < 5 }}",
        "{{ state_attr('sun', 'x') is none or not nothing }}",
    ],
)
async def test_a_template_that_fails_is_no_answer(
    hass: HomeAssistant, template: str
) -> None:
    assert await answers(hass, template, {}) == [(None, None)]
    gate = await Gate.async_build(hass, [template], "Milonga")
    assert gate.explain()[0].reason


@pytest.mark.contract("G2")
@pytest.mark.parametrize(
    ("template", "answer"),
    [
        ("{{ true }}", True),
        ("{{ 'TRUE' }}", True),
        ("{{ 1 }}", False),
        ("{{ nothing_here is defined }}", False),
        ("{{ nothing_here | default('true') }}", True),
    ],
)
async def test_a_template_without_entities(
    hass: HomeAssistant, template: str, answer: bool
) -> None:
    assert await answers(hass, template, {}) == [(answer, not answer)]


@pytest.mark.contract("G2")
async def test_one_silent_lamp_does_not_stop_a_count(hass: HomeAssistant) -> None:
    """A template that walks through a domain names none of its entities."""
    template = "{{ states.light|selectattr('state', 'eq', 'on')|list|count > 0 }}"
    assert await answers(
        hass,
        template,
        {"light.a": "on", "light.b": "unavailable"},
        {"light.a": "off"},
    ) == [(True, False), (False, True)]


@pytest.mark.contract("G2")
async def test_what_was_read_follows_the_template(hass: HomeAssistant) -> None:
    hass.states.async_set("input_select.which", "a")
    gate = await Gate.async_build(
        hass,
        ["{{ states('sensor.' ~ states('input_select.which')) | float < 5 }}"],
        "Milonga",
    )
    assert gate.unjudgeable() == {A: "missing"}
    hass.states.async_set("input_select.which", "b")
    hass.states.async_set(B, "1")
    assert gate.is_open()
    assert gate.entity_ids == {"input_select.which", B}
    assert gate.unjudgeable() == {}


@pytest.mark.contract("G2")
@pytest.mark.parametrize(
    ("value_template", "answer"),
    [
        ("{{ 1 }}", True),
        ("{{ 9 }}", False),
        ("{{ none }}", None),
        ("{{ 'unknown' }}", None),
        ("{{ 'high' }}", None),
        ("{{ 1 / 0 }}", None),
        ("{{ state.attributes.nothing }}", None),
        ("{{ states('sensor.gone') | float(1) }}", None),
    ],
)
async def test_a_value_template_must_give_a_number(
    hass: HomeAssistant, value_template: str, answer: bool | None
) -> None:
    hass.states.async_set(A, "on")
    condition = {
        "condition": "numeric_state",
        "entity_id": A,
        "value_template": value_template,
        "below": 5,
    }
    gate = await Gate.async_build(hass, [condition], "Milonga")
    inverse = await Gate.async_build(hass, [{"not": [condition]}], "Milonga")
    assert gate.judge() is answer
    assert inverse.is_open() is (answer is False)
    assert gate.explain()[0].reason


@pytest.mark.contract("G2")
async def test_a_template_is_rendered_once_a_tick(hass: HomeAssistant) -> None:
    hass.states.async_set(A, "0")
    gate = await Gate.async_build(hass, ["{{ states('sensor.a') == '1' }}"], "Milonga")
    hass.states.async_set(A, "1")
    with patch.object(
        Template, "async_render", autospec=True, side_effect=Template.async_render
    ) as render:
        assert gate.is_open()
    assert render.call_count == 1


@pytest.mark.contract("G2")
def test_nothing_is_asked_for_in_a_text_that_cannot_be_read() -> None:
    assert Asked.in_template("{% if 'unavailable' %") == Asked()

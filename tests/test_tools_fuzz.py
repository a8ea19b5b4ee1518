"""Whatever the model sends becomes a valid call or a sentence, never an exception."""

import json
from typing import Any

from homeassistant.core import HomeAssistant
from hypothesis import HealthCheck, given, settings, strategies as st
import pytest
import voluptuous as vol

from custom_components.proactive_agent.engine.answer import ANSWER_LIMIT, encode_answer
from custom_components.proactive_agent.engine.one_line import visible_line
from custom_components.proactive_agent.engine.records import (
    ActionStatus,
    Json,
    ToolAnswer,
    ToolCall,
)
from custom_components.proactive_agent.tools.fields import script_parameters
from custom_components.proactive_agent.tools.schema import json_schema
from custom_components.proactive_agent.tools.values import Choice, Number

from .support.json_schema import faults, values
from .support.toolworld import States, ToolWorld

pytestmark = pytest.mark.contract("R4")

ALL = 2**31 - 1
HOME: States = {
    "calendar.x": ("off", {"supported_features": ALL}),
    "climate.x": (
        "heat",
        {
            "supported_features": ALL,
            "hvac_modes": ["off", "heat"],
            "preset_modes": ["eco"],
            "fan_modes": ["low"],
            "min_temp": 7,
            "max_temp": 35,
            "min_humidity": 30,
        },
    ),
    "climate.y": ("off", {"supported_features": 1, "hvac_modes": ["off", "cool"]}),
    "counter.x": ("1", {"minimum": 0}),
    "cover.x": ("open", {"supported_features": 255, "device_class": "blind"}),
    "fan.x": ("on", {"supported_features": ALL, "preset_modes": ["sleep"]}),
    "input_datetime.x": ("08:00", {"has_time": True}),
    "input_number.x": ("1", {"min": 0, "max": 4, "step": 1}),
    "input_select.x": ("a", {"options": ["a", "b"]}),
    "input_text.x": ("a", {"min": 1, "max": 10}),
    "light.x": (
        "on",
        {
            "supported_features": 44,
            "supported_color_modes": ["rgb", "color_temp"],
            "effect_list": ["rain"],
            "min_color_temp_kelvin": 2000,
            "max_color_temp_kelvin": 6500,
        },
    ),
    "light.y": ("on", {"supported_color_modes": ["onoff"]}),
    "media_player.x": ("on", {"supported_features": ALL, "source_list": ["tv"]}),
    "number.x": ("1", {"min": 0.5, "max": 9.5}),
    "remote.x": ("on", {"supported_features": 4}),
    "siren.x": ("off", {"supported_features": ALL, "available_tones": {1: "a"}}),
    "timer.x": ("idle", {}),
    "todo.x": ("0", {"supported_features": ALL}),
    "vacuum.x": ("docked", {"supported_features": ALL, "fan_speed_list": ["max"]}),
    "weather.x": ("sunny", {"supported_features": 3}),
}

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=30),
    st.sampled_from(
        [
            *(
                "all",
                "light.x",
                "climate.x",
                "lock.front",
                "on",
                "nan",
                "-inf",
                "1e999",
            ),
            *("{{ states('x.y') }}", "2026-02-30", "25:00", "", "\ud800", "x" * 5_000),
            *(10**400, -(2**63), 1e308, -0.0),
        ]
    ),
)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=15,
)
quickly = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
    ],
)


@pytest.fixture
async def world(hass: HomeAssistant) -> ToolWorld:
    world = ToolWorld(hass)
    await world.have(HOME)
    world.note_all()
    return world


def arguments_for(parameters: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Return arguments that fit, or nearly, or not at all."""
    properties: dict[str, Any] = parameters["properties"]
    fitting = values(parameters)
    spoiled = st.tuples(
        fitting,
        st.dictionaries(
            st.sampled_from([*properties, "area_id", "device_id", "nonsense"]),
            anything,
            min_size=1,
            max_size=2,
        ),
    ).map(lambda pair: {**pair[0], **pair[1]})
    return st.one_of(
        fitting, spoiled, st.dictionaries(st.text(max_size=10), anything, max_size=3)
    )


def is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except TypeError, ValueError:
        return False
    return True


def is_sentence(answer: ToolAnswer) -> bool:
    return (
        isinstance(answer.content, str)
        and answer.content.endswith(".")
        and answer.content == visible_line(answer.content)
        and len(answer.content) < 1_000
    )


@quickly
@given(data=st.data())
async def test_arguments_are_called_or_answered_with_a_sentence(
    world: ToolWorld, data: st.DataObject
) -> None:
    world.calls.clear()
    guard = world.guard()
    toolbox = await world.toolbox(guard)
    spec = data.draw(st.sampled_from(toolbox.specs))
    arguments: dict[str, Json] = data.draw(arguments_for(spec.parameters))
    answer = await toolbox.call(ToolCall(id="1", name=spec.name, arguments=arguments))
    assert len(encode_answer(answer)) <= ANSWER_LIMIT
    encode_answer(answer).encode()
    if answer.error:
        assert is_sentence(answer), answer.content
        # Nothing was tried: what does not fit is found before the door.
        assert world.calls == []
        assert guard.actions == () or not toolbox.acts(spec.name)
    elif toolbox.acts(spec.name):
        (action,) = guard.actions
        assert len(world.calls) == (action.status is ActionStatus.DONE)
        assert action.action.replace(".", "_") == spec.name
        assert {*action.entity_id} <= {*HOME}
        assert is_json(action.data)


@quickly
@given(data=st.data())
async def test_what_the_schema_takes_is_no_question_of_type(
    world: ToolWorld, data: st.DataObject
) -> None:
    """A model that keeps to the schema hears of rules, never of wrong words."""
    toolbox = await world.toolbox()
    spec = data.draw(st.sampled_from(toolbox.specs))
    arguments: Any = data.draw(values(spec.parameters))
    answer = await toolbox.call(ToolCall(id="1", name=spec.name, arguments=arguments))
    assert not answer.error or (
        "does not take '" not in str(answer.content)
        and "must be one of" not in str(answer.content)
        and "must be a number" not in str(answer.content)
    )


selectors: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.builds(
        lambda low, span, step: {
            "number": {"min": low, "max": low + span, "step": step, "mode": "box"}
        },
        st.integers(-100, 100),
        st.integers(0, 1_000),
        st.sampled_from([0.1, 1, 5, "any"]),
    ),
    st.builds(
        lambda options, multiple: {
            "select": {"options": options, "multiple": multiple}
        },
        st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=5),
        st.booleans(),
    ),
    st.builds(lambda multiple: {"text": {"multiple": multiple}}, st.booleans()),
    st.builds(
        lambda multiple: {"entity": {"multiple": multiple, "domain": "light"}},
        st.booleans(),
    ),
    st.sampled_from(
        [
            *(
                {kind: {}}
                for kind in ("boolean", "time", "date", "datetime", "duration")
            ),
            *({kind: {}} for kind in ("color_rgb", "color_temp", "icon", "object")),
            *({kind: {}} for kind in ("target", "template", "action", "location")),
            *({kind: {}} for kind in ("media", "area", "device", "theme", "language")),
            {"constant": {"value": True, "label": "x"}},
            {"constant": {"value": 5}},
            {"unheard_of": {}},
        ]
    ),
)
fields = st.dictionaries(
    st.from_regex(r"[a-z_]{1,12}", fullmatch=True),
    st.fixed_dictionaries(
        {"selector": selectors},
        optional={"required": st.booleans(), "description": st.text(max_size=20)},
    ),
    max_size=5,
)


@quickly
@given(described=fields, data=st.data())
async def test_every_script_has_a_plain_schema_and_checks_what_it_takes(
    hass: HomeAssistant, described: dict[str, Any], data: st.DataObject
) -> None:
    hass.states.async_set("light.x", "on")
    parameters = script_parameters(hass, described, actors=("light.x",))
    schema = json_schema(parameters.schema)
    assert [*faults(schema)] == []
    for arguments in (data.draw(values(schema)), data.draw(st.just({}) | anything)):
        try:
            checked = parameters.schema(arguments)
        except vol.Invalid:
            continue
        assert isinstance(checked, dict)
        assert is_json(checked) or not is_json(arguments)


@given(value=anything)
def test_a_number_is_finite_and_within_its_bounds(value: Any) -> None:
    try:
        number = Number(low=-5, high=5)(value)
    except vol.Invalid:
        return
    assert -5 <= number <= 5
    assert type(number) in {int, float}


@given(value=anything)
def test_a_choice_is_one_of_its_words(value: Any) -> None:
    choice = Choice(["a", "b"], multiple=True)
    try:
        chosen = choice(value)
    except vol.Invalid:
        return
    assert {*chosen} <= {"a", "b"}

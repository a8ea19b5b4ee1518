"""Fields and selectors as parameters that servers understand and we can check."""

from typing import Any

from homeassistant.core import HomeAssistant
import pytest
import voluptuous as vol

from custom_components.proactive_agent.tools.fields import (
    Parameters,
    action_parameters,
    script_parameters,
)
from custom_components.proactive_agent.tools.names import unique_name
from custom_components.proactive_agent.tools.schema import json_schema

ACTORS = ("light.a", "light.b", "lock.c", "sensor.t")


@pytest.fixture(autouse=True)
async def states(hass: HomeAssistant) -> None:
    hass.states.async_set("light.a", "on", {"supported_features": 4})
    hass.states.async_set("light.b", "on", {"supported_features": 0, "mode": "eco"})
    hass.states.async_set("lock.c", "locked")
    hass.states.async_set("sensor.t", "20", {"device_class": "temperature"})


def script(hass: HomeAssistant, **selectors: Any) -> Parameters:
    fields = {name: {"selector": one} for name, one in selectors.items()}
    return script_parameters(hass, fields, actors=ACTORS)


def options(parameters: Parameters, name: str) -> Any:
    schema = json_schema(parameters.schema)["properties"].get(name)
    return schema and schema.get("items", schema)["enum"]


@pytest.mark.contract("A3")
@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, [*ACTORS]),
        ({"domain": "light"}, ["light.a", "light.b"]),
        ({"filter": {"domain": ["light", "lock"]}}, ["light.a", "light.b", "lock.c"]),
        (
            {"filter": [{"domain": "lock"}, {"device_class": "temperature"}]},
            ["lock.c", "sensor.t"],
        ),
        ({"filter": {"integration": "hue"}}, None),
        ({"exclude_entities": ["light.a"]}, ["light.b", "lock.c", "sensor.t"]),
        ({"include_entities": ["light.a", "lock.z"]}, ["light.a"]),
        ({"domain": "light", "multiple": True}, ["light.a", "light.b"]),
        ({"filter": [{"domain": ["light"], "supported_features": [4]}]}, ["light.a"]),
        (
            {"filter": [{"domain": ["light"], "supported_features": [8, 4]}]},
            ["light.a"],
        ),
    ],
)
def test_a_field_for_entities_offers_those_that_may_be_acted_on(
    hass: HomeAssistant, config: dict[str, Any], expected: list[str] | None
) -> None:
    parameters = script(hass, who={"entity": config})
    assert options(parameters, "who") == expected
    assert parameters.entity_fields == (("who",) if expected else ())
    assert not parameters.must_ask


def test_a_required_field_for_entities_of_which_there_are_none_takes_nothing(
    hass: HomeAssistant,
) -> None:
    parameters = script_parameters(
        hass,
        {"who": {"required": True, "selector": {"entity": {"domain": "siren"}}}},
        actors=ACTORS,
    )
    assert json_schema(parameters.schema)["properties"]["who"] == {"type": "string"}
    with pytest.raises(vol.Invalid, match="must be one of: nothing"):
        parameters.schema({"who": "siren.a"})


def test_many_options_are_not_all_named_in_the_error(hass: HomeAssistant) -> None:
    many = [f"light.l{number}" for number in range(50)]
    for entity_id in many:
        hass.states.async_set(entity_id, "on")
    parameters = action_parameters(hass, "light", {}, targets=many, actors=many)
    with pytest.raises(vol.Invalid, match=r"light\.l19, …") as caught:
        parameters.schema({"entity_id": "light.x"})
    assert "light.l20" not in str(caught.value)


@pytest.mark.contract("A3")
@pytest.mark.parametrize(
    "selector",
    [
        {"target": {}},
        {"action": {}},
        {"template": {}},
        {"condition": {}},
        {"trigger": {}},
        {"area": {}},
        {"device": {}},
        {"floor": {}},
        {"label": {}},
        {"object": {}},
        {"object": {"fields": {"x": {"selector": {"target": {}}}}}},
        {"object": {"fields": {"x": {"selector": {"entity": {}}}}}},
        {"object": {"fields": {"x": {"selector": {"object": {}}}}}},
        {"unheard_of": {}},
        {"select": {}},
        {"choose": {"choices": {"a": {"selector": {"target": {}}}}}},
    ],
)
def test_what_reaches_further_than_entities_makes_a_script_ask(
    hass: HomeAssistant, selector: dict[str, Any]
) -> None:
    parameters = script(hass, x=selector)
    assert parameters.must_ask
    assert json_schema(parameters.schema)["properties"]["x"] == {"type": "object"}


@pytest.mark.contract("A3")
@pytest.mark.parametrize("name", ["entity_id", "area_id", "device_id", "label_id"])
def test_a_text_that_is_named_like_a_target_makes_a_script_ask(
    hass: HomeAssistant, name: str
) -> None:
    assert script(hass, **{name: {"text": {}}}).must_ask
    assert not script(hass, entity_id={"entity": {}}).must_ask


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ({"boolean": {}}, {"type": "boolean"}),
        ({"text": {}}, {"type": "string"}),
        (
            {"number": {"min": 0.5, "max": 5}},
            {"type": "number", "minimum": 0.5, "maximum": 5},
        ),
        ({"number": {"min": -1e30, "max": 2**63, "mode": "box"}}, {"type": "number"}),
        ({"date": {}}, {"type": "string", "description": "(YYYY-MM-DD)"}),
        ({"time": {}}, {"type": "string", "description": "(HH:MM:SS)"}),
        (
            {"select": {"options": ["a", "b"], "multiple": True}},
            {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
        ),
        ({"country": {}}, {"type": "string"}),
        ({"state": {"entity_id": "light.a"}}, {"type": "string"}),
        (
            {
                "object": {
                    "fields": {"n": {"selector": {"number": {"max": 2, "min": 1}}}}
                }
            },
            {
                "type": "object",
                "properties": {"n": {"type": "number", "minimum": 1, "maximum": 2}},
            },
        ),
    ],
)
def test_selectors_become_plain_schemas(
    hass: HomeAssistant, selector: dict[str, Any], expected: dict[str, Any]
) -> None:
    parameters = script(hass, x=selector)
    schema = json_schema(parameters.schema)["properties"]["x"]
    assert schema == expected
    assert not parameters.must_ask


def test_a_place_is_an_object_with_its_parts(hass: HomeAssistant) -> None:
    schema = json_schema(script(hass, x={"location": {}}).schema)["properties"]["x"]
    assert [*schema["properties"]] == ["latitude", "longitude", "radius"]
    assert schema["required"] == ["latitude", "longitude"]
    assert schema["additionalProperties"] is False


def test_alternatives_are_cut_to_the_first() -> None:
    schema = vol.Schema({"x": vol.Any(int, str), "y": vol.Maybe(str)})
    assert json_schema(schema)["properties"] == {
        "x": {"type": "integer"},
        "y": {"type": "string"},
    }


def test_an_action_has_the_fields_that_a_target_supports(hass: HomeAssistant) -> None:
    def field(**wanted: Any) -> dict[str, Any]:
        return {"selector": {"text": None}, "filter": wanted}

    fields: dict[str, Any] = {
        "always": {"selector": {"text": {}}},
        "bare": None,
        "supported": field(supported_features=[4, 8]),
        "unsupported": field(supported_features=[8]),
        "eco": field(attribute={"mode": ["eco"]}),
        "boost": field(attribute={"mode": ["boost"]}),
        "area_id": {"selector": {"text": {}}},
        "anything": {"selector": {"object": None}},
        "needed": {"required": True, "selector": {"object": None}},
        "more": {"collapsed": True, "fields": {"nested": {"selector": {"text": {}}}}},
    }
    parameters = action_parameters(
        hass, "test", fields, targets=("light.a", "light.b"), actors=ACTORS
    )
    assert [*json_schema(parameters.schema)["properties"]] == [
        "entity_id",
        "always",
        "supported",
        "eco",
        "needed",
        "nested",
    ]
    assert not parameters.must_ask
    checked = parameters.schema(
        {"entity_id": ["light.b", "light.b"], "needed": [1, {"a": 2}]}
    )
    assert checked == {"entity_id": ["light.b"], "needed": [1, {"a": 2}]}


@pytest.mark.parametrize(
    ("wanted", "taken", "name"),
    [
        ("feed", set(), "feed"),
        ("feed", {"feed"}, "script_feed"),
        ("feed", {"feed", "script_feed"}, "feed_2"),
        ("feed", {"feed", "script_feed", "feed_2"}, "feed_3"),
        ("tell_owner", set(), "script_tell_owner"),
        ("get_history", set(), "script_get_history"),
        ("füttern & los", set(), "f_ttern_los"),
        ("x" * 99, {"x" * 64}, f"script_{'x' * 57}"),
        ("", set(), "tool"),
    ],
)
def test_names_fit_every_server(wanted: str, taken: set[str], name: str) -> None:
    assert unique_name(wanted, taken, prefix="script_") == name

"""What is said of actions and fields beyond their descriptions, and what is not."""

from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.helpers.service import async_get_all_descriptions
import pytest

from custom_components.proactive_agent.tools.amendments import (
    CORRECTIONS,
    FIELDS_TOGETHER,
    LEFT_OUT,
    NO_TOOLS,
    WHOLE,
    helpful,
)

from .support.toolworld import States, ToolWorld


@pytest.fixture
async def world(hass: HomeAssistant) -> ToolWorld:
    world = ToolWorld(hass)
    await world.have({})
    return world


async def described(world: ToolWorld, tool: str) -> dict[str, str]:
    """Return what is said of each field of a tool."""
    parameters: Any = (await world.specs())[tool].parameters
    return {
        name: field.get("description", "")
        for name, field in parameters["properties"].items()
    }


HOUSE: States = {
    "alarm_control_panel.x": ("disarmed", {"supported_features": 63}),
    "calendar.x": ("off", {"supported_features": 7}),
    "climate.x": ("heat", {"supported_features": 1023, "hvac_modes": ["heat"]}),
    "counter.x": ("1", {}),
    "input_datetime.x": ("x", {"has_date": True, "has_time": True}),
    "input_select.x": ("a", {"options": ["a", "b"]}),
    "light.x": ("on", {"supported_color_modes": ["rgb"]}),
    "lock.x": ("locked", {"supported_features": 1}),
    "media_player.x": ("on", {"supported_features": 2**31 - 1}),
    "scene.x": ("unknown", {}),
    "select.x": ("a", {"options": ["a", "b"]}),
    "siren.x": ("off", {"supported_features": 31}),
    "todo.x": ("0", {"supported_features": 127}),
    "vacuum.x": ("docked", {"supported_features": 2**31 - 1}),
}


async def test_the_tables_speak_of_what_there_is(world: ToolWorld) -> None:
    """A rule for an action or a field that Home Assistant has dropped is dead."""
    await world.have(HOUSE)
    actions = await async_get_all_descriptions(world.hass)

    def fields(domain: str, service: str = "") -> set[str]:
        found: set[str] = set()
        for name, description in actions[domain].items():
            if service in {"", name}:
                for key, config in (description.get("fields") or {}).items():
                    found |= {*((config or {}).get("fields") or {key})}
        return found

    for domain, services in NO_TOOLS.items():
        assert services <= {*actions[domain]}
    for key, corrected in CORRECTIONS.items():
        assert {*corrected} <= fields(*key.split("."))
    for domain, names in (*LEFT_OUT.items(), *WHOLE.items()):
        assert names <= fields(domain)
    for key, rules in FIELDS_TOGETHER.items():
        for together, sentence in rules.items():
            assert {*together} <= fields(*key.split("."))
            assert all(name in sentence for name in together)


async def test_what_another_tool_does_as_well_is_no_tool(world: ToolWorld) -> None:
    await world.have(HOUSE)
    names = {*await world.specs()}
    for domain, services in NO_TOOLS.items():
        assert not {f"{domain}_{service}" for service in services} & names
    assert {
        "input_select_select_option",
        "media_player_media_pause",
        "media_player_media_play",
        "scene_turn_on",
        "select_select_option",
        "vacuum_start",
    } <= names


@pytest.mark.parametrize(
    ("entity_id", "features", "code_format", "tool"),
    [
        ("alarm_control_panel.a", 63, "number", "alarm_control_panel_alarm_disarm"),
        ("lock.a", 1, r"^\d{4}$", "lock_unlock"),
    ],
)
async def test_a_code_is_a_field_where_the_entity_has_one(
    world: ToolWorld, entity_id: str, features: int, code_format: str, tool: str
) -> None:
    attributes = {"supported_features": features, "code_format": None}
    await world.have({entity_id: ("on", attributes)})
    world.note_all()
    assert await world.field(tool, "code") is None
    answer = await world.call(tool, entity_id=entity_id, code="1234")
    assert str(answer.content).startswith(f"{tool} does not take 'code'")
    with_code = {**attributes, "code_format": code_format}
    world.hass.states.async_set(entity_id, "on", with_code)
    assert await world.field(tool, "code") == {"type": "string"}
    other = f"{entity_id}_b"
    await world.have({other: ("on", attributes)})
    answer = await world.call(tool, entity_id=[entity_id, other], code="1234")
    assert answer.content == f"{other} does not take code."
    assert world.calls == []


async def test_what_fields_have_to_do_with_each_other_is_said(
    world: ToolWorld,
) -> None:
    await world.have(HOUSE)
    said = {name: spec.description for name, spec in (await world.specs()).items()}
    assert said["todo_add_item"].endswith(" Give due_date or due_datetime, not both.")
    assert said["calendar_create_event"].endswith(
        " Give start_date_time and end_date_time, or start_date and end_date."
    )
    assert said["climate_set_temperature"].endswith(
        " Give target_temp_high and target_temp_low together."
    )
    # A list of tasks that are due by the day alone, and a thermostat without a range.
    world.hass.states.async_set("todo.x", "0", {"supported_features": 1 | 16})
    world.hass.states.async_set(
        "climate.x", "heat", {"supported_features": 1, "hvac_modes": ["heat"]}
    )
    said = {name: spec.description for name, spec in (await world.specs()).items()}
    assert "due_datetime" not in said["todo_add_item"]
    assert "target_temp" not in said["climate_set_temperature"]


async def test_where_words_may_be_chosen_nobody_is_sent_elsewhere(
    world: ToolWorld,
) -> None:
    await world.have(
        {
            "humidifier.a": ("on", {"supported_features": 1, "available_modes": ["x"]}),
            "media_player.a": ("on", {"supported_features": 2048, "source_list": "x"}),
            "siren.a": ("off", {"supported_features": 31, "available_tones": ["x"]}),
            "vacuum.a": ("docked", {"fan_speed_list": ["x"]}),
        }
    )
    modes = await described(world, "humidifier_set_mode")
    assert modes["mode"] == "Operation mode."
    speeds = await described(world, "vacuum_set_fan_speed")
    assert speeds["fan_speed"] == "Fan speed."
    siren = await described(world, "siren_turn_on")
    assert siren["tone"] == "The tone to emit."
    assert siren["duration"] == "Number of seconds the sound is played."
    assert siren["volume_level"].endswith("1 is the maximum volume.")
    # Without a list there is more to say, but nothing of platforms.
    assert (await world.field("media_player_select_source", "source")) == {
        "type": "string"
    }
    sources = await described(world, "media_player_select_source")
    assert sources["source"] == "Name of the source to switch to."


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("", ""),
        ("A tone", "A tone"),
        ("A tone. Or two!", "A tone. Or two!"),
        (
            "From 0.5 to 2.5 s. Must be supported by the integration.",
            "From 0.5 to 2.5 s.",
        ),
        ("Depends on the integration.", ""),
        ("See integration documentation. Be kind.", "Be kind."),
    ],
)
def test_a_sentence_is_kept_or_left_out_as_a_whole(text: str, kept: str) -> None:
    assert helpful(text, is_choice=False) == kept


@pytest.mark.parametrize("domain", ["input_text", "text"])
async def test_how_long_a_text_may_be_is_said(world: ToolWorld, domain: str) -> None:
    async def said(**texts: dict[str, Any]) -> str:
        await world.have({f"{domain}.{name}": ("x", of) for name, of in texts.items()})
        return (await described(world, f"{domain}_set_value"))["value"]

    assert (await said(a={"min": 1, "max": 20})).endswith(". (1 to 20 characters)")
    pattern = r"[a-z]+"
    one = await said(a={"min": 0, "max": 20, "pattern": pattern})
    assert one.endswith(". (at most 20 characters, matching [a-z]+)")
    both = await said(b={"min": 2, "max": 30, "pattern": pattern})
    assert both.endswith(". (at most 30 characters, matching [a-z]+)")
    other = await said(b={"min": 2, "max": 30, "pattern": None})
    assert other.endswith(". (at most 30 characters)")
    endless = await said(b={"pattern": pattern})
    assert endless.endswith(".")


async def test_a_pattern_is_one_line_and_not_endless(world: ToolWorld) -> None:
    pattern = "a\nb\u202e" + "c" * 500
    await world.have({"text.a": ("x", {"min": 0, "max": 9, "pattern": pattern})})
    said = (await described(world, "text_set_value"))["value"]
    assert said.endswith(f"matching a b{'c' * 97}…)")

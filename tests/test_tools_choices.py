"""What hangs on the entity: its words, its ranges, its features."""

from datetime import timedelta
from typing import Any

from homeassistant.core import HomeAssistant
import pytest

from custom_components.proactive_agent.engine.records import ToolCall

from .support.toolworld import States, ToolWorld


@pytest.fixture
async def world(hass: HomeAssistant) -> ToolWorld:
    world = ToolWorld(hass)
    await world.have({})
    return world


HALL = "climate.hall"
ATTIC = "climate.attic"
CLIMATES: States = {
    HALL: (
        "heat",
        {
            "supported_features": 1 | 2 | 4 | 8 | 16 | 32 | 512,
            "hvac_modes": ["off", "heat"],
            "preset_modes": ["eco", "away"],
            "fan_modes": ["low", "high"],
            "swing_modes": ["on", "off"],
            "swing_horizontal_modes": ["wide"],
            "min_temp": 7,
            "max_temp": 25,
            "target_temp_step": 0.5,
            "min_humidity": 40,
            "max_humidity": 60,
        },
    ),
    ATTIC: (
        "cool",
        {
            "supported_features": 1 | 16,
            "hvac_modes": ["cool", "off"],
            "preset_modes": ["boost", "eco"],
            "min_temp": 16.5,
            "max_temp": 30,
            "target_temp_step": 0.5,
        },
    ),
}

OPTIONS: list[tuple[str, dict[str, Any], str, str, list[str]]] = [
    (
        "fan.a",
        {"supported_features": 8 | 32, "preset_modes": ["x", "y"]},
        "fan_set_preset_mode",
        "preset_mode",
        ["x", "y"],
    ),
    (
        "fan.a",
        {"supported_features": 8 | 32, "preset_modes": ["x", "y"]},
        "fan_turn_on",
        "preset_mode",
        ["x", "y"],
    ),
    (
        "humidifier.a",
        {"supported_features": 1, "available_modes": ["eco", "baby"]},
        "humidifier_set_mode",
        "mode",
        ["eco", "baby"],
    ),
    (
        "light.a",
        {"supported_features": 4, "effect_list": ["rain", "fire"]},
        "light_turn_on",
        "effect",
        ["rain", "fire"],
    ),
    (
        "select.a",
        {"options": ["calm", "wild"]},
        "select_select_option",
        "option",
        ["calm", "wild"],
    ),
    (
        "input_select.a",
        {"options": ["calm", "wild"]},
        "input_select_select_option",
        "option",
        ["calm", "wild"],
    ),
    (
        "media_player.a",
        {"supported_features": 2048, "source_list": ["tv", "radio"]},
        "media_player_select_source",
        "source",
        ["tv", "radio"],
    ),
    (
        "media_player.a",
        {"supported_features": 65536, "sound_mode_list": ["movie"]},
        "media_player_select_sound_mode",
        "sound_mode",
        ["movie"],
    ),
    (
        "remote.a",
        {"supported_features": 4, "activity_list": ["tv", "music"]},
        "remote_turn_on",
        "activity",
        ["tv", "music"],
    ),
    (
        "siren.a",
        {"supported_features": 1 | 4, "available_tones": {1: "bell", 2: "horn"}},
        "siren_turn_on",
        "tone",
        ["bell", "horn"],
    ),
    (
        "siren.a",
        {"supported_features": 1 | 4, "available_tones": [0, "horn", "horn"]},
        "siren_turn_on",
        "tone",
        ["0", "horn"],
    ),
    (
        "vacuum.a",
        {"supported_features": 32, "fan_speed_list": ["silent", "max"]},
        "vacuum_set_fan_speed",
        "fan_speed",
        ["silent", "max"],
    ),
    (
        "water_heater.a",
        {"supported_features": 3, "operation_list": ["eco", "off"]},
        "water_heater_set_operation_mode",
        "operation_mode",
        ["eco", "off"],
    ),
    (
        "cover.a",
        {"supported_features": 15 | 256, "supported_speeds": ["slow", "fast"]},
        "cover_open_cover",
        "speed",
        ["slow", "fast"],
    ),
    (
        "light.a",
        {"supported_features": 4, "effect_list": {"rain", "fire"}},
        "light_turn_on",
        "effect",
        ["fire", "rain"],
    ),
]


@pytest.mark.parametrize(
    ("entity_id", "attributes", "tool", "field", "options"), OPTIONS, ids=range(15)
)
async def test_the_words_of_an_entity_are_the_choice(
    world: ToolWorld,
    entity_id: str,
    attributes: dict[str, Any],
    tool: str,
    field: str,
    options: list[str],
) -> None:
    await world.have({entity_id: ("on", attributes)})
    assert await world.field(tool, field) == {"type": "string", "enum": options}


async def test_several_entities_offer_the_words_of_each(world: ToolWorld) -> None:
    await world.have(CLIMATES)
    modes = await world.field("climate_set_hvac_mode", "hvac_mode")
    assert modes["enum"] == ["cool", "off", "heat"]
    presets = await world.field("climate_set_preset_mode", "preset_mode")
    assert presets["enum"] == ["boost", "eco", "away"]
    swings = await world.field("climate_set_swing_mode", "swing_mode")
    assert swings["enum"] == ["on", "off"]
    entities = await world.field("climate_set_swing_mode", "entity_id")
    assert entities["items"]["enum"] == [HALL]


RANGES: list[tuple[str, dict[str, Any], str, str, float, float]] = [
    (
        "humidifier.a",
        {"min_humidity": 30, "max_humidity": 70},
        "humidifier_set_humidity",
        "humidity",
        30,
        70,
    ),
    (
        "input_number.a",
        {"min": -5, "max": 5, "step": 0.25},
        "input_number_set_value",
        "value",
        -5,
        5,
    ),
    ("number.a", {"min": 1, "max": 9.5}, "number_set_value", "value", 1, 9.5),
    (
        "water_heater.a",
        {"min_temp": 43.3, "max_temp": 60},
        "water_heater_set_temperature",
        "temperature",
        43.3,
        60,
    ),
    ("water_heater.a", {}, "water_heater_set_temperature", "temperature", 0, 250),
    (
        "light.a",
        {
            "supported_color_modes": ["color_temp"],
            "min_color_temp_kelvin": 2200,
            "max_color_temp_kelvin": 6500,
        },
        "light_turn_on",
        "color_temp_kelvin",
        2200,
        6500,
    ),
    (
        "cover.a",
        {"supported_features": 15},
        "cover_set_cover_position",
        "position",
        0,
        100,
    ),
    (
        "media_player.a",
        {"supported_features": 4},
        "media_player_volume_set",
        "volume_level",
        0,
        1,
    ),
    ("fan.a", {"supported_features": 1}, "fan_set_percentage", "percentage", 0, 100),
]


@pytest.mark.parametrize(
    ("entity_id", "attributes", "tool", "field", "low", "high"), RANGES, ids=range(9)
)
async def test_the_range_of_an_entity_bounds_the_number(
    world: ToolWorld,
    entity_id: str,
    attributes: dict[str, Any],
    tool: str,
    field: str,
    low: float,
    high: float,
) -> None:
    await world.have({entity_id: ("on", {"supported_features": 1, **attributes})})
    assert await world.field(tool, field) == {
        "type": "number",
        "minimum": low,
        "maximum": high,
    }


async def test_the_widest_range_is_offered_and_a_common_step_is_said(
    world: ToolWorld,
) -> None:
    await world.have(CLIMATES)
    assert await world.field("climate_set_temperature", "temperature") == {
        "type": "number",
        "minimum": 7,
        "maximum": 30,
    }
    parameters: Any = (await world.specs())["climate_set_temperature"].parameters
    said = parameters["properties"]["temperature"]["description"]
    assert said.endswith(" (step 0.5)")
    await world.have(
        {ATTIC: ("cool", {**CLIMATES[ATTIC][1], "target_temp_step": 1})},
    )
    parameters = (await world.specs())["climate_set_temperature"].parameters
    assert "step" not in parameters["properties"]["temperature"]["description"]


async def test_a_counter_takes_whole_numbers_and_may_have_no_limit(
    world: ToolWorld,
) -> None:
    await world.have({"counter.a": ("1", {"minimum": 0})})
    world.note_all()
    tool = "counter_set_value"
    assert await world.field(tool, "value") == {"type": "integer", "minimum": 0}
    # Home Assistant would cut it to 2 and say nothing.
    answer = await world.call(tool, entity_id="counter.a", value=2.5)
    assert answer.content == "value: must be a whole number."
    assert world.calls == []
    for value in (2, 2.0, "2"):
        assert not (await world.call(tool, entity_id="counter.a", value=value)).error
    assert [call.data["value"] for call in world.calls] == [2, 2, 2]
    await world.have({"counter.a": ("1", {"minimum": 0, "maximum": 3})})
    assert (await world.field(tool, "value"))["maximum"] == 3


@pytest.mark.contract("R4")
@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        (
            "climate_set_hvac_mode",
            {"entity_id": [HALL, ATTIC], "hvac_mode": "heat"},
            "hvac_mode: climate.attic takes cool, off.",
        ),
        (
            "climate_set_hvac_mode",
            {"entity_id": HALL, "hvac_mode": "dry"},
            "hvac_mode: must be one of: cool, off, heat.",
        ),
        (
            "climate_set_temperature",
            {"entity_id": HALL, "temperature": 28},
            "temperature: climate.hall takes 7 to 25.",
        ),
        (
            "climate_set_temperature",
            {"entity_id": [HALL, ATTIC], "temperature": 16},
            "temperature: climate.attic takes 16.5 to 30.",
        ),
        (
            "climate_set_temperature",
            {"entity_id": HALL, "temperature": 99},
            "temperature: must be 7 to 30.",
        ),
        (
            "climate_set_temperature",
            {"entity_id": ATTIC, "target_temp_low": 18},
            "climate.attic does not take target_temp_low.",
        ),
        (
            "climate_set_temperature",
            {"entity_id": HALL, "temperature": "warm"},
            "temperature: must be a number.",
        ),
        (
            "climate_set_temperature",
            {"entity_id": HALL, "temperature": True},
            "temperature: must be a number.",
        ),
        (
            "climate_set_temperature",
            {"entity_id": HALL, "temperature": [21]},
            "temperature: must be a number.",
        ),
        (
            "climate_set_temperature",
            {"entity_id": HALL, "temperature": "nan"},
            "temperature: must be a number.",
        ),
        (
            "climate_set_temperature",
            {"entity_id": HALL, "temperature": float("nan")},
            "temperature must be a finite number.",
        ),
        (
            "climate_set_temperature",
            {"entity_id": HALL, "temperature": 10**400},
            "temperature is too large.",
        ),
    ],
    ids=range(12),
)
async def test_what_one_of_the_entities_does_not_take_is_said(
    world: ToolWorld, tool: str, arguments: dict[str, Any], sentence: str
) -> None:
    await world.have(CLIMATES)
    world.note_all()
    answer = await world.call(tool, **arguments)
    assert answer.error
    assert answer.content == sentence
    assert world.calls == []


@pytest.mark.parametrize(
    ("arguments", "passed"),
    [
        ({"entity_id": HALL, "temperature": 21}, {"temperature": 21}),
        ({"entity_id": HALL, "temperature": "21.5"}, {"temperature": 21.5}),
        ({"entity_id": HALL, "temperature": 20.0}, {"temperature": 20}),
        (
            {"entity_id": HALL, "target_temp_low": 18, "target_temp_high": 24},
            {"target_temp_low": 18, "target_temp_high": 24},
        ),
    ],
)
async def test_what_fits_is_called(
    world: ToolWorld, arguments: dict[str, Any], passed: dict[str, Any]
) -> None:
    await world.have(CLIMATES)
    world.note_all()
    answer = await world.call("climate_set_temperature", **arguments)
    assert not answer.error
    (call,) = world.calls
    assert call.data == {"entity_id": [HALL], **passed}


async def test_an_entity_speaks_for_itself_also_between_prompt_and_call(
    world: ToolWorld,
) -> None:
    await world.have({"select.a": ("x", {"options": ["x", "y"]})})
    world.note_all()
    toolbox = await world.toolbox()
    world.hass.states.async_set("select.a", "x", {"options": ["x"]})
    answer = await world.call("select_select_option", entity_id="select.a", option="y")
    assert answer.content == "option: must be one of: x."
    answer = await toolbox.call(
        ToolCall(
            id="1",
            name="select_select_option",
            arguments={"entity_id": "select.a", "option": "y"},
        )
    )
    assert answer.content == "option: select.a takes x."
    assert world.calls == []


async def test_brightness_is_for_lamps_that_can_be_dimmed(world: ToolWorld) -> None:
    await world.have(
        {
            "light.dim": ("on", {"supported_color_modes": ["brightness"]}),
            "light.plain": ("on", {"supported_color_modes": ["onoff"]}),
        }
    )
    world.note_all()
    both = await world.call(
        "light_turn_on", entity_id=["light.dim", "light.plain"], brightness_pct=5
    )
    assert both.content == "light.plain does not take brightness_pct."
    one = await world.call("light_turn_on", entity_id="light.dim", brightness_pct=5)
    assert not one.error
    assert len(world.calls) == 1


async def test_the_length_of_a_text_is_the_entitys(world: ToolWorld) -> None:
    await world.have({"input_text.a": ("x", {"min": 2, "max": 4})})
    world.note_all()
    tool = "input_text_set_value"
    for value in ("x", "xxxxx"):
        answer = await world.call(tool, entity_id="input_text.a", value=value)
        assert answer.content == "value: input_text.a takes 2 to 4 characters."
    assert world.calls == []
    assert not (await world.call(tool, entity_id="input_text.a", value="xxx")).error


async def test_an_entity_that_names_no_words_takes_any(world: ToolWorld) -> None:
    """A player that is off may name its sources only when it is on."""
    await world.have({"media_player.a": ("off", {"supported_features": 2048})})
    world.note_all()
    assert await world.field("media_player_select_source", "source") == {
        "type": "string"
    }
    answer = await world.call(
        "media_player_select_source", entity_id="media_player.a", source="radio"
    )
    assert not answer.error


async def test_an_action_without_a_word_to_call_it_with_is_left_out(
    world: ToolWorld,
) -> None:
    await world.have({"vacuum.a": ("docked", {"supported_features": 8192})})
    assert "vacuum_set_fan_speed" not in await world.specs()
    await world.have({"vacuum.b": ("docked", {"fan_speed_list": ["max"]})})
    entities = await world.field("vacuum_set_fan_speed", "entity_id")
    assert entities["items"]["enum"] == ["vacuum.b"]


async def test_endless_lists_are_not_written_out(world: ToolWorld) -> None:
    effects = [f"effect {number}" for number in range(150)]
    await world.have(
        {"light.a": ("on", {"supported_features": 4, "effect_list": effects})}
    )
    world.note_all()
    assert await world.field("light_turn_on", "effect") == {"type": "string"}
    wrong = await world.call("light_turn_on", entity_id="light.a", effect="party")
    assert str(wrong.content).startswith("effect: light.a takes effect 0, effect 1,")
    assert str(wrong.content).endswith("effect 19, ….")
    right = await world.call("light_turn_on", entity_id="light.a", effect="effect 99")
    assert not right.error


async def test_fields_that_say_the_same_twice_are_left_out(world: ToolWorld) -> None:
    modes = ["color_temp", "hs", "rgb", "rgbw", "rgbww", "white", "xy"]
    await world.have(
        {
            "light.a": (
                "on",
                {"supported_color_modes": modes, "supported_features": 44},
            ),
            "input_datetime.a": ("x", {"has_date": True, "has_time": True}),
            "calendar.a": ("off", {"supported_features": 1}),
        }
    )
    specs: Any = await world.specs()
    assert [*specs["light_turn_on"].parameters["properties"]] == [
        "entity_id",
        "transition",
        "rgb_color",
        "color_temp_kelvin",
        "brightness_pct",
        "effect",
    ]
    assert [*specs["light_turn_off"].parameters["properties"]] == [
        "entity_id",
        "transition",
    ]
    fields = specs["input_datetime_set_datetime"].parameters["properties"]
    assert [*fields] == ["entity_id", "date", "time", "because"]
    assert "in" not in specs["calendar_create_event"].parameters["properties"]


async def test_a_clock_without_a_date_takes_none(world: ToolWorld) -> None:
    await world.have({"input_datetime.a": ("08:00", {"has_time": True})})
    world.note_all()
    assert await world.field("input_datetime_set_datetime", "date") is None
    await world.have({"input_datetime.b": ("x", {"has_date": True})})
    answer = await world.call(
        "input_datetime_set_datetime", entity_id="input_datetime.a", date="2026-12-24"
    )
    assert answer.content == "input_datetime.a does not take date."


@pytest.mark.parametrize("duration", [{"minutes": 4}, "00:04:00", 240])
async def test_a_duration_is_taken_in_every_way_the_action_takes(
    world: ToolWorld, duration: Any
) -> None:
    await world.have({"timer.a": ("idle", {})})
    world.note_all()
    assert await world.field("timer_start", "duration") == {
        "type": "object",
        "properties": {
            "hours": {"type": "number"},
            "minutes": {"type": "number"},
            "seconds": {"type": "number"},
        },
        "additionalProperties": False,
    }
    answer = await world.call("timer_start", entity_id="timer.a", duration=duration)
    assert not answer.error
    assert world.calls[0].data["duration"] == timedelta(minutes=4)


@pytest.mark.parametrize("duration", ["soon", True, {}, {"weeks": 1}, [1], "nan"])
async def test_what_is_no_duration_is_a_sentence(
    world: ToolWorld, duration: Any
) -> None:
    await world.have({"timer.a": ("idle", {})})
    world.note_all()
    answer = await world.call("timer_start", entity_id="timer.a", duration=duration)
    assert answer.error
    assert str(answer.content).startswith("duration")
    assert world.calls == []


async def test_a_siren_sounds_for_a_number_of_seconds(world: ToolWorld) -> None:
    await world.have({"siren.a": ("off", {"supported_features": 1 | 16})})
    world.note_all()
    assert await world.field("siren_turn_on", "duration") == {
        "type": "integer",
        "minimum": 0,
    }
    assert not (
        await world.call("siren_turn_on", entity_id="siren.a", duration=5)
    ).error
    assert world.calls[0].data["duration"] == 5

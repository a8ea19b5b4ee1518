"""Actions that only answer: for whatever may be seen, past no question."""

from typing import Any

from homeassistant.core import HomeAssistant, ServiceCall, SupportsResponse
from homeassistant.helpers.service import async_set_service_schema
from homeassistant.setup import async_setup_component
import pytest

from custom_components.proactive_agent.engine.errors import RunCutError
from custom_components.proactive_agent.engine.reach import Reach
from custom_components.proactive_agent.engine.records import ToolCall

from .support.toolworld import ToolWorld

WEATHER = {
    "name": "Sky",
    "condition": "{{ 'sunny' }}",
    "temperature": "{{ 21 }}",
    "humidity": "{{ 40 }}",
    "forecast_daily": (
        "{{ [{'condition': 'rainy', 'datetime': '2026-12-01T00:00:00+00:00',"
        " 'temperature': 14}] }}"
    ),
}
FORECAST = {
    "response": {
        "weather.sky": {
            "forecast": [
                {
                    "condition": "rainy",
                    "datetime": "2026-12-01T00:00:00+00:00",
                    "temperature": 14.0,
                }
            ]
        }
    }
}


@pytest.fixture
async def world(hass: HomeAssistant) -> ToolWorld:
    world = ToolWorld(hass)
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, "weather", {})
    config = {"template": [{"weather": WEATHER}]}
    assert await async_setup_component(hass, "template", config)
    await hass.async_block_till_done()
    world.reach = Reach.of(look=["weather.sky"], act=(), ask=())
    return world


@pytest.mark.parametrize("listed", ["look", "act", "ask"])
@pytest.mark.contract("R4")
async def test_a_forecast_is_read_wherever_its_entity_is_listed(
    world: ToolWorld, listed: str
) -> None:
    lists: dict[str, list[str]] = {"look": [], "act": [], "ask": []}
    world.reach = Reach.of(**{**lists, listed: ["weather.sky"]})
    guard = world.guard(ask=True)
    toolbox = await world.toolbox(guard)
    assert [spec.name for spec in toolbox.specs] == [
        "get_state",
        "weather_get_forecasts",
        "tell_owner",
    ]
    assert not toolbox.acts("weather_get_forecasts")
    # Only what this sky can tell.
    assert (await world.field("weather_get_forecasts", "type"))["enum"] == ["daily"]
    answer = await toolbox.call(
        ToolCall(
            id="1",
            name="weather_get_forecasts",
            arguments={"entity_id": "weather.sky", "type": "daily"},
        )
    )
    assert not answer.error
    assert answer.content == FORECAST
    assert guard.actions == ()


@pytest.mark.contract("A9")
async def test_reading_is_no_action_in_a_dry_run_either(world: ToolWorld) -> None:
    toolbox = await world.toolbox(world.guard(dry_run=True))
    call = ToolCall(
        id="1",
        name="weather_get_forecasts",
        arguments={"entity_id": ["weather.sky"], "type": "daily"},
    )
    assert (await toolbox.call(call)).content == FORECAST


@pytest.mark.contract("F6")
async def test_after_the_end_nothing_is_read(world: ToolWorld) -> None:
    guard = world.guard()
    toolbox = await world.toolbox(guard)
    guard.close()
    with pytest.raises(RunCutError):
        await toolbox.call(
            ToolCall(
                id="1",
                name="weather_get_forecasts",
                arguments={"entity_id": ["weather.sky"], "type": "daily"},
            )
        )


@pytest.mark.contract("R4")
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"entity_id": "weather.sky"}, "type: required key not provided."),
        (
            {"entity_id": "weather.sky", "type": "hourly"},
            "type: must be one of: daily.",
        ),
        (
            {"entity_id": "weather.other", "type": "daily"},
            "entity_id: must be one of: weather.sky.",
        ),
        (
            {"entity_id": "weather.sky", "type": "daily", "area_id": "kitchen"},
            (
                "weather_get_forecasts does not take 'area_id'; it takes entity_id, "
                "type."
            ),
        ),
    ],
)
async def test_what_does_not_fit_is_a_sentence(
    world: ToolWorld, arguments: dict[str, Any], sentence: str
) -> None:
    answer = await world.call("weather_get_forecasts", **arguments)
    assert (answer.error, answer.content) == (True, sentence)


async def test_lists_and_calendars_are_read(world: ToolWorld) -> None:
    await world.have(
        {
            "todo.chores": ("1", {"supported_features": 15}),
            "calendar.home": ("off", {"supported_features": 1}),
        },
        look=True,
    )
    answers = {
        "todo": ("get_items", {"todo.chores": {"items": [{"summary": "Windows"}]}}),
        "calendar": ("get_events", {"calendar.home": {"events": []}}),
    }
    for domain, (service, response) in answers.items():
        world.answer_with(domain, service, response)
    names = [*await world.specs()]
    assert names == [
        "get_state",
        "calendar_get_events",
        "todo_get_items",
        "weather_get_forecasts",
        "tell_owner",
    ]
    chores = await world.call(
        "todo_get_items", entity_id="todo.chores", status=["needs_action"]
    )
    assert chores.content == {"response": answers["todo"][1]}
    events = await world.call(
        "calendar_get_events", entity_id="calendar.home", duration={"hours": 24}
    )
    assert events.content == {"response": answers["calendar"][1]}
    assert [call.data["entity_id"] for call in world.calls] == [
        ["todo.chores"],
        ["calendar.home"],
    ]


@pytest.mark.contract("R5")
async def test_an_answer_is_written_as_json(world: ToolWorld) -> None:
    world.answer_with(
        "weather",
        "get_forecasts",
        {
            "weather.sky": {
                "odd": {
                    3,
                }
            }
        },
    )
    answer = await world.call(
        "weather_get_forecasts", entity_id="weather.sky", type="daily"
    )
    assert answer.content == {"response": {"weather.sky": {"odd": [3]}}}


@pytest.mark.contract("A1")
@pytest.mark.parametrize(
    ("domain", "service", "answers"),
    [
        ("weather", "make_rain", SupportsResponse.ONLY),
        ("weather", "get_and_set", SupportsResponse.OPTIONAL),
        ("weather", "get_nothing", SupportsResponse.NONE),
        ("tricky", "get_codes", SupportsResponse.ONLY),
        ("notify", "get_messages", SupportsResponse.ONLY),
        ("homeassistant", "get_all", SupportsResponse.ONLY),
    ],
)
async def test_what_may_do_more_than_answer_is_not_for_looking(
    world: ToolWorld, domain: str, service: str, answers: SupportsResponse
) -> None:
    async def handle(call: ServiceCall) -> Any:
        world.calls.append(call)

    world.hass.services.async_register(
        domain, service, handle, supports_response=answers
    )
    description = {"target": {"entity": {"domain": "weather"}}}
    async_set_service_schema(world.hass, domain, service, description)
    names = [*await world.specs()]
    assert names == ["get_state", "weather_get_forecasts", "tell_owner"]

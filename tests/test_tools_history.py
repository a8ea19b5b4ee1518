"""Looking back, with a real recorder."""

from datetime import timedelta
import json
from typing import Any

from freezegun.api import FrozenDateTimeFactory
from homeassistant.components.recorder import Recorder, get_instance
from homeassistant.components.recorder.models import StatisticMeanType
from homeassistant.components.recorder.statistics import async_import_statistics
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.components.recorder.common import (
    async_wait_recording_done,
)

from custom_components.proactive_agent.engine.answer import ANSWER_LIMIT, encode_answer
from custom_components.proactive_agent.engine.reach import Reach
from custom_components.proactive_agent.tools import history_source

from .support.toolworld import ToolWorld

START = "2026-11-30 20:00:00+00:00"  # noon in the home
DOOR = "binary_sensor.door"
WARMTH = "sensor.warmth"


@pytest.fixture
def mock_recorder_before_hass(async_test_recorder: Any) -> None:
    """Let the recorder be there first, as it has to be."""


@pytest.fixture
async def world(
    recorder_mock: Recorder, hass: HomeAssistant, freezer: FrozenDateTimeFactory
) -> ToolWorld:
    freezer.move_to(START)
    world = ToolWorld(hass)
    world.reach = Reach.of(look=[DOOR, WARMTH], act=(), ask=())
    return world


class Past:
    """Lets time pass and states change."""

    def __init__(self, hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> None:
        self._hass = hass
        self._freezer = freezer

    def is_now(self, entity_id: str, state: str, **attributes: Any) -> None:
        self._hass.states.async_set(entity_id, state, attributes)

    def after(self, **passed: float) -> Past:
        self._freezer.tick(timedelta(**passed))
        return self


@pytest.fixture
def past(hass: HomeAssistant, freezer: FrozenDateTimeFactory, world: ToolWorld) -> Past:
    return Past(hass, freezer)


async def look_back(world: ToolWorld, **arguments: Any) -> Any:
    await async_wait_recording_done(world.hass)
    answer = await world.call("get_history", **arguments)
    assert not answer.error, answer.content
    encoded = encode_answer(answer)
    assert len(encoded) <= ANSWER_LIMIT
    assert "notice" not in json.loads(encoded)
    return answer.content


async def test_changes_are_told_with_how_long_they_lasted(
    world: ToolWorld, past: Past
) -> None:
    past.is_now(DOOR, "off")
    past.after(hours=2, minutes=5).is_now(DOOR, "on")
    past.after(seconds=40).is_now(DOOR, "unavailable")
    past.after(minutes=3).is_now(DOOR, "off")
    past.after(days=1, hours=1, minutes=2)
    assert await look_back(world, entity_id=DOOR, hours=48) == {
        DOOR: {
            "changes": [
                ["2026-11-30 12:00:00", "off", "for 2 h 5 min"],
                ["2026-11-30 14:05:00", "on", "for 40 s"],
                ["2026-11-30 14:05:40", "unavailable", "for 3 min"],
                ["2026-11-30 14:08:40", "off", "for 1 d 1 h"],
            ]
        }
    }


async def test_only_the_hours_that_were_asked_for(world: ToolWorld, past: Past) -> None:
    past.is_now(DOOR, "off")
    past.after(hours=20).is_now(DOOR, "on")
    past.after(hours=1, minutes=30).is_now(DOOR, "off")
    past.after(minutes=30)
    recent = await look_back(world, entity_id=DOOR, hours=1)
    assert recent[DOOR]["changes"] == [
        ["2026-12-01 09:00:00", "on", "for 30 min"],
        ["2026-12-01 09:30:00", "off", "for 30 min"],
    ]
    # A day, if nothing is said.
    assert len((await look_back(world, entity_id=DOOR))[DOOR]["changes"]) == 3


async def test_what_has_not_been_written_yet_is_told(
    hass: HomeAssistant, world: ToolWorld, past: Past
) -> None:
    past.is_now(DOOR, "off")
    await async_wait_recording_done(hass)
    past.after(minutes=5).is_now(DOOR, "on")
    answer: Any = (await world.call("get_history", entity_id=DOOR)).content
    assert answer[DOOR]["changes"][-1][1] == "on"


async def test_a_number_that_changes_a_lot_is_summarised(
    world: ToolWorld, past: Past
) -> None:
    for step in range(60):
        past.is_now(WARMTH, str(20 + step % 6 / 2), unit_of_measurement="°C")
        past.after(minutes=4)
    past.is_now(WARMTH, "unavailable", unit_of_measurement="°C")
    past.after(minutes=30).is_now(WARMTH, "18", unit_of_measurement="°C")
    past.after(minutes=10)
    story = (await look_back(world, entity_id=WARMTH))[WARMTH]
    by_time = story.pop("by_time")
    assert story == {
        "unit": "°C",
        "first": 20,
        "last": 18,
        "min": 18,
        "mean": 21.12,
        "max": 22.5,
        "columns": ["from", "min", "mean", "max"],
        "changes": 60,
        "unavailable": "30 min in all, once",
    }
    assert by_time[0] == ["2026-11-30 12:00", 20, 20.7, 21.5]
    assert by_time[-1] == ["2026-11-30 16:30", 18, 18, 18]
    assert len(by_time) == 17  # none for the half hour of which nothing is known


async def test_a_few_numbers_are_told_one_by_one(world: ToolWorld, past: Past) -> None:
    past.is_now(WARMTH, "20", unit_of_measurement="°C")
    past.after(hours=1).is_now(WARMTH, "21", unit_of_measurement="°C")
    past.after(hours=1)
    story = (await look_back(world, entity_id=WARMTH))[WARMTH]
    assert story["unit"] == "°C"
    assert [change[1] for change in story["changes"]] == ["20", "21"]


async def test_many_changes_of_a_word_are_added_up(
    world: ToolWorld, past: Past
) -> None:
    for step in range(100):
        past.is_now(DOOR, "on" if step % 2 else "off")
        past.after(minutes=1 if step % 2 else 5)
    story = (await look_back(world, entity_id=DOOR))[DOOR]
    assert story["totals"] == {
        "off": "4 h 10 min in all, 50 times",
        "on": "50 min in all, 50 times",
    }
    assert story["earlier_changes_not_shown"] == 60
    assert len(story["changes"]) == 40
    assert story["changes"][-1][1] == "on"


async def test_a_long_time_comes_from_the_statistics(
    hass: HomeAssistant, world: ToolWorld, past: Past
) -> None:
    begin = dt_util.utcnow().replace(minute=0, second=0, microsecond=0)
    async_import_statistics(
        hass,
        {
            "has_sum": False,
            "mean_type": StatisticMeanType.ARITHMETIC,
            "name": None,
            "source": "recorder",
            "statistic_id": WARMTH,
            "unit_class": "temperature",
            "unit_of_measurement": "°C",
        },
        [
            {
                "start": begin - timedelta(hours=hour),
                "mean": 20 + hour / 10,
                "min": 10,
                "max": 30,
            }
            for hour in range(1, 101)
        ],
    )
    past.is_now(WARMTH, "20", unit_of_measurement="°C", state_class="measurement")
    story = (await look_back(world, entity_id=WARMTH, hours=100))[WARMTH]
    assert (story["first"], story["last"]) == (30, 20.1)
    assert (story["min"], story["mean"], story["max"]) == (10, 25.05, 30)
    assert len(story["by_time"]) == 17  # six hours each


async def test_a_meter_has_readings(
    hass: HomeAssistant, world: ToolWorld, past: Past
) -> None:
    begin = dt_util.utcnow().replace(minute=0, second=0, microsecond=0)
    async_import_statistics(
        hass,
        {
            "has_sum": True,
            "mean_type": StatisticMeanType.NONE,
            "name": None,
            "source": "recorder",
            "statistic_id": WARMTH,
            "unit_class": "energy",
            "unit_of_measurement": "kWh",
        },
        [
            {
                "start": begin - timedelta(hours=hour),
                "state": 500 - hour,
                "sum": 500 - hour,
            }
            for hour in range(1, 49)
        ],
    )
    past.is_now(
        WARMTH, "500", unit_of_measurement="kWh", state_class="total_increasing"
    )
    story = (await look_back(world, entity_id=WARMTH, hours=48))[WARMTH]
    assert (story["unit"], story["first"], story["last"]) == ("kWh", 452, 499)


async def test_without_statistics_a_long_time_is_told_from_the_changes(
    world: ToolWorld, past: Past
) -> None:
    past.is_now(WARMTH, "20", state_class="measurement")
    past.after(hours=40).is_now(WARMTH, "21", state_class="measurement")
    past.after(hours=1)
    story = (await look_back(world, entity_id=WARMTH, hours=100))[WARMTH]
    assert [change[1] for change in story["changes"]] == ["20", "21"]


async def test_of_too_many_changes_the_last_are_told(
    world: ToolWorld, past: Past, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_source, "_MAX_CHANGES", 20)
    for step in range(48):
        past.after(minutes=30).is_now(WARMTH, str(step))
    story = (await look_back(world, entity_id=WARMTH))[WARMTH]
    assert story["note"] == "Too many changes: only the last 6 h."
    assert story["changes"][-1][1] == "47"
    assert len(story["changes"]) == 13


async def test_what_changes_faster_than_can_be_told_ends_somewhere(
    world: ToolWorld, past: Past, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_source, "_MAX_CHANGES", 2)
    for step in range(60):
        past.after(seconds=1).is_now(WARMTH, str(step))
    story = (await look_back(world, entity_id=WARMTH, hours=1))[WARMTH]
    assert story["note"].startswith("Too many changes: only the last 0.0")


async def test_something_never_recorded(world: ToolWorld) -> None:
    assert await look_back(world, entity_id=DOOR) == {
        DOOR: {"note": "Nothing is recorded of it in this time."}
    }


@pytest.mark.contract("R5")
async def test_ten_entities_fit_into_one_answer(world: ToolWorld, past: Past) -> None:
    doors = [f"binary_sensor.door_with_a_long_name_{one}" for one in range(10)]
    numbers = [f"sensor.number_with_a_long_name_{one}" for one in range(10)]
    world.reach = Reach.of(look=[*doors, *numbers], act=(), ask=())
    for step in range(40):
        for entity_id in doors:
            past.is_now(entity_id, f"on the long side of things {step}")
        for entity_id in numbers:
            past.is_now(entity_id, f"{step / 7}", unit_of_measurement="µg/m³")
        past.after(hours=4)
    for ten in (doors, numbers):
        assert {*await look_back(world, entity_id=ten, hours=168)} == {*ten}


@pytest.mark.contract("R4")
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"entity_id": DOOR, "hours": 0}, "hours: must be 1 to 168."),
        ({"entity_id": DOOR, "hours": 169}, "hours: must be 1 to 168."),
        ({"entity_id": DOOR, "hours": "all"}, "hours: must be a number."),
        ({"entity_id": "lock.a"}, f"entity_id: must be one of: {DOOR}, {WARMTH}."),
        ({}, "entity_id: required key not provided."),
        (
            {"entity_id": DOOR, "days": 1},
            "get_history does not take 'days'; it takes entity_id, hours.",
        ),
    ],
)
async def test_what_it_does_not_take(
    world: ToolWorld, arguments: dict[str, Any], sentence: str
) -> None:
    answer = await world.call("get_history", **arguments)
    assert (answer.error, answer.content) == (True, sentence)


async def test_more_than_ten_entities_are_refused(world: ToolWorld) -> None:
    many = [f"sensor.s{one}" for one in range(11)]
    world.reach = Reach.of(look=many, act=(), ask=())
    answer = await world.call("get_history", entity_id=many)
    assert answer.content == "entity_id: takes at most 10."
    assert (await world.field("get_history", "entity_id"))["maxItems"] == 10


async def test_it_is_asked_in_the_recorders_own_thread(
    hass: HomeAssistant, world: ToolWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs: list[Any] = []
    executor = get_instance(hass).async_add_executor_job

    def note(job: Any, *arguments: Any) -> Any:
        jobs.append(job)
        return executor(job, *arguments)

    monkeypatch.setattr(get_instance(hass), "async_add_executor_job", note)
    await world.call("get_history", entity_id=[DOOR, WARMTH])
    assert len(jobs) == 1

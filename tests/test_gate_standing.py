"""A gate is not asked again while nothing it rests on has changed (C4, G1, G2)."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from unittest.mock import patch

from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, entity_registry as er
from homeassistant.helpers.condition import ConditionChecker
from homeassistant.setup import async_setup_component
import pytest

from custom_components.proactive_agent.gate import Gate

DOOR = {"condition": "state", "entity_id": "binary_sensor.door", "state": "on"}
WARM = {"condition": "numeric_state", "entity_id": "sensor.a", "above": -12}
LONG = {**DOOR, "for": {"minutes": 5}}


@pytest.fixture
def asked() -> Iterator[Callable[[], int]]:
    """Count how often Home Assistant's checkers were asked since the last time."""
    count = 0
    check = ConditionChecker.async_check

    def counted(self: ConditionChecker, **kwargs: Any) -> bool | None:
        nonlocal count
        count += 1
        return check(self, **kwargs)

    def since() -> int:
        nonlocal count
        result, count = count, 0
        return result

    with patch.object(ConditionChecker, "async_check", counted):
        yield since


async def built(hass: HomeAssistant, *conditions: Any) -> Gate:
    return await Gate.async_build(hass, list(conditions), "Freezer")


@pytest.mark.contract("C4", "G1")
async def test_the_same_states_are_judged_once(
    hass: HomeAssistant, asked: Callable[[], int]
) -> None:
    hass.states.async_set("binary_sensor.door", "on")
    hass.states.async_set("sensor.a", "-8")
    hass.states.async_set("sensor.other", "1")
    gate = await built(hass, DOOR, WARM)
    assert gate.judge() is True
    asked()
    hass.states.async_set("sensor.other", "2")
    hass.states.async_set("sensor.a", "-8")
    assert [gate.judge() for _ in range(5)] == [True] * 5
    assert asked() == 0
    hass.states.async_set("sensor.a", "-18")
    assert gate.judge() is False
    # Of the door, nothing has changed.
    assert asked() == 1


@pytest.mark.contract("G1")
@pytest.mark.parametrize(
    ("condition", "entity_id", "state", "attributes"),
    [
        ({**WARM, "attribute": "inside"}, "sensor.a", "x", {"inside": -20}),
        ({**WARM, "above": "input_number.limit"}, "input_number.limit", "0", {}),
        ({**DOOR, "state": "input_text.wanted"}, "input_text.wanted", "off", {}),
        ({**DOOR, "match": "any"}, "binary_sensor.door", "off", {}),
        ({"or": [DOOR, DOOR]}, "binary_sensor.door", "off", {}),
    ],
)
async def test_whatever_the_answer_rests_on_counts(
    hass: HomeAssistant,
    condition: dict[str, Any],
    entity_id: str,
    state: str,
    attributes: dict[str, Any],
) -> None:
    hass.states.async_set("binary_sensor.door", "on")
    hass.states.async_set("input_text.wanted", "on")
    hass.states.async_set("input_number.limit", "-12")
    hass.states.async_set("sensor.a", "-8", {"inside": -8})
    gate = await built(hass, condition)
    assert gate.judge() is True
    hass.states.async_set(entity_id, state, attributes)
    assert gate.judge() is False


@pytest.mark.contract("G2")
async def test_what_goes_silent_or_away_is_seen_at_once(hass: HomeAssistant) -> None:
    hass.states.async_set("sensor.a", "-8")
    gate = await built(hass, WARM)
    for state, answer in (
        ("unavailable", None),
        ("-8", True),
        (None, None),
        ("-8", True),
        ("unknown", None),
        ("-20", False),
    ):
        if state is None:
            hass.states.async_remove("sensor.a")
        else:
            hass.states.async_set("sensor.a", state)
        assert gate.judge() is answer
        assert gate.judge() is answer


@pytest.mark.contract("C4", "G1")
async def test_a_duration_ends_without_a_change(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory, asked: Callable[[], int]
) -> None:
    hass.states.async_set("binary_sensor.door", "on")
    gate = await built(hass, LONG)
    asked()
    freezer.tick(timedelta(minutes=4))
    assert gate.judge() is False
    assert asked() == 0
    freezer.tick(timedelta(minutes=1))
    assert gate.judge() is False
    freezer.tick(timedelta(seconds=1))
    assert gate.judge() is True
    asked()
    freezer.tick(timedelta(hours=9))
    assert gate.judge() is True
    assert asked() == 0
    hass.states.async_set("binary_sensor.door", "off")
    assert gate.judge() is False


@pytest.mark.contract("G1")
async def test_of_two_durations_each_ends(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory
) -> None:
    hass.states.async_set("binary_sensor.door", "on")
    gate = await built(hass, LONG, {**DOOR, "for": {"minutes": 20}})
    assert gate.judge() is False
    for minutes, answer in ((6, False), (6, False), (9, True)):
        freezer.tick(timedelta(minutes=minutes))
        assert gate.judge() is answer


@pytest.mark.contract("G1")
async def test_a_clock_that_is_set_back_brings_the_duration_back(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory
) -> None:
    hass.states.async_set("binary_sensor.door", "on")
    gate = await built(hass, LONG)
    freezer.tick(timedelta(minutes=6))
    assert gate.judge() is True
    freezer.tick(timedelta(minutes=-4))
    assert gate.judge() is False


@pytest.mark.contract("G1")
@pytest.mark.parametrize(
    "condition",
    [
        {"condition": "time", "after": "12:00:00"},
        "{{ now().hour >= 12 }}",
        {**DOOR, "for": "{{ states('input_number.minutes') ~ ':00' }}"},
    ],
)
async def test_what_rests_on_more_than_states_is_asked_each_time(
    hass: HomeAssistant, asked: Callable[[], int], condition: Any
) -> None:
    hass.states.async_set("binary_sensor.door", "on")
    hass.states.async_set("input_number.minutes", "00:05")
    gate = await built(hass, DOOR, condition)
    asked()
    gate.judge()
    gate.judge()
    assert asked() == 2
    assert not gate.stays_closed


def stays_closed(gate: Gate) -> bool:
    """Ask anew: what was true of a property need not be so a moment later."""
    return gate.stays_closed


@pytest.mark.contract("C4")
async def test_it_stays_closed_only_while_it_was_judged_so(hass: HomeAssistant) -> None:
    hass.states.async_set("binary_sensor.door", "on")
    gate = await built(hass, DOOR)
    assert gate.judge() is True
    assert not stays_closed(gate)
    hass.states.async_set("binary_sensor.door", "off")
    assert not stays_closed(gate)
    assert gate.judge() is False
    assert stays_closed(gate)
    hass.states.async_set("binary_sensor.door", "on")
    # To ask does not change what is answered next.
    assert not stays_closed(gate)
    assert gate.judge() is True


@pytest.mark.contract("C4", "G1")
async def test_a_purpose_specific_condition_stands_if_its_entities_are_named(
    hass: HomeAssistant,
    area_registry: ar.AreaRegistry,
    entity_registry: er.EntityRegistry,
    asked: Callable[[], int],
) -> None:
    assert await async_setup_component(hass, "light", {})
    kitchen = area_registry.async_create("Kitchen")
    lamp = entity_registry.async_get_or_create("light", "test", "lamp")
    hass.states.async_set(lamp.entity_id, "off")

    def lights_on(**target: str) -> dict[str, Any]:
        options = {"behavior": "any"}
        return {"condition": "light.is_on", "target": target, "options": options}

    named = await built(hass, lights_on(entity_id=lamp.entity_id))
    swept = await built(hass, lights_on(area_id=kitchen.id))
    assert (named.judge(), swept.judge()) == (False, None)
    asked()
    assert named.judge() is False
    assert asked() == 0
    entity_registry.async_update_entity(lamp.entity_id, area_id=kitchen.id)
    hass.states.async_set(lamp.entity_id, "on")
    assert (named.judge(), swept.judge()) == (True, True)
    assert (named.is_fixed, swept.is_fixed) == (True, False)

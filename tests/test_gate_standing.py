"""A gate is not asked again while nothing it rests on has changed (C4, G1, G2)."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from unittest.mock import patch

from freezegun.api import FrozenDateTimeFactory
from homeassistant.components.light.condition import (
    async_get_conditions as light_conditions,
)
from homeassistant.core import HomeAssistant, State
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    floor_registry as fr,
    label_registry as lr,
)
from homeassistant.helpers.condition import ConditionChecker
from homeassistant.setup import async_setup_component
from hypothesis import HealthCheck, given, settings, strategies as st
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.proactive_agent.gate import Gate
from custom_components.proactive_agent.gate.needs import EntityNeed
from tests.test_gate_tree import situations, trees

DOOR = {"condition": "state", "entity_id": "binary_sensor.door", "state": "on"}
WARM = {"condition": "numeric_state", "entity_id": "sensor.a", "above": -12}
LONG = {**DOOR, "for": {"minutes": 5}}
CLOSED = {**DOOR, "state": "off"}
EARLIER = {"condition": "time", "before": "06:00:00"}
TEMPLATES = [
    "{{ states('sensor.s0') == 'on' }}",
    "{{ states.sensor | selectattr('state', 'eq', 'on') | list | count > 1 }}",
    "{{ is_state('sensor.s1', 'on') or is_state('sensor.s2', ['on', 'unknown']) }}",
    "{{ now().year > 1 and is_state('sensor.s3', 'off') }}",
]


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


class Kitchen:
    """A kitchen with one lamp in it, and another that is nowhere yet."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Put up both, off."""
        self.hass = hass
        self.area = ar.async_get(hass).async_create("Kitchen").id
        self.label = lr.async_get(hass).async_create("Evening").label_id
        self.registry = er.async_get(hass)
        self.lamp, self.other = (
            self.registry.async_get_or_create(
                "light", "test", name, original_name=name
            ).entity_id
            for name in ("lamp", "other")
        )
        self.move(self.lamp, area_id=self.area, labels={self.label})
        for entity_id in (self.lamp, self.other):
            hass.states.async_set(entity_id, "off")

    def move(self, entity_id: str, **changes: Any) -> None:
        """Change what the registry says of a lamp."""
        self.registry.async_update_entity(entity_id, **changes)


@pytest.fixture
async def kitchen(hass: HomeAssistant) -> Kitchen:
    """Put up a kitchen."""
    assert await async_setup_component(hass, "light", {})
    return Kitchen(hass)


def lights_on(*, lasting: bool = False, every: bool = False, **target: str) -> Any:
    options: dict[str, Any] = {"behavior": "all" if every else "any"}
    if lasting:
        options["for"] = {"minutes": 5}
    return {"condition": "light.is_on", "target": target, "options": options}


def by_place(kitchen: Kitchen) -> list[Any]:
    return [lights_on(area_id=kitchen.area), lights_on(label_id=kitchen.label)]


@pytest.mark.contract("C4", "G1")
async def test_a_target_stands_while_it_leads_to_the_same(
    hass: HomeAssistant, kitchen: Kitchen, asked: Callable[[], int]
) -> None:
    for condition in (lights_on(entity_id=kitchen.lamp), *by_place(kitchen)):
        gate = await built(hass, condition)
        hass.states.async_set(kitchen.other, "on")
        assert gate.judge() is False
        asked()
        hass.states.async_set(kitchen.other, "off")
        assert gate.judge() is False
        assert stays_closed(gate)
        assert asked() == 0
        hass.states.async_set(kitchen.lamp, "on")
        assert not stays_closed(gate)
        assert gate.judge() is True
        hass.states.async_set(kitchen.lamp, "off")
        gate.async_unload()


@pytest.mark.contract("G1", "G2")
async def test_what_comes_into_an_area_or_under_a_label_counts_at_once(
    hass: HomeAssistant, kitchen: Kitchen
) -> None:
    hass.states.async_set(kitchen.other, "on")
    area, label = [await built(hass, one) for one in by_place(kitchen)]
    assert (area.judge(), label.judge()) == (False, False)
    kitchen.move(kitchen.other, area_id=kitchen.area)
    assert (stays_closed(area), area.judge(), label.judge()) == (False, True, False)
    kitchen.move(kitchen.other, area_id=None, labels={kitchen.label})
    assert (area.judge(), label.judge()) == (False, True)
    # A new one, and one that goes for good.
    kitchen.registry.async_remove(kitchen.other)
    hass.states.async_remove(kitchen.other)
    assert (area.judge(), label.judge()) == (False, False)
    new = kitchen.registry.async_get_or_create(
        "light", "test", "new", original_name="new"
    ).entity_id
    hass.states.async_set(new, "on")
    assert area.judge() is False
    kitchen.move(new, area_id=kitchen.area)
    assert area.judge() is True
    # With none left there is nothing that could be judged.
    for entity_id in (new, kitchen.lamp):
        kitchen.move(entity_id, area_id=None)
    assert area.judge() is None


@pytest.mark.contract("G1")
async def test_a_device_and_a_floor_lead_to_others_too(
    hass: HomeAssistant, kitchen: Kitchen
) -> None:
    floor = fr.async_get(hass).async_create("Upstairs").floor_id
    entry = MockConfigEntry(domain="test")
    entry.add_to_hass(hass)
    device = dr.async_get(hass).async_get_or_create(
        config_entry_id=entry.entry_id, identifiers={("test", "rail")}
    )
    rail = kitchen.registry.async_get_or_create(
        "light", "test", "rail", config_entry=entry, device_id=device.id
    ).entity_id
    hass.states.async_set(rail, "on")
    area = await built(hass, lights_on(area_id=kitchen.area))
    upstairs = await built(hass, lights_on(floor_id=floor))
    assert (area.judge(), upstairs.judge()) == (False, None)
    dr.async_get(hass).async_update_device(device.id, area_id=kitchen.area)
    assert (area.judge(), upstairs.judge()) == (True, None)
    ar.async_get(hass).async_update(kitchen.area, floor_id=floor)
    assert upstairs.judge() is True
    dr.async_get(hass).async_update_device(device.id, area_id=None)
    assert (area.judge(), upstairs.judge()) == (False, False)


@pytest.mark.contract("G2")
async def test_an_area_that_falls_silent_cannot_be_judged(
    hass: HomeAssistant, kitchen: Kitchen
) -> None:
    gate = await built(hass, lights_on(area_id=kitchen.area))
    for state, answer in (("unavailable", None), ("off", False), ("on", True)):
        hass.states.async_set(kitchen.lamp, state)
        assert gate.judge() is answer
        assert gate.judge() is answer
    hass.states.async_remove(kitchen.lamp)
    assert gate.judge() is None


@pytest.mark.contract("C4", "G1")
@pytest.mark.parametrize("every", [False, True])
async def test_a_duration_in_an_area_is_asked_for_once_it_has_begun(
    hass: HomeAssistant,
    freezer: FrozenDateTimeFactory,
    kitchen: Kitchen,
    asked: Callable[[], int],
    every: bool,
) -> None:
    kitchen.move(kitchen.other, area_id=kitchen.area)
    condition = lights_on(lasting=True, every=every, area_id=kitchen.area)
    gate = await built(hass, condition)
    asked()
    freezer.tick(timedelta(hours=1))
    assert gate.judge() is False
    assert stays_closed(gate)
    assert asked() == 0
    hass.states.async_set(kitchen.lamp, "on")
    await hass.async_block_till_done()
    assert gate.judge() is False
    # Of all lamps one is still off: no time makes that true.
    assert stays_closed(gate) is every
    hass.states.async_set(kitchen.other, "on")
    await hass.async_block_till_done()
    assert gate.judge() is False
    assert not stays_closed(gate)
    freezer.tick(timedelta(minutes=5, seconds=1))
    assert gate.judge() is True
    hass.states.async_set(kitchen.lamp, "off")
    hass.states.async_set(kitchen.other, "off")
    await hass.async_block_till_done()
    assert gate.judge() is False
    gate.async_unload()


@pytest.mark.contract("G1")
async def test_a_kind_that_joins_its_entities_in_its_own_way_is_asked_each_time(
    hass: HomeAssistant, kitchen: Kitchen, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = (await light_conditions(hass))["is_on"]

    def one_is_there(_self: Any, states: list[State]) -> bool:
        return len(states) > 1

    monkeypatch.setattr(kind, "_check_any_match_state", one_is_there)
    gate = await built(hass, lights_on(lasting=True, area_id=kitchen.area))
    assert gate.judge() is False
    assert not stays_closed(gate)
    gate.async_unload()


@pytest.mark.contract("G2")
async def test_a_verdict_that_could_not_be_reached_is_not_the_last_one(
    hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    hass.states.async_set("binary_sensor.door", "on")
    gate = await built(hass, DOOR)
    assert gate.judge() is True
    hass.states.async_set("binary_sensor.door", "off")
    with monkeypatch.context() as patched:
        patched.setattr(EntityNeed, "fault", None)
        with pytest.raises(TypeError):
            gate.judge()
    assert gate.judge() is False


@pytest.mark.contract("C7")
async def test_an_unloaded_gate_listens_to_nothing(
    hass: HomeAssistant, kitchen: Kitchen
) -> None:
    before = dict(hass.bus.async_listeners())
    gate = await built(hass, *by_place(kitchen))
    assert dict(hass.bus.async_listeners()) != before
    gate.async_unload()
    assert dict(hass.bus.async_listeners()) == before
    plain = await built(hass, DOOR, WARM, "{{ states.light | count > 9 }}")
    # Nothing is heard of what happens elsewhere in the home (C4).
    assert dict(hass.bus.async_listeners()) == before
    plain.async_unload()


@pytest.mark.contract("C4", "G1")
@pytest.mark.parametrize(
    ("template", "changes"),
    [
        ("{{ is_state('sensor.a', 'on') }}", {"sensor.a": "on"}),
        ("{{ states.sensor.gone is not none }}", {"sensor.gone": "1"}),
        ("{{ states('sensor.gone') != 'unknown' }}", {"sensor.gone": "1"}),
        ("{% if states['sensor.gone'] %}true{% endif %}", {"sensor.gone": "1"}),
        ("{% set a = states.sensor %}{{ a.gone != none }}", {"sensor.gone": "1"}),
        (
            "{{ states.light | selectattr('state','eq','on') | list | count > 0 }}",
            {"light.b": "on"},
        ),
        ("{{ states.light | count > 2 }}", {"light.c": "off"}),
        ("{{ states | selectattr('state', 'eq', 'x') | list != [] }}", {"fan.a": "x"}),
        (
            "{{ expand('group.all') | map(attribute='state') | first == 'on' }}",
            {"light.a": "on"},
        ),
        (
            "{{ ['light.a', 'light.b'] | map('states') | list == ['on', 'off'] }}",
            {"light.a": "on"},
        ),
        ("{{ state_attr('light.a', 'brightness') == 255 }}", {"light.a": "dimmed"}),
        (
            "{% for one in states.light if one.state == 'on' %}true{% endfor %}",
            {"light.a": "on"},
        ),
        (
            (
                "{% macro warm(id) %}{{ states(id) | float > 4 }}{% endmacro %}"
                "{{ warm('sensor.b') }}"
            ),
            {"sensor.b": "9"},
        ),
        # What it does not come to, it does not rest on.
        ("{{ is_state('sensor.a', 'on') and now().year > 1 }}", {"sensor.a": "on"}),
    ],
)
async def test_a_template_stands_while_all_is_the_same_that_it_read(
    hass: HomeAssistant,
    asked: Callable[[], int],
    template: str,
    changes: dict[str, str],
) -> None:
    hass.states.async_set("sensor.a", "off")
    hass.states.async_set("sensor.b", "1")
    hass.states.async_set("group.all", "off", {"entity_id": ["light.a"]})
    for lamp in ("light.a", "light.b"):
        hass.states.async_set(lamp, "off")
    gate = await built(hass, template)
    first = gate.judge()
    assert first is not True
    asked()
    hass.states.async_set("switch.elsewhere", "on")
    hass.states.async_set("sensor.a", "off")
    assert gate.judge() is first
    reads_all = "states |" in template
    assert asked() == (first is None or reads_all)
    for entity_id, state in changes.items():
        hass.states.async_set(entity_id, state, {"brightness": 255})
    assert not stays_closed(gate)
    assert gate.judge() is True
    for entity_id in changes:
        hass.states.async_remove(entity_id)
    assert gate.judge() is not True


@pytest.mark.contract("G1", "G2")
async def test_a_template_that_reads_others_rests_on_those(
    hass: HomeAssistant, asked: Callable[[], int]
) -> None:
    hass.states.async_set("input_select.which", "a")
    hass.states.async_set("sensor.a", "1")
    hass.states.async_set("sensor.b", "9")
    gate = await built(
        hass, "{{ states('sensor.' ~ states('input_select.which')) | float > 4 }}"
    )
    assert gate.judge() is False
    hass.states.async_set("sensor.b", "8")
    asked()
    assert gate.judge() is False
    assert asked() == 0
    hass.states.async_set("input_select.which", "b")
    assert gate.judge() is True
    hass.states.async_set("sensor.a", "2")
    asked()
    assert gate.judge() is True
    assert asked() == 0
    hass.states.async_set("sensor.b", "unavailable")
    assert gate.judge() is None
    hass.states.async_set("input_select.which", "c")
    assert gate.judge() is None
    assert gate.unjudgeable() == {"sensor.c": "missing"}
    hass.states.async_set("sensor.c", "3")
    assert gate.judge() is False
    assert gate.entity_ids == {"input_select.which", "sensor.c"}


@pytest.mark.contract("G1")
async def test_a_template_that_reads_the_time_is_judged_at_each_tick(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory
) -> None:
    hass.states.async_set("binary_sensor.door", "on")
    gate = await built(
        hass,
        "{{ now() - states.binary_sensor.door.last_changed > timedelta(minutes=5) }}",
    )
    for minutes, answer in (
        (3, False),
        (1, False),
        (2, True),
        (60, True),
        (-61, False),
    ):
        freezer.tick(timedelta(minutes=minutes))
        assert gate.judge() is answer
        assert not stays_closed(gate)


@pytest.mark.contract("G1")
async def test_a_template_that_asks_a_registry_is_judged_at_each_tick(
    hass: HomeAssistant, kitchen: Kitchen
) -> None:
    gate = await built(hass, f"{{{{ area_entities('{kitchen.area}') | count > 1 }}}}")
    assert gate.judge() is False
    assert not stays_closed(gate)
    kitchen.move(kitchen.other, area_id=kitchen.area)
    assert gate.judge() is True


@pytest.mark.contract("C4", "G1")
async def test_a_number_from_a_template_stands(
    hass: HomeAssistant, asked: Callable[[], int]
) -> None:
    hass.states.async_set("sensor.a", "-20")
    hass.states.async_set("sensor.b", "1")
    value = "{{ state.state | float + states('sensor.b') | float }}"
    gate = await built(hass, {**WARM, "value_template": value})
    assert gate.judge() is False
    asked()
    assert gate.judge() is False
    assert asked() == 0
    hass.states.async_set("sensor.b", "10")
    assert gate.judge() is True
    hass.states.async_set("sensor.a", "-30")
    assert gate.judge() is False


@pytest.mark.contract("G1")
@pytest.mark.parametrize("one", ["a", "b"])
async def test_a_template_may_read_another_entity_for_each_of_several(
    hass: HomeAssistant, one: str
) -> None:
    for name in ("a", "b"):
        hass.states.async_set(f"sensor.{name}", "1")
        hass.states.async_set(f"sensor.real_{name}", "9")
    gate = await built(
        hass,
        {
            **WARM,
            "entity_id": ["sensor.a", "sensor.b"],
            "value_template": "{{ states('sensor.real_' ~ state.object_id) }}",
        },
    )
    assert gate.judge() is True
    assert gate.entity_ids >= {"sensor.real_a", "sensor.real_b"}
    hass.states.async_set(f"sensor.real_{one}", "-20")
    assert gate.judge() is False
    hass.states.async_set(f"sensor.real_{one}", "unavailable")
    assert gate.judge() is None


@pytest.mark.contract("C4", "G1")
async def test_a_zone_stands_until_somebody_or_the_zone_moves(
    hass: HomeAssistant, asked: Callable[[], int]
) -> None:
    here, there = ({"latitude": degrees, "longitude": 5.0} for degrees in (52.0, 48.0))
    hass.states.async_set("person.ann", "away", {**here, "gps_accuracy": 5})
    hass.states.async_set("zone.school", "0", {**there, "radius": 100})
    condition = {"condition": "zone", "entity_id": "person.ann", "zone": "zone.school"}
    gate = await built(hass, condition)
    assert gate.judge() is False
    asked()
    assert stays_closed(gate)
    assert asked() == 0
    hass.states.async_set("zone.school", "0", {**here, "radius": 100})
    assert not stays_closed(gate)
    assert gate.judge() is True
    hass.states.async_set("person.ann", "away", {**there, "gps_accuracy": 5})
    assert gate.judge() is False
    hass.states.async_remove("person.ann")
    assert gate.judge() is None


@pytest.mark.contract("C4", "G1")
async def test_a_device_s_condition_on_an_entity_stands(
    hass: HomeAssistant,
    freezer: FrozenDateTimeFactory,
    kitchen: Kitchen,
    asked: Callable[[], int],
) -> None:
    entry = MockConfigEntry(domain="test")
    entry.add_to_hass(hass)
    device = dr.async_get(hass).async_get_or_create(
        config_entry_id=entry.entry_id, identifiers={("test", "lamp")}
    )
    kitchen.move(kitchen.lamp, device_id=device.id)
    lit = {
        "condition": "device",
        "domain": "light",
        "device_id": device.id,
        "entity_id": kitchen.lamp,
        "type": "is_on",
    }
    gate = await built(hass, lit)
    long = await built(hass, {**lit, "for": {"minutes": 5}})
    assert (gate.judge(), long.judge()) == (False, False)
    assert (stays_closed(gate), stays_closed(long)) == (True, False)
    asked()
    assert gate.judge() is False
    assert asked() == 0
    hass.states.async_set(kitchen.lamp, "on")
    assert (gate.judge(), long.judge()) == (True, False)
    freezer.tick(timedelta(minutes=6))
    assert long.judge() is True


@pytest.mark.contract("C4", "G1")
@pytest.mark.parametrize(
    ("conditions", "stays"),
    [
        # One that stands and says no decides, wherever it comes.
        ([DOOR, EARLIER], True),
        ([EARLIER, DOOR], True),
        ([{"and": [EARLIER, DOOR]}], True),
        ([{"not": [EARLIER, CLOSED]}], True),
        ([{"or": [DOOR, DOOR]}], True),
        ([{"or": [{"and": [DOOR, EARLIER]}, {"not": [CLOSED, EARLIER]}]}], True),
        # What may turn out otherwise is looked at.
        ([{"or": [DOOR, EARLIER]}], False),
        ([{"not": [DOOR, EARLIER]}, "{{ false }}"], True),
        ([CLOSED, EARLIER], False),
        # A template that reads the time may read others the next time.
        (["{{ now().year > 1 }}", DOOR], False),
        ([DOOR, "{{ now().year > 1 }}"], True),
        # Of one that is wrong, nothing is known.
        ([DOOR, "{{ '"], False),
        ([], False),
        ([{"or": [{**DOOR, "enabled": False}]}], False),
    ],
)
async def test_one_part_may_decide_for_all(
    hass: HomeAssistant,
    freezer: FrozenDateTimeFactory,
    conditions: list[Any],
    stays: bool,
) -> None:
    await hass.config.async_set_time_zone("UTC")
    freezer.move_to("2026-11-01T12:00:00+00:00")
    hass.states.async_set("binary_sensor.door", "off")
    gate = await built(hass, *conditions)
    before = gate.judge()
    assert stays_closed(gate) is stays
    assert before is False or not stays
    # To explain it looks at all of them, and takes nothing from that (G3).
    gate.explain()
    assert stays_closed(gate) is stays
    hass.states.async_set("binary_sensor.door", "on")
    gate.explain()
    assert gate.judge() is (await built(hass, *conditions)).judge()


@pytest.mark.contract("G1")
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    conditions=st.lists(trees | st.sampled_from(TEMPLATES), min_size=1, max_size=3),
    story=st.lists(situations, min_size=2, max_size=5),
)
async def test_a_gate_that_stood_answers_as_one_that_is_new(
    hass: HomeAssistant, conditions: list[Any], story: list[dict[str, str | None]]
) -> None:
    gate = await built(hass, *conditions)
    for situation in story:
        set_all(hass, situation)
        fresh = await built(hass, *conditions)
        if gate.stays_closed:
            assert fresh.judge() is False
        assert gate.judge() is fresh.judge()
        fresh.async_unload()
    gate.async_unload()


def set_all(hass: HomeAssistant, situation: dict[str, str | None]) -> None:
    for entity_id, state in situation.items():
        if state is None:
            hass.states.async_remove(entity_id)
        else:
            hass.states.async_set(entity_id, state)

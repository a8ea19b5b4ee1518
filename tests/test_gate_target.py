"""Purpose-specific and device conditions: whom they look at."""

from collections.abc import Mapping
from typing import Any, Unpack, cast, override
from unittest.mock import Mock

from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import CONF_OPTIONS, CONF_TARGET
from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    config_validation as cv,
    device_registry as dr,
    entity_registry as er,
    label_registry as lr,
)
from homeassistant.helpers.condition import (
    Condition,
    ConditionCheckParams,
    ConditionConfig,
)
from homeassistant.helpers.typing import ConfigType
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    MockModule,
    mock_integration,
    mock_platform,
)

from custom_components.proactive_agent.gate import Gate


async def build(hass: HomeAssistant, *conditions: Any) -> Gate:
    return await Gate.async_build(hass, list(conditions), "Milonga")


def lights_on(behavior: str, **target: Any) -> dict[str, Any]:
    return {
        "condition": "light.is_on",
        "target": target,
        "options": {"behavior": behavior},
    }


@pytest.mark.contract("G2")
@pytest.mark.parametrize("behavior", ["any", "all"])
@pytest.mark.parametrize("silent", ["unavailable", "unknown", None])
async def test_one_judgeable_entity_is_enough(
    hass: HomeAssistant, behavior: str, silent: str | None
) -> None:
    condition = lights_on(behavior, entity_id=["light.a", "light.b"])
    gate = await build(hass, condition)
    inverse = await build(hass, {"not": [condition]})
    if silent:
        hass.states.async_set("light.b", silent)
    hass.states.async_set("light.a", "on")
    assert (gate.judge(), inverse.judge()) == (True, False)
    hass.states.async_set("light.a", "off")
    assert (gate.judge(), inverse.judge()) == (False, True)
    (verdict,) = gate.explain()
    state = f"is {silent}" if silent else "does not exist"
    assert verdict.reason == f"it does not hold; light.a is off; light.b {state}"
    trouble = "unavailable" if silent else "missing"
    assert gate.unjudgeable() == {"light.b": trouble}
    hass.states.async_set("light.a", "unavailable")
    assert (gate.judge(), inverse.judge()) == (None, None)


@pytest.mark.contract("G2")
@pytest.mark.parametrize("by", ["area_id", "label_id"])
async def test_a_target_that_leads_to_entities(
    hass: HomeAssistant,
    area_registry: ar.AreaRegistry,
    label_registry: lr.LabelRegistry,
    entity_registry: er.EntityRegistry,
    by: str,
) -> None:
    area = area_registry.async_create("Kitchen").id
    label = label_registry.async_create("Cosy").label_id
    condition = lights_on("all", **{by: area if by == "area_id" else label})
    gate = await build(hass, condition)
    inverse = await build(hass, {"not": [condition]})
    assert (gate.judge(), inverse.judge()) == (None, None)
    assert gate.explain()[0].reason == "its target has no matching entity"
    assert gate.unjudgeable() == {}

    ids = [
        entity_registry.async_get_or_create("light", "demo", name).entity_id
        for name in ("one", "two")
    ]
    for entity_id in ids:
        entity_registry.async_update_entity(entity_id, area_id=area, labels={label})
    assert (gate.judge(), inverse.judge()) == (None, None)
    assert gate.unjudgeable() == dict.fromkeys(ids, "missing")

    hass.states.async_set(ids[0], "unavailable")
    hass.states.async_set(ids[1], "unavailable")
    assert (gate.judge(), inverse.judge()) == (None, None)
    assert gate.unjudgeable() == dict.fromkeys(ids, "unavailable")

    hass.states.async_set(ids[0], "on")
    assert (gate.judge(), inverse.judge()) == (True, False)
    # One lamp without power is no reason to trouble the owner of a whole area.
    assert gate.unjudgeable() == {}
    assert gate.entity_ids == set(ids)


@pytest.mark.contract("G2")
async def test_an_entity_of_another_kind_is_none(hass: HomeAssistant) -> None:
    hass.states.async_set("switch.a", "on")
    hass.states.async_set("sensor.b", "90", {"device_class": "humidity"})
    assert (await build(hass, lights_on("all", entity_id="switch.a"))).judge() is None
    level = {
        "condition": "battery.is_level",
        "target": {"entity_id": "sensor.b"},
        "options": {
            "behavior": "all",
            "threshold": {"type": "above", "value": {"number": 20}},
        },
    }
    assert (await build(hass, level)).judge() is None
    assert (await build(hass, {"not": [level]})).judge() is None


@pytest.mark.contract("G2")
async def test_an_entity_without_what_is_compared(hass: HomeAssistant) -> None:
    hass.states.async_set("climate.room", "heat", {"current_temperature": None})
    condition = {
        "condition": "temperature.is_value",
        "target": {"entity_id": "climate.room"},
        "options": {
            "behavior": "all",
            "threshold": {
                "type": "above",
                "value": {"number": 20, "unit_of_measurement": "°C"},
            },
        },
    }
    assert (await build(hass, condition)).judge() is None
    assert (await build(hass, {"not": [condition]})).judge() is None


@pytest.mark.contract("G2")
@pytest.mark.parametrize(
    ("limit", "unit", "answer"),
    [("20", "%", True), ("20", "°C", None), ("high", "%", None), ("5", "%", False)],
)
async def test_a_limit_must_compare(
    hass: HomeAssistant, limit: str, unit: str, answer: bool | None
) -> None:
    hass.states.async_set(
        "sensor.b", "10", {"device_class": "battery", "unit_of_measurement": "%"}
    )
    hass.states.async_set("sensor.limit", limit, {"unit_of_measurement": unit})
    condition = {
        "condition": "battery.is_level",
        "target": {"entity_id": "sensor.b"},
        "options": {
            "threshold": {"type": "below", "value": {"entity": "sensor.limit"}},
        },
    }
    assert (await build(hass, condition)).judge() is answer
    inverse = await build(hass, {"not": [condition]})
    assert inverse.is_open() is (answer is False)


def a_lamp(hass: HomeAssistant) -> er.RegistryEntry:
    """Register a lamp with its device."""
    entry = MockConfigEntry(domain="demo", state=ConfigEntryState.LOADED)
    entry.add_to_hass(hass)
    device = dr.async_get(hass).async_get_or_create(
        config_entry_id=entry.entry_id, identifiers={("demo", "lamp")}
    )
    return er.async_get(hass).async_get_or_create(
        "light", "demo", "lamp", device_id=device.id, config_entry=entry
    )


def device_on(lamp: er.RegistryEntry, entity: str) -> dict[str, Any]:
    return {
        "condition": "device",
        "device_id": lamp.device_id,
        "domain": "light",
        "entity_id": entity,
        "type": "is_on",
    }


@pytest.mark.contract("G2", "G3")
@pytest.mark.parametrize("by_id", [True, False])
async def test_a_device_condition(hass: HomeAssistant, by_id: bool) -> None:
    await async_setup_component(hass, "device_automation", {})
    lamp = a_lamp(hass)
    condition = device_on(lamp, lamp.id if by_id else lamp.entity_id)
    gate = await build(hass, condition)
    inverse = await build(hass, {"not": [condition]})
    assert not gate.faults
    answers = []
    for state in ("on", "off", "unavailable", "unknown"):
        hass.states.async_set(lamp.entity_id, state)
        answers.append((gate.judge(), inverse.judge()))
    assert answers == [(True, False), (False, True), (None, None), (None, None)]
    assert gate.unjudgeable() == {lamp.entity_id: "unavailable"}
    hass.states.async_remove(lamp.entity_id)
    assert (gate.judge(), inverse.judge()) == (None, None)
    assert gate.unjudgeable() == {lamp.entity_id: "missing"}
    assert gate.entity_ids == {lamp.entity_id}
    (verdict,) = gate.explain()
    assert verdict.condition == f"device is_on {lamp.entity_id}"
    assert verdict.reason == f"{lamp.entity_id} does not exist"


def stale(gate: Gate) -> bool:
    return gate.needs_rebuild


@pytest.mark.contract("G2")
@pytest.mark.parametrize("kind", ["device", "state"])
async def test_a_renamed_entity_asks_for_a_rebuild(
    hass: HomeAssistant, entity_registry: er.EntityRegistry, kind: str
) -> None:
    await async_setup_component(hass, "device_automation", {})
    lamp = a_lamp(hass)
    hass.states.async_set(lamp.entity_id, "on")
    condition = (
        device_on(lamp, lamp.id)
        if kind == "device"
        else {"condition": "state", "entity_id": lamp.id, "state": "on"}
    )
    gate = await build(hass, condition)
    assert gate.is_open()
    assert not stale(gate)
    entity_registry.async_update_entity(lamp.entity_id, new_entity_id="light.new")
    hass.states.async_remove(lamp.entity_id)
    hass.states.async_set("light.new", "on")
    assert not gate.is_open()
    assert stale(gate)
    again = await build(hass, condition)
    assert again.is_open()
    assert not stale(again)
    entity_registry.async_remove("light.new")
    hass.states.async_remove("light.new")
    assert not again.is_open()
    assert stale(again)


@pytest.mark.contract("G2")
async def test_a_device_condition_without_an_entity(
    hass: HomeAssistant,
) -> None:
    lamp = a_lamp(hass)
    mock_platform(
        hass,
        "demo.device_condition",
        Mock(
            spec_set=["CONDITION_SCHEMA", "async_condition_from_config"],
            CONDITION_SCHEMA=cv.DEVICE_CONDITION_SCHEMA,
            async_condition_from_config=lambda *_: lambda *_: True,
        ),
    )
    mock_integration(hass, MockModule("demo"))
    condition = {"condition": "device", "device_id": lamp.device_id, "domain": "demo"}
    gate = await build(hass, condition)
    assert gate.is_open()
    assert gate.entity_ids == frozenset()
    dr.async_get(hass).async_remove_device(str(lamp.device_id))
    assert gate.judge() is None


@pytest.mark.contract("G2")
async def test_a_device_that_arrives_late(hass: HomeAssistant) -> None:
    await async_setup_component(hass, "device_automation", {})
    lamp = a_lamp(hass)
    condition = device_on(lamp, lamp.id)
    dr.async_get(hass).async_remove_device(str(lamp.device_id))
    await hass.async_block_till_done()
    gate = await build(hass, condition)
    assert not gate.is_open()
    assert gate.needs_rebuild
    assert gate.explain()[0].condition == "device"
    assert "Unknown device" in gate.explain()[0].reason


class _Fake(Condition):
    """A condition of some custom integration, with an answer set by the test."""

    answers: Mapping[str, Any] = {}

    @override
    @classmethod
    async def async_validate_config(
        cls, hass: HomeAssistant, config: ConfigType
    ) -> ConfigType:
        # Some write into what they are given.
        config.setdefault(CONF_OPTIONS, {})["validated"] = True
        return config

    def __init__(self, hass: HomeAssistant, config: ConditionConfig) -> None:
        super().__init__(hass, config)
        self._options = config.options or {}

    @override
    def _async_check(self, **kwargs: Unpack[ConditionCheckParams]) -> bool | None:
        answer = self.answers["answer"]
        if isinstance(answer, Exception):
            raise answer
        return cast(bool | None, answer)


@pytest.fixture
def custom(hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Install an integration with a condition of its own."""
    answers = {"answer": True}
    monkeypatch.setattr(_Fake, "answers", answers)

    class Platform:
        @staticmethod
        async def async_get_conditions(
            _hass: HomeAssistant,
        ) -> dict[str, type[Condition]]:
            return {"is_well": _Fake}

    mock_integration(hass, MockModule("pet"))
    mock_platform(hass, "pet.condition", Platform)
    return answers


@pytest.mark.contract("G2")
@pytest.mark.parametrize(
    ("answer", "judged"),
    [
        (True, True),
        (False, False),
        (None, None),
        (ValueError("odd"), None),
        (KeyError(), None),
    ],
)
async def test_a_custom_condition_may_do_anything(
    hass: HomeAssistant, custom: dict[str, Any], answer: Any, judged: bool | None
) -> None:
    custom["answer"] = answer
    gate = await build(hass, {"condition": "pet.is_well"})
    inverse = await build(hass, {"not": [{"condition": "pet.is_well"}]})
    assert not gate.faults
    assert gate.judge() is judged
    assert inverse.is_open() is (judged is False)
    assert gate.explain()[0].reason


@pytest.mark.contract("G1")
async def test_a_custom_condition_cannot_write_into_what_is_stored(
    hass: HomeAssistant, custom: dict[str, Any]
) -> None:
    raw = {"condition": "pet.is_well", CONF_OPTIONS: {"who": "Milonga"}}
    gate = await build(hass, raw)
    assert gate.is_open()
    assert raw[CONF_OPTIONS] == {"who": "Milonga"}


@pytest.mark.contract("G2")
async def test_a_custom_condition_with_a_target(
    hass: HomeAssistant, custom: dict[str, Any]
) -> None:
    gate = await build(
        hass, {"condition": "pet.is_well", CONF_TARGET: {"entity_id": ["pet.milonga"]}}
    )
    assert gate.judge() is None
    hass.states.async_set("pet.milonga", "unavailable")
    assert gate.judge() is None
    hass.states.async_set("pet.milonga", "happy")
    assert gate.judge() is True


@pytest.mark.contract("G2")
async def test_a_custom_condition_with_a_limit(
    hass: HomeAssistant, custom: dict[str, Any]
) -> None:
    limit = {"type": "above", "value": {"entity": "sensor.limit"}}
    gate = await build(
        hass, {"condition": "pet.is_well", CONF_OPTIONS: {"threshold": limit}}
    )
    assert gate.judge() is None
    hass.states.async_set("sensor.limit", "high")
    assert gate.judge() is None
    hass.states.async_set("sensor.limit", "3")
    assert gate.judge() is True


@pytest.mark.contract("G2")
async def test_a_custom_condition_on_devices(
    hass: HomeAssistant, custom: dict[str, Any]
) -> None:
    lamp = a_lamp(hass)
    registry = dr.async_get(hass)
    device_id = str(lamp.device_id)
    gate = await build(
        hass,
        {
            "condition": "pet.is_well",
            CONF_OPTIONS: {
                "device_id": [device_id, "gone"],
                "entity_id": "pet.milonga",
            },
        },
    )
    assert gate.explain()[0].reason == "pet.milonga does not exist"
    hass.states.async_set("pet.milonga", "happy")
    assert gate.judge() is True
    registry.async_update_device(device_id, disabled_by=dr.DeviceEntryDisabler.USER)
    assert gate.judge() is None
    registry.async_update_device(device_id, disabled_by=None)
    assert gate.judge() is True
    (entry,) = hass.config_entries.async_entries("demo")
    assert isinstance(entry, MockConfigEntry)
    entry.mock_state(hass, ConfigEntryState.SETUP_RETRY)
    assert gate.judge() is None
    registry.async_remove_device(device_id)
    assert gate.judge() is None
    assert gate.explain()[0].reason == "its device is gone, disabled or not loaded"
    assert gate.unjudgeable() == {}

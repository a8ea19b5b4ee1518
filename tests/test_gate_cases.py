"""Every kind of condition: held, not held, and not to be judged."""

import logging

from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant
import pytest

from custom_components.proactive_agent.gate import Gate
from tests.support.gate_cases import CASES, Case, States

SILENT = ("unavailable", "unknown")


def set_states(hass: HomeAssistant, states: States) -> None:
    for entity_id, value in states.items():
        state, attributes = (value, {}) if isinstance(value, str) else value
        hass.states.async_set(entity_id, state, attributes)


def silence(
    hass: HomeAssistant, states: States, group: tuple[str, ...], to: str
) -> None:
    for entity_id in group:
        value = states[entity_id]
        if to == "missing":
            hass.states.async_remove(entity_id)
        else:
            attributes = {} if isinstance(value, str) else value[1]
            hass.states.async_set(entity_id, to, attributes)


@pytest.mark.contract("G1", "G2", "G3")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
async def test_condition(
    hass: HomeAssistant,
    freezer: FrozenDateTimeFactory,
    caplog: pytest.LogCaptureFixture,
    case: Case,
) -> None:
    await hass.config.async_set_time_zone("UTC")
    freezer.move_to("2026-11-01T12:00:00+00:00")
    set_states(hass, case.true)
    freezer.tick(1)
    gate = await Gate.async_build(hass, [case.condition], "Milonga")
    inverse = await Gate.async_build(hass, {"not": [case.condition]}, "Milonga")
    assert not gate.faults
    caplog.clear()
    caplog.set_level(logging.INFO)

    for states, holds in ((case.true, True), (case.false, False), (case.true, True)):
        set_states(hass, states)
        freezer.tick(1)
        assert gate.is_open() is holds
        assert inverse.is_open() is not holds
        assert [verdict.result for verdict in gate.explain()] == [holds]
        assert gate.unjudgeable() == {}
        assert gate.entity_ids >= {name for group in case.stands_on for name in group}

    for states in (case.true, case.false):
        for group in case.stands_on:
            for trouble in ("missing", *SILENT):
                set_states(hass, states)
                freezer.tick(1)
                silence(hass, states, group, trouble)
                where = f"{group} {trouble}, from {states}"
                assert gate.judge() is None, where
                assert not gate.is_open(), where
                assert not inverse.is_open(), where
                (verdict,) = gate.explain()
                assert verdict.result is None, where
                assert any(name in verdict.reason for name in group), verdict
                expected = "missing" if trouble == "missing" else "unavailable"
                assert expected in gate.unjudgeable().values(), where
                assert set(gate.unjudgeable()) <= set(group), where
    assert not [r for r in caplog.records if r.name.startswith("homeassistant.helpers")]
    gate.async_unload()
    inverse.async_unload()

"""Repair issues about what keeps a gate from being judged."""

from collections.abc import Generator
from datetime import timedelta
import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import Event, HomeAssistant
from homeassistant.helpers import issue_registry as ir
import pytest
from pytest_homeassistant_custom_component.common import (
    async_capture_events,
    async_fire_time_changed,
)

from custom_components.proactive_agent.const import DOMAIN
from custom_components.proactive_agent.gate import Gate
from custom_components.proactive_agent.gate.watch import GateWatch

BELOW = {"condition": "numeric_state", "entity_id": "sensor.b", "below": 5}
MISSING = "missing_entity_hb1_sensor.b"
SILENT = "unavailable_entity_hb1_sensor.b"


class Watched:
    """A gate under watch, and the issues there are."""

    def __init__(self, hass: HomeAssistant) -> None:
        self._hass = hass
        self.watches: list[GateWatch] = []

    async def start(self, *conditions: Any, heartbeat: str = "hb1") -> GateWatch:
        gate = await Gate.async_build(self._hass, list(conditions), "Milonga")
        watch = GateWatch(
            self._hass, heartbeat_id=heartbeat, title="Milonga", gate=gate
        )
        self.watches.append(watch)
        watch.async_start()
        return watch

    async def pass_time(self, freezer: FrozenDateTimeFactory, **delta: float) -> None:
        freezer.tick(timedelta(**delta))
        async_fire_time_changed(self._hass)
        await self._hass.async_block_till_done()

    async def put(self, state: str | None, entity_id: str = "sensor.b") -> None:
        if state is None:
            self._hass.states.async_remove(entity_id)
        else:
            self._hass.states.async_set(entity_id, state)
        await self._hass.async_block_till_done()

    @property
    def issues(self) -> set[str]:
        registry = ir.async_get(self._hass)
        return {
            issue_id
            for (domain, issue_id), issue in registry.issues.items()
            if domain == DOMAIN and issue.active
        }


@pytest.fixture
def watched(hass: HomeAssistant) -> Generator[Watched]:
    result = Watched(hass)
    yield result
    for watch in result.watches:
        watch.async_stop()


@pytest.fixture
def writes(hass: HomeAssistant) -> list[Event[Any]]:
    events: list[Event[Any]] = async_capture_events(
        hass, ir.EVENT_REPAIRS_ISSUE_REGISTRY_UPDATED
    )
    return events


@pytest.mark.contract("G2")
async def test_a_missing_entity_is_reported_at_once(
    hass: HomeAssistant, watched: Watched, issue_registry: ir.IssueRegistry
) -> None:
    await watched.start(BELOW)
    assert watched.issues == {MISSING}
    issue = issue_registry.async_get_issue(DOMAIN, MISSING)
    assert issue is not None
    assert issue.translation_key == "missing_entity"
    assert issue.translation_placeholders == {
        "heartbeat": "Milonga",
        "entity_id": "sensor.b",
    }
    assert issue.severity is ir.IssueSeverity.WARNING
    assert issue.is_fixable
    assert issue.data == {"heartbeat_id": "hb1"}
    await watched.put("1")
    assert watched.issues == set()
    await watched.put(None)
    assert watched.issues == {MISSING}


@pytest.mark.contract("G2")
@pytest.mark.parametrize("state", ["unavailable", "unknown"])
async def test_a_silent_entity_is_reported_after_an_hour(
    hass: HomeAssistant,
    freezer: FrozenDateTimeFactory,
    watched: Watched,
    issue_registry: ir.IssueRegistry,
    state: str,
) -> None:
    await watched.put("1")
    await watched.start(BELOW)
    await watched.put(state)
    await watched.pass_time(freezer, minutes=59)
    assert watched.issues == set()
    await watched.pass_time(freezer, minutes=1, seconds=1)
    assert watched.issues == {SILENT}
    issue = issue_registry.async_get_issue(DOMAIN, SILENT)
    assert issue is not None
    assert issue.translation_key == "unavailable_entity"
    await watched.put("1")
    assert watched.issues == set()
    await watched.pass_time(freezer, hours=5)
    assert watched.issues == set()


@pytest.mark.contract("G2")
async def test_the_hour_begins_again(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory, watched: Watched
) -> None:
    await watched.put("unavailable")
    await watched.start(BELOW)
    await watched.pass_time(freezer, minutes=50)
    await watched.put("1")
    await watched.put("unavailable")
    await watched.pass_time(freezer, minutes=50)
    assert watched.issues == set()
    await watched.pass_time(freezer, minutes=11)
    assert watched.issues == {SILENT}


@pytest.mark.contract("G2")
async def test_the_hour_goes_on_while_it_stays_silent(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory, watched: Watched
) -> None:
    await watched.put("1")
    await watched.start(BELOW)
    await watched.put("unavailable")
    await watched.pass_time(freezer, minutes=30)
    await watched.put("unknown")
    await watched.pass_time(freezer, minutes=31)
    assert watched.issues == {SILENT}
    await watched.put(None)
    assert watched.issues == {MISSING}
    await watched.put("unavailable")
    assert watched.issues == set()


@pytest.mark.contract("G2")
async def test_an_entity_that_was_silent_before(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory, watched: Watched
) -> None:
    await watched.put("unavailable")
    await watched.pass_time(freezer, hours=2)
    await watched.start(BELOW)
    assert watched.issues == {SILENT}


@pytest.mark.contract("G2")
async def test_each_entity_has_its_own_hour(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory, watched: Watched
) -> None:
    await watched.put("1", "sensor.c")
    await watched.put("unavailable")
    await watched.start(BELOW, {**BELOW, "entity_id": "sensor.c"})
    await watched.pass_time(freezer, minutes=30)
    await watched.put("unavailable", "sensor.c")
    await watched.pass_time(freezer, minutes=31)
    assert watched.issues == {SILENT}
    await watched.pass_time(freezer, minutes=30)
    assert watched.issues == {SILENT, "unavailable_entity_hb1_sensor.c"}


@pytest.mark.contract("G2")
async def test_a_state_that_is_asked_for_is_no_problem(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory, watched: Watched
) -> None:
    await watched.put("unavailable")
    await watched.start(
        {"condition": "state", "entity_id": "sensor.b", "state": "unavailable"},
        "{{ is_state('sensor.b', 'unavailable') }}",
    )
    await watched.pass_time(freezer, hours=2)
    assert watched.issues == set()
    await watched.put(None)
    assert watched.issues == {MISSING}


@pytest.mark.contract("G2")
async def test_a_condition_that_cannot_be_used(
    hass: HomeAssistant, watched: Watched, issue_registry: ir.IssueRegistry
) -> None:
    watch = await watched.start({"condition": "trigger", "id": "x"}, BELOW)
    assert watched.issues == {"invalid_conditions_hb1", MISSING}
    issue = issue_registry.async_get_issue(DOMAIN, "invalid_conditions_hb1")
    assert issue is not None
    assert issue.translation_key == "invalid_conditions"
    assert issue.translation_placeholders is not None
    assert issue.translation_placeholders["reason"].startswith("trigger: a trigger")
    watch.async_stop()
    assert watched.issues == set()


@pytest.mark.contract("G2")
async def test_what_a_template_reads_is_followed(
    hass: HomeAssistant, watched: Watched
) -> None:
    await watched.put("b", "input_select.which")
    gate = await Gate.async_build(
        hass,
        ["{{ states('sensor.' ~ states('input_select.which')) | float < 5 }}"],
        "Milonga",
    )
    watch = GateWatch(hass, heartbeat_id="hb1", title="Milonga", gate=gate)
    watched.watches.append(watch)
    watch.async_start()
    assert watched.issues == {MISSING}
    await watched.put("c", "input_select.which")
    gate.is_open()
    watch.async_refresh()
    assert watched.issues == {"missing_entity_hb1_sensor.c"}
    await watched.put("1", "sensor.c")
    assert watched.issues == set()


@pytest.mark.contract("G2", "C4")
async def test_a_gate_that_is_built_again(
    hass: HomeAssistant,
    freezer: FrozenDateTimeFactory,
    watched: Watched,
    writes: list[Event[Any]],
    issue_registry: ir.IssueRegistry,
) -> None:
    other = {**BELOW, "entity_id": "sensor.c"}
    await watched.put("unavailable", "sensor.c")
    watch = await watched.start(BELOW, other)
    await watched.pass_time(freezer, minutes=50)
    assert len(writes) == 1

    same = await Gate.async_build(hass, [BELOW, other], "Milonga")
    watch.async_follow(same, "Milonga")
    await hass.async_block_till_done()
    assert len(writes) == 1

    watch.async_follow(same, "Tango")
    issue = issue_registry.async_get_issue(DOMAIN, MISSING)
    assert issue is not None
    assert issue.translation_placeholders is not None
    assert issue.translation_placeholders["heartbeat"] == "Tango"

    watch.async_follow(await Gate.async_build(hass, [other], "Tango"), "Tango")
    assert watched.issues == set()
    await watched.pass_time(freezer, minutes=11)
    assert watched.issues == {"unavailable_entity_hb1_sensor.c"}


@pytest.mark.contract("G2")
async def test_two_heartbeats_report_for_themselves(
    hass: HomeAssistant, watched: Watched
) -> None:
    first = await watched.start(BELOW)
    await watched.start(BELOW, heartbeat="hb2")
    assert watched.issues == {MISSING, "missing_entity_hb2_sensor.b"}
    first.async_stop()
    assert watched.issues == {"missing_entity_hb2_sensor.b"}


@pytest.mark.contract("G2")
async def test_stopping_takes_everything_back(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory, watched: Watched
) -> None:
    await watched.put("unavailable")
    watch = await watched.start(BELOW, {**BELOW, "entity_id": "sensor.c"})
    assert watched.issues == {"missing_entity_hb1_sensor.c"}
    watch.async_stop()
    watch.async_stop()
    assert watched.issues == set()
    await watched.pass_time(freezer, hours=2)
    await watched.put(None)
    assert watched.issues == set()


@pytest.mark.contract("C4")
async def test_a_quiet_tick_writes_nothing(
    hass: HomeAssistant,
    freezer: FrozenDateTimeFactory,
    watched: Watched,
    writes: list[Event[Any]],
) -> None:
    await watched.put("unavailable")
    watch = await watched.start(BELOW, {**BELOW, "entity_id": "sensor.c"}, "{{ 1/0 }}")
    await watched.pass_time(freezer, hours=2)
    assert len(writes) == 2
    seen = async_capture_events(hass, "*")
    for _ in range(5):
        watch.async_refresh()
        await watched.pass_time(freezer, minutes=5)
    assert len(writes) == 2
    assert seen == []


@pytest.mark.contract("C4")
async def test_a_busy_sensor_is_not_looked_at_again_and_again(
    hass: HomeAssistant, watched: Watched
) -> None:
    await watched.put("1")
    watch = await watched.start(BELOW)
    with patch.object(watch, "async_refresh", wraps=watch.async_refresh) as refresh:
        for number in range(5):
            await watched.put(str(number))
        assert refresh.call_count == 0
        await watched.put("unavailable")
        assert refresh.call_count == 1


def test_the_issues_have_texts() -> None:
    package = Path(__file__).parents[1] / "custom_components" / DOMAIN
    texts = json.loads((package / "translations" / "en.json").read_text("utf-8"))
    for key, placeholder in (
        ("missing_entity", "{entity_id}"),
        ("unavailable_entity", "{entity_id}"),
        ("invalid_conditions", "{reason}"),
    ):
        issue = texts["issues"][key]
        assert "{heartbeat}" in issue["title"]
        if "fix_flow" in issue:
            issue = issue["fix_flow"]["step"]["confirm"]
        assert placeholder in issue["description"]
        assert "{heartbeat}" in issue["description"]

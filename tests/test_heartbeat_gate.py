"""The gate in front of a heartbeat (G1-G4)."""

from datetime import timedelta
from typing import Any

from homeassistant.helpers import issue_registry as ir
import pytest

from tests.support.heartbeats import FEED, HUNGRY, INTERVAL, Home, clock, home
from tests.support.llm_server import calls, llm_server, text

__all__ = ["clock", "home", "llm_server"]

LAMP_OFF = {"condition": "state", "entity_id": "input_boolean.lamp", "state": "off"}
LOOK = {"entity_id": ["input_boolean.lamp"]}


@pytest.mark.contract("G1")
async def test_all_conditions_have_to_hold(home: Home) -> None:
    home.llm_server.play(text("Fine."))
    await home.add_heartbeat(conditions=[HUNGRY, LAMP_OFF])
    await home.clock.tick()
    await home.set("hungry", on=True)
    await home.set("lamp", on=True)
    await home.clock.tick()
    assert home.llm_server.requests == []
    await home.set("lamp", on=False)
    await home.clock.tick()
    assert len(home.llm_server.chats) == 1


@pytest.mark.contract("G1")
async def test_an_empty_gate_is_open(home: Home) -> None:
    home.llm_server.play(text("Fine."))
    await home.add_heartbeat(conditions=[])
    await home.clock.tick()
    assert len(home.llm_server.chats) == 1


@pytest.mark.contract("G2")
@pytest.mark.parametrize(
    "condition",
    [
        {"condition": "state", "entity_id": "light.missing", "state": "on"},
        {
            "condition": "not",
            "conditions": [
                {"condition": "state", "entity_id": "light.missing", "state": "on"}
            ],
        },
        {
            "condition": "not",
            "conditions": [
                {"condition": "state", "entity_id": "sensor.silent", "state": "on"}
            ],
        },
        {"condition": "template", "value_template": "{{ 1 / 0 }}"},
        {"condition": "no.such"},
    ],
    ids=["missing", "not missing", "not unavailable", "template", "unknown"],
)
async def test_what_cannot_be_judged_does_not_open_and_the_tick_counts(
    home: Home, condition: Any
) -> None:
    home.hass.states.async_set("sensor.silent", "unavailable")
    beat = await home.add_heartbeat(conditions=[condition])
    await home.clock.tick(3)
    assert home.llm_server.requests == []
    assert await beat.ticks() == 3


@pytest.mark.contract("G2")
async def test_a_missing_entity_is_a_repair_issue_until_it_comes(home: Home) -> None:
    home.llm_server.play(text("Fine."))
    beat = await home.add_heartbeat(
        conditions=[{"condition": "state", "entity_id": "light.late", "state": "on"}]
    )
    issues = ir.async_get(home.hass)
    issue_id = f"missing_entity_{beat.id}_light.late"
    issue = issues.async_get_issue("proactive_agent", issue_id)
    assert issue is not None
    assert issue.translation_placeholders == {
        "heartbeat": "Milonga",
        "entity_id": "light.late",
    }
    await beat.change(title="Tango")
    issue = issues.async_get_issue("proactive_agent", issue_id)
    assert issue is not None
    assert issue.translation_placeholders is not None
    assert issue.translation_placeholders["heartbeat"] == "Tango"
    home.hass.states.async_set("light.late", "on")
    await home.clock.tick()
    assert issues.async_get_issue("proactive_agent", issue_id) is None
    assert len(home.llm_server.chats) == 1


@pytest.mark.contract("G2")
@pytest.mark.parametrize("way", ["change", "remove", "unload"])
async def test_the_issues_go_with_what_they_are_about(home: Home, way: str) -> None:
    beat = await home.add_heartbeat(
        conditions=[
            {"condition": "state", "entity_id": "light.late", "state": "on"},
            {"condition": "no.such"},
        ]
    )
    issues = ir.async_get(home.hass).issues
    assert len(issues) == 2
    match way:
        case "change":
            await beat.change(conditions=[HUNGRY])
            await home.settled()
        case "remove":
            await beat.remove()
        case _:
            await home.hass.config_entries.async_unload(home.entry.entry_id)
    assert [*issues] == []


@pytest.mark.contract("G3")
async def test_the_record_says_why_the_gate_was_open(home: Home) -> None:
    home.llm_server.play(text("Fine."))
    await home.set("hungry", on=True)
    beat = await home.add_heartbeat(conditions=[HUNGRY, LAMP_OFF])
    await home.clock.tick()
    (run,) = await beat.runs()
    assert [verdict["result"] for verdict in run["gate"]] == [True, True]
    assert all(verdict["reason"] for verdict in run["gate"])
    activity = home.hass.states.get(beat.entity_id("event", "activity"))
    assert activity is not None
    assert activity.attributes["event_type"] == "woke"
    assert activity.attributes["reason"] == "hungry is On, and lamp is Off"


@pytest.mark.contract("G4")
async def test_it_sleeps_on_while_nothing_has_changed(home: Home) -> None:
    home.llm_server.always = text("Nothing to do.")
    beat = await home.add_heartbeat(look=LOOK)
    await home.clock.tick(4)
    assert len(home.llm_server.chats) == 1
    await home.set("lamp", on=True)
    await home.clock.tick()
    assert len(home.llm_server.chats) == 2
    await home.clock.tick(30)
    # Six hours later it looks again, though nothing has changed.
    assert len(home.llm_server.chats) == 3
    assert await beat.ticks() == 35


@pytest.mark.contract("G4")
async def test_after_acting_it_looks_again_at_the_next_tick(home: Home) -> None:
    home.llm_server.always = lambda request: (
        text("Fed.")
        if request["messages"][-1]["role"] == "tool"
        else calls(("feed", {"food": "meal"}))
    )
    beat = await home.add_heartbeat(act=FEED)
    await home.clock.tick(2)
    assert len(await beat.runs()) == 2


@pytest.mark.contract("G4")
async def test_a_gate_that_was_closed_for_long_is_news(home: Home) -> None:
    def meal(hunger: str) -> None:
        home.hass.states.async_set("sensor.hunger", hunger)

    home.llm_server.always = text("Nothing to do.")
    meal("9.0")
    await home.add_heartbeat(
        conditions=[
            {"condition": "numeric_state", "entity_id": "sensor.hunger", "above": 5}
        ],
        manners={"settle_for": {"minutes": 30}},
    )
    await home.clock.tick(2)
    assert len(home.llm_server.chats) == 1
    meal("1.0")
    await home.clock.tick(1)
    meal("9.0")
    await home.clock.tick(1)
    assert len(home.llm_server.chats) == 1
    meal("1.0")
    await home.clock.tick(2)
    meal("9.0")
    await home.clock.tick(1)
    assert len(home.llm_server.chats) == 2


@pytest.mark.contract("G4")
async def test_without_anything_to_compare_it_does_not_back_off(home: Home) -> None:
    home.llm_server.always = text("Nothing to do.")
    await home.add_heartbeat()
    await home.clock.tick(3, every=INTERVAL + timedelta(seconds=1))
    assert len(home.llm_server.chats) == 3

"""Automations that begin with what a heartbeat does, in plain words."""

from pathlib import Path
import re
from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    floor_registry as fr,
    label_registry as lr,
)
from homeassistant.helpers.icon import async_get_icons
from homeassistant.helpers.translation import async_get_translations
from homeassistant.setup import async_setup_component
from homeassistant.util.yaml import parse_yaml
import pytest

from tests.support.automations import Heard, listen, on
from tests.support.doors import Door, door
from tests.support.heartbeats import FEED, HUNGRY, Beat, Home, clock, home
from tests.support.llm_server import Raw, calls, llm_server, text
from tests.support.restarts import restart

__all__ = ["clock", "door", "home", "llm_server"]

KINDS = ("acted", "asked", "failed", "spoke", "stopped")
REFERENCE = Path(__file__).parents[1] / "docs" / "reference.md"
MEAL = ("feed", {"food": "meal"})


def say(message: str) -> tuple[str, dict[str, Any]]:
    return ("tell_owner", {"message": message})


def device_of(beat: Beat) -> str:
    entry = er.async_get(beat.hass).async_get(beat.switch)
    assert entry is not None
    assert entry.device_id is not None
    return entry.device_id


async def listen_to_all(beat: Beat, **target: Any) -> Heard:
    target = target or {"device_id": device_of(beat)}
    return await listen(beat.hass, {kind: on(kind, **target) for kind in KINDS})


async def test_acted_tells_what_a_person_needs(home: Home) -> None:
    beat = await home.add_heartbeat(act=FEED)
    heard = await listen_to_all(beat)
    home.llm_server.play(calls(MEAL, say("Milonga has eaten.")), text("Done."))
    record = await beat.wake()
    await home.settled()
    assert heard.told == [
        {
            "by": "acted",
            "heartbeat": "Milonga",
            "device_id": device_of(beat),
            "entity_id": beat.entity_id("event", "activity"),
            "message": "Milonga has eaten.",
            "outcome": "acted",
            "run_id": record["run_id"],
            "kind": None,
            "reason": None,
            "detail": None,
            "approval_id": None,
            "answered_by": None,
        }
    ]


async def test_each_time_though_it_is_the_same_again(home: Home) -> None:
    beat = await home.add_heartbeat(act=FEED)
    heard = await listen_to_all(beat)
    for food in ("meal", "snack"):
        # No time passes in between.
        home.llm_server.play(calls(("feed", {"food": food})), text("Done."))
        await beat.wake()
        await home.settled()
    assert heard.by == ["acted", "acted"]
    assert len({one["run_id"] for one in heard.told}) == 2


async def test_spoke_is_to_tell_without_acting(home: Home) -> None:
    beat = await home.add_heartbeat()
    heard = await listen_to_all(beat)
    home.llm_server.play(calls(say("The freezer is warm.")), text("Told."))
    await beat.wake()
    home.llm_server.play(text("All is well."))
    await beat.wake()
    await home.settled()
    assert heard.by == ["spoke"]
    assert heard.told[0]["message"] == "The freezer is warm."
    assert heard.told[0]["outcome"] == "spoke"


async def test_acted_and_then_cut_short_is_both_in_one_moment(home: Home) -> None:
    beat = await home.add_heartbeat(act=FEED, fuses={"max_actions": 1})
    heard = await listen_to_all(beat)
    meals = [("feed", {"food": food}) for food in ("meal", "snack")]
    home.llm_server.play(calls(*meals), text("Done."))
    home.llm_server.always = calls(*meals)
    record = await beat.wake()
    await home.settled()
    assert record["outcome"] == "action_limit"
    assert sorted(heard.by) == ["acted", "failed"]


async def test_failed_says_of_what(home: Home) -> None:
    beat = await home.add_heartbeat()
    heard = await listen_to_all(beat)
    home.llm_server.always = Raw(status=401, body={"error": {"message": "No."}})
    await beat.wake()
    await home.settled()
    assert heard.by == ["failed"]
    assert heard.told[0]["kind"] == "auth"
    assert heard.told[0]["reason"]


async def test_stopped_says_why(home: Home) -> None:
    beat = await home.add_heartbeat(conditions=[HUNGRY], fuses={"max_ticks": 1})
    heard = await listen_to_all(beat)
    await home.clock.tick()
    assert heard.by == ["stopped"]
    assert heard.told[0]["reason"] == "max_ticks"
    await beat.turn("on")
    await beat.turn("off")
    await home.settled()
    assert heard.by == ["stopped"]


@pytest.mark.contract("P1", "P2")
async def test_asked_can_be_answered_by_the_automation(door: Door) -> None:
    answer = {
        "action": "proactive_agent.approve",
        "data": {"approval_id": "{{ trigger.approval_id }}"},
    }
    target = {"device_id": device_of(door.beat)}
    heard = await listen(door.hass, {"asked": on("asked", **target)}, answer)
    approval_id = await door.ask()
    await door.home.settled()
    assert heard.told[0]["approval_id"] == approval_id
    assert "Front door" in heard.told[0]["message"]
    assert door.opened == ["lock.front_door"]


async def test_what_was_done_after_a_yes_is_acted(door: Door) -> None:
    heard = await listen_to_all(door.beat)
    approval_id = await door.ask()
    await door.answer("approve", approval_id)
    assert heard.by == ["asked", "acted"]
    assert heard.told[1]["approval_id"] == approval_id


@pytest.mark.contract("A2")
@pytest.mark.parametrize("kind", ["acted", "spoke", "failed"])
async def test_an_automation_cannot_make_a_heartbeat_wake_itself(
    home: Home, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    beat = await home.add_heartbeat(act=FEED)
    wake = {"action": "proactive_agent.wake", "target": {"entity_id": beat.switch}}
    triggers = {kind: on(kind, device_id=device_of(beat))}
    heard = await listen(home.hass, triggers, wake)
    home.llm_server.always = text("I see.")
    match kind:
        case "acted":
            home.llm_server.play(calls(MEAL))
        case "spoke":
            home.llm_server.play(calls(say("Look.")))
        case _:
            home.llm_server.play(Raw(status=401, body={}))
    await beat.wake()
    await home.settled()
    assert heard.by == [kind]
    assert len(await beat.runs()) == 1
    assert "set off" in caplog.text


async def test_nothing_is_told_again_by_a_restart_or_a_reload(
    home: Home, hass_storage: dict[str, Any]
) -> None:
    beat = await home.add_heartbeat(act=FEED)
    heard = await listen_to_all(beat)
    home.llm_server.play(calls(MEAL), text("Done."))
    await beat.wake()
    await home.settled()
    await home.reload()
    await restart(home)
    activity = beat.entity_id("event", "activity")
    before = home.hass.states.get(activity)
    assert before is not None
    home.hass.states.async_set(activity, "unavailable")
    await home.settled()
    home.hass.states.async_set(activity, before.state, before.attributes)
    await home.settled()
    assert heard.by == ["acted"]
    # A new name is written with the old event.
    er.async_get(home.hass).async_update_entity(activity, name="What she does")
    await home.settled()
    assert heard.by == ["acted"]
    home.llm_server.play(calls(("feed", {"food": "snack"})), text("Done."))
    await beat.wake()
    await home.settled()
    assert heard.by == ["acted", "acted"]


@pytest.fixture
def places(home: Home) -> dict[str, str]:
    """Return an area, its floor and a label, all of them empty."""
    hass = home.hass
    floor = fr.async_get(hass).async_create("Ground floor").floor_id
    area = ar.async_get(hass).async_create("Kitchen", floor_id=floor).id
    label = lr.async_get(hass).async_create("Careful").label_id
    return {"floor_id": floor, "area_id": area, "label_id": label}


@pytest.mark.parametrize(
    "by", ["entity_id", "device_id", "area_id", "floor_id", "label_id"]
)
async def test_a_heartbeat_is_found_by_whatever_it_belongs_to(
    home: Home, places: dict[str, str], by: str
) -> None:
    beat = await home.add_heartbeat()
    other = await home.add_heartbeat("Tango")
    registry, devices = er.async_get(home.hass), dr.async_get(home.hass)
    # What its entities are called is nobody's business.
    activity = registry.async_update_entity(
        beat.entity_id("event", "activity"), new_entity_id="event.aktivitaet"
    ).entity_id
    devices.async_update_device(
        device_of(beat), area_id=places["area_id"], labels={places["label_id"]}
    )
    # Somebody else's event in the same room is none of ours.
    stranger = registry.async_get_or_create("event", "test", "bell")
    registry.async_update_entity(stranger.entity_id, area_id=places["area_id"])
    await home.settled()
    target = {**places, "entity_id": activity, "device_id": device_of(beat)}[by]
    heard = await listen(home.hass, {"spoke": on("spoke", **{by: target})})
    home.hass.states.async_set(stranger.entity_id, "unknown")
    home.hass.states.async_set(
        stranger.entity_id, "2026-11-30T18:00:00", {"event_type": "spoke"}
    )
    for one in (other, beat):
        home.llm_server.play(calls(say("Look.")), text("Told."))
        await one.wake()
    await home.settled()
    assert [one["heartbeat"] for one in heard.told] == ["Milonga"]
    assert heard.told[0]["entity_id"] == "event.aktivitaet"


async def test_a_heartbeat_goes_by_the_name_that_its_owner_gave_it(home: Home) -> None:
    beat = await home.add_heartbeat()
    heard = await listen_to_all(beat)
    dr.async_get(home.hass).async_update_device(device_of(beat), name_by_user="Mia")
    home.llm_server.play(calls(say("Look.")), text("Told."))
    await beat.wake()
    await home.settled()
    assert heard.told[0]["heartbeat"] == "Mia"


async def test_a_heartbeat_that_is_added_later_counts_too(
    home: Home, places: dict[str, str]
) -> None:
    await home.add_heartbeat()
    area = places["area_id"]
    heard = await listen(home.hass, {"spoke": on("spoke", area_id=area)})
    later = await home.add_heartbeat("Tango")
    dr.async_get(home.hass).async_update_device(device_of(later), area_id=area)
    await home.settled()
    home.llm_server.play(calls(say("Look.")), text("Told."))
    await later.wake()
    await home.settled()
    assert [one["heartbeat"] for one in heard.told] == ["Tango"]


@pytest.fixture
async def editor(home: Home, hass_ws_client: Any) -> Any:
    """The connection of somebody who makes an automation in the editor."""
    assert await async_setup_component(home.hass, "automation", {})
    return await hass_ws_client(home.hass)


async def test_the_editor_lists_them(home: Home, editor: Any) -> None:
    await home.add_heartbeat()
    await editor.send_json_auto_id({"type": "trigger_platforms/subscribe"})
    assert (await editor.receive_json())["success"]
    offered = (await editor.receive_json())["event"]
    ours = {key: one for key, one in offered.items() if key.startswith("proactive_")}
    entity = {"integration": "proactive_agent", "domain": ["event"]}
    assert ours == {
        # Nothing lasts here: neither `for` nor `behavior` is offered.
        f"proactive_agent.{kind}": {"target": {"entity": [entity]}, "fields": {}}
        for kind in KINDS
    }


async def test_the_editor_offers_them_for_a_heartbeat_only(
    home: Home, editor: Any
) -> None:
    beat = await home.add_heartbeat()
    for target, expected in (
        ({"device_id": [device_of(beat)]}, set(KINDS)),
        ({"entity_id": [beat.entity_id("event", "activity")]}, set(KINDS)),
        ({"entity_id": ["input_boolean.lamp"]}, set()),
        ({"entity_id": [beat.switch]}, set()),
    ):
        await editor.send_json_auto_id(
            {"type": "get_triggers_for_target", "target": target}
        )
        offered = (await editor.receive_json())["result"]
        assert {
            one.removeprefix("proactive_agent.")
            for one in offered
            if one.startswith("proactive_agent.")
        } == expected


@pytest.mark.parametrize(
    ("trigger", "error"),
    [
        ({"target": {"entity_id": "event.milonga_activity"}}, None),
        ({"target": {"entity_id": "event.not_there_yet"}}, None),
        ({"target": {"area_id": "anywhere"}}, None),
        ({"target": {"entity_id": "sensor.milonga_status"}}, "does not tell what a"),
        ({"target": {"entity_id": "switch.milonga_heartbeat"}}, "does not tell what a"),
        ({}, "target"),
        (
            {
                "target": {"entity_id": "event.milonga_activity"},
                "options": {"behavior": "all"},
            },
            "behavior",
        ),
        (
            {
                "target": {"entity_id": "event.milonga_activity"},
                "options": {"for": "00:01:00"},
            },
            "for",
        ),
    ],
)
async def test_the_editor_says_what_is_wrong(
    home: Home, editor: Any, trigger: dict[str, Any], error: str | None
) -> None:
    await home.add_heartbeat()
    await editor.send_json_auto_id(
        {
            "type": "validate_config",
            "triggers": [{"trigger": "proactive_agent.acted", **trigger}],
        }
    )
    answer = (await editor.receive_json())["result"]["triggers"]
    assert answer["valid"] is (error is None)
    if error:
        assert error in answer["error"]


async def test_each_of_them_has_its_words_and_its_icon(
    hass: HomeAssistant, home: Home
) -> None:
    await home.add_heartbeat()
    words = await async_get_translations(hass, "en", "triggers", {"proactive_agent"})
    icons = await async_get_icons(hass, "triggers", {"proactive_agent"})
    assert set(icons["proactive_agent"]) == set(KINDS)
    for kind in KINDS:
        base = f"component.proactive_agent.triggers.{kind}"
        assert words[f"{base}.name"].startswith("Heartbeat ")
        assert words[f"{base}.description"].endswith(".")
        assert icons["proactive_agent"][kind]["trigger"].startswith("mdi:")


async def test_the_examples_of_the_reference_are_automations(home: Home) -> None:
    await home.add_heartbeat("Freezer")
    text = REFERENCE.read_text(encoding="utf-8")
    section = text.split("## Triggers and conditions")[1].split("\n## ")[0]
    examples = re.findall(r"```yaml\n(.*?)```", section, re.DOTALL)
    assert len(examples) == 2
    for number, example in enumerate(examples):
        config = parse_yaml(example)
        assert isinstance(config, dict)
        config["alias"] = f"Example {number}"
        examples[number] = config
    await async_setup_component(home.hass, "automation", {"automation": examples})
    await home.settled()
    states = home.hass.states.async_all("automation")
    assert [state.state for state in states] == ["on", "on"]
    off = {"entity_id": "all"}
    await home.hass.services.async_call("automation", "turn_off", off, blocking=True)

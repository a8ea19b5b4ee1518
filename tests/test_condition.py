"""Automations and gates that ask what a heartbeat is doing, in plain words."""

from datetime import timedelta
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
import pytest

from tests.support.automations import Heard, listen
from tests.support.doors import Door, door
from tests.support.heartbeats import HUNGRY, Beat, Home, clock, home, let_run
from tests.support.llm_server import Held, llm_server, text
from tests.support.translated import error_text

__all__ = ["clock", "door", "home", "llm_server"]

KINDS = ("is_running", "is_waiting")


def device_of(beat: Beat) -> str:
    entry = er.async_get(beat.hass).async_get(beat.switch)
    assert entry is not None
    assert entry.device_id is not None
    return entry.device_id


def so(kind: str, *, options: Any = None, **target: Any) -> dict[str, Any]:
    """Return a condition as the editor writes it."""
    condition = {"condition": f"proactive_agent.{kind}", "target": target}
    return condition if options is None else {**condition, "options": options}


class Asker:
    """An automation with a condition, for somebody who wants to know."""

    def __init__(self, hass: HomeAssistant, heard: Heard) -> None:
        self.hass = hass
        self.heard = heard

    async def holds(self) -> bool:
        before = len(self.heard.told)
        self.hass.bus.async_fire("wanted")
        await let_run()
        return len(self.heard.told) > before


async def asker(hass: HomeAssistant, condition: dict[str, Any]) -> Asker:
    trigger = {"trigger": "event", "event_type": "wanted"}
    heard = await listen(hass, {"asker": trigger}, conditions=[condition])
    return Asker(hass, heard)


async def run_beside(home: Home, beat: Beat) -> Held:
    """Let a run hang until what is returned is released."""
    held = Held(text("I see."))
    home.llm_server.play(held)
    await beat.check_now()
    await held.reached.wait()
    await let_run()
    return held


async def end(home: Home, held: Held) -> None:
    held.release.set()
    await home.settled()


async def test_it_is_running_while_the_model_thinks(home: Home) -> None:
    beat = await home.add_heartbeat()
    running = await asker(home.hass, so("is_running", device_id=device_of(beat)))
    assert not await running.holds()
    held = await run_beside(home, beat)
    assert await running.holds()
    await end(home, held)
    assert not await running.holds()


async def test_it_is_waiting_until_it_has_its_answer(door: Door) -> None:
    beat = door.beat
    waiting = await asker(door.hass, so("is_waiting", device_id=device_of(beat)))
    assert not await waiting.holds()
    approval_id = await door.ask()
    assert await waiting.holds()
    await door.answer("reject", approval_id)
    assert not await waiting.holds()


@pytest.mark.parametrize(
    "by", ["entity_id", "device_id", "area_id", "floor_id", "label_id"]
)
async def test_a_heartbeat_is_found_by_whatever_it_belongs_to(
    home: Home, by: str
) -> None:
    hass = home.hass
    beat, other = await home.add_heartbeat(), await home.add_heartbeat("Tango")
    floor = fr.async_get(hass).async_create("Ground floor").floor_id
    area = ar.async_get(hass).async_create("Kitchen", floor_id=floor).id
    label = lr.async_get(hass).async_create("Careful").label_id
    # What its entities are called is nobody's business.
    status = er.async_get(hass).async_update_entity(
        beat.entity_id("sensor", "status"), new_entity_id="sensor.zustand"
    )
    dr.async_get(hass).async_update_device(
        device_of(beat), area_id=area, labels={label}
    )
    # Another sensor in the same room that happens to say the same.
    stranger = er.async_get(hass).async_get_or_create("sensor", "test", "robot")
    er.async_get(hass).async_update_entity(stranger.entity_id, area_id=area)
    hass.states.async_set(stranger.entity_id, "running")
    await home.settled()
    target = {
        "entity_id": status.entity_id,
        "device_id": device_of(beat),
        "area_id": area,
        "floor_id": floor,
        "label_id": label,
    }
    running = await asker(hass, so("is_running", **{by: target[by]}))
    held = await run_beside(home, other)
    assert not await running.holds()
    await end(home, held)
    held = await run_beside(home, beat)
    assert await running.holds()
    await end(home, held)


@pytest.mark.parametrize(("behavior", "expected"), [("any", True), ("all", False)])
async def test_of_several_any_or_all(home: Home, behavior: str, expected: bool) -> None:
    beat, other = await home.add_heartbeat(), await home.add_heartbeat("Tango")
    devices = [device_of(beat), device_of(other)]
    options = {"behavior": behavior}
    running = await asker(
        home.hass, so("is_running", options=options, device_id=devices)
    )
    held = await run_beside(home, beat)
    assert await running.holds() is expected
    second = await run_beside(home, other)
    assert await running.holds()
    held.release.set()
    await end(home, second)


async def test_for_a_while(door: Door) -> None:
    options = {"behavior": "any", "for": {"minutes": 10}}
    condition = so("is_waiting", options=options, device_id=device_of(door.beat))
    waiting = await asker(door.hass, condition)
    await door.ask()
    assert not await waiting.holds()
    await door.home.clock.tick(every=timedelta(minutes=9))
    assert not await waiting.holds()
    await door.home.clock.tick(every=timedelta(minutes=2))
    assert await waiting.holds()


@pytest.fixture
async def editor(home: Home, hass_ws_client: Any) -> Any:
    """The connection of somebody who makes an automation in the editor."""
    assert await async_setup_component(home.hass, "automation", {})
    return await hass_ws_client(home.hass)


async def test_the_editor_lists_them(home: Home, editor: Any) -> None:
    await home.add_heartbeat()
    await editor.send_json_auto_id({"type": "condition_platforms/subscribe"})
    assert (await editor.receive_json())["success"]
    offered = (await editor.receive_json())["event"]
    ours = {key: one for key, one in offered.items() if key.startswith("proactive_")}
    assert set(ours) == {f"proactive_agent.{kind}" for kind in KINDS}
    for one in ours.values():
        (entity,) = one["target"]["entity"]
        assert entity["integration"] == "proactive_agent"
        assert entity["domain"] == ["sensor"]
        assert set(one["fields"]) == {"behavior", "for"}


async def test_the_editor_offers_them_for_a_heartbeat_only(
    home: Home, editor: Any
) -> None:
    beat = await home.add_heartbeat()
    for target, expected in (
        ({"device_id": [device_of(beat)]}, set(KINDS)),
        ({"entity_id": [beat.entity_id("sensor", "status")]}, set(KINDS)),
        ({"entity_id": [beat.entity_id("sensor", "last_wake")]}, set()),
        ({"entity_id": ["input_boolean.lamp"]}, set()),
    ):
        await editor.send_json_auto_id(
            {"type": "get_conditions_for_target", "target": target}
        )
        offered = (await editor.receive_json())["result"]
        assert {
            one.removeprefix("proactive_agent.")
            for one in offered
            if one.startswith("proactive_agent.")
        } == expected


@pytest.mark.parametrize(
    ("condition", "error"),
    [
        (so("is_running", entity_id="sensor.milonga_status"), None),
        (so("is_running", entity_id="sensor.not_there_yet"), None),
        (so("is_running", label_id="anything"), None),
        # Of no entity that counts "all" would be true, whatever happens.
        (
            so(
                "is_running",
                options={"behavior": "all"},
                entity_id="sensor.milonga_last_outcome",
            ),
            "does not say what a heartbeat is doing",
        ),
        (so("is_waiting", entity_id="switch.milonga_heartbeat"), "Status entity"),
        ({"condition": "proactive_agent.is_running"}, "target"),
    ],
)
async def test_the_editor_says_what_is_wrong(
    home: Home, editor: Any, condition: dict[str, Any], error: str | None
) -> None:
    await home.add_heartbeat()
    await editor.send_json_auto_id(
        {"type": "validate_config", "conditions": [condition]}
    )
    answer = (await editor.receive_json())["result"]["conditions"]
    assert answer["valid"] is (error is None)
    if error:
        assert error in answer["error"]


async def test_each_of_them_has_its_words_and_its_icon(
    hass: HomeAssistant, home: Home
) -> None:
    await home.add_heartbeat()
    words = await async_get_translations(hass, "en", "conditions", {"proactive_agent"})
    icons = await async_get_icons(hass, "conditions", {"proactive_agent"})
    assert set(icons["proactive_agent"]) == set(KINDS)
    for kind in KINDS:
        base = f"component.proactive_agent.conditions.{kind}"
        assert words[f"{base}.name"].startswith("Heartbeat ")
        assert words[f"{base}.description"].endswith(".")
        assert words[f"{base}.fields.behavior.name"]
        assert words[f"{base}.fields.for.name"]
        assert icons["proactive_agent"][kind]["condition"].startswith("mdi:")


# In the gate of another heartbeat, and in its own.


def chats(home: Home) -> int:
    return len(home.llm_server.chats)


@pytest.mark.contract("G1", "G3")
@pytest.mark.parametrize("by", ["entity_id", "device_id"])
async def test_a_gate_can_ask_what_another_heartbeat_is_doing(
    home: Home, by: str
) -> None:
    other = await home.add_heartbeat("Tango", interval={"hours": 20})
    status = other.entity_id("sensor", "status")
    target = {"entity_id": status, "device_id": device_of(other)}[by]
    beat = await home.add_heartbeat(conditions=[so("is_running", **{by: target})])
    await home.clock.tick()
    assert chats(home) == 0
    held = await run_beside(home, other)
    home.llm_server.play(text("It runs."))
    await home.clock.tick_beside()
    await home.clock.turn_until(lambda: beat.state("last_outcome") == "nothing")
    (run,) = await beat.runs()
    (verdict,) = run["gate"]
    assert verdict["result"] is True
    assert f"{status} is running" in verdict["reason"]
    await end(home, held)
    seen = chats(home)
    await home.clock.tick(3)
    assert chats(home) == seen


@pytest.mark.contract("G2")
@pytest.mark.parametrize("by", ["entity_id", "device_id"])
@pytest.mark.parametrize("inverse", [False, True])
async def test_a_heartbeat_that_is_gone_opens_no_gate(
    home: Home,
    by: str,
    inverse: bool,
) -> None:
    home.llm_server.always = text("I see.")
    other = await home.add_heartbeat("Tango", interval={"hours": 20})
    target = {
        "entity_id": other.entity_id("sensor", "status"),
        "device_id": device_of(other),
    }[by]
    condition: dict[str, Any] = so(
        "is_running", options={"behavior": "all"}, **{by: target}
    )
    if inverse:
        condition = {"condition": "not", "conditions": [condition]}
    await home.add_heartbeat(conditions=[condition])
    await other.remove()
    await home.clock.tick(3)
    assert chats(home) == 0


@pytest.mark.contract("G4", "C3")
@pytest.mark.parametrize("by", ["entity_id", "device_id"])
async def test_its_own_status_in_its_gate_is_no_news(home: Home, by: str) -> None:
    """It changes with each run, so that each run would be a reason for the next."""
    home.llm_server.always = text("I see.")
    await home.set("hungry", on=True)
    beat = await home.add_heartbeat(conditions=[HUNGRY])
    target = {
        "entity_id": beat.entity_id("sensor", "status"),
        "device_id": device_of(beat),
    }[by]
    idle = {"condition": "not", "conditions": [so("is_running", **{by: target})]}
    await beat.change(conditions=[HUNGRY, idle])
    await home.clock.tick()
    assert chats(home) == 1
    await home.clock.tick(10)
    assert chats(home) == 1
    # What others do is news as ever.
    await home.set("hungry", on=False)
    await home.set("hungry", on=True)
    await home.clock.tick()
    assert chats(home) == 2


@pytest.mark.contract("C3")
async def test_a_gate_that_waits_for_its_own_run_never_opens(home: Home) -> None:
    beat = await home.add_heartbeat()
    condition = so("is_running", device_id=device_of(beat))
    await beat.change(conditions=[condition])
    await home.clock.tick(2)
    held = await run_beside(home, beat)
    await home.clock.tick_beside(2)
    await end(home, held)
    await home.clock.tick(3)
    assert chats(home) == 1


@pytest.mark.contract("G4")
async def test_a_gate_on_its_own_question_wakes_once(door: Door) -> None:
    home, beat = door.home, door.beat
    await door.beat.change(conditions=[so("is_waiting", device_id=device_of(beat))])
    home.llm_server.always = text("Not yet.")
    await door.ask()
    await home.clock.tick()
    before = chats(home)
    await home.clock.tick(2)
    assert beat.state("status") == "waiting"
    assert chats(home) == before


@pytest.mark.contract("G2")
@pytest.mark.parametrize("behavior", ["any", "all"])
@pytest.mark.parametrize("by", ["entity_id", "device_id"])
async def test_a_heartbeat_whose_server_is_not_loaded_opens_no_gate(
    home: Home, by: str, behavior: str
) -> None:
    beat = await home.add_heartbeat()
    other = await home.add_heartbeat("Tango", interval={"hours": 20})
    status = other.entity_id("sensor", "status")
    target = {"entity_id": status, "device_id": device_of(other)}[by]
    condition = so("is_running", options={"behavior": behavior}, **{by: target})
    inverse = {"condition": "not", "conditions": [condition]}
    await beat.change(conditions=[inverse])
    home.llm_server.always = text("I see.")
    home.hass.states.async_set(status, "unavailable")
    await home.clock.tick()
    assert len(await beat.runs()) == 0
    home.hass.states.async_set(status, "asleep")
    await home.clock.tick()
    assert len(await beat.runs()) == 1


async def test_the_dialog_of_a_heartbeat_takes_it_and_says_what_is_wrong(
    home: Home,
) -> None:
    beat = await home.add_heartbeat("Tango")
    flows = home.hass.config_entries.subentries
    form = await flows.async_init(
        (home.entry.entry_id, "heartbeat"), context={"source": "user"}
    )
    answers = {"name": "Milonga", "check_prompt": "Look.", "notify": ["notify.phone"]}
    wrong = so("is_running", entity_id=beat.switch)
    form = await flows.async_configure(
        form["flow_id"], {**answers, "conditions": [wrong]}
    )
    assert "Status entity" in error_text(
        "config_subentries.heartbeat", form, "conditions"
    )
    right = so("is_running", device_id=[device_of(beat)])
    result = await flows.async_configure(
        form["flow_id"], {**answers, "conditions": [right]}
    )
    assert result["type"] == "create_entry"
    assert result["data"]["conditions"] == [right]
    await home.settled()

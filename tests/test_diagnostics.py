"""What can be handed on: how it stands, and nothing that is private."""

from datetime import timedelta
import json
from typing import Any
from unittest.mock import patch

from homeassistant.core import Context
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers.json import ExtendedJSONEncoder
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import MockUser
from syrupy.assertion import SnapshotAssertion

from custom_components.proactive_agent.diagnostics import (
    async_get_config_entry_diagnostics,
    async_get_device_diagnostics,
)
from custom_components.proactive_agent.handout.heartbeat import RUNS
from tests.support.doors import FRONT, Door, door
from tests.support.heartbeats import FEED, HUNGRY, Beat, Home, clock, home
from tests.support.llm_server import Raw, calls, llm_server, text

__all__ = ["clock", "door", "home", "llm_server"]

PLANTED = "s3cret"


async def of_entry(home: Home) -> dict[str, Any]:
    return _as_file(await async_get_config_entry_diagnostics(home.hass, home.entry))


async def of_device(home: Home, beat: Beat) -> dict[str, Any]:
    device = dr.async_get(home.hass).async_get_device_by_identifier(
        ("proactive_agent", beat.id), home.entry.entry_id
    )
    assert device is not None
    found = await async_get_device_diagnostics(home.hass, home.entry, device)
    return _as_file(found)


def _as_file(diagnostics: dict[str, Any]) -> dict[str, Any]:
    written: dict[str, Any] = json.loads(
        json.dumps(diagnostics, cls=ExtendedJSONEncoder)
    )
    return written


async def test_it_says_how_a_heartbeat_stands(
    home: Home, snapshot: SnapshotAssertion
) -> None:
    home.clock.freezer.move_to("2026-12-01 12:00:00+00:00")
    beat = await home.add_heartbeat(
        conditions=[HUNGRY, {**HUNGRY, "alias": "She is hungry", "for": 5}],
        look={"entity_id": ["input_boolean.hungry"]},
        act={"entity_id": ["script.feed", "input_boolean.lamp"]},
        fuses={"max_ticks": 5, "max_duration": {"hours": 10}},
    )
    await home.set("hungry", on=True)
    home.llm_server.play(
        calls(("feed", {"food": "meal"}), ("tell_owner", {"message": "Fed."})),
        text("Fed."),
    )
    await home.clock.tick()
    home.llm_server.play(Raw(status=400, body={"error": {"message": "no"}}))
    await beat.wake()
    assert await of_entry(home) == await of_device(home, beat)
    found = await of_entry(home)
    del found["versions"]["home_assistant"]
    del found["endpoint"]["options"]["url"]
    for run in found["heartbeats"][0]["runs"]:
        del run["run_id"]
    assert found == snapshot


async def test_tools_are_told_with_what_they_weigh(home: Home) -> None:
    beat = await home.add_heartbeat(
        look={"entity_id": ["input_boolean.hungry", "input_boolean.lamp"]}, act=FEED
    )
    home.llm_server.play(text("Nothing to do."))
    await beat.wake()
    sent = home.llm_server.requests[-1].json["tools"]
    by_name = {tool["function"]["name"]: tool for tool in sent}
    (found,) = (await of_device(home, beat))["heartbeats"]
    tools = found["tools"]
    assert [(one["name"], one["entities"]) for one in tools["offered"]] == [
        ("get_state", 3),
        ("feed", 0),
    ]
    for tool in tools["offered"]:
        assert tool["bytes"] == len(_compact([by_name[tool["name"]]]))
    assert tools["bytes"] == len(
        _compact([by_name[one["name"]] for one in tools["offered"]])
    )


def _compact(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


async def test_an_endpoint_hides_its_door(home: Home) -> None:
    await home.add_heartbeat("One")
    await home.add_heartbeat("Two")
    data = {
        **home.entry.data,
        "url": f"https://{PLANTED}:{PLANTED}@{PLANTED}.example:1234"
        f"/{PLANTED}/v1?key={PLANTED}",
        "api_key": PLANTED,
        "extra_body": {
            "user": PLANTED,
            "temperature": 0.2,
            "account": 123456789012,
            "reasoning_effort": "low",
            "headers": {PLANTED: PLANTED},
            "stop": [PLANTED],
            "stream": None,
        },
    }
    home.hass.config_entries.async_update_entry(home.entry, data=data)
    await home.hass.async_block_till_done()
    found = await of_entry(home)
    assert found["endpoint"]["options"] == {
        "url": "https://**REDACTED**:1234/**REDACTED**/v1",
        "model": "test-model",
        "api_key": "**REDACTED**",
        "extra_body": {
            "user": "**REDACTED**",
            "temperature": 0.2,
            "account": "**REDACTED**",
            "reasoning_effort": "low",
            "headers": {"**REDACTED**": "**REDACTED**"},
            "stop": ["**REDACTED**"],
            "stream": None,
        },
    }
    assert len(found["heartbeats"]) == 2
    assert PLANTED not in json.dumps(found)


async def test_an_address_that_is_none_is_hidden(home: Home) -> None:
    await home.add_heartbeat()
    data = {**home.entry.data, "url": f"http://[{PLANTED}", "api_key": ""}
    home.hass.config_entries.async_update_entry(home.entry, data=data)
    await home.hass.async_block_till_done()
    options = (await of_entry(home))["endpoint"]["options"]
    assert (options["url"], options["api_key"]) == ("**REDACTED**", "")


async def test_an_endpoint_says_how_it_is_asked_and_what_failed_last(
    home: Home,
) -> None:
    beat = await home.add_heartbeat(model="large")
    refused = {"message": "Unsupported parameter: 'temperature'"}
    data = {**home.entry.data, "extra_body": {"temperature": 0.2}}
    home.hass.config_entries.async_update_entry(home.entry, data=data)
    await home.hass.async_block_till_done()
    assert (await of_entry(home))["endpoint"]["last_error"] is None
    home.llm_server.play(
        Raw(status=400, body={"error": refused | {"param": "temperature"}}),
        text("Nothing to do."),
        Raw(status=402, body={"error": {"message": PLANTED}}),
    )
    await beat.wake()
    failed = await beat.wake()
    endpoint = (await of_entry(home))["endpoint"]
    assert endpoint["shapes"] == [
        {"model": "large", "shape": {"dropped": ["temperature"]}},
        {"model": "test-model", "shape": {}},
    ]
    assert endpoint["last_error"] == {"started": failed["started"], "kind": "quota"}
    assert PLANTED not in json.dumps(await of_entry(home))


async def test_an_endpoint_that_is_not_loaded_says_how_it_is_set_up(
    home: Home,
) -> None:
    await home.add_heartbeat()
    assert await home.hass.config_entries.async_unload(home.entry.entry_id)
    found = await of_entry(home)
    assert found["endpoint"]["state"] == "not_loaded"
    assert found["endpoint"]["options"]["model"] == "test-model"
    assert found["heartbeats"] == []


async def test_nothing_that_was_said_gets_out(home: Home) -> None:
    """Planted wherever a home, its owner or a model can put a text."""
    home.hass.states.async_set(
        "input_boolean.hungry",
        PLANTED,
        {
            "friendly_name": PLANTED,
            "access_token": PLANTED,
            "entity_picture": f"/api/camera_proxy/camera.door?token={PLANTED}",
        },
    )
    hungry = {"condition": "state", "entity_id": "input_boolean.hungry"}
    beat = await home.add_heartbeat(
        title=f"Milonga {PLANTED}",
        check_prompt=f"The alarm's code is {PLANTED}.",
        conditions=[
            {**hungry, "state": PLANTED},
            {**hungry, "state": PLANTED, "alias": f"Code {PLANTED}"},
            {**hungry, "attribute": "access_token", "state": [PLANTED]},
            {**hungry, "attribute": "entity_picture", "state": PLANTED},
            {
                "condition": "template",
                "value_template": f"{{{{ '{PLANTED}' == states('person.a') }}}}",
            },
            {"condition": PLANTED},
        ],
        look={"entity_id": ["input_boolean.hungry"]},
        act={"entity_id": ["script.feed", "script.fails"]},
        manners={"may_stop": True},
    )
    home.llm_server.play(
        calls(
            ("get_state", {"entity_id": "input_boolean.hungry"}),
            ("feed", {"food": PLANTED}),
            ("feed", {"food": "meal"}),
            (f"call_{PLANTED}", {PLANTED: PLANTED}),
            ("tell_owner", {"message": PLANTED}),
            content=PLANTED,
        ),
        calls(("stop_heartbeat", {"reason": PLANTED})),
        text(PLANTED),
    )
    await beat.wake()
    await beat.turn("on")
    home.llm_server.play(Raw(status=400, body={"error": {"message": PLANTED}}))
    await beat.wake()
    for found in (await of_entry(home), await of_device(home, beat)):
        assert PLANTED not in json.dumps(found)
    (stands,) = (await of_device(home, beat))["heartbeats"]
    assert stands["options"]["check_prompt"] == "**REDACTED** (27 characters)"
    failed, acted = stands["runs"]
    assert failed["outcome"] == failed["error"]["kind"].replace("bad_request", "error")
    assert [call["tool"] for call in acted["calls"]] == [
        "get_state",
        "feed",
        "feed",
        f"**REDACTED** ({len('call_' + PLANTED)} characters)",
        "tell_owner",
        "stop_heartbeat",
    ]
    assert acted["stop_reason"] == "agent"
    assert acted["each_turn"][0]["text"] == acted["message"]
    assert acted["message"] == f"**REDACTED** ({len(PLANTED)} characters)"


async def test_nobody_who_lives_there_is_named(home: Home) -> None:
    """Neither persons nor users, neither trackers nor places nor recipients.

    What is ours is told, even if somebody is called like it.
    """
    MockUser(name="owner", is_owner=True).add_to_hass(home.hass)
    MockUser(name="Rosalind Quist", is_owner=True).add_to_hass(home.hass)
    states = home.hass.states
    states.async_set("person.anneke", "home", {"friendly_name": "Anneke van Zomeren"})
    states.async_set("device_tracker.pixel_9", "Villa Bergen", {"latitude": 59.91273})
    states.async_set("zone.villa_bergen", "1", {"latitude": 59.91273})
    states.async_set("light.annekes_room", "on")
    states.async_set("sensor.rosalind_quist_battery", "80")
    beat = await home.add_heartbeat(
        conditions=[
            {"condition": "state", "entity_id": "person.anneke", "state": "home"},
            {
                "condition": "state",
                "entity_id": "device_tracker.pixel_9",
                "state": ["Villa Bergen", "home"],
            },
            {
                "condition": "numeric_state",
                "entity_id": "sensor.rosalind_quist_battery",
                "above": 50,
            },
            {
                "condition": "numeric_state",
                "entity_id": "device_tracker.pixel_9",
                "attribute": "latitude",
                "above": 59,
            },
            {
                "condition": "zone",
                "entity_id": "person.anneke",
                "zone": "zone.villa_bergen",
            },
        ],
        look={
            "entity_id": [
                "person.anneke",
                "light.annekes_room",
                "sensor.rosalind_quist_battery",
            ]
        },
        notify=["notify.mobile_app_annekes_pixel", "notify.phone"],
    )
    home.llm_server.play(
        calls(
            ("get_state", {"entity_id": ["person.anneke", "light.annekes_room"]}),
            ("tell_owner", {"message": "Anneke is at home."}),
        ),
        text("Anneke is at home."),
    )
    await beat.wake()
    found = await of_entry(home)
    written = json.dumps(found).casefold()
    for name in ("anneke", "zomeren", "rosalind", "pixel", "villa", "bergen", "59.91"):
        assert name not in written
    (stands,) = found["heartbeats"]
    assert [call["tool"] for call in stands["runs"][0]["calls"]] == [
        "get_state",
        "tell_owner",
    ]
    assert stands["tools"]["look"] == [
        "light.redacted_room",
        "person.redacted_3",
        "sensor.redacted_battery",
    ]
    assert stands["options"]["notify"] == [
        "notify.mobile_app_redacted_1",
        "notify.redacted_2",
    ]
    assert [one["reason"] for one in stands["gate"]][:3] == [
        "person.redacted_3 is **REDACTED**",
        "device_tracker.redacted_4 is **REDACTED**",
        "sensor.redacted_battery is 80, above 50",
    ]


async def test_a_failed_action_does_not_say_with_what(home: Home) -> None:
    async def fail(call: object) -> None:
        raise RuntimeError(PLANTED)

    home.hass.services.async_register("test", "fail", fail)
    beat = await home.add_heartbeat(act={"entity_id": ["script.fails"]})
    home.llm_server.play(calls(("fails", {})), text("It failed."))
    await beat.wake()
    (found,) = (await of_device(home, beat))["heartbeats"]
    (action,) = found["runs"][0]["actions"]
    assert action["status"] == "failed"
    assert action["error"].startswith("**REDACTED** (")
    assert PLANTED not in json.dumps(found)


async def test_only_the_last_runs_are_there(home: Home) -> None:
    beat = await home.add_heartbeat()
    home.llm_server.always = lambda _request: text("Nothing to do.")
    for _ in range(RUNS + 2):
        await beat.wake()
    (found,) = (await of_device(home, beat))["heartbeats"]
    assert [run["run_id"] for run in found["runs"]] == [
        run["run_id"] for run in (await beat.runs())[:RUNS]
    ]


async def test_a_device_of_no_heartbeat_has_nothing_to_say(home: Home) -> None:
    beat = await home.add_heartbeat()
    device = dr.async_get(home.hass).async_get_device_by_identifier(
        ("proactive_agent", beat.id), home.entry.entry_id
    )
    assert device is not None
    await beat.remove()
    found = await async_get_device_diagnostics(home.hass, home.entry, device)
    assert found["heartbeats"] == []


@pytest.mark.contract("G3")
async def test_it_says_why_the_gate_was_open(home: Home) -> None:
    beat = await home.add_heartbeat(conditions=[HUNGRY])
    home.llm_server.play(text("Nothing to do."))
    await beat.wake()
    (found,) = (await of_device(home, beat))["heartbeats"]
    (run,) = found["runs"]
    (verdict,) = run["gate"]
    assert verdict == found["gate"][0]
    assert verdict["result"] is False
    assert "off" in verdict["reason"]


@pytest.mark.contract("P1", "P2")
async def test_it_says_how_requests_stand_but_not_what_or_who(door: Door) -> None:
    user = MockUser(name=PLANTED, is_owner=True).add_to_hass(door.hass)
    with patch("secrets.token_urlsafe", return_value=PLANTED):
        first = await door.ask(because=PLANTED)
    (found,) = (await of_device(door.home, door.beat))["heartbeats"]
    (asked,) = found["requests"]
    await door.answer("approve", first, Context(user_id=user.id))
    (found,) = (await of_device(door.home, door.beat))["heartbeats"]
    (done,) = found["requests"]
    for secret in (PLANTED, first):
        assert secret not in json.dumps(await of_entry(door.home))
    (run,) = found["runs"]
    assert run["actions"][0]["was_answered"] is True
    now = dt_util.utcnow()
    assert asked == {
        "status": "pending",
        "action": "lock.unlock",
        "entity_id": [FRONT],
        "must_ask": False,
        "is_risky": True,
        "has_changed": False,
        "asked": now.isoformat(),
        "expires": (now + timedelta(hours=1)).isoformat(),
        "settled": None,
        "data": None,
        "because": f"**REDACTED** ({len(PLANTED)} characters)",
        "was_answered": False,
        "note": None,
    }
    assert done == {
        **asked,
        "status": "done",
        "settled": now.isoformat(),
        "was_answered": True,
    }

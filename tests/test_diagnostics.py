"""What can be handed on: how it stands, and nothing that is private."""

from collections.abc import Iterator
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

from custom_components.proactive_agent.diagnostics import (
    RUNS,
    async_get_config_entry_diagnostics,
    async_get_device_diagnostics,
)
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


def _texts(part: Any) -> Iterator[str]:
    match part:
        case dict():
            for key, value in part.items():
                yield key
                yield from _texts(value)
        case list():
            for value in part:
                yield from _texts(value)
        case _:
            yield str(part)


async def test_it_says_how_a_heartbeat_stands(home: Home) -> None:
    beat = await home.add_heartbeat(
        conditions=[HUNGRY],
        look={"entity_id": ["input_boolean.hungry"]},
        act=FEED,
        fuses={"max_ticks": 5},
    )
    await home.set("hungry", on=True)
    home.llm_server.play(calls(("feed", {"food": "meal"})), text("Fed."))
    await home.clock.tick()
    found = await of_device(home, beat)
    (run,) = found.pop("runs")
    assert found == {
        "options": {
            "check_prompt": "**REDACTED**",
            "interval": {"minutes": 15},
            "notify": ["notify.phone"],
            "conditions": [HUNGRY],
            "look": {"entity_id": ["input_boolean.hungry"]},
            "act": FEED,
            "fuses": {"max_ticks": 5},
        },
        "status": "asleep",
        "pause": None,
        "failing": {
            "failures": 0,
            "since": None,
            "kind": None,
            "fault": None,
            "until": None,
        },
        "used": {
            "ticks": 1,
            "deadline": None,
            "day": dt_util.now().date().isoformat(),
            "wakes": 1,
            "tokens": 56,
            "tokens_ever": 56,
        },
        "gate": [
            {
                "condition": "state input_boolean.hungry is on",
                "result": True,
                "reason": "input_boolean.hungry is on",
            }
        ],
        "tools": {
            "look": ["input_boolean.hungry"],
            "act": ["script.feed"],
            "ask": [],
            "offered": ["get_state", "feed"],
            "left_out": [],
        },
        "requests": [],
    }
    assert run["outcome"] == "acted"
    assert run["gate"][0]["result"] is True
    assert run["actions"][0]["action"] == "script.feed"
    assert run["actions"][0]["status"] == "done"
    assert run["calls"][0]["tool"] == "feed"


async def test_an_endpoint_lists_its_heartbeats_but_hides_its_door(home: Home) -> None:
    await home.add_heartbeat("One")
    await home.add_heartbeat("Two")
    data = {
        **home.entry.data,
        "url": f"https://{PLANTED}:{PLANTED}@{PLANTED}.example:1234/v1?key={PLANTED}",
        "api_key": PLANTED,
        "extra_body": {"user": PLANTED},
    }
    home.hass.config_entries.async_update_entry(home.entry, data=data)
    await home.hass.async_block_till_done()
    found = await of_entry(home)
    assert found["endpoint"] == {
        "url": "https://**REDACTED**/v1",
        "model": "test-model",
        "api_key": "**REDACTED**",
        "extra_body": "**REDACTED**",
    }
    assert len(found["heartbeats"]) == 2
    assert not [text for text in _texts(found) if PLANTED in text]


async def test_nothing_that_was_said_gets_out(home: Home) -> None:
    home.hass.states.async_set(
        "input_boolean.hungry", PLANTED, {"friendly_name": PLANTED}
    )
    beat = await home.add_heartbeat(
        title=f"Milonga {PLANTED}",
        check_prompt=f"The alarm's code is {PLANTED}.",
        look={"entity_id": ["input_boolean.hungry"]},
        act={"entity_id": ["script.feed", "script.fails"]},
    )
    home.llm_server.play(
        calls(
            ("get_state", {"entity_id": "input_boolean.hungry"}),
            ("feed", {"food": PLANTED}),
            ("feed", {"food": "meal"}),
            ("tell_owner", {"message": PLANTED}),
        ),
        text(PLANTED),
    )
    await beat.wake()
    home.llm_server.play(Raw(status=400, body={"error": {"message": PLANTED}}))
    await beat.wake()
    for found in (await of_entry(home), await of_device(home, beat)):
        assert not [text for text in _texts(found) if PLANTED in text]
    failed, acted = (await of_device(home, beat))["runs"]
    assert failed["outcome"] == "error"
    assert [*failed["error"]] == ["kind"]
    assert [call["tool"] for call in acted["calls"]] == [
        "get_state",
        "feed",
        "feed",
        "tell_owner",
    ]


async def test_a_failed_action_does_not_say_with_what(home: Home) -> None:
    async def fail(call: object) -> None:
        raise RuntimeError(PLANTED)

    home.hass.services.async_register("test", "fail", fail)
    beat = await home.add_heartbeat(act={"entity_id": ["script.fails"]})
    home.llm_server.play(calls(("fails", {})), text("It failed."))
    await beat.wake()
    found = await of_device(home, beat)
    (action,) = found["runs"][0]["actions"]
    assert (action["status"], action["error"]) == ("failed", "**REDACTED**")
    assert not [text for text in _texts(found) if PLANTED in text]


async def test_only_the_last_runs_are_there(home: Home) -> None:
    beat = await home.add_heartbeat()
    home.llm_server.always = lambda _request: text("Nothing to do.")
    for _ in range(RUNS + 2):
        await beat.wake()
    found = await of_device(home, beat)
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
    assert await async_get_device_diagnostics(home.hass, home.entry, device) == {}


@pytest.mark.contract("G3")
async def test_it_says_why_the_gate_was_open(home: Home) -> None:
    beat = await home.add_heartbeat(conditions=[HUNGRY])
    home.llm_server.play(text("Nothing to do."))
    await beat.wake()
    (run,) = (await of_device(home, beat))["runs"]
    (verdict,) = run["gate"]
    assert verdict["result"] is False
    assert "off" in verdict["reason"]


@pytest.mark.contract("P1", "P2")
async def test_it_says_how_requests_stand_but_not_what_or_who(door: Door) -> None:
    user = MockUser(name=PLANTED, is_owner=True).add_to_hass(door.hass)
    with patch("secrets.token_urlsafe", return_value=PLANTED):
        first = await door.ask(because=PLANTED)
    (asked,) = (await of_device(door.home, door.beat))["requests"]
    await door.answer("approve", first, Context(user_id=user.id))
    found = await of_device(door.home, door.beat)
    (done,) = found["requests"]
    assert not [text for text in _texts(found) if PLANTED in text]
    assert not [text for text in _texts(await of_entry(door.home)) if PLANTED in text]
    (run,) = found["runs"]
    assert run["actions"][0]["answered_by"] == "**REDACTED**"
    now = dt_util.utcnow()
    assert asked == {
        "approval_id": first,
        "run_id": run["run_id"],
        "status": "pending",
        "action": "lock.unlock",
        "entity_id": [FRONT],
        "must_ask": False,
        "is_risky": True,
        "has_changed": False,
        "asked": now.isoformat(),
        "expires": (now + timedelta(hours=1)).isoformat(),
        "settled": None,
        "data": {},
        "because": "**REDACTED**",
        "answered_by": None,
        "note": None,
    }
    assert done == {
        **asked,
        "status": "done",
        "settled": now.isoformat(),
        "answered_by": "**REDACTED**",
    }

"""What a run is told of its actions, through the whole loop (A5)."""

import json
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import async_mock_service

from .support.heartbeats import LAMP, Home, clock, home
from .support.llm_server import calls, llm_server, text

__all__ = ["clock", "home", "llm_server"]


async def wake(home: Home, *, works: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Let the model switch the lamp on; return its answer and the run's action."""
    if not works:
        async_mock_service(home.hass, "input_boolean", "turn_on")
    switch_on = ("input_boolean_turn_on", {"entity_id": "input_boolean.lamp"})
    home.llm_server.play(calls(switch_on), text("That was it."))
    beat = await home.add_heartbeat(act=LAMP)
    (action,) = (await beat.wake())["actions"]
    return json.loads(home.llm_server.chats[-1]["messages"][-1]["content"]), action


@pytest.mark.contract("A5")
async def test_the_model_hears_what_did_not_follow(home: Home) -> None:
    answer, action = await wake(home, works=False)
    note = "It was called without an error, but input_boolean.lamp is still off."
    assert answer == {
        "status": "done",
        "note": note,
        "state_now": {"input_boolean.lamp": "off"},
    }
    assert action["status"] == "done"


@pytest.mark.contract("A5")
async def test_of_what_followed_there_is_nothing_to_note(home: Home) -> None:
    answer, _ = await wake(home, works=True)
    assert answer == {"status": "done", "state_now": {"input_boolean.lamp": "on"}}

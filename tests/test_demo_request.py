"""The demo's first request, as it goes on the wire: nothing in it is superfluous.

Where a change is meant, the fixture is written anew with
`UPDATE_DEMO_REQUEST=1 pytest tests/test_demo_request.py`.
"""

from datetime import timedelta
import json
import os
from pathlib import Path
from typing import Any

from freezegun.api import FrozenDateTimeFactory
from homeassistant.components.recorder import Recorder
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from homeassistant.util.yaml import load_yaml_dict
import pytest

from custom_components.proactive_agent.identity import switch_of
from demo_house.agent import heartbeat_answers
from demo_house.house import CALL_LIGHT, HAPPY, HUNGER

from .support import stubs  # noqa: F401
from .support.heartbeats import endpoint, subentry_of
from .support.json_schema import faults
from .support.llm_server import LlmServer, llm_server, text

__all__ = ["llm_server"]

ROOT = Path(__file__).parents[1]
HOUSE = ROOT / "scripts" / "demo_house" / "home" / "configuration.yaml"
FIXTURE = ROOT / "tests" / "fixtures" / "demo" / "first_request.json"
NOW = "2026-11-30 20:00:00+00:00"
# All that a request costs beside the model's own words, in characters.
BUDGET = 4_500


@pytest.fixture
def mock_recorder_before_hass(async_test_recorder: Any) -> None:
    """Let the recorder be there first; the demo's house has one."""


@pytest.fixture
async def request_json(
    recorder_mock: Recorder,
    hass: HomeAssistant,
    llm_server: LlmServer,
    freezer: FrozenDateTimeFactory,
) -> Any:
    """Let Milonga get hungry in her own house; return what the model is asked."""
    freezer.move_to(NOW)
    house = load_yaml_dict(str(HOUSE))
    await hass.config.async_set_time_zone(house["homeassistant"]["time_zone"])
    assert await async_setup_component(hass, "homeassistant", {})
    for domain in ("input_number", "input_boolean", "template", "script"):
        assert await async_setup_component(hass, domain, {domain: house[domain]})
    await hass.async_block_till_done()
    freezer.tick(timedelta(hours=5))
    for entity_id, hearts in ((HUNGER, 1), (HAPPY, 3)):
        await hass.services.async_call(
            "input_number",
            "set_value",
            {"entity_id": entity_id, "value": hearts},
            blocking=True,
        )
    freezer.tick(timedelta(minutes=20))
    answers = heartbeat_answers(interval=900)
    entry = endpoint(llm_server, subentry_of(answers.pop("name"), **answers))
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done(wait_background_tasks=True)
    llm_server.play(text("Nothing to do."))
    await hass.services.async_call(
        "proactive_agent",
        "wake",
        {"entity_id": switch_of(hass, next(iter(entry.subentries)))},
        blocking=True,
        return_response=True,
    )
    (asked,) = llm_server.chats
    return asked


def functions(request_json: Any) -> dict[str, Any]:
    return {
        tool["function"]["name"]: tool["function"] for tool in request_json["tools"]
    }


@pytest.mark.contract("R1")
async def test_the_first_request_is_as_it_was(request_json: Any) -> None:
    if os.environ.get("UPDATE_DEMO_REQUEST"):
        FIXTURE.parent.mkdir(exist_ok=True)
        FIXTURE.write_text(
            json.dumps(request_json, indent=1, ensure_ascii=False) + "\n"
        )
    assert request_json == json.loads(FIXTURE.read_text(encoding="utf-8"))


async def test_nothing_in_it_is_superfluous(request_json: Any) -> None:
    tools = functions(request_json)
    assert {
        name: [*one["parameters"]["properties"]] for name, one in tools.items()
    } == {
        "get_state": ["entity_id"],
        "get_history": ["entity_id", "hours"],
        "light_turn_off": ["entity_id"],
        "light_turn_on": ["entity_id"],
        "feed": ["food"],
        "play": [],
        "tell_owner": ["message"],
    }
    # What may be acted on can be named where it is acted on, and nowhere else.
    lamp = tools["light_turn_off"]["parameters"]["properties"]["entity_id"]
    assert lamp["items"]["enum"] == [CALL_LIGHT]
    assert request_json.keys() <= {"model", "messages", "tools", "stream"}
    assert len(json.dumps(request_json, ensure_ascii=False)) < BUDGET


async def test_each_tool_is_plain_and_each_word_said_once(request_json: Any) -> None:
    for name, function in functions(request_json).items():
        assert [*faults(function["parameters"])] == [], name
        assert function["description"]
    system, moment = request_json["messages"]
    assert (system["role"], moment["role"]) == ("system", "user")
    for entity_id in (HUNGER, HAPPY, CALL_LIGHT):
        assert moment["content"].count(entity_id) == 1

"""What thinks in a run: the endpoint as it is set up when the run begins."""

import asyncio
from typing import Any

import pytest

from custom_components.proactive_agent.diagnostics import (
    async_get_config_entry_diagnostics,
)
from tests.support.heartbeats import FEED, Home, clock, home, let_run
from tests.support.llm_server import Held, calls, llm_server, text
from tests.support.task_entity import ENTITY, Tasks, tasks

__all__ = ["clock", "home", "llm_server", "tasks"]

MEAL = ("feed", {"food": "meal"})


def models(home: Home) -> list[Any]:
    return [chat["model"] for chat in home.llm_server.chats]


async def test_a_heartbeat_may_have_a_model_of_its_own(home: Home) -> None:
    home.llm_server.always = text("Fine.")
    one = await home.add_heartbeat("One")
    two = await home.add_heartbeat("Two", model="small")
    await one.wake()
    await two.wake()
    await one.wake()
    assert models(home) == ["test-model", "small", "test-model"]


@pytest.mark.contract("C7")
async def test_another_model_counts_from_the_next_run(home: Home) -> None:
    held = Held(calls(MEAL))
    home.llm_server.play(held, text("Fed."))
    home.llm_server.always = text("Fine.")
    beat = await home.add_heartbeat(act=FEED, model="small")
    waking = asyncio.create_task(beat.wake())
    await held.reached.wait()
    await beat.change_beside(model="large")
    held.release.set()
    assert (await waking)["answer"] == "Fed."
    await beat.wake()
    await beat.change(model=None)
    await beat.wake()
    assert models(home) == ["small", "small", "large", "test-model"]


@pytest.mark.contract("C7")
async def test_another_endpoint_counts_from_the_next_run(home: Home) -> None:
    held = Held(calls(MEAL))
    home.llm_server.play(held, text("Fed."))
    home.llm_server.always = text("Fine.")
    beat = await home.add_heartbeat(act=FEED)
    own = await home.add_heartbeat("Own", model="small")
    waking = asyncio.create_task(beat.wake())
    await held.reached.wait()
    home.hass.config_entries.async_update_entry(
        home.entry, data={**home.entry.data, "model": "new", "api_key": "other"}
    )
    await let_run()
    held.release.set()
    record = await waking
    assert (record["outcome"], record["answer"]) == ("acted", "Fed.")
    await beat.wake()
    await own.wake()
    assert models(home) == ["test-model", "test-model", "new", "small"]
    keys = [one.headers["Authorization"] for one in home.llm_server.requests]
    assert keys == ["Bearer key", "Bearer key", "Bearer other", "Bearer other"]


async def test_diagnostics_name_the_entity_that_thinks(
    home: Home, tasks: Tasks
) -> None:
    await home.add_heartbeat()
    found = await async_get_config_entry_diagnostics(home.hass, home.entry)
    assert found["endpoint"]["options"] == {"entity_id": ENTITY}

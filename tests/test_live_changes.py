"""Changes while runs are in flight and requests wait: who is disturbed (C5-C7, P7)."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType

from homeassistant.config_entries import ConfigEntryDisabler, ConfigSubentry
from homeassistant.core import CoreState
from homeassistant.helpers import entity_registry as er
import pytest

from tests.support.doors import FRONT, Door, door
from tests.support.heartbeats import (
    HUNGRY,
    INTERVAL,
    Beat,
    Home,
    clock,
    heartbeat_data,
    home,
    let_run,
)
from tests.support.llm_server import Held, llm_server, text

__all__ = ["clock", "door", "home", "llm_server"]

LONG = {"run_timeout": 1_000_000}
SEVEN = timedelta(minutes=7)
OPEN = {"condition": "state", "entity_id": "input_boolean.door", "state": "on"}
BLIND = {"condition": "state", "entity_id": "light.late", "state": "on"}


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A request waits, a run is in flight, and others only tick."""

    home: Home
    door: Door
    request: str
    runner: Beat
    ticker: Beat
    other: Beat
    held: Held

    async def end_run(self) -> str:
        self.held.release.set()
        await self.home.settled()
        (run,) = await self.runner.runs()
        return str(run["outcome"])


@pytest.fixture(name="scene")
async def scene_fixture(home: Home, door: Door) -> Scene:
    await door.beat.change(interval={"days": 3}, conditions=[HUNGRY])
    request = await door.ask()
    runner = await home.add_heartbeat(
        "Runner", fuses=LONG, interval={"minutes": 7}, conditions=[OPEN]
    )
    ticker = await home.add_heartbeat("Ticker", conditions=[HUNGRY])
    other = await home.add_heartbeat("Other", conditions=[BLIND])
    held = Held(text("Fine."))
    home.llm_server.play(held)
    await home.set("door", on=True)
    home.clock.turn(SEVEN)
    await held.reached.wait()
    await home.set("door", on=False)
    return Scene(
        home=home,
        door=door,
        request=request,
        runner=runner,
        ticker=ticker,
        other=other,
        held=held,
    )


def leftovers(home: Home) -> list[str]:
    """Name the tasks and timers of ours that are still there."""
    loop = asyncio.get_running_loop()
    tasks = [
        f"task {task.get_name()}"
        for task in asyncio.all_tasks()
        if "proactive_agent" in f"{task.get_name()} {task.get_coro()}"
        and task is not asyncio.current_task()
    ]
    timers = [
        f"timer {handle}"
        for handle in loop._scheduled  # type: ignore[attr-defined]
        if not handle.cancelled() and "proactive_agent" in str(handle)
    ]
    return tasks + timers


async def options(scene: Scene) -> None:
    await scene.other.change_beside(check_prompt="Other.", conditions=[HUNGRY])


async def interval(scene: Scene) -> None:
    await scene.other.change_beside(interval={"minutes": 1})


async def title(scene: Scene) -> None:
    await scene.other.change_beside(title="Renamed")


async def added(scene: Scene) -> None:
    scene.home.hass.config_entries.async_add_subentry(
        scene.home.entry,
        ConfigSubentry(
            data=MappingProxyType(heartbeat_data(conditions=[HUNGRY])),
            subentry_type="heartbeat",
            title="Added",
            unique_id=None,
        ),
    )
    await let_run()


async def removed(scene: Scene) -> None:
    scene.home.hass.config_entries.async_remove_subentry(
        scene.home.entry, scene.other.id
    )
    await let_run()


async def _edit(scene: Scene, **data: str) -> None:
    entry = scene.home.entry
    scene.home.hass.config_entries.async_update_entry(
        entry, data={**entry.data, **data}
    )
    await let_run()


async def model(scene: Scene) -> None:
    await _edit(scene, model="better-model")


async def url(scene: Scene) -> None:
    await _edit(scene, url="http://127.0.0.1:9/v1")


async def key(scene: Scene) -> None:
    await _edit(scene, api_key="another")


async def renamed(scene: Scene) -> None:
    er.async_get(scene.home.hass).async_update_entity(
        "input_boolean.hungry", new_entity_id="input_boolean.starving"
    )
    await let_run()


@pytest.mark.contract("C7", "P7")
@pytest.mark.parametrize(
    "change",
    [options, interval, title, added, removed, model, url, key, renamed],
    ids=lambda one: one.__name__,
)
async def test_a_change_disturbs_neither_runs_nor_timers_nor_requests(
    scene: Scene, change: Callable[[Scene], Awaitable[None]]
) -> None:
    await change(scene)
    assert scene.runner.state("status") == "running"
    assert scene.door.beat.state("status") == "waiting"
    # Whoever ticks does so when it was due, and once.
    await scene.home.clock.tick_beside(every=INTERVAL - SEVEN)
    assert await scene.ticker.ticks() == 1
    assert await scene.end_run() == "nothing"
    await scene.home.clock.tick_beside(2)
    assert await scene.ticker.ticks() == 3
    await scene.door.answer("approve", scene.request)
    assert scene.door.opened == [FRONT]


@pytest.mark.contract("C6", "C7")
@pytest.mark.parametrize("times", [1, 3])
async def test_many_changes_leave_one_timer(scene: Scene, times: int) -> None:
    for number in range(times):
        await scene.ticker.change_beside(
            interval={"minutes": 10}, check_prompt=f"Look {number}."
        )
        await scene.ticker.change_beside(interval={"minutes": 15})
    before = await scene.ticker.ticks()
    await scene.home.clock.tick_beside(4)
    assert await scene.ticker.ticks() == before + 4
    await scene.end_run()


@pytest.mark.contract("C7", "R8", "P7")
async def test_what_is_removed_in_the_middle_of_a_run_is_gone(scene: Scene) -> None:
    scene.home.hass.config_entries.async_remove_subentry(
        scene.home.entry, scene.runner.id
    )
    await let_run()
    scene.held.release.set()
    await scene.home.settled()
    assert not [one for one in leftovers(scene.home) if "run 01" in one]
    assert scene.door.beat.state("status") == "waiting"
    scene.home.hass.config_entries.async_remove_subentry(
        scene.home.entry, scene.door.beat.id
    )
    await scene.home.settled()
    # The request goes with its heartbeat, also off the phone.
    assert scene.door.phone[-1].data["message"] == "clear_notification"
    assert scene.door.opened == []


@pytest.mark.contract("C5", "C6", "C7", "P7")
async def test_a_reload_ends_the_run_and_keeps_what_waits(scene: Scene) -> None:
    """One timer each; the request can still be answered, and is done once."""
    reload = scene.home.hass.async_create_task(
        scene.home.hass.config_entries.async_reload(scene.home.entry.entry_id)
    )
    await let_run()
    scene.held.release.set()
    assert await reload
    await scene.home.settled()
    assert scene.runner.state("status") != "running"
    assert scene.door.beat.state("status") == "waiting"
    await scene.home.clock.tick_beside(every=INTERVAL - SEVEN)
    assert await scene.ticker.ticks() == 1
    await scene.home.clock.tick_beside(2)
    assert await scene.ticker.ticks() == 3
    await scene.door.answer("approve", scene.request)
    assert scene.door.opened == [FRONT]


@pytest.mark.contract("C5", "C7")
@pytest.mark.parametrize("way", ["unload", "disable", "remove", "change and unload"])
async def test_nothing_is_left_of_what_is_not_loaded(scene: Scene, way: str) -> None:
    home = scene.home
    assert {one.split()[0] for one in leftovers(home)} == {"task", "timer"}
    entries, entry_id = home.hass.config_entries, home.entry.entry_id
    match way:
        case "disable":
            await entries.async_set_disabled_by(entry_id, ConfigEntryDisabler.USER)
        case "remove":
            await entries.async_remove(entry_id)
        case _:
            if "change" in way:
                scene.other._change(None, {"interval": {"minutes": 1}})
                scene.runner._change("Runs", {"fuses": {}})
            await entries.async_unload(entry_id)
    scene.held.release.set()
    await home.settled()
    assert leftovers(home) == []
    asked = len(home.llm_server.chats)
    await home.clock.tick(9)
    assert len(home.llm_server.chats) == asked


@pytest.mark.contract("C6", "C7")
async def test_home_assistant_can_end_at_any_moment(scene: Scene) -> None:
    await scene.home.hass.async_stop(force=True)
    assert scene.home.hass.state is CoreState.stopped
    assert not [one for one in leftovers(scene.home) if one.startswith("task")]
    scene.held.release.set()

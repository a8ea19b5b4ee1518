"""Whatever hangs, the run is over in time and the lock is released (C3, F3, S7)."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from homeassistant.core import ServiceCall
from homeassistant.helpers.storage import Store
import pytest

from custom_components.proactive_agent.heartbeat.runner import TELL_TIMEOUT
from custom_components.proactive_agent.store.file import WRITE_TIMEOUT
from tests.support.heartbeats import (
    FEED,
    INTERVAL,
    Home,
    clock,
    home,
    let_run,
)
from tests.support.llm_server import calls, llm_server, text

__all__ = ["clock", "home", "llm_server"]

MEAL = ("feed", {"food": "meal"})
PACKAGE = "custom_components.proactive_agent"
RUN_TIMEOUT = 60
# What a run may take at most, with the moment that a conversation has to let go.
LONGEST = timedelta(seconds=RUN_TIMEOUT + TELL_TIMEOUT + 2)


class Deaf:
    """Hangs, and does not listen to whoever breaks it off."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.release = asyncio.Event()

    async def hang(self, *_: object, **__: object) -> None:
        self.reached.set()
        while not self.release.is_set():
            try:
                await self.release.wait()
            except asyncio.CancelledError:
                continue


@pytest.fixture(name="deaf")
async def deaf_fixture() -> Any:
    deaf = Deaf()
    yield deaf
    deaf.release.set()
    await let_run()


def hang_model(home: Home, deaf: Deaf, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(f"{PACKAGE}.endpoint.endpoint.EndpointClient.complete", deaf.hang)


def hang_action(home: Home, deaf: Deaf, patch: pytest.MonkeyPatch) -> None:
    async def handle(_: ServiceCall) -> None:
        await deaf.hang()

    home.hass.services.async_register("test", "wait", handle)
    home.llm_server.always = calls(("valve", {}))


def hang_notifier(home: Home, deaf: Deaf, patch: pytest.MonkeyPatch) -> None:
    async def handle(_: ServiceCall) -> None:
        await deaf.hang()

    home.hass.services.async_register("notify", "phone", handle)
    home.llm_server.play(calls(MEAL), text("Fed."))


def hang_disk(home: Home, deaf: Deaf, patch: pytest.MonkeyPatch) -> None:
    write = Store._async_write_data

    async def stuck(store: Store[Any], data: Any) -> None:
        if store.key.startswith("proactive_agent"):
            await deaf.hang()
        await write(store, data)

    patch.setattr(Store, "_async_write_data", stuck)


def hang_reading(home: Home, deaf: Deaf, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        f"{PACKAGE}.tools.state.GetStateTool.async_call",
        deaf.hang,
    )
    home.llm_server.always = calls(("get_state", {"entity_id": "input_boolean.lamp"}))


def hang_offer(home: Home, deaf: Deaf, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(f"{PACKAGE}.tools.toolbox.OfferCache.async_toolbox", deaf.hang)


@pytest.mark.contract("C3", "F3")
@pytest.mark.parametrize(
    "hang",
    [hang_model, hang_action, hang_notifier, hang_disk, hang_reading, hang_offer],
)
async def test_the_lock_is_released_whatever_hangs(
    home: Home,
    deaf: Deaf,
    hang: Callable[[Home, Deaf, pytest.MonkeyPatch], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    beat = await home.add_heartbeat(
        act={"entity_id": ["script.feed", "script.valve"]},
        look={"entity_id": ["input_boolean.lamp"]},
        fuses={"run_timeout": RUN_TIMEOUT},
    )
    with monkeypatch.context() as patch:
        hang(home, deaf, patch)
        started = home.hass.loop.time()
        home.clock.turn(INTERVAL)
        await deaf.reached.wait()
        await home.clock.turn_until(lambda: beat.state("status") != "running")
        assert home.hass.loop.time() - started - INTERVAL.total_seconds() <= (
            LONGEST.total_seconds()
        )
        assert len(await beat.runs()) == 1
    deaf.release.set()
    await home.settled()


@pytest.mark.contract("D1", "F5", "F6")
async def test_a_write_that_never_returns_holds_nobody_up(
    home: Home, deaf: Deaf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No model is called, switching and unloading go on, one write waits at most."""
    beat = await home.add_heartbeat()
    await home.clock.tick(every=timedelta(seconds=30))
    with monkeypatch.context() as patch:
        hang_disk(home, deaf, patch)
        for _ in range(3):
            woken = home.hass.async_create_task(beat.wake())
            await home.clock.turn_until(woken.done)
            assert woken.result()["outcome"] == "error"
            assert "could not be written down" in woken.result()["error"]["message"]
        for state in ("off", "on"):
            turned = home.hass.async_create_task(beat.turn(state))
            await home.clock.turn_until(turned.done)
        assert home.llm_server.chats == []
        writing = [
            task
            for task in asyncio.all_tasks()
            if task.get_name().endswith(f"{home.entry.entry_id} write")
        ]
        assert len(writing) == 1
        unloaded = home.hass.async_create_task(
            home.hass.config_entries.async_unload(home.entry.entry_id)
        )
        before = home.hass.loop.time()
        await home.clock.turn_until(unloaded.done)
        assert home.hass.loop.time() - before <= 2 * WRITE_TIMEOUT + 10
    deaf.release.set()
    await home.settled()


@pytest.mark.contract("D1", "F5")
async def test_after_a_write_that_hung_for_a_while_all_goes_on(
    home: Home, deaf: Deaf, monkeypatch: pytest.MonkeyPatch
) -> None:
    beat = await home.add_heartbeat()
    await home.clock.tick(every=timedelta(seconds=30))
    with monkeypatch.context() as patch:
        hang_disk(home, deaf, patch)
        woken = home.hass.async_create_task(beat.wake())
        await home.clock.turn_until(woken.done)
        assert woken.result()["outcome"] == "error"
    deaf.release.set()
    await home.settled()
    home.llm_server.play(text("Fine."))
    assert (await beat.wake())["outcome"] == "nothing"


@pytest.mark.contract("C3", "S5")
async def test_a_report_that_hangs_is_said_in_the_log_and_may_still_arrive(
    home: Home,
    deaf: Deaf,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    beat = await home.add_heartbeat(act=FEED)
    hang_notifier(home, deaf, monkeypatch)
    home.clock.turn(INTERVAL)
    await deaf.reached.wait()
    await home.clock.turn_until(lambda: beat.state("status") != "running")
    assert "its report hangs" in caplog.text
    (run,) = await beat.runs()
    assert run["outcome"] == "acted"
    home.llm_server.play(text("Fine."))
    assert (await beat.wake())["outcome"] == "nothing"


@pytest.mark.contract("C3", "R7")
async def test_a_record_that_cannot_be_judged_is_kept_all_the_same(
    home: Home, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no judge")

    monkeypatch.setattr(f"{PACKAGE}.heartbeat.model_issues.ModelIssues.judge", fail)
    beat = await home.add_heartbeat()
    home.llm_server.play(text("Fine."))
    await home.clock.tick()
    assert beat.state("status") == "asleep"
    assert [run["outcome"] for run in await beat.runs()] == ["nothing"]
    assert "no judge" in caplog.text
    caplog.clear()

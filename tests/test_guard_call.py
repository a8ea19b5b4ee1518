"""Whatever an action does: its record is right, and the next one may go (R4, R8)."""

import asyncio
from datetime import timedelta
from typing import Any

from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import Context, HomeAssistant, ServiceCall, SupportsResponse
import pytest
from pytest_homeassistant_custom_component.common import async_fire_time_changed

from custom_components.proactive_agent.engine.errors import (
    ActionRefusedError,
    RefusalKind,
)
from custom_components.proactive_agent.engine.reach import Reach
from custom_components.proactive_agent.engine.records import (
    NOT_ENDED,
    ActionRecord,
    ActionStatus,
)
from custom_components.proactive_agent.guard import (
    guard as guard_module,
    work as guard_work_module,
)
from custom_components.proactive_agent.guard.guard import Action, Guard, Terms
from custom_components.proactive_agent.guard.look import Look
from custom_components.proactive_agent.guard.past_actions import PastActions

from .support.consent import Owner

LAMP = "light.lamp"
LAMP_ON = Action(domain="light", service="turn_on", entity_id=(LAMP,))
CANDLE = Action(
    domain="light", service="turn_on", entity_id=(LAMP,), data={"effect": "candle"}
)
SKY = Action(domain="weather", service="get_forecasts", entity_id=("weather.sky",))


class Door:
    """A guard with a lamp behind it, and what comes of it."""

    def __init__(self, hass: HomeAssistant) -> None:
        self.hass = hass
        self.lock = asyncio.Lock()
        self.settled: list[ActionRecord] = []
        self.guard = Guard(
            hass,
            context=Context(),
            terms=Terms(
                permitted=lambda: Reach(act=(LAMP,), look=("weather.sky",)),
                ask_before_risky=True,
                max_actions=10,
            ),
            lock=self.lock,
            on_settled=lambda _index, record: self.settled.append(record),
            consent=Owner(),
            past_actions=PastActions(hass),
        )

    async def failing(self, action: Action) -> str:
        with pytest.raises(ActionRefusedError) as caught:
            await self.guard.act(action)
        assert caught.value.kind is RefusalKind.FAILED
        return str(caught.value)


@pytest.fixture
def door(hass: HomeAssistant) -> Door:
    hass.states.async_set(LAMP, "off")
    hass.states.async_set("weather.sky", "sunny")
    return Door(hass)


class Odd:
    """A value that cannot even be compared."""

    def __eq__(self, other: object) -> bool:
        raise TypeError("Do not compare me")

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.contract("A6", "A8", "R8")
async def test_what_was_done_is_done_also_if_nobody_can_tell_what_came_of_it(
    hass: HomeAssistant, door: Door, caplog: pytest.LogCaptureFixture
) -> None:
    async def turn_on(_: ServiceCall) -> None:
        hass.states.async_set(LAMP, "on", {"effect": Odd()})

    hass.services.async_register("light", "turn_on", turn_on)
    record, _ = await door.guard.act(CANDLE)
    assert (record.status, record.error) == (ActionStatus.DONE, None)
    assert door.guard.actions == (record,)
    assert not door.lock.locked()
    assert "What came of light.turn_on could not be looked at" in caplog.text
    caplog.clear()


@pytest.mark.contract("A8", "R8")
@pytest.mark.parametrize("nth", [1, 2, 3])
async def test_a_look_that_fails_before_the_call_keeps_no_lock_and_no_record(
    hass: HomeAssistant, door: Door, monkeypatch: pytest.MonkeyPatch, nth: int
) -> None:
    looks = 0

    def look(hass: HomeAssistant, action: Action) -> Look:
        nonlocal looks
        looks += 1
        if looks == nth:
            raise TypeError("An odd attribute")
        return Look(hass, action)

    called: list[ServiceCall] = []
    hass.services.async_register("light", "turn_on", called.append)
    monkeypatch.setattr(guard_module, "Look", look)
    monkeypatch.setattr(guard_work_module, "Look", look)
    with pytest.raises(TypeError):
        await door.guard.act(LAMP_ON)
    assert looks == nth
    assert called == []
    assert door.guard.actions == ()
    assert not door.lock.locked()


def _cancelled() -> asyncio.CancelledError:
    return asyncio.CancelledError("from within")


@pytest.mark.contract("R4")
@pytest.mark.parametrize("way", ["raised", "own task", "awaited task"])
async def test_an_action_that_is_cancelled_from_within_has_failed(
    hass: HomeAssistant, door: Door, way: str
) -> None:
    async def turn_on(_: ServiceCall) -> None:
        match way:
            case "raised":
                raise _cancelled()
            case "own task":
                task = asyncio.current_task()
                assert task is not None
                task.cancel()
                await asyncio.sleep(0)
            case _:
                awaited = hass.loop.create_future()
                awaited.cancel()
                await awaited

    hass.services.async_register("light", "turn_on", turn_on)
    assert await door.failing(LAMP_ON) == "light.turn_on failed: it was cancelled"
    (record,) = door.guard.actions
    assert (record.status, record.error) == (ActionStatus.FAILED, "it was cancelled")
    assert not door.lock.locked()


@pytest.mark.contract("R4")
async def test_a_reading_that_is_cancelled_from_within_has_failed(
    hass: HomeAssistant, door: Door
) -> None:
    async def answer(_: ServiceCall) -> Any:
        raise _cancelled()

    hass.services.async_register(
        "weather", "get_forecasts", answer, supports_response=SupportsResponse.ONLY
    )
    with pytest.raises(ActionRefusedError, match="failed: it was cancelled"):
        await door.guard.read(SKY)


class Hanging:
    """An action that goes on until it is let go, and notes how it ended."""

    def __init__(self, hass: HomeAssistant, domain: str, service: str) -> None:
        self.let_go = asyncio.Event()
        self.ends: list[str] = []
        kind = (
            SupportsResponse.ONLY if domain == "weather" else SupportsResponse.OPTIONAL
        )
        hass.services.async_register(
            domain, service, self._handle, supports_response=kind
        )

    async def _handle(self, _: ServiceCall) -> Any:
        try:
            await self.let_go.wait()
        except asyncio.CancelledError:
            self.ends.append("cancelled")
            raise
        self.ends.append("of itself")
        return {}


async def _pass(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory, **span: float
) -> None:
    freezer.tick(timedelta(**span))
    async_fire_time_changed(hass)
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.mark.contract("R8", "A8")
@pytest.mark.parametrize("is_cut", [True, False])
async def test_the_bound_ends_the_wait_and_frees_the_lock_but_not_the_action(
    hass: HomeAssistant, door: Door, freezer: FrozenDateTimeFactory, is_cut: bool
) -> None:
    hanging = Hanging(hass, "light", "turn_on")
    run = hass.async_create_task(door.guard.act(LAMP_ON))
    await asyncio.sleep(0)
    if is_cut:
        run.cancel()
    await _pass(hass, freezer, minutes=9, seconds=58)
    assert door.guard.actions[0].status is ActionStatus.STILL_RUNNING
    assert door.lock.locked()
    await _pass(hass, freezer, seconds=3)
    (record,) = door.guard.actions
    assert (record.status, record.error) == (ActionStatus.FAILED, NOT_ENDED)
    assert record.may_go_on
    assert not door.lock.locked()
    assert door.settled == ([record] if is_cut else [])
    with pytest.raises(asyncio.CancelledError if is_cut else ActionRefusedError):
        await run
    assert hanging.ends == []
    hanging.let_go.set()
    await hass.async_block_till_done(wait_background_tasks=True)
    assert hanging.ends == ["of itself"]
    assert door.guard.actions == (record,)


@pytest.mark.parametrize("is_cut", [True, False])
async def test_a_reading_ends_with_the_wait_for_it(
    hass: HomeAssistant, door: Door, freezer: FrozenDateTimeFactory, is_cut: bool
) -> None:
    hanging = Hanging(hass, "weather", "get_forecasts")
    run = hass.async_create_task(door.guard.read(SKY))
    await asyncio.sleep(0)
    if is_cut:
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
    else:
        await _pass(hass, freezer, seconds=31)
        with pytest.raises(ActionRefusedError, match="it took too long"):
            await run
    await asyncio.sleep(0)
    assert hanging.ends == ["cancelled"]

"""A heartbeat that is to stop waits for what it has asked (F8, F6, P7)."""

from datetime import timedelta
from typing import Any

import pytest

from tests.support.asking import (
    UNLOCKED,
    disk_now,
    set_up,
    stored,
    unload,
    unlock,
    until,
    wake,
)
from tests.support.doors import BACK, FRONT, Door, door
from tests.support.heartbeats import LAMP, HeldService, clock, home, let_run
from tests.support.llm_server import Held, calls, llm_server, text

__all__ = ["clock", "door", "home", "llm_server"]

HOUR = timedelta(hours=1)
AFTER_ACTING = {"stop_after_acting": True}
STOPPED = "Stopped: it was to stop after it had done something. Switch it on to go on."
ENDED = "It has stopped itself: The owner is home."
SAY = ("tell_owner", {"message": "I have asked you."})
LAMP_ON = ("input_boolean_turn_on", {"entity_id": "input_boolean.lamp"})
STOP = ("stop_heartbeat", {"reason": "The owner is home."})


def reasons(door: Door) -> list[str]:
    """Return why the heartbeat has stopped, each time."""
    return [one["reason"] for one in door.home.fired("proactive_agent_stopped")]


@pytest.mark.contract("F8", "P7")
@pytest.mark.parametrize("also", [SAY, LAMP_ON], ids=["spoke", "acted"])
@pytest.mark.parametrize("answer", ["approve", "reject", "expire"])
async def test_it_stops_when_its_owner_has_answered(
    door: Door, also: tuple[str, dict[str, Any]], answer: str
) -> None:
    await door.beat.change(act=LAMP, manners=AFTER_ACTING)
    record = await wake(door, unlock(), also)
    assert door.beat.is_on()
    assert not record["stopped"]
    assert door.shown["waiting"] == 1
    if answer == "expire":
        door.home.clock.turn(HOUR)
        await door.home.settled()
    else:
        await door.press(answer)
    assert not door.beat.is_on()
    assert reasons(door) == ["stop_after_acting"]
    assert door.told[-1] == STOPPED
    assert door.opened == ([FRONT] if answer == "approve" else [])
    assert (UNLOCKED in door.told) == (answer == "approve")


@pytest.mark.contract("F8")
async def test_what_it_did_after_a_yes_is_what_it_had_to_do(door: Door) -> None:
    await door.beat.change(manners=AFTER_ACTING)
    await wake(door, unlock())
    assert door.beat.is_on()
    await door.press("approve")
    assert not door.beat.is_on()
    assert door.told == [UNLOCKED, STOPPED]


@pytest.mark.contract("F8")
@pytest.mark.parametrize("answer", ["reject", "expire", "changed"])
async def test_a_no_is_nothing_done(door: Door, answer: str) -> None:
    await door.beat.change(manners=AFTER_ACTING)
    approval_id = await door.ask()
    match answer:
        case "reject":
            await door.press("reject")
        case "expire":
            door.home.clock.turn(HOUR)
            await door.home.settled()
        case _:
            door.hass.states.async_set(FRONT, "jammed")
            await door.error("approve", approval_id)
    assert door.beat.is_on()
    assert reasons(door) == []


@pytest.mark.contract("F8", "P7")
async def test_it_waits_for_all_that_it_has_asked(door: Door) -> None:
    await door.beat.change(manners=AFTER_ACTING)
    await wake(door, unlock(FRONT), unlock(BACK))
    await door.press("approve")
    assert (door.opened, door.beat.is_on()) == ([FRONT], True)
    await door.answer("reject", door.shown["approval_id"])
    assert not door.beat.is_on()


@pytest.mark.contract("F8", "P7")
async def test_it_does_not_wake_again_before_it_goes(door: Door) -> None:
    await door.beat.change(manners=AFTER_ACTING)
    await wake(door, unlock(), SAY)
    asked = len(door.home.llm_server.chats)
    door.hass.states.async_set(BACK, "jammed")
    await door.home.clock.tick(2)
    assert len(door.home.llm_server.chats) == asked
    assert await door.beat.ticks() == 2
    assert door.beat.state("status") == "waiting"


@pytest.mark.contract("F8", "P7")
async def test_so_does_one_that_the_agent_ends(door: Door) -> None:
    await door.beat.change(manners={"may_stop": True})
    record = await wake(door, unlock(), STOP)
    assert (door.beat.is_on(), record["stopped"]) == (True, False)
    await door.press("approve")
    assert not door.beat.is_on()
    assert reasons(door) == ["agent"]
    assert door.told == [UNLOCKED, ENDED]


@pytest.mark.contract("F6", "P7")
@pytest.mark.parametrize("way", ["by hand", "fuse", "last tick"])
async def test_a_hand_or_a_fuse_waits_for_nobody(door: Door, way: str) -> None:
    fuses: dict[str, dict[str, Any]] = {
        "by hand": {},
        "fuse": {"max_duration": {"minutes": 10}},
        "last tick": {"max_ticks": 1},
    }
    await door.beat.change(manners=AFTER_ACTING, fuses=fuses[way])
    door.home.llm_server.play(calls(unlock(), SAY), text("Asked."))
    if way == "last tick":
        await door.home.clock.tick()
    else:
        await door.beat.wake()
        await door.home.settled()
        assert door.shown["waiting"] == 1
    if way == "by hand":
        await door.beat.turn("off")
    elif way == "fuse":
        door.home.clock.turn(timedelta(minutes=11))
    await door.home.settled()
    assert (door.beat.is_on(), door.shown["waiting"]) == (False, 0)
    assert len(door.cleared) == 1
    expected = {"by hand": [], "fuse": ["max_duration"], "last tick": [*AFTER_ACTING]}
    assert reasons(door) == expected[way]


@pytest.mark.contract("F6", "C9")
async def test_switched_off_and_on_it_stays(door: Door) -> None:
    await door.beat.change(manners=AFTER_ACTING)
    await wake(door, unlock(), SAY)
    await door.beat.turn("off")
    await door.beat.turn("on")
    await door.home.settled()
    assert door.beat.is_on()
    door.home.llm_server.play(text("Fine."))
    await door.home.clock.tick()
    assert door.beat.is_on()
    assert len(door.home.llm_server.chats) == 3


@pytest.mark.contract("C7", "F8")
async def test_when_it_need_not_stop_any_more_it_stays(door: Door) -> None:
    await door.beat.change(manners=AFTER_ACTING)
    await wake(door, unlock(), SAY)
    await door.beat.change(manners={})
    await door.press("approve")
    assert (door.opened, door.beat.is_on()) == ([FRONT], True)
    door.home.llm_server.play(text("Fine."))
    await door.home.clock.tick()
    assert len(door.home.llm_server.chats) == 3


@pytest.mark.contract("C7", "F8")
async def test_what_it_need_not_do_any_more_does_not_come_back(door: Door) -> None:
    await door.beat.change(manners=AFTER_ACTING)
    await wake(door, unlock(), SAY)
    await door.beat.change(manners={})
    await door.press("reject")
    await door.beat.change(manners=AFTER_ACTING)
    asked = len(door.home.llm_server.chats)
    door.home.llm_server.play(text("Fine."))
    await door.home.clock.tick()
    assert len(door.home.llm_server.chats) == asked + 1
    assert (door.beat.is_on(), reasons(door)) == (True, [])


@pytest.mark.contract("C6", "F8", "P7")
@pytest.mark.parametrize("while_away", [False, True])
async def test_a_restart_does_not_make_it_stay(
    door: Door, hass_storage: dict[str, Any], while_away: bool
) -> None:
    await door.beat.change(manners={**AFTER_ACTING, "may_stop": True})
    await wake(door, unlock(), STOP)
    await unload(door)
    if while_away:
        door.home.clock.turn(2 * HOUR)
    await set_up(door)
    await door.home.settled()
    if not while_away:
        assert door.beat.is_on()
        await door.press("approve")
    assert not door.beat.is_on()
    assert reasons(door) == ["agent"]
    assert door.told[-1] == ENDED


@pytest.mark.contract("C6", "P3")
async def test_a_crash_between_the_answer_and_the_stop_does_not_make_it_stay(
    door: Door, hass_storage: dict[str, Any]
) -> None:
    await door.beat.change(manners=AFTER_ACTING)
    await wake(door, unlock(), SAY)
    door.home.clock.turn(timedelta(seconds=11))
    await door.home.settled()
    left = disk_now(door, hass_storage)
    await door.press("reject")
    beat = left["data"]["heartbeats"][door.beat.id]
    beat["approvals"] = stored(door, hass_storage)
    await unload(door)
    hass_storage[f"proactive_agent.{door.home.entry.entry_id}"] = left
    await set_up(door)
    await door.home.settled()
    assert not door.beat.is_on()


@pytest.mark.contract("F8", "R8")
async def test_what_a_crash_has_cut_off_was_all_it_waited_for(
    door: Door, hass_storage: dict[str, Any]
) -> None:
    await door.beat.change(manners=AFTER_ACTING)
    await wake(door, unlock(), SAY)
    held = HeldService(door.hass, "lock", "unlock")
    pressing = door.hass.async_create_task(
        door.hass.services.async_call(
            "proactive_agent",
            "approve",
            {"approval_id": door.shown["approval_id"]},
            blocking=True,
        )
    )
    await held.reached.wait()
    left = disk_now(door, hass_storage)
    held.release.set()
    await pressing
    await unload(door)
    hass_storage[f"proactive_agent.{door.home.entry.entry_id}"] = left
    await set_up(door)
    await door.home.settled()
    assert not door.beat.is_on()
    assert door.told[-1] == STOPPED
    assert "nobody saw how it ended" in door.told[-2]


@pytest.mark.contract("C3", "F8")
async def test_a_run_that_goes_on_may_end_first(door: Door) -> None:
    await door.beat.change(manners=AFTER_ACTING)
    held = Held(calls(unlock(BACK)))
    door.home.llm_server.play(calls(unlock(FRONT)), held, text("That was it."))
    running = door.hass.async_create_task(door.beat.wake())
    await held.reached.wait()
    await let_run()
    answer = door.hass.async_create_task(
        door.hass.services.async_call(
            "proactive_agent",
            "approve",
            {"approval_id": door.shown["approval_id"]},
            blocking=True,
        )
    )
    await until(answer.done)
    assert (door.opened, door.beat.is_on()) == ([FRONT], True)
    held.release.set()
    record = await running
    await door.home.settled()
    assert (door.beat.is_on(), record["stopped"]) == (True, False)
    await door.answer("reject", door.shown["approval_id"])
    assert not door.beat.is_on()


@pytest.mark.contract("C3", "F8")
async def test_after_its_yes_it_stops_with_the_run_that_asked(door: Door) -> None:
    await door.beat.change(manners=AFTER_ACTING)
    held = Held(text("That was it."))
    door.home.llm_server.play(calls(unlock(FRONT)), held)
    running = door.hass.async_create_task(door.beat.wake())
    await held.reached.wait()
    await let_run()
    answer = door.hass.async_create_task(
        door.hass.services.async_call(
            "proactive_agent",
            "approve",
            {"approval_id": door.shown["approval_id"]},
            blocking=True,
        )
    )
    await until(answer.done)
    assert door.beat.is_on()
    held.release.set()
    record = await running
    await door.home.settled()
    assert (door.beat.is_on(), record["stopped"]) == (False, True)
    assert door.told == [UNLOCKED, STOPPED]


@pytest.mark.contract("P7", "F8")
async def test_one_that_is_removed_has_no_more_to_say(door: Door) -> None:
    await door.beat.change(manners=AFTER_ACTING)
    await wake(door, unlock(), SAY)
    told = [*door.told]
    await door.beat.remove()
    await door.home.settled()
    assert (door.told, reasons(door)) == (told, [])
    assert len(door.cleared) == 1

"""Whatever comes between: a request is done at most once, and told (P3, P4)."""

import asyncio
from datetime import timedelta
from typing import Any

from homeassistant.components import persistent_notification
from homeassistant.components.persistent_notification import Notification
from homeassistant.const import EVENT_HOMEASSISTANT_STARTED
from homeassistant.core import CoreState, Event, HomeAssistant, ServiceCall, callback
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.helpers import entity_registry as er, issue_registry as ir
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_capture_events,
    async_mock_service,
)

from custom_components.proactive_agent.asking.carrying_out import situation_of
from custom_components.proactive_agent.asking.reporter import ApprovalReporter
from custom_components.proactive_agent.const import EVENT_ACTED
from custom_components.proactive_agent.engine.approvals import Approval
from custom_components.proactive_agent.guard import guard as guard_module
from custom_components.proactive_agent.guard.guard import Action
from tests.support.asking import (
    UNLOCKED,
    Disk,
    answers,
    disk,
    disk_now,
    set_up,
    start_from,
    stored,
    unload,
    unlock,
    until,
    wake,
)
from tests.support.doors import BACK, FRONT, LOCKS, PHONE, Door, door
from tests.support.heartbeats import HeldService, clock, home, let_run
from tests.support.llm_server import Held, calls, llm_server, text
from tests.support.notifiers import kept

__all__ = ["clock", "disk", "door", "home", "kept", "llm_server"]

HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)
VALVE: tuple[str, dict[str, Any]] = ("valve", {})
NOTHING = "Not done after your yes, because "
THIS = ": Unlock lock (Front door)."
STOPPED = f"{NOTHING}the heartbeat was stopped{THIS}"
UNSEEN_END = (
    "It has not ended within 10 minutes and may still be running:"
    " Unlock lock (Front door)."
)
CUT_OFF = (
    "Home Assistant stopped while this was being done, and nobody saw how it ended."
    " Please look: Unlock lock (Front door)."
)
NEVER_BEGUN = (
    "Home Assistant was restarted after your yes, before it was begun."
    " Not done: Unlock lock (Front door)."
)


class Key:
    """A lock that takes its time, and opens when it is let to."""

    def __init__(self, hass: HomeAssistant) -> None:
        self.held = HeldService(hass, "lock", "unlock")
        self.hass = hass

    @property
    def turns(self) -> int:
        """How often it was turned."""
        return len(self.held.calls)


ALREADY = (
    "After your yes there was nothing left to do: Set input number value (heat),"
    " value: 50."
)


@pytest.fixture
def key(door: Door, hass: HomeAssistant) -> Key:
    return Key(hass)


def answering(door: Door, service: str, approval_id: str) -> asyncio.Task[Any]:
    """Answer without waiting for what comes of it."""
    return door.hass.async_create_task(
        door.hass.services.async_call(
            "proactive_agent",
            service,
            {"approval_id": approval_id},
            blocking=True,
            return_response=True,
        )
    )


def outcome(answer: asyncio.Task[Any]) -> str:
    """Return the status of an answer that was taken, or what it was refused with."""
    error = answer.exception()
    if error is None:
        return str(answer.result()["status"])
    assert isinstance(error, ServiceValidationError)
    return str(error.translation_key)


async def statuses(door: Door) -> list[str]:
    """Return how the actions of the last run stand."""
    return [one["status"] for one in (await door.beat.runs())[0]["actions"]]


def acted(door: Door) -> int:
    return len(door.home.fired("proactive_agent_acted"))


@pytest.mark.contract("P3", "P6")
@pytest.mark.parametrize(
    ("first", "second", "opened", "ends"),
    [
        ("approve", "approve", 1, ["done", "approval_answered"]),
        ("approve", "reject", 1, ["done", "approval_answered"]),
        ("reject", "approve", 0, ["rejected", "approval_rejected"]),
        ("reject", "reject", 0, ["rejected", "approval_rejected"]),
    ],
)
async def test_of_two_answers_the_first_counts(
    door: Door, disk: Disk, first: str, second: str, opened: int, ends: list[str]
) -> None:
    approval_id = await door.ask()
    disk.hold()
    both = [answering(door, one, approval_id) for one in (first, second)]
    await disk.reached.wait()
    disk.release()
    await door.home.settled()
    assert [outcome(one) for one in both] == ends
    assert len(door.opened) == opened
    assert door.told == [UNLOCKED] * opened
    assert acted(door) == opened


@pytest.mark.contract("P3", "P5")
@pytest.mark.parametrize(
    ("after", "taken"),
    [(HOUR - SECOND, True), (HOUR, False), (HOUR + SECOND, False)],
    ids=["before", "at", "after"],
)
@pytest.mark.parametrize("timer_first", [True, False])
async def test_an_answer_counts_until_the_moment_it_is_due(
    door: Door, after: timedelta, taken: bool, timer_first: bool
) -> None:
    approval_id = await door.ask()
    door.home.clock.freezer.tick(after)
    if timer_first:
        door.home.clock.turn(timedelta())
    answer = answering(door, "approve", approval_id)
    await door.home.settled()
    assert outcome(answer) == ("done" if taken else "approval_expired")
    assert door.opened == ([FRONT] if taken else [])


@pytest.mark.contract("P3", "P5")
async def test_a_yes_that_is_being_written_does_not_expire(
    door: Door, disk: Disk
) -> None:
    approval_id = await door.ask()
    door.home.clock.turn(HOUR - SECOND)
    await door.home.settled()
    disk.hold()
    answer = answering(door, "approve", approval_id)
    await disk.reached.wait()
    door.home.clock.turn(2 * SECOND)
    await let_run()
    disk.release()
    await door.home.settled()
    assert outcome(answer) == "done"
    assert door.opened == [FRONT]


@pytest.mark.contract("P3", "P5", "D1")
async def test_one_that_could_not_be_written_in_time_expires(
    door: Door, disk: Disk
) -> None:
    approval_id = await door.ask()
    disk.hold()
    disk.is_full = True
    answer = answering(door, "approve", approval_id)
    await disk.reached.wait()
    door.home.clock.turn(2 * HOUR)
    await let_run()
    disk.release()
    await door.home.settled()
    door.home.clock.turn(SECOND)
    await door.home.settled()
    assert outcome(answer) == "approval_not_written"
    assert (door.opened, door.shown["waiting"]) == ([], 0)
    assert (await door.beat.runs())[0]["actions"][0]["answered_by"] is None


@pytest.mark.contract("F6", "P7", "P6")
@pytest.mark.parametrize("service", ["approve", "reject"])
async def test_switched_off_it_takes_no_answer(door: Door, service: str) -> None:
    approval_id = await door.ask()
    await door.beat.turn("off")
    await door.home.settled()
    assert door.cleared == [f"proactive_agent_{approval_id}"]
    for state in ("on", "off"):
        error = await door.error(service, approval_id)
        assert error.translation_key == "approval_withdrawn"
        await door.beat.turn(state)
    assert (door.opened, door.told) == ([], [])


@pytest.mark.contract("F6", "P3", "C5")
async def test_switched_off_while_the_yes_is_written_nothing_is_done(
    door: Door, disk: Disk
) -> None:
    approval_id = await door.ask()
    disk.hold()
    answer = answering(door, "approve", approval_id)
    await disk.reached.wait()
    off = door.hass.async_create_task(door.beat.turn("off"))
    await let_run()
    disk.release()
    await off
    await door.home.settled()
    assert outcome(answer) == "approval_withdrawn"
    assert door.opened == []
    assert await statuses(door) == ["failed"]


@pytest.mark.contract("F6", "A8")
async def test_switched_off_while_it_waits_for_its_turn_nothing_is_done(
    door: Door,
) -> None:
    valve = HeldService(door.hass, "test", "wait")
    await door.beat.change(act={"entity_id": ["script.valve"]})
    approval_id = await door.ask()
    door.home.llm_server.play(calls(VALVE), text("Watered."))
    watering = door.hass.async_create_task(door.beat.wake())
    await valve.reached.wait()
    answer = answering(door, "approve", approval_id)
    await let_run()
    await door.beat.turn("off")
    await let_run()
    assert STOPPED in door.told
    valve.release.set()
    await watering
    await door.home.settled()
    assert outcome(answer) == "approval_stopped"
    assert (door.opened, door.told.count(STOPPED)) == ([], 1)


@pytest.mark.contract("F6", "P3")
async def test_switched_off_just_before_it_is_called_nothing_is_done(
    door: Door, disk: Disk, hass_storage: dict[str, Any]
) -> None:
    approval_id = await door.ask()
    disk.hold()
    answer = answering(door, "approve", approval_id)
    await disk.reached.wait()
    disk.release()
    await until(lambda: stored(door, hass_storage)[0]["status"] == "approved")
    disk.hold()
    await disk.reached.wait()
    off = door.hass.async_create_task(door.beat.turn("off"))
    await let_run()
    disk.release()
    await off
    await door.home.settled()
    assert outcome(answer) == "approval_stopped"
    assert (door.opened, door.told) == ([], [STOPPED])
    assert stored(door, hass_storage)[0]["status"] == "failed"


@pytest.mark.contract("F6", "R8", "S3")
@pytest.mark.parametrize("way", ["off", "removed", "reloaded"])
async def test_what_is_being_done_comes_to_its_end_and_is_told_once(
    door: Door, key: Key, way: str
) -> None:
    approval_id = await door.ask()
    answer = answering(door, "approve", approval_id)
    await key.held.reached.wait()
    happen = {
        "off": lambda: door.beat.turn("off"),
        "removed": door.beat.remove,
        "reloaded": door.home.reload,
    }
    happening = door.hass.async_create_task(happen[way]())
    await let_run()
    if way != "off":
        door.home.clock.turn(timedelta(seconds=6))
        await let_run()
    key.held.release.set()
    await happening
    await door.home.settled()
    assert outcome(answer) in {"done", "executing", "approval_not_found"}
    unseen = "Done after your yes, but it was not seen to take effect" + THIS
    # What is set up anew knows only that it was cut off; the end is told all the same.
    also = [CUT_OFF] if way == "reloaded" else []
    assert sorted(door.told) == [unseen, *also]
    assert (key.turns, acted(door)) == (1, 1)


@pytest.mark.contract("P4", "C7")
@pytest.mark.parametrize("when", ["asked", "in the queue"])
@pytest.mark.parametrize(
    ("ask", "act", "opens"),
    [
        ({}, {}, False),
        ({"entity_id": [BACK]}, {}, False),
        ({}, {"entity_id": [FRONT]}, True),
        (LOCKS, {}, True),
    ],
)
async def test_a_yes_holds_as_far_as_the_options_of_now(
    door: Door, ask: dict[str, Any], act: dict[str, Any], opens: bool, when: str
) -> None:
    valve = HeldService(door.hass, "test", "wait")
    await door.beat.change(act={"entity_id": ["script.valve"]})
    door.home.llm_server.play(calls(unlock(), VALVE), text("Watered."))
    watering = door.hass.async_create_task(door.beat.wake())
    await valve.reached.wait()
    approval_id = door.shown["approval_id"]
    if when == "asked":
        valve.release.set()
        await watering
    answer = answering(door, "approve", approval_id) if when != "asked" else None
    await let_run()
    await door.beat.change_beside(
        ask=ask, act=act, manners={"ask_before_risky": not act}
    )
    valve.release.set()
    await watering
    answer = answer or answering(door, "approve", approval_id)
    await door.home.settled()
    assert outcome(answer) == ("done" if opens else "approval_not_allowed")
    assert door.opened == ([FRONT] if opens else [])
    refused = f"{NOTHING}it is no longer allowed{THIS}"
    assert (UNLOCKED in door.told, refused in door.told) == (opens, not opens)


@pytest.mark.contract("P1", "C7")
async def test_a_request_keeps_the_time_it_was_given(door: Door) -> None:
    approval_id = await door.ask()
    await door.beat.change(manners={"approval_timeout": {"minutes": 1}})
    door.home.clock.turn(timedelta(minutes=2))
    await door.home.settled()
    await door.answer("approve", approval_id)
    assert door.opened == [FRONT]


@pytest.mark.contract("P4", "A4")
@pytest.mark.parametrize(
    ("state", "why"),
    [
        (None, "it is not available"),
        ("unavailable", "it is not available"),
        ("unknown", "things have changed since you were asked"),
        ("jammed", "things have changed since you were asked"),
    ],
)
async def test_a_yes_holds_for_what_is_there_and_still_so(
    door: Door, state: str | None, why: str
) -> None:
    approval_id = await door.ask()
    if state is None:
        door.hass.states.async_remove(FRONT)
    else:
        door.hass.states.async_set(FRONT, state, {"friendly_name": "Front door"})
    answer = answering(door, "approve", approval_id)
    await door.home.settled()
    assert outcome(answer).startswith("approval_")
    assert (door.opened, acted(door)) == ([], 0)
    (told,) = door.told
    assert told.startswith(f"{NOTHING}{why}: Unlock lock (")
    assert await statuses(door) == ["failed"]


@pytest.mark.contract("P4")
async def test_a_yes_to_one_entity_is_none_to_another_that_takes_its_id(
    door: Door,
) -> None:
    entities = er.async_get(door.hass)
    approval_id = await door.ask(FRONT)
    for old, new in ((FRONT, "lock.old"), (BACK, FRONT)):
        entities.async_update_entity(old, new_entity_id=new)
        await door.home.settled()
    await door.error("approve", approval_id)
    assert door.opened == []
    assert door.told[0].startswith("Not done after your yes, because things have")


@pytest.mark.contract("P4")
@pytest.mark.parametrize(("level", "done"), [(20.1, True), (25, False)])
async def test_a_number_that_trembles_has_not_changed(
    door: Door, level: float, done: bool
) -> None:
    numbers = {"heat": {"min": 0, "max": 100, "initial": 20}}
    assert await async_setup_component(
        door.hass, "input_number", {"input_number": numbers}
    )
    heat = "input_number.heat"
    await door.beat.change(ask={"entity_id": [heat]})
    await wake(door, ("input_number_set_value", {"entity_id": heat, "value": 90}))
    door.hass.states.async_set(heat, str(level), door.hass.states.get(heat).attributes)  # type: ignore[union-attr]
    set_value = async_mock_service(door.hass, "input_number", "set_value")
    answer = answering(door, "approve", door.shown["approval_id"])
    await door.home.settled()
    assert outcome(answer) == ("done" if done else "approval_changed")
    assert [call.data for call in set_value] == (
        [{"entity_id": [heat], "value": 90}] if done else []
    )


@pytest.mark.contract("P4")
async def test_a_yes_to_a_group_is_one_to_its_members(door: Door) -> None:
    group = "lock.both"
    made = {"name": "Both", "entities": [FRONT, BACK], "hide_members": False}
    entry = MockConfigEntry(
        domain="group", title="Both", options={"group_type": "lock", **made}
    )
    entry.add_to_hass(door.hass)
    assert await door.hass.config_entries.async_setup(entry.entry_id)
    await door.home.settled()
    await door.beat.change(ask={"entity_id": [group]})
    approval_id = await door.ask(group)
    # The group itself goes on saying that not all of it is locked.
    door.hass.states.async_set(FRONT, "unlocked", {"friendly_name": "Front door"})
    door.hass.states.async_set(group, "locked", {"friendly_name": "Both"})
    answer = answering(door, "approve", approval_id)
    await door.home.settled()
    assert outcome(answer) == "approval_changed"
    assert door.opened == []


@pytest.mark.contract("P4")
async def test_a_group_that_has_got_another_member_has_changed(
    door: Door, hass: HomeAssistant
) -> None:
    action = Action(domain="lock", service="unlock", entity_id=("group.locks",))
    assert await async_setup_component(hass, "group", {})
    situations = []
    for members in ([FRONT], [FRONT, BACK]):
        hass.states.async_set("group.locks", "locked", {"entity_id": members})
        situations.append(situation_of(hass, action))
    assert situations == [
        {"group.locks": "locked", FRONT: "locked"},
        {"group.locks": "locked", FRONT: "locked", BACK: "locked"},
    ]


@pytest.mark.contract("A8", "F3", "R8")
@pytest.mark.parametrize("cut", [False, True])
async def test_it_waits_for_the_action_of_the_run_that_asked(
    door: Door, cut: bool
) -> None:
    valve = HeldService(door.hass, "test", "wait")
    await door.beat.change(
        act={"entity_id": ["script.valve"]},
        fuses={"run_timeout": 30 if cut else 10_000},
    )
    door.home.llm_server.play(calls(unlock(), VALVE), text("Watered."))
    watering = door.hass.async_create_task(door.beat.wake())
    await valve.reached.wait()
    answer = answering(door, "approve", door.shown["approval_id"])
    await let_run()
    if cut:
        door.home.clock.turn(timedelta(seconds=31))
        record = await watering
        assert record["outcome"] == "timeout"
    await let_run()
    assert door.opened == []
    valve.release.set()
    await door.home.settled()
    assert door.opened == [FRONT]
    assert outcome(answer) in {"done", "approved"}
    run = (await door.beat.runs())[0]
    assert [one["status"] for one in run["actions"]] == ["done", "done"]
    assert door.told.count(UNLOCKED) == 1


@pytest.mark.contract("P1", "S2", "S3")
@pytest.mark.parametrize("answer", ["approve", "reject"])
async def test_what_is_answered_while_the_run_goes_on_stands_in_its_record(
    door: Door, answer: str
) -> None:
    last_turn = Held(calls(("tell_owner", {"message": "I have asked you."})))
    door.home.llm_server.play(calls(unlock()), last_turn, text("That was it."))
    running = door.hass.async_create_task(door.beat.wake())
    await last_turn.reached.wait()
    await let_run()
    answered = answering(door, answer, door.shown["approval_id"])
    await until(answered.done)
    last_turn.release.set()
    record = await running
    await door.home.settled()
    taken = answer == "approve"
    (action,) = record["actions"]
    assert action["status"] == ("done" if taken else "failed")
    assert action["answered_by"] is not None
    assert record["outcome"] == "waiting"
    assert record["message"] == "I have asked you."
    assert door.told == [*([UNLOCKED] if taken else []), "I have asked you."]
    assert acted(door) == (2 if taken else 1)


@pytest.mark.contract("P1", "S2")
async def test_what_is_answered_while_the_run_is_told_stands_in_its_record(
    door: Door,
) -> None:
    slow = HeldService(door.hass, "notify", "slow")
    await door.beat.change(notify=[PHONE, "notify.slow"])
    words = ("tell_owner", {"message": "I have asked you."})
    door.home.llm_server.play(calls(unlock(), words), text("That was it."))
    running = door.hass.async_create_task(door.beat.wake())
    await until(lambda: len(slow.calls) == 2)
    answered = answering(door, "reject", door.shown["approval_id"])
    await until(answered.done)
    slow.release.set()
    await running
    await door.home.settled()
    assert await statuses(door) == ["failed"]


@pytest.mark.contract("P1", "D1")
async def test_what_cannot_be_written_down_is_not_asked(
    door: Door, disk: Disk, hass_storage: dict[str, Any]
) -> None:
    @callback
    def fill(_: Any) -> None:
        disk.is_full = True

    door.hass.bus.async_listen_once("proactive_agent_heartbeat_tick", fill)
    record = await wake(door, unlock())
    assert "could not be written down; not asked and not done" in str(answers(record))
    assert (door.phone, door.opened, door.shown["waiting"]) == ([], [], 0)
    assert [one["status"] for one in record["actions"]] == ["failed"]
    disk.is_full = False
    assert (await wake(door, unlock()))["outcome"] == "waiting"
    assert len(stored(door, hass_storage)) == 1


@pytest.mark.contract("P3", "D1")
async def test_what_cannot_be_written_down_is_not_called(
    door: Door, disk: Disk, hass_storage: dict[str, Any]
) -> None:
    approval_id = await door.ask()
    disk.hold()
    answer = answering(door, "approve", approval_id)
    await disk.reached.wait()
    disk.release()
    await until(lambda: stored(door, hass_storage)[0]["status"] == "approved")
    disk.is_full = True
    await door.home.settled()
    assert outcome(answer) == "approval_not_written"
    assert door.opened == []
    why = "Home Assistant could not write to its disk"
    assert door.told == [f"{NOTHING}{why}{THIS}"]
    assert await statuses(door) == ["failed"]


@pytest.mark.contract("P3", "D1")
async def test_an_end_that_cannot_be_written_down_is_told_and_not_repeated(
    door: Door, disk: Disk, key: Key, hass_storage: dict[str, Any]
) -> None:
    approval_id = await door.ask()
    answer = answering(door, "approve", approval_id)
    await key.held.reached.wait()
    disk.is_full = True
    key.held.release.set()
    await door.home.settled()
    assert outcome(answer) == "done"
    assert stored(door, hass_storage)[0]["status"] == "executing"
    left = disk_now(door, hass_storage)
    disk.is_full = False
    before = [*door.told]
    await start_from(door, hass_storage, left)
    assert door.told == [*before, CUT_OFF]
    assert key.turns == 1


@pytest.mark.contract("P6", "S2")
async def test_an_action_that_fails_is_told_as_failed(door: Door) -> None:
    def fail(_: ServiceCall) -> None:
        raise HomeAssistantError("stuck")

    approval_id = await door.ask()
    door.hass.services.async_register("lock", "unlock", fail)
    answer = answering(door, "approve", approval_id)
    await door.home.settled()
    assert outcome(answer) == "approval_failed"
    assert door.told == [f"It failed after your yes{THIS}"]
    assert acted(door) == 0
    (run,) = await door.beat.runs()
    (action,) = run["actions"]
    assert (action["status"], action["error"]) == ("failed", "stuck")
    assert action["answered_by"] is not None


@pytest.mark.contract("R8", "S2", "S3")
async def test_an_action_that_does_not_end_is_told_as_not_seen(
    door: Door, key: Key, hass_storage: dict[str, Any]
) -> None:
    approval_id = await door.ask()
    answer = answering(door, "approve", approval_id)
    await key.held.reached.wait()
    door.home.clock.turn(timedelta(seconds=10))
    await let_run()
    assert outcome(answer) == "executing"
    assert door.told == []
    door.home.clock.turn(timedelta(seconds=591))
    await until(lambda: bool(door.told))
    assert door.told == [UNSEEN_END]
    assert stored(door, hass_storage)[0]["status"] == "unknown"
    key.held.release.set()
    await door.home.settled()
    assert (door.told, acted(door)) == ([UNSEEN_END], 0)


@pytest.mark.contract("P3", "R8", "S3")
async def test_who_said_yes_need_not_wait_for_the_end(door: Door, key: Key) -> None:
    approval_id = await door.ask()
    answer = answering(door, "approve", approval_id)
    await key.held.reached.wait()
    answer.cancel()
    await let_run()
    key.held.release.set()
    await door.home.settled()
    assert (key.turns, acted(door), len(door.told)) == (1, 1, 1)


@pytest.mark.contract("P7", "P3")
@pytest.mark.parametrize("way", ["unload", "crash"])
async def test_what_was_not_begun_before_a_restart_is_not_done(
    door: Door, hass_storage: dict[str, Any], way: str
) -> None:
    valve = HeldService(door.hass, "test", "wait")
    await door.beat.change(act={"entity_id": ["script.valve"]})
    door.home.llm_server.play(calls(unlock(), VALVE), text("Watered."))
    watering = door.hass.async_create_task(door.beat.wake())
    await valve.reached.wait()
    approval_id = door.shown["approval_id"]
    answering(door, "approve", approval_id)
    await let_run()
    left = disk_now(door, hass_storage)
    unloading = door.hass.async_create_task(unload(door))
    for _ in range(3):
        await let_run()
        door.home.clock.turn(timedelta(seconds=6))
    await unloading
    if way == "crash":
        hass_storage[f"proactive_agent.{door.home.entry.entry_id}"] = left
    await set_up(door)
    await until(lambda: NEVER_BEGUN in door.told)
    valve.release.set()
    await watering
    await door.home.settled()
    assert (door.opened, door.told.count(NEVER_BEGUN)) == ([], 1)
    error = await door.error("approve", approval_id)
    assert error.translation_key == "approval_answered"
    assert STOPPED not in door.told


@pytest.mark.contract("P3", "P7")
async def test_what_a_crash_has_cut_off_is_unknown_and_never_repeated(
    door: Door, key: Key, hass_storage: dict[str, Any]
) -> None:
    approval_id = await door.ask()
    answering(door, "approve", approval_id)
    await key.held.reached.wait()
    left = disk_now(door, hass_storage)
    key.held.release.set()
    await door.home.settled()
    before = [*door.told]
    await start_from(door, hass_storage, left)
    assert door.told == [*before, CUT_OFF]
    assert stored(door, hass_storage)[0]["status"] == "executing"
    door.home.clock.turn(timedelta(seconds=11))
    await door.home.settled()
    assert stored(door, hass_storage)[0]["status"] == "unknown"
    error = await door.error("approve", approval_id)
    assert error.translation_key == "approval_answered"
    await door.home.reload()
    assert (key.turns, door.told) == (1, [*before, CUT_OFF])


@pytest.mark.contract("P3")
async def test_what_home_assistants_end_cuts_off_is_left_for_the_next_start(
    door: Door, key: Key, hass_storage: dict[str, Any]
) -> None:
    approval_id = await door.ask()
    answer = answering(door, "approve", approval_id)
    await key.held.reached.wait()
    stopping = asyncio.create_task(door.hass.async_stop(force=True))
    await door.home.clock.turn_until(stopping.done)
    assert stored(door, hass_storage)[0]["status"] == "executing"
    assert acted(door) == 0
    assert answer.done()


@pytest.mark.contract("P7", "P5")
async def test_what_expired_while_nobody_was_there_is_over(
    door: Door, hass_storage: dict[str, Any]
) -> None:
    approval_id = await door.ask()
    await unload(door)
    door.home.clock.turn(2 * HOUR)
    await set_up(door)
    await door.home.settled()
    assert door.cleared == [f"proactive_agent_{approval_id}"]
    error = await door.error("approve", approval_id)
    assert error.translation_key == "approval_expired"
    assert door.opened == []
    assert "did not answer, which is a no" in str(answers(await wake(door, unlock())))


@pytest.mark.contract("P7")
async def test_after_a_restart_it_expires_when_it_was_to(door: Door) -> None:
    await door.ask()
    door.home.clock.turn(HOUR / 2)
    await door.home.reload()
    assert door.shown["waiting"] == 1
    door.home.clock.turn(HOUR / 2)
    await door.home.settled()
    assert door.shown["waiting"] == 0


@pytest.mark.contract("P7", "P4")
async def test_a_yes_while_home_assistant_starts_waits_for_all_to_be_there(
    door: Door,
) -> None:
    approval_id = await door.ask()
    await unload(door)
    door.hass.states.async_remove(FRONT)
    door.hass.set_state(CoreState.starting)
    assert await door.hass.config_entries.async_setup(door.home.entry.entry_id)
    answer = answering(door, "approve", approval_id)
    await let_run()
    assert (door.opened, door.told) == ([], [])
    door.hass.states.async_set(FRONT, "locked", {"friendly_name": "Front door"})
    door.hass.set_state(CoreState.running)
    door.hass.bus.async_fire(EVENT_HOMEASSISTANT_STARTED)
    await door.home.settled()
    assert outcome(answer) == "done"
    assert door.opened == [FRONT]


@pytest.mark.contract("D1", "P3")
@pytest.mark.parametrize(
    "rubbish",
    [{"status": "maybe"}, {"expires": None}, {"entity_id": "lock.back_door"}],
    ids=str,
)
async def test_nothing_is_done_from_a_file_that_cannot_be_read(
    door: Door, hass_storage: dict[str, Any], rubbish: dict[str, Any]
) -> None:
    approval_id = await door.ask()
    left = disk_now(door, hass_storage)
    left["data"]["heartbeats"][door.beat.id]["approvals"][0].update(rubbish)
    await start_from(door, hass_storage, left)
    assert not door.beat.is_on()
    assert door.shown["waiting"] == 0
    issue = f"store_unreadable_{door.home.entry.entry_id}"
    assert ir.async_get(door.hass).async_get_issue("proactive_agent", issue)
    await door.error("approve", approval_id)
    await door.tap(door.button(approval_id, 0))
    assert door.opened == []


@pytest.mark.contract("P7")
async def test_with_its_heartbeat_a_request_is_withdrawn(door: Door) -> None:
    approval_id = await door.ask()
    await door.beat.remove()
    await door.home.settled()
    assert door.cleared == [f"proactive_agent_{approval_id}"]
    await door.error("approve", approval_id)
    assert door.opened == []


@pytest.mark.contract("F2", "F6", "P7")
async def test_a_run_that_may_end_asks_nobody_once_it_is_off(door: Door) -> None:
    await door.beat.change(
        fuses={"max_duration": {"minutes": 1}, "run_timeout": 10_000}
    )
    held = Held(calls(unlock()))
    door.home.llm_server.play(held, text("Late."))
    running = door.hass.async_create_task(door.beat.wake())
    await held.reached.wait()
    await door.home.clock.tick_beside(every=timedelta(seconds=62))
    assert not door.beat.is_on()
    held.release.set()
    record = await running
    await door.home.settled()
    assert "the heartbeat has stopped; not asked and not done" in str(answers(record))
    assert door.shown["waiting"] == 0


@pytest.mark.contract("C5", "F6")
async def test_switched_off_while_the_request_is_written_it_is_withdrawn(
    door: Door, disk: Disk
) -> None:
    held = Held(calls(unlock()))
    door.home.llm_server.play(held, text("Asked."))
    running = door.hass.async_create_task(door.beat.wake())
    await held.reached.wait()
    await let_run()
    disk.hold()
    held.release.set()
    await disk.reached.wait()
    off = door.hass.async_create_task(door.beat.turn("off"))
    await let_run()
    disk.release()
    await off
    assert (await running)["outcome"] == "stopped"
    await door.home.settled()
    assert [call for call in door.phone if "actions" in call.data.get("data", {})] == []
    assert door.shown["waiting"] == 0


@pytest.mark.contract("P1", "F3", "R8")
async def test_a_run_cut_short_while_the_request_is_written_has_asked(
    door: Door, disk: Disk
) -> None:
    await door.beat.change(fuses={"run_timeout": 5})
    held = Held(calls(unlock()))
    door.home.llm_server.play(held)
    running = door.hass.async_create_task(door.beat.wake())
    await held.reached.wait()
    await let_run()
    disk.hold()
    held.release.set()
    await disk.reached.wait()
    door.home.clock.turn(timedelta(seconds=6))
    assert (await running)["outcome"] == "timeout"
    disk.release()
    await door.home.settled()
    assert len(door.phone) == 1
    await door.answer("approve", door.shown["approval_id"])
    assert door.opened == [FRONT]
    assert await statuses(door) == ["done"]


@pytest.mark.contract("P2", "P7")
@pytest.mark.parametrize("is_told", [False, True])
async def test_a_question_that_a_crash_has_kept_back_is_put_after_it(
    door: Door, hass_storage: dict[str, Any], is_told: bool
) -> None:
    approval_id = await door.ask()
    if is_told:
        door.home.clock.turn(timedelta(seconds=11))
        await door.home.settled()
    await start_from(door, hass_storage, disk_now(door, hass_storage))
    asked = [call.data for call in door.phone if "actions" in call.data["data"]]
    assert len(asked) == (1 if is_told else 2)
    assert {one["data"]["tag"] for one in asked} == {f"proactive_agent_{approval_id}"}
    await door.answer("approve", approval_id)
    assert door.opened == [FRONT]


@pytest.mark.contract("P2", "P7")
async def test_a_question_that_only_home_assistant_shows_is_shown_after_a_restart(
    door: Door, hass_storage: dict[str, Any], kept: dict[str, Notification]
) -> None:
    await door.beat.change(notify=[])
    asked = async_capture_events(door.hass, "proactive_agent_approval_requested")
    await wake(door, unlock())
    ((tag, question),) = kept.items()
    door.home.clock.turn(timedelta(seconds=11))
    await door.home.settled()
    # What Home Assistant shows is gone with it.
    persistent_notification.async_dismiss(door.hass, tag)
    await start_from(door, hass_storage, disk_now(door, hass_storage))
    assert [one["message"] for one in kept.values()] == [question["message"]]
    assert len(asked) == 1
    await door.answer("approve", door.shown["approval_id"])
    assert tag not in kept


@pytest.mark.contract("S5", "P3")
async def test_an_end_that_a_crash_has_kept_from_being_told_is_told_after_it(
    door: Door, hass_storage: dict[str, Any]
) -> None:
    left: list[Any] = []

    @callback
    def crash(_: Event) -> None:
        left.append(disk_now(door, hass_storage))

    door.hass.bus.async_listen(EVENT_ACTED, crash)
    await door.answer("approve", await door.ask())
    assert door.told == [f"Done after your yes{THIS}"]
    await start_from(door, hass_storage, left[0])
    assert door.told == [f"Done after your yes{THIS}"] * 2
    assert len(left) == 1
    door.home.clock.turn(timedelta(seconds=1))
    await door.home.settled()
    await start_from(door, hass_storage, disk_now(door, hass_storage))
    assert len(door.told) == 2
    assert door.opened == [FRONT]


@pytest.mark.contract("R4")
async def test_what_fails_for_a_reason_of_our_own_is_told_as_failed(
    door: Door, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(*_: Any) -> None:
        raise ValueError("An odd attribute")

    approval_id = await door.ask()
    monkeypatch.setattr(guard_module, "Look", look)
    error = await door.error("approve", approval_id)
    assert error.translation_key == "approval_failed"
    assert (door.opened, door.told) == ([], [f"It failed after your yes{THIS}"])
    assert "lock.unlock could not be carried out" in caplog.text
    caplog.clear()


@pytest.mark.contract("P4", "A5", "S3")
async def test_what_is_as_asked_by_then_is_not_called(door: Door) -> None:
    """A step of its number is no other situation, and so it is what was asked for."""
    numbers = {"heat": {"min": 0, "max": 100, "initial": 50.1, "step": 0.1}}
    assert await async_setup_component(
        door.hass, "input_number", {"input_number": numbers}
    )
    heat = "input_number.heat"
    await door.beat.change(ask={"entity_id": [heat]})
    await wake(door, ("input_number_set_value", {"entity_id": heat, "value": 50}))
    await door.hass.services.async_call(
        "input_number", "set_value", {"entity_id": heat, "value": 50}, blocking=True
    )
    set_value = async_mock_service(door.hass, "input_number", "set_value")
    answer = await door.answer("approve", door.shown["approval_id"])
    assert (answer["status"], set_value, acted(door)) == ("done", [], 0)
    assert door.told == [ALREADY]


@pytest.mark.contract("C5", "F6", "P1")
async def test_switched_off_before_the_question_is_put_it_is_not_asked(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, release = asyncio.Event(), asyncio.Event()
    words = ApprovalReporter.words

    async def slow_words(reporter: ApprovalReporter, approval: Approval) -> str:
        reached.set()
        await release.wait()
        return await words(reporter, approval)

    monkeypatch.setattr(ApprovalReporter, "words", slow_words)
    door.home.llm_server.play(calls(unlock()), text("Asked."))
    running = door.hass.async_create_task(door.beat.wake())
    await reached.wait()
    await door.beat.turn("off")
    assert (await running)["outcome"] == "stopped"
    release.set()
    await door.home.settled()
    assert (door.shown["waiting"], door.phone) == (0, [])
    (action,) = (await door.beat.runs())[0]["actions"]
    assert action["status"] == "failed"
    assert "the heartbeat has stopped; not asked" in action["error"]


@pytest.mark.contract("P3", "D1")
async def test_a_yes_while_home_assistant_stops_is_on_disk_all_the_same(
    door: Door, hass_storage: dict[str, Any]
) -> None:
    approval_id = await door.ask()
    door.hass.set_state(CoreState.stopping)
    await door.answer("approve", approval_id)
    assert door.opened == [FRONT]
    assert [one["status"] for one in stored(door, hass_storage)] == ["done"]
    door.hass.set_state(CoreState.running)


@pytest.mark.contract("P3", "P6")
@pytest.mark.parametrize(
    ("service", "status", "opened"),
    [("approve", "done", [FRONT]), ("reject", "rejected", [])],
)
async def test_who_answers_may_be_gone_before_the_answer_is_on_disk(
    door: Door,
    disk: Disk,
    hass_storage: dict[str, Any],
    service: str,
    status: str,
    opened: list[str],
) -> None:
    approval_id = await door.ask()
    disk.hold()
    # A script that is stopped, or started anew, cancels what it has called.
    answer = answering(door, service, approval_id)
    await disk.reached.wait()
    await let_run()
    answer.cancel()
    await let_run()
    disk.release()
    await door.home.settled()
    assert door.opened == opened
    assert door.cleared == [f"proactive_agent_{approval_id}"]
    assert [one["status"] for one in stored(door, hass_storage)] == [status]


async def test_an_answer_that_nobody_waits_for_and_no_disk_takes_leaves_no_trace(
    door: Door, disk: Disk, caplog: pytest.LogCaptureFixture
) -> None:
    approval_id = await door.ask()
    disk.hold()
    answer = answering(door, "approve", approval_id)
    await disk.reached.wait()
    await let_run()
    answer.cancel()
    await let_run()
    disk.is_full = True
    disk.release()
    await door.home.settled()
    assert (door.opened, door.shown["waiting"]) == ([], 1)
    assert "never retrieved" not in caplog.text

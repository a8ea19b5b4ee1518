"""A run that needs a yes: what is asked, how often, and what a yes brings (P1-P5)."""

from datetime import timedelta
from typing import Any

from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers import trace
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockUser, async_capture_events

from custom_components.proactive_agent.guard.guard import WAITS, WOULD_ASK
from tests.support.asking import (
    UNLOCKED,
    WAITING,
    answers,
    prompt,
    stored,
    unlock,
    wake,
)
from tests.support.doors import (
    APPROVE,
    BACK,
    BECAUSE,
    FRONT,
    LOCKS,
    PHONE,
    Door,
    door,
)
from tests.support.heartbeats import HUNGRY, INTERVAL, LAMP, clock, home
from tests.support.llm_server import calls, llm_server, text

__all__ = ["clock", "door", "home", "llm_server"]

LAMP_ON = ("input_boolean_turn_on", {"entity_id": "input_boolean.lamp"})
ASKED = "lock.unlock has been asked already and waits for the owner's answer"
NO = "lock.unlock was asked, and the owner said no; not asked again."
NO_ANSWER = "lock.unlock was asked, and the owner did not answer, which is a no"
CHANGED = (
    "Not done after your yes, because things have changed since you were asked: "
    "Unlock lock (Front door)."
)
HOUR = timedelta(hours=1)
# An interval in which no tick comes between.
QUIET = {"days": 30}


def say(message: str) -> tuple[str, dict[str, Any]]:
    return "tell_owner", {"message": message}


async def turn_key(door: Door, lock: str, state: str) -> None:
    """Let somebody turn the key of a lock by hand."""
    bolt = {FRONT: "input_text.front_bolt", BACK: "input_text.back_bolt"}[lock]
    await door.hass.services.async_call(
        "input_text", "set_value", {"entity_id": bolt, "value": state}, blocking=True
    )
    await door.home.settled()


@pytest.mark.contract("P1")
async def test_it_is_stored_exactly_and_the_run_goes_on(
    door: Door, hass_storage: dict[str, Any]
) -> None:
    await door.beat.change(act=LAMP)
    record = await wake(door, unlock(), LAMP_ON)
    assert door.opened == []
    assert answers(record)[0] == {"status": "waiting", "note": WAITS}
    assert answers(record)[1]["status"] == "done"
    (approval,) = stored(door, hass_storage)
    assert {
        key: approval[key]
        for key in ("action", "entity_id", "data", "states", "because", "status")
    } == {
        "action": "lock.unlock",
        "entity_id": [FRONT],
        "data": {},
        "states": {FRONT: "locked"},
        "because": BECAUSE,
        "status": "pending",
    }
    assert approval["run_id"] == record["run_id"]


@pytest.mark.contract("P1", "S2", "S3")
async def test_a_run_that_acted_and_asked_says_both(door: Door) -> None:
    await door.beat.change(act=LAMP)
    record = await wake(door, unlock(), LAMP_ON, say("The lamp is on."))
    assert record["outcome"] == "acted"
    assert [one["status"] for one in record["actions"]] == ["waiting", "done"]
    assert door.told == [f"The lamp is on. {WAITING}"]
    (event,) = door.home.fired("proactive_agent_acted")
    assert event["message"] == record["message"] == door.told[0]


@pytest.mark.contract("P1", "S1", "S3")
async def test_a_run_that_only_asked_says_nothing_else(door: Door) -> None:
    record = await wake(door, unlock())
    assert (record["outcome"], record["message"]) == ("waiting", None)
    assert door.told == []
    assert door.home.fired("proactive_agent_acted") == []
    assert door.beat.state("status") == "waiting"
    assert door.beat.state("last_outcome") == "waiting"


@pytest.mark.contract("P1", "P2")
async def test_a_reason_is_the_models_or_that_of_the_gate(door: Door) -> None:
    await door.ask()
    assert door.phone[-1].data["message"].endswith(f"Because: {BECAUSE}")
    await door.home.set("hungry", on=True)
    await door.beat.change(conditions=[HUNGRY])
    await wake(door, unlock(BACK, because=""))
    because = door.phone[-1].data["message"].split("Because: ")[1]
    (verdict,) = (await door.beat.runs())[0]["gate"]
    assert because == f"{verdict['reason']}."


@pytest.mark.contract("P3", "S3", "A8", "A2")
async def test_a_yes_is_acted_on_and_told_once(door: Door) -> None:
    record = await wake(door, unlock())
    approval_id = door.shown["approval_id"]
    called = async_capture_events(door.hass, "call_service")
    answered = async_capture_events(door.hass, "proactive_agent_approval_answered")
    answer = await door.answer("approve", approval_id)
    assert answer["status"] == "done"
    assert door.opened == [FRONT]
    assert door.told == [UNLOCKED]
    (event,) = door.home.fired("proactive_agent_acted")
    assert event["message"] == UNLOCKED
    assert event["check_prompt"] == door.beat.subentry.data["check_prompt"]
    assert (event["run_id"], event["entity_id"]) == (
        record["run_id"],
        door.beat.switch,
    )
    (action,) = event["actions"]
    assert (action["action"], action["status"]) == ("lock.unlock", "done")
    assert action["observed"] == {FRONT: "unlocked"}
    (opening,) = [one for one in called if one.data["domain"] == "lock"]
    assert opening.context.user_id is None
    assert opening.context.parent_id is None
    assert answered[0].context.id == opening.context.id
    fired = [
        one.context.id
        for one in door.home.events
        if one.event_type == "proactive_agent_acted"
    ]
    assert fired == [opening.context.id]


@pytest.mark.contract("P1", "P3")
@pytest.mark.parametrize(
    ("answer", "status", "error", "who"),
    [
        ("approve", "done", None, "automation"),
        ("reject", "failed", "the owner said no", "automation"),
        (None, "failed", "the owner did not answer", None),
        ("off", "failed", "it was withdrawn", None),
    ],
)
async def test_the_record_of_the_run_gets_what_became_of_it(
    door: Door, answer: str | None, status: str, error: str | None, who: str | None
) -> None:
    approval_id = await door.ask()
    match answer:
        case None:
            door.home.clock.turn(HOUR)
        case "off":
            await door.beat.turn("off")
        case _:
            await door.answer(answer, approval_id)
    await door.home.settled()
    (run,) = await door.beat.runs()
    (action,) = run["actions"]
    assert (action["status"], action["error"]) == (status, error)
    assert (action["answered_by"] is None) is (who is None)
    assert run["outcome"] == "waiting"


@pytest.mark.contract("A2")
async def test_what_it_was_allowed_does_not_wake_it_again(
    door: Door, hass: HomeAssistant
) -> None:
    assert await async_setup_component(
        hass,
        "automation",
        {
            "automation": {
                "alias": "Doorkeeper",
                "triggers": {"trigger": "state", "entity_id": FRONT},
                "actions": {
                    "action": "proactive_agent.wake",
                    "target": {"entity_id": door.beat.switch},
                    "response_variable": "told",
                    "continue_on_error": True,
                },
            }
        },
    )
    approval_id = await door.ask()
    await door.answer("approve", approval_id)
    assert door.opened == [FRONT]
    assert len(await door.beat.runs()) == 1


@pytest.mark.contract("P1")
async def test_no_more_than_three_wait(door: Door) -> None:
    different = [
        unlock(FRONT),
        unlock(BACK),
        ("lock_unlock", {"entity_id": [FRONT, BACK]}),
    ]
    await door.beat.change(ask={**LOCKS, "entity_id": [FRONT, BACK, "script.valve"]})
    record = await wake(door, *different, ("valve", {}))
    assert door.shown["waiting"] == 3
    (fourth,) = answers(record)[3:]
    assert "too many requests wait already; not asked and not done" in str(fourth)
    assert [one["status"] for one in record["actions"]] == [
        "waiting",
        "waiting",
        "waiting",
        "failed",
    ]
    await door.answer("reject", door.shown["approval_id"])
    record = await wake(door, ("valve", {}))
    assert record["actions"][0]["status"] == "waiting"


@pytest.mark.contract("F5")
async def test_requests_count_as_actions(door: Door) -> None:
    await door.beat.change(act=LAMP, fuses={"max_actions": 1})
    record = await wake(door, unlock(), LAMP_ON)
    assert record["outcome"] == "action_limit"
    assert [one["status"] for one in record["actions"]] == ["waiting"]
    assert door.shown["waiting"] == 1


@pytest.mark.contract("A9", "P1")
async def test_a_dry_run_asks_nobody(door: Door) -> None:
    door.home.llm_server.play(calls(unlock()), text("That was it."))
    record = await door.beat.wake(dry_run=True)
    await door.home.settled()
    (action,) = record["actions"]
    assert (action["status"], action["note"]) == ("not_done", WOULD_ASK)
    assert (door.phone, door.shown["waiting"]) == ([], 0)


@pytest.mark.contract("P5")
async def test_the_same_is_asked_once_in_a_run(door: Door) -> None:
    twice = [unlock(), unlock(because="Again, please.")]
    door.home.llm_server.play(calls(twice[0]), calls(twice[1]), text("Asked."))
    record = await door.beat.wake()
    await door.home.settled()
    assert ASKED in str(answers(record)[1])
    assert [one["status"] for one in record["actions"]] == ["waiting"]
    assert len(door.phone) == 1


@pytest.mark.contract("P5")
@pytest.mark.parametrize("restart", [False, True], ids=["", "restart"])
@pytest.mark.parametrize(
    ("answer", "why"), [("pending", ASKED), ("reject", NO), ("expire", NO_ANSWER)]
)
async def test_what_waits_or_was_refused_is_not_asked_again(
    door: Door, answer: str, why: str, restart: bool
) -> None:
    approval_id = await door.ask()
    if answer == "reject":
        await door.answer("reject", approval_id)
    elif answer == "expire":
        door.home.clock.turn(HOUR)
        await door.home.settled()
    if restart:
        await door.home.reload()
    before = len(door.phone)
    record = await wake(door, unlock(because="Please."), unlock(BACK))
    assert why in str(answers(record)[0])
    assert [one["entity_id"] for one in record["actions"]] == [[BACK]]
    assert len(door.phone) == before + 1
    assert door.opened == []


@pytest.mark.contract("P5")
@pytest.mark.parametrize("restart", [False, True], ids=["", "restart"])
@pytest.mark.parametrize("answer", ["reject", "expire"])
@pytest.mark.parametrize("change", ["time", "state", "state while away"])
async def test_a_no_stands_until_something_changes_or_some_time_has_passed(
    door: Door, answer: str, change: str, restart: bool
) -> None:
    await door.beat.change(interval=QUIET)
    approval_id = await door.ask()
    if answer == "reject":
        await door.answer("reject", approval_id)
    else:
        door.home.clock.turn(HOUR)
        await door.home.settled()
    match change:
        case "time":
            door.home.clock.turn(timedelta(hours=6))
        case "state":
            await turn_key(door, FRONT, "unlocked")
            await turn_key(door, FRONT, "locked")
        case _:
            entry_id = door.home.entry.entry_id
            assert await door.hass.config_entries.async_unload(entry_id)
            await turn_key(door, FRONT, "jammed")
            assert await door.hass.config_entries.async_setup(entry_id)
            await turn_key(door, FRONT, "locked")
    if restart:
        await door.home.reload()
    record = await wake(door, unlock())
    assert record["outcome"] == "waiting"
    assert door.shown["waiting"] == 1


@pytest.mark.contract("P5")
@pytest.mark.parametrize("nothing", ["unavailable", "unknown", "locked"])
async def test_what_says_nothing_is_no_change(door: Door, nothing: str) -> None:
    approval_id = await door.ask()
    await door.answer("reject", approval_id)
    door.hass.states.async_set(FRONT, nothing)
    door.hass.states.async_set(FRONT, "locked", {"battery": 3})
    record = await wake(door, unlock())
    assert NO in str(answers(record)[0])


@pytest.mark.contract("P5")
async def test_what_changed_before_the_no_is_what_the_no_was_said_to(
    door: Door,
) -> None:
    approval_id = await door.ask()
    await turn_key(door, FRONT, "unlocked")
    await turn_key(door, FRONT, "locked")
    await door.answer("reject", approval_id)
    assert NO in str(answers(await wake(door, unlock()))[0])


@pytest.mark.contract("P5", "A2")
async def test_the_next_run_is_told_of_all_of_them(door: Door) -> None:
    await door.beat.change(interval=QUIET)
    refused = await door.ask(BACK)
    await door.answer("reject", refused)
    door.home.clock.turn(HOUR)
    waiting = await door.ask(FRONT)
    await wake(door)
    last = prompt(door).split("\n\n")[-1].split("\n")
    assert last[1:] == [
        f"- lock.unlock on {FRONT}: waits for the owner's answer, asked just now.",
        f"- lock.unlock on {BACK}: the owner said no; asked 1 h ago.",
    ]
    sent = str(door.home.llm_server.chats)
    secret = door.button(waiting, APPROVE).rpartition("_")[2]
    assert all(one not in sent for one in (waiting, refused, secret))
    await door.answer("reject", waiting)
    door.home.clock.turn(timedelta(hours=7))
    await wake(door)
    assert "The owner has been asked" not in prompt(door)


@pytest.mark.contract("G4", "P5")
async def test_while_it_waits_it_stays_quiet_until_something_changes(
    door: Door,
) -> None:
    door.home.llm_server.play(calls(unlock()), text("Asked."))
    await door.home.clock.tick()
    assert len(door.home.llm_server.chats) == 2
    await door.home.clock.tick(2)
    assert len(door.home.llm_server.chats) == 2
    await door.press("approve")
    assert door.opened == [FRONT]
    door.home.llm_server.play(text("It is open."))
    await door.home.clock.tick()
    assert len(door.home.llm_server.chats) == 3


@pytest.mark.contract("C4", "P5")
async def test_after_a_no_it_stays_quiet(door: Door) -> None:
    door.home.llm_server.play(calls(unlock()), text("Asked."))
    await door.home.clock.tick()
    await door.press("reject")
    await door.home.clock.tick(3, every=INTERVAL)
    assert len(door.home.llm_server.chats) == 2


@pytest.mark.contract("P4")
async def test_what_has_changed_meanwhile_is_not_done(door: Door) -> None:
    approval_id = await door.ask()
    await turn_key(door, FRONT, "unlocked")
    error = await door.error("approve", approval_id)
    assert "changed" in str(error)
    assert door.opened == []
    assert door.told == [CHANGED]
    assert door.home.fired("proactive_agent_acted") == []


@pytest.mark.contract("P1", "P2")
async def test_two_requests_are_kept_apart(door: Door) -> None:
    first, second = await door.ask(FRONT), await door.ask(BACK)
    await door.answer("approve", second)
    assert (door.opened, door.shown["approval_id"]) == ([BACK], first)
    await door.answer("reject", first)
    assert (door.opened, door.shown["waiting"]) == ([BACK], 0)
    assert [event["entity_id"] for event in door.home.fired("proactive_agent_acted")]
    assert door.cleared == [f"proactive_agent_{one}" for one in (second, first)]


@pytest.mark.contract("P1")
async def test_requests_of_two_heartbeats_are_their_own(door: Door) -> None:
    other = await door.home.add_heartbeat("Tango", ask=LOCKS, notify=[PHONE])
    first = await door.ask()
    door.home.llm_server.play(calls(unlock()), text("Asked."))
    await other.wake()
    await door.home.settled()
    assert other.state("pending_approval") == door.state
    await other.turn("off")
    assert (other.state("pending_approval"), door.shown["waiting"]) == ("none", 1)
    await door.answer("approve", first)
    assert door.opened == [FRONT]


@pytest.mark.contract("P1")
async def test_with_no_end_of_its_time_it_waits_on(door: Door) -> None:
    await door.beat.change(manners={"approval_timeout": {"hours": 0}})
    approval_id = await door.ask()
    door.home.clock.turn(timedelta(days=300))
    await door.home.settled()
    await door.answer("approve", approval_id)
    assert door.opened == [FRONT]


@pytest.mark.contract("P2")
async def test_it_is_said_until_when_also_if_that_is_another_day(door: Door) -> None:
    await door.beat.change(
        interval={"days": 3},  # no tick is due when the clock jumps
        notify=["notify.phone"],
        manners={"approval_timeout": {"hours": 30}},
    )
    door.home.clock.freezer.move_to("2026-12-01 20:00:00+00:00")
    await door.home.hass.config.async_set_time_zone("UTC")
    await wake(door, unlock())
    assert door.home.told[-1].endswith(
        "Answer on the page of Milonga in Home Assistant, by 2026-12-03 02:00."
    )


@pytest.mark.contract("C4", "P1")
async def test_an_answer_from_an_automation_leaves_no_trace_behind(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an automation sets off carries its trace, as long as it lives."""
    await door.ask(FRONT)
    await door.ask(BACK)
    traced: list[Any] = []
    door.hass.services.async_register(
        "lock", "unlock", lambda _: traced.append(trace.trace_get(clear=False))
    )
    door.hass.bus.async_listen(
        "proactive_agent_approval_answered",
        callback(lambda _: traced.append(trace.trace_get(clear=False))),
    )
    assert await async_setup_component(
        door.hass,
        "automation",
        {
            "automation": {
                "alias": "Answer",
                "triggers": {"trigger": "event", "event_type": "answer"},
                "actions": [
                    {
                        "action": "proactive_agent.approve",
                        "data": {"approval_id": "{{ trigger.event.data.id }}"},
                    }
                ],
            }
        },
    )
    door.hass.bus.async_fire("answer", {"id": door.shown["approval_id"]})
    await door.home.settled()
    door.home.clock.turn(HOUR)
    await door.home.settled()
    assert len(traced) == 3
    assert set(traced) == {None}


@pytest.mark.contract("A8")
async def test_who_wakes_it_by_hand_is_not_the_one_who_opens(
    door: Door,
) -> None:
    owner = MockUser(is_owner=True).add_to_hass(door.hass)
    door.home.llm_server.play(calls(unlock()), text("Asked."))
    await door.beat.wake(Context(user_id=owner.id))
    await door.home.settled()
    called = async_capture_events(door.hass, "call_service")
    await door.press("approve")
    (opening,) = [one for one in called if one.data["domain"] == "lock"]
    assert opening.context.user_id is None

"""How an owner answers: on the device's page and by actions (P1, P2, P6, P7, A2)."""

from datetime import timedelta
import json
from typing import Any
from unittest.mock import patch

from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import (
    Context,
    Event,
    EventStateChangedData,
    HomeAssistant,
    callback,
)
from homeassistant.exceptions import ServiceValidationError, Unauthorized, UnknownUser
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.event import async_track_state_change_event
from homeassistant.helpers.json import json_dumps
from homeassistant.helpers.storage import Store
from homeassistant.util import dt as dt_util
from homeassistant.util.file import WriteError
from homeassistant.util.ulid import ulid_now
import pytest
from pytest_homeassistant_custom_component.common import MockUser
import voluptuous as vol

from tests.support.doors import BACK, BECAUSE, FRONT, LOCKS, PHONE, Door, door
from tests.support.heartbeats import (
    HeldService,
    clock,
    endpoint,
    heartbeat_data,
    home,
    let_run,
)
from tests.support.llm_server import llm_server
from tests.support.notifiers import hear

__all__ = ["clock", "door", "home", "llm_server"]

IN_WORDS = "Unlock lock (Front door)"
# After this a request that has just come counts as seen.
LOOKED = timedelta(seconds=2)
BOTH = pytest.mark.parametrize("service", ["approve", "reject"])


def guest(hass: HomeAssistant, *controls: str, **user: Any) -> Context:
    """Return the context of a user who may control these entities only."""
    made = MockUser(name="Guest", **user).add_to_hass(hass)
    allowed = {one: {"read": True, "control": True} for one in controls}
    made.mock_policy({"entities": {"entity_ids": allowed}})
    return Context(user_id=made.id)


def sentence(error: BaseException) -> str:
    """Return the sentence with which something was refused."""
    assert isinstance(error, ServiceValidationError)
    assert error.translation_key
    return str(error)


async def answered_by(door: Door) -> list[str | None]:
    """Return who answered each action of the last run."""
    return [one["answered_by"] for one in (await door.beat.runs())[0]["actions"]]


@pytest.mark.contract("P2")
async def test_the_page_shows_what_is_asked_exactly_and_why(door: Door) -> None:
    assert (door.state, door.shown["waiting"]) == ("none", 0)
    assert "approval_id" not in door.shown
    approval_id = await door.ask()
    shown = json.loads(json_dumps(door.shown))
    assert door.state == IN_WORDS
    assert shown == {
        "friendly_name": "Milonga Pending approval",
        "waiting": 1,
        "approval_id": approval_id,
        "action": "lock.unlock",
        "entity_ids": [FRONT],
        "data": {},
        "because": BECAUSE,
        "expires": (dt_util.utcnow() + timedelta(hours=1)).isoformat(),
    }
    assert door.beat.state("status") == "waiting"


@pytest.mark.contract("P2", "S6")
async def test_what_a_model_gives_as_its_reason_is_shown_as_plain_text(
    door: Door,
) -> None:
    await door.ask(because=f"**Open**\n![x](http://evil.example/x) {'very ' * 99}")
    assert "http" not in door.shown["because"]
    assert "\n" not in door.shown["because"]
    assert len(door.shown["because"]) <= 255


@pytest.mark.contract("P2")
async def test_the_oldest_request_is_shown_first(door: Door) -> None:
    first = await door.ask(FRONT)
    door.home.clock.turn(timedelta(minutes=1))
    second = await door.ask(BACK)
    assert (door.shown["approval_id"], door.shown["waiting"]) == (first, 2)
    await door.answer("reject", first)
    assert (door.shown["approval_id"], door.shown["waiting"]) == (second, 1)
    assert door.state == "Unlock lock (Back door)"


@pytest.mark.contract("P2")
@pytest.mark.parametrize(
    ("button", "opened", "told"),
    [
        ("approve", [FRONT], [f"Done after your yes: {IN_WORDS}."]),
        ("reject", [], []),
    ],
)
async def test_a_button_of_the_page_answers(
    door: Door, button: str, opened: list[str], told: list[str]
) -> None:
    approval_id = await door.ask()
    await door.press(button)
    assert (door.opened, door.told) == (opened, told)
    assert (door.state, door.beat.state("status")) == ("none", "asleep")
    assert door.cleared == [f"proactive_agent_{approval_id}"]


@pytest.mark.contract("P6")
@pytest.mark.parametrize("button", ["approve", "reject"])
async def test_a_button_with_nothing_to_answer_says_so(door: Door, button: str) -> None:
    with pytest.raises(
        ServiceValidationError, match=r"^Milonga is not waiting for an answer$"
    ):
        await door.press(button)


@pytest.mark.contract("P6")
@pytest.mark.parametrize("first", ["approve", "reject"])
@pytest.mark.parametrize("again", ["approve", "reject"])
async def test_a_second_tap_does_not_answer_what_came_up_behind_the_first(
    door: Door, first: str, again: str
) -> None:
    await door.ask(FRONT)
    door.home.clock.turn(timedelta(minutes=1))
    await door.ask(BACK)
    await door.press(first)
    opened = [*door.opened]
    with pytest.raises(ServiceValidationError, match="Read it, then press again"):
        await door.press(again)
    assert (door.opened, door.shown["waiting"]) == (opened, 1)
    door.home.clock.turn(LOOKED)
    await door.press(again)
    assert door.opened == opened + ([BACK] if again == "approve" else [])


@pytest.mark.contract("P6")
async def test_nor_what_was_asked_just_after_it(door: Door) -> None:
    approval_id = await door.ask(FRONT)
    await door.answer("reject", approval_id)
    await door.ask(BACK)
    with pytest.raises(ServiceValidationError, match="only just come up"):
        await door.press("approve")
    assert door.opened == []


@pytest.mark.contract("P3", "P6")
async def test_two_hands_on_one_button_open_once(door: Door) -> None:
    await door.ask()
    held = HeldService(door.hass, "input_text", "set_value")
    first = door.hass.async_create_task(door.press("approve"))
    await held.reached.wait()
    second = door.hass.async_create_task(door.press("approve"))
    await let_run()
    held.release.set()
    await first
    with pytest.raises(ServiceValidationError, match="is not waiting for an answer"):
        await second
    assert door.opened == [FRONT]


@pytest.mark.contract("P1", "P2")
async def test_an_automation_can_answer(door: Door) -> None:
    approval_id = await door.ask()
    assert json.loads(json_dumps(await door.answer("approve", approval_id))) == {
        "approval_id": approval_id,
        "status": "done",
        "action": "lock.unlock",
        "entity_id": [FRONT],
        "note": None,
    }
    assert door.opened == [FRONT]
    assert await answered_by(door) == ["automation"]


@pytest.mark.contract("P1")
async def test_a_no_answers_with_how_it_stands(door: Door) -> None:
    approval_id = await door.ask()
    answer = await door.answer(
        "reject", approval_id, guest(door.hass, door.beat.switch)
    )
    assert answer["status"] == "rejected"
    assert (door.opened, await answered_by(door)) == ([], ["Guest"])


@pytest.mark.contract("P2")
async def test_an_answer_needs_no_answer(door: Door) -> None:
    approval_id = await door.ask()
    await door.hass.services.async_call(
        "proactive_agent", "approve", {"approval_id": approval_id}, blocking=True
    )
    assert door.opened == [FRONT]


@pytest.mark.contract("P1")
@BOTH
async def test_who_may_control_the_switch_can_answer(door: Door, service: str) -> None:
    approval_id = await door.ask()
    await door.answer(service, approval_id, guest(door.hass, door.beat.switch))
    assert await answered_by(door) == ["Guest"]


@pytest.mark.contract("P1")
async def test_an_administrator_can_answer_whatever_is_registered(
    door: Door, hass_admin_user: MockUser
) -> None:
    approval_id = await door.ask()
    er.async_get(door.hass).async_remove(door.beat.switch)
    await door.home.settled()
    error = await door.error("approve", approval_id, guest(door.hass, FRONT))
    assert isinstance(error, Unauthorized)
    context = Context(user_id=hass_admin_user.id)
    assert (await door.answer("approve", approval_id, context))["status"] == "done"


@pytest.mark.contract("P1")
@BOTH
async def test_who_may_not_control_the_switch_cannot_answer(
    door: Door, service: str
) -> None:
    approval_id = await door.ask()
    buttons = [door.beat.entity_id("button", one) for one in ("approve", "reject")]
    for context in (
        guest(door.hass, *buttons, FRONT),
        guest(door.hass, door.beat.switch, is_active=False),
    ):
        error = await door.error(service, approval_id, context)
        assert isinstance(error, Unauthorized)
        assert error.entity_id == door.beat.switch
    with pytest.raises(Unauthorized):
        await door.press(service, guest(door.hass, *buttons, FRONT))
    assert isinstance(
        await door.error(service, approval_id, Context(user_id="0" * 32)), UnknownUser
    )
    assert (door.opened, door.shown["waiting"]) == ([], 1)


@pytest.mark.contract("A2")
@BOTH
async def test_a_run_cannot_answer_for_its_owner(door: Door, service: str) -> None:
    runs: list[Context] = []
    door.hass.bus.async_listen(
        "proactive_agent_heartbeat_tick", lambda event: runs.append(event.context)
    )
    approval_id = await door.ask()
    (run,) = runs
    for context in (run, Context(parent_id=run.id)):
        error = await door.error(service, approval_id, context)
        assert "cannot be answered by something that a run" in sentence(error)
        with pytest.raises(ServiceValidationError, match="that a run has set off"):
            await door.press(service, context)
    assert (door.opened, door.shown["waiting"]) == ([], 1)


@pytest.mark.contract("A2")
async def test_nor_can_what_its_owner_allowed_it_to_do(door: Door) -> None:
    contexts: list[Context] = []
    door.hass.bus.async_listen("opened", lambda event: contexts.append(event.context))
    first = await door.ask(FRONT)
    door.home.clock.turn(timedelta(minutes=1))
    second = await door.ask(BACK)
    await door.answer("approve", first)
    (deed,) = contexts
    error = await door.error("approve", second, deed)
    assert "that a run has set off" in sentence(error)
    assert door.opened == [FRONT]


@pytest.mark.contract("P6")
@BOTH
@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("approve", f"Answered already with a yes, by an automation: {IN_WORDS}"),
        ("reject", f"Answered already with a no, by an automation: {IN_WORDS}"),
    ],
)
async def test_a_request_is_answered_once(
    door: Door, service: str, before: str, said: str
) -> None:
    approval_id = await door.ask()
    await door.answer(before, approval_id)
    opened = [*door.opened]
    assert sentence(await door.error(service, approval_id)) == said
    assert door.opened == opened


@pytest.mark.contract("P5", "P6")
@BOTH
async def test_an_answer_that_comes_too_late_does_nothing(
    door: Door, service: str
) -> None:
    approval_id = await door.ask()
    await door.home.clock.tick(every=timedelta(hours=1))
    assert sentence(await door.error(service, approval_id)) == (
        f"The time to answer is over, which counts as a no: {IN_WORDS}"
    )
    assert (door.opened, door.state) == ([], "none")


@pytest.mark.contract("P6", "P7")
@BOTH
async def test_an_answer_to_what_was_withdrawn_does_nothing(
    door: Door, service: str
) -> None:
    approval_id = await door.ask()
    await door.beat.turn("off")
    await door.home.settled()
    assert sentence(await door.error(service, approval_id)) == (
        f"Milonga has withdrawn this request: {IN_WORDS}"
    )
    assert (door.opened, door.state) == ([], "none")
    assert door.cleared == [f"proactive_agent_{approval_id}"]


@pytest.mark.contract("P6", "P7")
@BOTH
async def test_nobody_knows_the_requests_of_a_removed_heartbeat(
    door: Door, service: str
) -> None:
    approval_id = await door.ask()
    await door.beat.remove()
    await door.home.settled()
    for unknown in (approval_id, "made up", ""):
        error = await door.error(service, unknown)
        assert sentence(error).startswith("There is no such request. ")
    assert door.opened == []


@BOTH
async def test_an_answer_has_to_name_a_request(door: Door, service: str) -> None:
    with pytest.raises(vol.Invalid):
        await door.hass.services.async_call(
            "proactive_agent", service, {}, blocking=True
        )


@pytest.mark.contract("P2")
async def test_requests_of_every_endpoint_are_found(door: Door) -> None:
    other = endpoint(door.home.llm_server)
    other.add_to_hass(door.hass)
    assert await door.hass.config_entries.async_setup(other.entry_id)
    door.hass.config_entries.async_add_subentry(
        other,
        ConfigSubentry(
            data=heartbeat_data(ask=LOCKS, notify=[PHONE]),  # type: ignore[arg-type]
            subentry_id=ulid_now(),
            subentry_type="heartbeat",
            title="Tango",
            unique_id=None,
        ),
    )
    await door.home.settled()
    theirs = Door(
        home=door.home,
        beat=type(door.beat)(
            hass=door.hass, entry=other, id=next(iter(other.subentries))
        ),
        phone=door.phone,
    )
    approval_id = await theirs.ask(BACK)
    assert (theirs.state, door.state) == ("Unlock lock (Back door)", "none")
    assert (await door.answer("approve", approval_id))["status"] == "done"
    assert door.opened == [BACK]


@pytest.mark.contract("P4")
@pytest.mark.parametrize("way", ["action", "button"])
async def test_a_yes_that_comes_to_nothing_says_why(door: Door, way: str) -> None:
    approval_id = await door.ask()
    door.hass.states.async_set(FRONT, "jammed")
    answer = (
        door.answer("approve", approval_id)
        if way == "action"
        else door.press("approve")
    )
    with pytest.raises(
        ServiceValidationError,
        match=r"^Not done, because things have changed since it was asked: Unlock",
    ):
        await answer
    await door.home.settled()
    assert door.opened == []
    assert len(door.told) == 1
    assert door.told[0].startswith("Not done after your yes, because things have")


@pytest.mark.contract("P4")
async def test_so_does_one_to_what_is_not_available(door: Door) -> None:
    approval_id = await door.ask()
    door.hass.states.async_set(FRONT, "unavailable")
    error = await door.error("approve", approval_id)
    assert sentence(error).startswith("Not done, because it is not available")


@pytest.mark.contract("P4", "C7")
async def test_so_does_one_to_what_is_no_longer_allowed(door: Door) -> None:
    approval_id = await door.ask()
    await door.beat.change(ask={})
    error = await door.error("approve", approval_id)
    assert sentence(error).startswith("Not done, because it is no longer")


async def test_so_does_one_after_which_the_action_fails(door: Door) -> None:
    approval_id = await door.ask()
    held = HeldService(door.hass, "lock", "unlock")
    held.error = ServiceValidationError("The bolt is stuck.")
    held.release.set()
    error = await door.error("approve", approval_id)
    assert sentence(error).startswith(f"It has failed: {IN_WORDS}. ")
    assert "stuck" in str(error)


@pytest.mark.contract("P3", "D1")
async def test_a_yes_that_cannot_be_written_down_is_not_taken(door: Door) -> None:
    approval_id = await door.ask()
    with patch.object(Store, "_async_write_data", side_effect=WriteError("full")):
        error = await door.error("approve", approval_id)
    assert "could not write to its disk" in sentence(error)
    assert (door.opened, door.shown["waiting"]) == ([], 1)
    assert (await door.answer("approve", approval_id))["status"] == "done"


async def test_who_says_yes_does_not_wait_for_long(door: Door) -> None:
    approval_id = await door.ask()
    held = HeldService(door.hass, "lock", "unlock")
    answer = door.hass.async_create_task(door.answer("approve", approval_id))
    await held.reached.wait()
    door.home.clock.turn(timedelta(seconds=10))
    await let_run()
    held.release.set()
    assert (await answer)["status"] == "executing"


@pytest.mark.contract("P7")
async def test_after_a_restart_the_page_asks_the_same(
    door: Door, hass_storage: dict[str, Any]
) -> None:
    approval_id = await door.ask()
    before = dict(door.shown)
    # Nothing but the store knows what the entities are called.
    door.hass.states.async_set(FRONT, "locked", {"friendly_name": "Renamed"})
    await door.home.reload()
    assert (door.state, dict(door.shown)) == (IN_WORDS, before)
    await door.press("approve")
    assert door.opened == [FRONT]
    assert approval_id == before["approval_id"]


@pytest.mark.contract("P7")
async def test_after_a_restart_nothing_is_shown_that_is_no_longer_asked(
    door: Door,
) -> None:
    await door.ask()
    assert await door.hass.config_entries.async_unload(door.home.entry.entry_id)
    door.home.clock.turn(timedelta(hours=2))
    assert await door.hass.config_entries.async_setup(door.home.entry.entry_id)
    await door.home.settled()
    assert (door.state, door.shown["waiting"]) == ("none", 0)


@pytest.mark.contract("P7")
@pytest.mark.parametrize("loaded", [True, False])
async def test_with_the_endpoint_its_questions_leave_the_phones(
    door: Door, loaded: bool
) -> None:
    first = await door.ask(FRONT)
    await door.answer("reject", first)
    door.home.clock.turn(timedelta(minutes=1))
    second = await door.ask(BACK)
    assert door.cleared == [f"proactive_agent_{first}"]
    if not loaded:
        assert await door.hass.config_entries.async_unload(door.home.entry.entry_id)
    assert door.cleared == [f"proactive_agent_{first}"]
    await door.hass.config_entries.async_remove(door.home.entry.entry_id)
    await door.home.settled()
    assert door.cleared[1:] == [f"proactive_agent_{second}"]


@pytest.mark.contract("P2", "P7")
@pytest.mark.parametrize("restarts", [False, True], ids=["on", "restarted"])
@pytest.mark.parametrize("end", ["approve", "reject", "off", "gone", "expired", "all"])
async def test_a_question_leaves_the_phone_that_shows_it_though_another_is_told_now(
    door: Door, end: str, restarts: bool
) -> None:
    approval_id = await door.ask()
    other = hear(door.hass, "mobile_app_other")
    await door.beat.change(notify=["notify.mobile_app_other"])
    if restarts:
        await door.home.reload()
    if end == "off":
        await door.beat.turn("off")
    elif end == "gone":
        await door.beat.remove()
    elif end == "expired":
        await door.home.clock.tick(every=timedelta(hours=2))
    elif end == "all":
        await door.hass.config_entries.async_remove(door.home.entry.entry_id)
    else:
        await door.answer(end, approval_id)
    await door.home.settled()
    assert door.cleared == [f"proactive_agent_{approval_id}"]
    assert "clear_notification" not in [call.data["message"] for call in other]


@pytest.mark.contract("D1")
async def test_a_file_of_a_newer_version_is_no_reason_to_stay(
    door: Door, hass_storage: dict[str, Any]
) -> None:
    await door.ask()
    assert await door.hass.config_entries.async_unload(door.home.entry.entry_id)
    key = f"proactive_agent.{door.home.entry.entry_id}"
    hass_storage[key]["version"] = 99
    await door.hass.config_entries.async_remove(door.home.entry.entry_id)
    assert key not in hass_storage


@pytest.mark.contract("P1", "P5")
@pytest.mark.parametrize(
    ("answer", "then"),
    [
        ("approve", ["approved", "acted"]),
        ("reject", ["rejected"]),
        (None, ["expired"]),
    ],
)
async def test_the_activity_tells_of_question_and_answer(
    door: Door, answer: str | None, then: list[str]
) -> None:
    told: list[tuple[str, Any]] = []

    @callback
    def note(event: Event[EventStateChangedData]) -> None:
        if (state := event.data["new_state"]) is not None:
            told.append(
                (state.attributes["event_type"], state.attributes.get("answered_by"))
            )

    activity = door.beat.entity_id("event", "activity")
    async_track_state_change_event(door.hass, [activity], note)
    approval_id = await door.ask()
    if answer is None:
        door.home.clock.turn(timedelta(hours=1))
    else:
        await door.answer(answer, approval_id)
    await door.home.settled()
    assert [kind for kind, _ in told] == ["woke", "asked", *then]
    who = "automation" if answer else None
    assert {name for _, name in told[2:]} == {who}

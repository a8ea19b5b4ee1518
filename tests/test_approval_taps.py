"""What phones send back: taken once, from whoever may, and always replied to (P6)."""

from collections.abc import Callable
from datetime import timedelta
import logging
from typing import Any
from unittest.mock import patch

from homeassistant.components.persistent_notification import (
    Notification,
    UpdateType,
    async_register_callback,
)
from homeassistant.const import EVENT_HOMEASSISTANT_STARTED
from homeassistant.core import Context, CoreState, Event, ServiceCall, callback
from homeassistant.helpers.storage import Store
from homeassistant.util.file import WriteError
import pytest
from pytest_homeassistant_custom_component.common import MockUser

from custom_components.proactive_agent.diagnostics import (
    async_get_config_entry_diagnostics,
)
from tests.support.doors import (
    APPROVE,
    BACK,
    FRONT,
    REJECT,
    Door,
    door,
    own_phone,
)
from tests.support.heartbeats import clock, endpoint, home, let_run
from tests.support.llm_server import llm_server
from tests.support.notifiers import kept

__all__ = ["clock", "door", "home", "kept", "llm_server"]

IN_WORDS = "Unlock lock (Front door)"
DONE = f"Done after your yes: {IN_WORDS}."
ABOUT = f": {IN_WORDS}."
type Kept = dict[str, Notification]


@pytest.fixture
def anna(door: Door) -> MockUser:
    """A user who may control everything, with a phone of her own."""
    user: MockUser = MockUser(name="Anna", is_owner=True).add_to_hass(door.hass)
    return user


@pytest.fixture
def her_phone(door: Door, anna: MockUser) -> list[ServiceCall]:
    return own_phone(door.hass, anna.id, "Anna")


def read(phone: list[ServiceCall]) -> list[str]:
    return [call.data["message"] for call in phone]


async def answered_by(door: Door) -> str | None:
    name: str | None = (await door.beat.runs())[0]["actions"][0]["answered_by"]
    return name


@pytest.mark.contract("P2")
async def test_a_yes_from_a_phone_opens_once_and_leaves_every_phone(
    door: Door, anna: MockUser
) -> None:
    approval_id = await door.ask()
    await door.tap(door.button(approval_id, APPROVE), anna.id)
    assert (door.opened, door.told, door.state) == ([FRONT], [DONE], "none")
    assert door.cleared == [f"proactive_agent_{approval_id}"]
    assert await answered_by(door) == "Anna"


@pytest.mark.contract("P2")
async def test_so_does_a_no(door: Door, anna: MockUser) -> None:
    approval_id = await door.ask()
    await door.tap(door.button(approval_id, REJECT), anna.id)
    assert (door.opened, door.told, door.state) == ([], [], "none")
    assert door.cleared == [f"proactive_agent_{approval_id}"]
    assert await answered_by(door) == "Anna"


@pytest.mark.contract("P2")
async def test_several_requests_are_kept_apart(door: Door, anna: MockUser) -> None:
    front = await door.ask(FRONT)
    back = await door.ask(BACK)
    await door.tap(door.button(back, APPROVE), anna.id)
    assert door.opened == [BACK]
    assert door.shown["approval_id"] == front
    await door.tap(door.button(front, REJECT), anna.id)
    assert (door.opened, door.state) == ([BACK], "none")


@pytest.mark.contract("P1")
async def test_a_tap_of_nobody_counts_if_it_knows_the_secret(door: Door) -> None:
    approval_id = await door.ask()
    await door.tap(door.button(approval_id, APPROVE))
    assert door.opened == [FRONT]
    assert await answered_by(door) == "automation"


@pytest.mark.contract("P3", "P6")
async def test_a_second_tap_is_told_that_it_did_nothing(
    door: Door, anna: MockUser, her_phone: list[ServiceCall]
) -> None:
    approval_id = await door.ask()
    for _ in range(2):
        door.send(door.button(approval_id, APPROVE), Context(user_id=anna.id))
    await door.home.settled()
    assert (door.opened, door.told) == ([FRONT], [DONE])
    assert read(her_phone) == [
        "This tap did nothing, because Anna has already answered with a yes" + ABOUT
    ]


async def rejected(door: Door, approval_id: str) -> None:
    await door.answer("reject", approval_id)


async def expired(door: Door, _approval_id: str) -> None:
    await door.home.clock.tick(every=timedelta(hours=1))


async def withdrawn(door: Door, _approval_id: str) -> None:
    await door.beat.turn("off")


async def approved(door: Door, approval_id: str) -> None:
    await door.answer("approve", approval_id)


@pytest.mark.contract("P5", "P6", "P7")
@pytest.mark.parametrize("which", [APPROVE, REJECT])
@pytest.mark.parametrize(
    ("settle", "why"),
    [
        (approved, "an automation has already answered with a yes"),
        (rejected, "an automation has already said no"),
        (expired, "the time to answer was over"),
        (withdrawn, "the request was withdrawn"),
    ],
)
async def test_a_stale_button_does_nothing_and_says_why(
    door: Door,
    anna: MockUser,
    her_phone: list[ServiceCall],
    which: int,
    settle: Callable[[Door, str], Any],
    why: str,
) -> None:
    approval_id = await door.ask()
    action = door.button(approval_id, which)
    await settle(door, approval_id)
    await door.home.settled()
    opened, told = [*door.opened], [*door.told]
    await door.tap(action, anna.id)
    assert read(her_phone) == [f"This tap did nothing, because {why}{ABOUT}"]
    assert (door.opened, door.told) == (opened, told)


@pytest.mark.contract("P6")
async def test_a_reply_to_who_has_no_phone_goes_where_the_heartbeat_speaks(
    door: Door, anna: MockUser
) -> None:
    approval_id = await door.ask()
    await rejected(door, approval_id)
    await door.tap(door.button(approval_id, APPROVE), anna.id)
    assert door.told == [
        "This tap did nothing, because an automation has already said no" + ABOUT
    ]


@pytest.mark.contract("P6")
async def test_the_same_stale_tap_is_replied_to_once_a_minute(
    door: Door, anna: MockUser, her_phone: list[ServiceCall]
) -> None:
    approval_id = await door.ask()
    action = door.button(approval_id, APPROVE)
    await rejected(door, approval_id)
    for _ in range(3):
        await door.tap(action, anna.id)
    assert len(read(her_phone)) == 1
    await door.tap(action)
    assert len(door.told) == 1
    door.home.clock.turn(timedelta(minutes=1))
    await door.tap(action, anna.id)
    assert len(read(her_phone)) == 2


@pytest.mark.contract("P6")
@pytest.mark.parametrize(
    "action",
    [
        "PROACTIVE_AGENT_APPROVE_",
        "PROACTIVE_AGENT_REJECT_",
        "PROACTIVE_AGENT_APPROVE_made-up",
        "PROACTIVE_AGENT_APPROVE_\N{LOCK}\ud800",
        "PROACTIVE_AGENT_REJECT_" + 99_999 * "x",
    ],
    ids=["empty", "empty no", "made up", "no text", "endless"],
)
async def test_a_button_that_nobody_knows_is_replied_to_once(
    door: Door, action: str
) -> None:
    other = endpoint(door.home.llm_server)
    other.add_to_hass(door.hass)
    assert await door.hass.config_entries.async_setup(other.entry_id)
    shown: list[Notification] = []

    @callback
    def note(_update: UpdateType, changed: dict[str, Notification]) -> None:
        shown.extend(changed.values())

    await door.ask()
    async_register_callback(door.hass, note)
    for _ in range(2):
        await door.tap(action)
    assert (door.opened, door.shown["waiting"], door.told) == ([], 1, [])
    (reply,) = shown
    assert (reply["title"], reply["message"]) == (
        "Proactive Agent",
        "This tap did nothing, because the request is no longer known.",
    )


@pytest.mark.contract("P6")
async def test_who_taps_a_button_that_nobody_knows_hears_it_on_the_phone(
    door: Door, kept: Kept, anna: MockUser, her_phone: list[ServiceCall]
) -> None:
    await door.ask()
    await door.tap("PROACTIVE_AGENT_REJECT_made-up", anna.id)
    assert read(her_phone) == [
        "This tap did nothing, because the request is no longer known."
    ]
    assert kept == {}


@pytest.mark.contract("P6")
@pytest.mark.parametrize(
    "action", [None, 7, [], {}, "", "OPEN_GARAGE", "PROACTIVE_AGENT_", "approve"]
)
async def test_buttons_of_others_are_left_to_others(
    door: Door, kept: Kept, action: Any
) -> None:
    await door.ask()
    await door.tap(action)
    door.hass.bus.async_fire("mobile_app_notification_action", {})
    await door.home.settled()
    assert (door.opened, door.shown["waiting"], door.told, kept) == ([], 1, [], {})


@pytest.mark.contract("P6")
async def test_the_one_endpoint_that_knows_a_button_answers_to_it(
    door: Door, kept: Kept
) -> None:
    first = endpoint(door.home.llm_server)
    first.add_to_hass(door.hass)
    assert await door.hass.config_entries.async_setup(first.entry_id)
    approval_id = await door.ask()
    await door.tap(door.button(approval_id, APPROVE))
    assert (door.opened, door.told, kept) == ([FRONT], [DONE], {})


@pytest.mark.contract("P1")
@pytest.mark.parametrize("is_active", [True, False])
async def test_a_phone_of_who_may_not_answer_is_told_so(
    door: Door, is_active: bool
) -> None:
    guest = MockUser(name="Guest", is_active=is_active).add_to_hass(door.hass)
    if is_active:
        guest.mock_policy({"entities": {"entity_ids": {FRONT: True}}})
    phone = own_phone(door.hass, guest.id, "Guest")
    approval_id = await door.ask()
    await door.tap(door.button(approval_id, APPROVE), guest.id)
    assert (door.opened, door.shown["waiting"], door.told) == ([], 1, [])
    assert door.cleared == []
    assert read(phone) == [
        "This tap did nothing, because only who may control Milonga can answer" + ABOUT
    ]


@pytest.mark.contract("P1", "P6")
async def test_the_reply_does_not_take_the_place_of_what_still_waits(
    door: Door,
) -> None:
    approval_id = await door.ask()
    await door.tap(door.button(approval_id, APPROVE), "0" * 32)
    assert len(door.told) == 1
    assert "tag" not in door.phone[-1].data.get("data", {})
    await door.tap(door.button(approval_id, APPROVE))
    assert door.opened == [FRONT]


@pytest.mark.contract("A2")
async def test_a_run_cannot_tap(door: Door) -> None:
    runs: list[Context] = []

    @callback
    def note(event: Event) -> None:
        runs.append(event.context)

    door.hass.bus.async_listen("proactive_agent_heartbeat_tick", note)
    approval_id = await door.ask()
    door.send(door.button(approval_id, APPROVE), Context(parent_id=runs[0].id))
    await door.home.settled()
    assert (door.opened, door.shown["waiting"]) == ([], 1)
    assert door.told == ["This tap did nothing, because a run has set it off" + ABOUT]


@pytest.mark.contract("P4")
async def test_what_came_to_nothing_is_told_once(
    door: Door, anna: MockUser, her_phone: list[ServiceCall]
) -> None:
    approval_id = await door.ask()
    door.hass.states.async_set(FRONT, "jammed")
    await door.tap(door.button(approval_id, APPROVE), anna.id)
    assert (door.opened, read(her_phone)) == ([], [])
    assert len(door.told) == 1
    assert door.told[0].startswith("Not done after your yes")


@pytest.mark.contract("P3", "D1")
async def test_a_tap_that_cannot_be_written_down_says_how_to_go_on(door: Door) -> None:
    approval_id = await door.ask()
    with patch.object(Store, "_async_write_data", side_effect=WriteError("full")):
        await door.tap(door.button(approval_id, APPROVE))
    assert (door.opened, door.shown["waiting"]) == ([], 1)
    (told,) = door.told
    assert "could not write to its disk. Answer again on the page of Milonga" in told


@pytest.mark.contract("P7")
async def test_the_buttons_survive_a_restart(door: Door, anna: MockUser) -> None:
    approval_id = await door.ask()
    await door.home.reload()
    await door.tap(door.button(approval_id, APPROVE), anna.id)
    assert (door.opened, door.told) == ([FRONT], [DONE])


@pytest.mark.contract("P6", "P7")
async def test_so_do_those_that_came_too_late(door: Door) -> None:
    approval_id = await door.ask()
    await rejected(door, approval_id)
    await door.home.reload()
    await door.tap(door.button(approval_id, APPROVE))
    assert door.opened == []
    assert "already said no" in door.told[0]


@pytest.mark.contract("P7")
async def test_a_tap_while_home_assistant_starts_counts_and_waits_for_the_rest(
    door: Door, anna: MockUser, her_phone: list[ServiceCall]
) -> None:
    approval_id = await door.ask()
    entry_id = door.home.entry.entry_id
    assert await door.hass.config_entries.async_unload(entry_id)
    door.hass.set_state(CoreState.starting)
    assert await door.hass.config_entries.async_setup(entry_id)
    door.send(door.button(approval_id, APPROVE), Context(user_id=anna.id))
    door.send("PROACTIVE_AGENT_APPROVE_made-up", Context(user_id=anna.id))
    await let_run()
    assert (door.opened, door.told, read(her_phone)) == ([], [], [])
    assert door.state == "none"
    door.hass.set_state(CoreState.running)
    door.hass.bus.async_fire(EVENT_HOMEASSISTANT_STARTED)
    await door.home.settled()
    assert (door.opened, door.told) == ([FRONT], [DONE])
    assert read(her_phone) == [
        "This tap did nothing, because the request is no longer known."
    ]


@pytest.mark.contract("P7")
async def test_an_endpoint_that_is_unloaded_hears_nothing(
    door: Door, kept: Kept
) -> None:
    approval_id = await door.ask()
    assert await door.hass.config_entries.async_unload(door.home.entry.entry_id)
    await door.tap(door.button(approval_id, APPROVE))
    assert (door.opened, door.told, kept) == ([], [], {})


@pytest.mark.contract("P2")
async def test_the_secret_is_on_the_phone_and_on_disk_only(
    door: Door,
    anna: MockUser,
    hass_storage: dict[str, Any],
    caplog: pytest.LogCaptureFixture,
) -> None:
    planted = "planted-secret"
    events: list[Event[Any]] = []

    @callback
    def note(event: Event[Any]) -> None:
        events.append(event)

    door.hass.bus.async_listen("*", note)
    with patch("secrets.token_urlsafe", return_value=planted):
        approval_id = await door.ask()
    assert planted in door.button(approval_id, APPROVE)
    found = [await async_get_config_entry_diagnostics(door.hass, door.home.entry)]
    await door.answer("approve", approval_id)
    await door.error("approve", approval_id)
    found.append(await async_get_config_entry_diagnostics(door.hass, door.home.entry))
    shown = [one.as_dict() for one in door.hass.states.async_all()]
    said = [
        dict(event.data)
        for event in events
        if event.data.get("service") != "mobile_app_owner"
    ]
    logged = [
        record.getMessage()
        for record in caplog.records
        if record.name.startswith("custom_components") or record.levelno > logging.INFO
    ]
    asked = door.home.llm_server.chats
    assert said
    for place in (found, shown, said, logged, asked, await door.beat.runs()):
        assert planted not in str(place)
    store = hass_storage[f"proactive_agent.{door.home.entry.entry_id}"]
    assert str(store).count(planted) == 1

"""Requests with buttons on phones, and in words everywhere else (P2, S5, S6)."""

import asyncio
from typing import Any

from homeassistant.components.persistent_notification import (
    Notification,
    async_create,
)
from homeassistant.config_entries import ConfigEntryDisabler
from homeassistant.core import Context, HomeAssistant, ServiceCall
from homeassistant.exceptions import HomeAssistantError
from homeassistant.setup import async_setup_component
import pytest

from custom_components.proactive_agent.engine.plain_text import MAX_LENGTH
from custom_components.proactive_agent.notifier.notifier import (
    Button,
    Delivery,
    Notifier,
)
from tests.support.heartbeats import HeldService
from tests.support.notifiers import Phone, hear, kept, plug_in, plug_in_app

__all__ = ["kept"]

pytestmark = pytest.mark.contract("P2")

MESSAGE = "Milonga wants to unlock Front door."
ELSEWHERE = "Answer on Milonga's page until 14:30."
IN_FULL = f"{MESSAGE} {ELSEWHERE}"
TAG = "proactive_agent_01ASK"
BUTTONS = (
    Button(action="YES_1", title="Approve", needs_unlock=True),
    Button(action="NO_1", title="Reject", destructive=True),
)
DATA = {
    "tag": TAG,
    "group": "proactive_agent",
    "actions": [
        {
            "action": "YES_1",
            "title": "Approve",
            "authenticationRequired": True,
            "destructive": False,
        },
        {
            "action": "NO_1",
            "title": "Reject",
            "authenticationRequired": False,
            "destructive": True,
        },
    ],
    "push": {"interruption-level": "time-sensitive"},
    "priority": "high",
    "ttl": 0,
}
ON_A_PHONE = {"title": "Milonga", "message": MESSAGE, "data": DATA}
IN_WORDS = {"title": "Milonga", "message": IN_FULL}
OFF_A_PHONE = {"message": "clear_notification", "data": {"tag": TAG}}


async def ask(
    hass: HomeAssistant, *targets: str, notifier: Notifier | None = None, **changes: Any
) -> Delivery:
    return await (notifier or Notifier(hass)).async_ask(
        targets,
        **{
            "title": "Milonga",
            "message": MESSAGE,
            "elsewhere": ELSEWHERE,
            "tag": TAG,
            "buttons": BUTTONS,
            "context": Context(),
            **changes,
        },
    )


async def clear(
    hass: HomeAssistant, *targets: str, notifier: Notifier | None = None
) -> None:
    await (notifier or Notifier(hass)).async_clear(targets, tag=TAG, context=Context())


def heard(calls: list[ServiceCall]) -> list[dict[str, Any]]:
    return [dict(call.data) for call in calls]


async def test_a_phone_shows_buttons_and_who_has_none_is_told_how_to_answer(
    hass: HomeAssistant, kept: dict[str, Notification]
) -> None:
    display = Phone("display", takes_title=True)
    await plug_in(hass, display)
    phone, mail = hear(hass, "mobile_app_owner"), hear(hass, "mail")
    context = Context()
    targets = ("notify.mobile_app_owner", "notify.mail", "notify.display")

    delivery = await ask(hass, *targets, context=context)

    assert delivery == Delivery(reached=targets)
    assert heard(phone) == [ON_A_PHONE]
    assert heard(mail) == [IN_WORDS]
    assert display.heard == [(IN_FULL, "Milonga")]
    assert phone[0].context is mail[0].context is context
    assert kept == {}


@pytest.mark.parametrize("targets", [(), ("notify.mobile_app_gone", "notify.gone")])
async def test_if_none_is_reached_home_assistant_shows_how_to_answer(
    hass: HomeAssistant, kept: dict[str, Notification], targets: tuple[str, ...]
) -> None:
    assert await ask(hass, *targets) == Delivery(failed=targets, kept=True)

    [(notification_id, notification)] = kept.items()
    assert notification_id == TAG
    assert (notification["title"], notification["message"]) == ("Milonga", IN_FULL)


@pytest.mark.parametrize("device", ["Owner's Pixel 9", "Telefon für Ömer", "手机"])
async def test_a_phone_that_is_chosen_as_an_entity_shows_buttons(
    hass: HomeAssistant, device: str
) -> None:
    entity = Phone("pixel", takes_title=True)
    await plug_in_app(hass, entity, device)
    names = {
        "Owner's Pixel 9": "mobile_app_owner_s_pixel_9",
        "Telefon für Ömer": "mobile_app_telefon_fur_omer",
        "手机": "mobile_app_shou_ji",
    }
    calls = hear(hass, names[device])

    assert await ask(hass, "notify.pixel") == Delivery(reached=("notify.pixel",))

    assert heard(calls) == [ON_A_PHONE]
    assert entity.heard == []


async def test_without_its_action_a_phones_entity_is_asked_in_words(
    hass: HomeAssistant,
) -> None:
    entity = Phone("pixel")
    await plug_in_app(hass, entity, "Pixel")

    assert await ask(hass, "notify.pixel") == Delivery(reached=("notify.pixel",))

    assert entity.heard == [(IN_FULL, None)]


async def test_an_action_that_two_phones_share_is_taken_for_neither(
    hass: HomeAssistant,
) -> None:
    mine, yours = Phone("mine"), Phone("yours")
    await plug_in_app(hass, mine, "iPhone")
    other = await plug_in_app(hass, yours, "iphone")
    calls = hear(hass, "mobile_app_iphone")

    await ask(hass, "notify.mine")

    assert calls == []
    assert mine.heard == [(IN_FULL, None)]

    await hass.config_entries.async_set_disabled_by(
        other.entry_id, ConfigEntryDisabler.USER
    )
    await ask(hass, "notify.mine")
    assert heard(calls) == [ON_A_PHONE]


@pytest.mark.contract("S1")
@pytest.mark.parametrize("entity_first", [True, False])
async def test_a_phone_chosen_both_ways_hears_once(
    hass: HomeAssistant, *, entity_first: bool
) -> None:
    entity = Phone("pixel")
    await plug_in_app(hass, entity, "Pixel")
    calls = hear(hass, "mobile_app_pixel")
    targets = ("notify.pixel", "notify.mobile_app_pixel")
    targets = targets if entity_first else targets[::-1]
    notifier = Notifier(hass)

    assert await ask(hass, *targets, notifier=notifier) == Delivery(reached=targets)
    assert (heard(calls), entity.heard) == ([ON_A_PHONE], [])

    delivery = await notifier.async_send(
        targets,
        title="Milonga",
        message="I fed her.",
        notification_id="01RUN",
        context=Context(),
    )
    assert delivery == Delivery(reached=targets)
    assert len(calls) + len(entity.heard) == 2


@pytest.mark.contract("S5")
async def test_a_phone_chosen_both_ways_is_told_by_the_way_that_is_there(
    hass: HomeAssistant,
) -> None:
    entity = Phone("pixel", available=False)
    await plug_in_app(hass, entity, "Pixel")
    calls = hear(hass, "mobile_app_pixel")
    targets = ("notify.pixel", "notify.mobile_app_pixel")

    delivery = await Notifier(hass).async_send(
        targets,
        title="Milonga",
        message="I fed her.",
        notification_id="01RUN",
        context=Context(),
    )

    assert delivery == Delivery(reached=targets)
    assert heard(calls) == [{"title": "Milonga", "message": "I fed her."}]


async def test_a_later_message_takes_the_place_of_the_request(
    hass: HomeAssistant, kept: dict[str, Notification]
) -> None:
    phone, mail = hear(hass, "mobile_app_owner"), hear(hass, "mail")
    async_create(hass, IN_FULL, "Milonga", TAG)
    assert TAG in kept

    await Notifier(hass).async_send(
        ("notify.mobile_app_owner", "notify.mail"),
        title="Milonga",
        message="Front door is unlocked.",
        notification_id="01ASK_ended",
        replaces=TAG,
        context=Context(),
    )

    told = {"title": "Milonga", "message": "Front door is unlocked."}
    place = {"tag": TAG, "group": "proactive_agent"}
    assert heard(phone) == [{**told, "data": place}]
    assert heard(mail) == [told]
    assert kept == {}


# Groups: what they carry on, and to whom, only they know.


async def set_up_group(hass: HomeAssistant, *members: str) -> None:
    group = {
        "platform": "group",
        "name": "family",
        "services": [{"action": member} for member in members],
    }
    assert await async_setup_component(hass, "notify", {"notify": [group]})
    await hass.async_block_till_done()


async def test_a_group_of_phones_gets_buttons_and_words_and_can_be_cleared(
    hass: HomeAssistant,
) -> None:
    calls = [hear(hass, "mobile_app_a"), hear(hass, "mobile_app_b")]
    await set_up_group(hass, "mobile_app_a", "mobile_app_b")

    delivery = await ask(hass, "notify.family")
    await clear(hass, "notify.family")

    assert delivery == Delivery(reached=("notify.family",))
    shown = {"title": "Milonga", "message": IN_FULL, "data": DATA}
    assert [heard(one) for one in calls] == [[shown, OFF_A_PHONE]] * 2


async def test_a_group_with_others_in_it_gets_words_and_no_secrets(
    hass: HomeAssistant,
) -> None:
    calls = [hear(hass, "mobile_app_a"), hear(hass, "chat")]
    await set_up_group(hass, "mobile_app_a", "chat")

    delivery = await ask(hass, "notify.family")
    await clear(hass, "notify.family")

    assert delivery == Delivery(reached=("notify.family",))
    assert [heard(one) for one in calls] == [[IN_WORDS]] * 2


# Taking a request back.


async def test_clearing_takes_the_request_off_phones_and_bothers_nobody_else(
    hass: HomeAssistant, kept: dict[str, Notification]
) -> None:
    entity, display = Phone("pixel"), Phone("display")
    await plug_in_app(hass, entity, "Pixel")
    await plug_in(hass, display)
    calls = [hear(hass, "mobile_app_pixel"), hear(hass, "mobile_app_b")]
    mail = hear(hass, "mail")
    await ask(hass)
    assert TAG in kept

    await clear(
        hass,
        *("notify.pixel", "notify.mobile_app_pixel", "notify.mobile_app_b"),
        *("notify.mail", "notify.display", "notify.mobile_app_gone", "notify.gone"),
    )

    assert [heard(one) for one in calls] == [[OFF_A_PHONE]] * 2
    assert (mail, entity.heard, display.heard) == ([], [], [])
    assert kept == {}


@pytest.mark.contract("S5")
async def test_clearing_goes_on_behind_a_phone_that_fails(hass: HomeAssistant) -> None:
    async def fail(_: ServiceCall) -> None:
        raise HomeAssistantError("not connected")

    hass.services.async_register("notify", "mobile_app_a", fail)
    calls = hear(hass, "mobile_app_b")

    await clear(hass, "notify.mobile_app_a", "notify.mobile_app_b")

    assert heard(calls) == [OFF_A_PHONE]


@pytest.mark.parametrize("broken_off", [False, True])
async def test_what_was_cleared_while_it_was_put_is_not_kept(
    hass: HomeAssistant, kept: dict[str, Notification], *, broken_off: bool
) -> None:
    chat = HeldService(hass, "notify", "chat")
    chat.error = HomeAssistantError("too late")
    notifier = Notifier(hass)
    asking = hass.async_create_task(ask(hass, "notify.chat", notifier=notifier))
    await chat.reached.wait()

    await clear(hass, "notify.chat", notifier=notifier)
    if broken_off:
        asking.cancel()
    chat.release.set()
    await asyncio.wait({asking})

    assert broken_off or asking.result() == Delivery(failed=("notify.chat",))
    assert kept == {}


@pytest.mark.contract("P2")
async def test_what_comes_to_a_phone_after_it_was_cleared_is_taken_off_again(
    hass: HomeAssistant,
) -> None:
    shown: dict[str, str] = {}
    reached, release = asyncio.Event(), asyncio.Event()

    async def show(call: ServiceCall) -> None:
        tag = call.data["data"]["tag"]
        if call.data["message"] == "clear_notification":
            shown.pop(tag, None)
            return
        reached.set()
        await release.wait()
        shown[tag] = call.data["message"]

    hass.services.async_register("notify", "mobile_app_owner", show)
    notifier = Notifier(hass)
    asking = hass.async_create_task(
        ask(hass, "notify.mobile_app_owner", notifier=notifier)
    )
    await reached.wait()
    await clear(hass, "notify.mobile_app_owner", notifier=notifier)
    release.set()
    await asking
    assert shown == {}


@pytest.mark.contract("S5")
async def test_what_is_broken_off_is_kept(
    hass: HomeAssistant, kept: dict[str, Notification]
) -> None:
    phone = HeldService(hass, "notify", "mobile_app_owner")
    asking = hass.async_create_task(ask(hass, "notify.mobile_app_owner"))
    await phone.reached.wait()
    asking.cancel()
    await asyncio.wait({asking})

    assert asking.cancelled()
    assert kept[TAG]["message"] == IN_FULL


# A reply to one tap.


@pytest.mark.contract("P6")
async def test_a_reply_goes_to_the_phones_of_who_tapped(hass: HomeAssistant) -> None:
    for number, (device, user) in enumerate(
        [("Mine", "me"), ("My tablet", "me"), ("Yours", "you"), ("Lost", "lost")]
    ):
        await plug_in_app(hass, Phone(f"phone_{number}"), device, user_id=user)
    mine, tablet = hear(hass, "mobile_app_mine"), hear(hass, "mobile_app_my_tablet")
    yours = hear(hass, "mobile_app_yours")
    notifier = Notifier(hass)

    async def reply(user_id: str) -> bool:
        return await notifier.async_reply(
            user_id,
            title="Milonga",
            message="This has been answered.",
            tag=TAG,
            context=Context(),
        )

    assert await reply("me")

    said = {
        "title": "Milonga",
        "message": "This has been answered.",
        "data": {"tag": TAG, "group": "proactive_agent"},
    }
    assert (heard(mine), heard(tablet), heard(yours)) == ([said], [said], [])
    assert not await reply("lost")
    assert not await reply("nobody")


# Plain text, in every place.

LINK = "[door](http://evil/x)"


@pytest.mark.contract("S6")
async def test_every_text_of_a_request_is_plain(
    hass: HomeAssistant, kept: dict[str, Notification]
) -> None:
    phone, mail = hear(hass, "mobile_app_owner"), hear(hass, "mail")
    texts: dict[str, Any] = {
        "title": f"**Milonga** {LINK}\n",
        "message": f"Unlock\n{LINK} <img src=x> @everyone?",
        "elsewhere": f"Answer *here*: {LINK}",
        "buttons": [Button(action="YES_1", title=f"<b>Yes</b>, {LINK} {'x' * 50}")],
    }

    await ask(hass, "notify.mobile_app_owner", "notify.mail", **texts)
    await ask(hass, **texts)

    [on_phone], [in_words] = heard(phone), heard(mail)
    assert on_phone["title"] == in_words["title"] == "Milonga door"
    assert on_phone["message"] == "Unlock door everyone?"
    assert in_words["message"] == "Unlock door everyone? Answer here: door"
    assert kept[TAG]["title"] == "Milonga door"
    assert kept[TAG]["message"] == in_words["message"]
    [button] = on_phone["data"]["actions"]
    assert button["title"].startswith("Yes, door x")
    assert len(button["title"]) <= 40


@pytest.mark.contract("S6")
async def test_of_a_long_request_the_way_to_answer_stays(hass: HomeAssistant) -> None:
    mail = hear(hass, "mail")

    await ask(hass, "notify.mail", message="Unlock the door. " * 50)

    message = mail[0].data["message"]
    assert message.startswith("Unlock the door. Unlock")
    assert message.endswith(f"… {ELSEWHERE}")
    assert len(message) <= MAX_LENGTH


@pytest.mark.contract("S6")
@pytest.mark.parametrize("command", ["clear_notification", "TTS", "command_dnd\n"])
async def test_a_message_is_no_command_to_a_phone(
    hass: HomeAssistant, command: str
) -> None:
    phone = hear(hass, "mobile_app_owner")
    notifier = Notifier(hass)
    target = ("notify.mobile_app_owner",)

    await ask(hass, *target, notifier=notifier, message=command, elsewhere="")
    for replaces in (None, TAG):
        await notifier.async_send(
            target,
            title="Milonga",
            message=command,
            notification_id="01RUN",
            replaces=replaces,
            context=Context(),
        )

    assert [call.data["message"] for call in phone] == [f"{command.strip()}."] * 3

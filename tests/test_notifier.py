import asyncio
from datetime import timedelta

from homeassistant.components.persistent_notification import Notification
from homeassistant.core import Context, HomeAssistant, ServiceCall
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import entity_registry as er
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import (
    async_fire_time_changed,
    async_mock_service,
)

from custom_components.proactive_agent.notifier.notifier import (
    SEND_TIMEOUT,
    Delivery,
    Notifier,
)
from tests.support.notifiers import Phone, kept, plug_in

__all__ = ["kept"]

TITLE = "Milonga"
MESSAGE = "I fed her."


async def send(
    hass: HomeAssistant,
    *targets: str,
    message: str = MESSAGE,
    context: Context | None = None,
) -> Delivery:
    return await Notifier(hass).async_send(
        targets,
        title=TITLE,
        message=message,
        notification_id="01RUN",
        context=context or Context(),
    )


@pytest.mark.contract("S1")
async def test_an_entity_gets_the_message_and_a_title_only_if_it_takes_one(
    hass: HomeAssistant, kept: dict[str, Notification]
) -> None:
    titled = Phone("display", takes_title=True)
    bare = Phone("bell")
    await plug_in(hass, titled, bare)
    context = Context()

    delivery = await send(hass, "notify.display", "notify.bell", context=context)

    assert delivery == Delivery(reached=("notify.display", "notify.bell"))
    assert titled.heard == [(MESSAGE, TITLE)]
    assert bare.heard == [(MESSAGE, None)]
    assert titled.contexts == bare.contexts == [context]
    assert kept == {}


@pytest.mark.contract("S1")
async def test_an_action_gets_title_and_message(
    hass: HomeAssistant, kept: dict[str, Notification]
) -> None:
    calls = async_mock_service(hass, "notify", "mobile_app_phone")
    context = Context()

    delivery = await send(hass, "notify.mobile_app_phone", context=context)

    assert delivery == Delivery(reached=("notify.mobile_app_phone",))
    [call] = calls
    assert call.data == {"title": TITLE, "message": MESSAGE}
    assert call.context is context
    assert kept == {}


@pytest.mark.contract("S1")
async def test_an_entity_goes_before_an_action_of_the_same_name(
    hass: HomeAssistant,
) -> None:
    phone = Phone("phone")
    await plug_in(hass, phone)
    calls = async_mock_service(hass, "notify", "phone")

    await send(hass, "notify.phone")

    assert phone.heard == [(MESSAGE, None)]
    assert calls == []


@pytest.mark.contract("S5")
async def test_an_entity_that_is_not_loaded_is_not_replaced_by_an_action(
    hass: HomeAssistant, entity_registry: er.EntityRegistry
) -> None:
    entity_registry.async_get_or_create(
        "notify", "test", "1", suggested_object_id="phone"
    )
    calls = async_mock_service(hass, "notify", "phone")

    delivery = await send(hass, "notify.phone")

    assert delivery.failed == ("notify.phone",)
    assert calls == []


@pytest.mark.contract("S5")
async def test_beside_a_disabled_entity_the_action_is_used(
    hass: HomeAssistant, entity_registry: er.EntityRegistry
) -> None:
    entity_registry.async_get_or_create(
        "notify",
        "test",
        "1",
        suggested_object_id="phone",
        disabled_by=er.RegistryEntryDisabler.USER,
    )
    calls = async_mock_service(hass, "notify", "phone")

    delivery = await send(hass, "notify.phone")

    assert delivery == Delivery(reached=("notify.phone",))
    assert len(calls) == 1


@pytest.mark.contract("S1")
async def test_a_target_that_is_listed_twice_hears_it_once(
    hass: HomeAssistant,
) -> None:
    calls = async_mock_service(hass, "notify", "phone")

    delivery = await send(hass, "notify.phone", "notify.phone")

    assert delivery == Delivery(reached=("notify.phone",))
    assert len(calls) == 1


@pytest.mark.contract("S5")
@pytest.mark.parametrize(
    "error",
    [HomeAssistantError("No signal"), RuntimeError("Oops"), TimeoutError()],
    ids=repr,
)
async def test_one_that_fails_does_not_stop_the_others(
    hass: HomeAssistant,
    kept: dict[str, Notification],
    caplog: pytest.LogCaptureFixture,
    error: Exception,
) -> None:
    await plug_in(hass, Phone("broken", error=error), display := Phone("display"))
    calls = async_mock_service(hass, "notify", "phone")

    delivery = await send(
        hass, "notify.broken", "notify.display", "notify.gone", "notify.phone"
    )

    assert delivery == Delivery(
        reached=("notify.display", "notify.phone"),
        failed=("notify.broken", "notify.gone"),
    )
    assert display.heard == [(MESSAGE, None)]
    assert len(calls) == 1
    assert kept == {}
    assert "notify.broken could not be told" in caplog.text


@pytest.mark.contract("S5")
async def test_if_none_is_reached_a_persistent_notification_holds_the_message(
    hass: HomeAssistant, kept: dict[str, Notification]
) -> None:
    away = Phone("away", available=False)
    await plug_in(hass, away, Phone("broken", error=HomeAssistantError("No signal")))
    targets = ("notify.away", "notify.broken", "notify.gone")

    delivery = await send(hass, *targets)

    assert delivery == Delivery(failed=targets, kept=True)
    assert away.heard == []
    [(notification_id, notification)] = kept.items()
    assert notification_id == "proactive_agent_01RUN"
    assert notification["title"] == TITLE
    assert notification["message"] == MESSAGE


@pytest.mark.contract("S1", "S5")
async def test_without_targets_home_assistant_itself_shows_the_message(
    hass: HomeAssistant, kept: dict[str, Notification]
) -> None:
    delivery = await send(hass)

    assert delivery == Delivery(kept=True)
    assert [one["message"] for one in kept.values()] == [MESSAGE]


@pytest.mark.contract("S5")
async def test_a_target_that_hangs_is_given_up_and_the_others_do_not_wait_for_it(
    hass: HomeAssistant,
) -> None:
    begun, told = asyncio.Event(), asyncio.Event()

    async def hang(_call: ServiceCall) -> None:
        begun.set()
        await asyncio.Event().wait()

    async def tell(_call: ServiceCall) -> None:
        told.set()

    hass.services.async_register("notify", "stuck", hang)
    hass.services.async_register("notify", "phone", tell)
    sending = hass.async_create_task(send(hass, "notify.stuck", "notify.phone"))
    await begun.wait()
    await told.wait()
    assert not sending.done()

    async_fire_time_changed(
        hass, dt_util.utcnow() + timedelta(seconds=SEND_TIMEOUT + 1)
    )

    assert await sending == Delivery(
        reached=("notify.phone",), failed=("notify.stuck",)
    )


@pytest.mark.contract("S6")
@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("![x](http://evil/x.png) **Fed** her", "x Fed her"),
        ("<img src=http://evil/x.png>Fed her", "Fed her"),
        ("&lt;img src=http://evil/x.png&gt;Fed\n# her", "Fed her"),
        ("Fed 5 < 7 and AT&T", "Fed 5 < 7 and AT&T"),
    ],
)
async def test_whoever_is_told_gets_one_plain_line(
    hass: HomeAssistant, kept: dict[str, Notification], message: str, line: str
) -> None:
    phone = Phone("display")
    await plug_in(hass, phone)
    calls = async_mock_service(hass, "notify", "phone")

    await send(hass, "notify.display", "notify.phone", message=message)
    await send(hass, message=message)

    assert phone.heard == [(line, None)]
    assert [call.data["message"] for call in calls] == [line]
    assert [one["message"] for one in kept.values()] == [line]


@pytest.mark.contract("S5")
async def test_ending_the_wait_ends_the_sending(hass: HomeAssistant) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def hang(_call: ServiceCall) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    hass.services.async_register("notify", "stuck", hang)
    sending = hass.async_create_task(send(hass, "notify.stuck"))
    await begun.wait()
    sending.cancel()
    await asyncio.wait({sending})

    assert sending.cancelled()
    assert ended.is_set()

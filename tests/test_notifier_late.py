"""Notifiers that load late when Home Assistant starts are waited for (S5)."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from homeassistant.components.persistent_notification import (
    Notification,
    async_dismiss,
)
from homeassistant.const import (
    EVENT_HOMEASSISTANT_STARTED,
    EVENT_SERVICE_REGISTERED,
    EVENT_STATE_CHANGED,
)
from homeassistant.core import Context, CoreState, HomeAssistant, ServiceCall, callback
from homeassistant.setup import async_setup_component
import pytest

from custom_components.proactive_agent.notifier.notifier import (
    Button,
    Delivery,
    Notifier,
)
from custom_components.proactive_agent.notifier.start import (
    LATE_FOR,
    PATIENCE,
    START_PATIENCE,
)
from tests.support.heartbeats import (
    FEED,
    Beat,
    Clock,
    HeldService,
    Home,
    clock,
    home,
    let_run,
)
from tests.support.llm_server import calls, llm_server, text
from tests.support.notifiers import Phone, hear, kept, plug_in, plug_in_app

__all__ = ["clock", "home", "kept", "llm_server"]

pytestmark = pytest.mark.contract("S5")

TAG = "proactive_agent_01ASK"
MINUTE = timedelta(minutes=1)
BEAT = timedelta(seconds=20)


def start(hass: HomeAssistant) -> None:
    hass.set_state(CoreState.running)
    hass.bus.async_fire(EVENT_HOMEASSISTANT_STARTED)


@pytest.fixture(name="notifier")
async def notifier_fixture(hass: HomeAssistant, clock: Clock) -> Notifier:
    """Return a notifier of a Home Assistant that has just started."""
    hass.set_state(CoreState.starting)
    notifier = Notifier(hass)
    start(hass)
    await hass.async_block_till_done()
    return notifier


class Late:
    """Keeps what became of the late targets, and of the listeners meanwhile."""

    def __init__(self, hass: HomeAssistant) -> None:
        self._hass = hass
        self._before = self._listeners()
        self.deliveries: list[Delivery] = []

    def note(self, delivery: Delivery) -> None:
        self.deliveries.append(delivery)

    def listens(self) -> bool:
        return self._listeners() != self._before

    def _listeners(self) -> tuple[int, ...]:
        listeners = self._hass.bus.async_listeners()
        return tuple(
            listeners.get(event, 0)
            for event in (EVENT_SERVICE_REGISTERED, EVENT_STATE_CHANGED)
        )


@pytest.fixture(name="late")
async def late_fixture(hass: HomeAssistant, notifier: Notifier) -> Late:
    return Late(hass)


async def send(
    notifier: Notifier,
    *targets: str,
    message: str = "I fed her.",
    late: Late | None = None,
) -> Delivery:
    delivery = await notifier.async_send(
        targets,
        title="Milonga",
        message=message,
        notification_id="01RUN",
        context=Context(),
        on_late=late.note if late else None,
    )
    await let_run()
    return delivery


async def ask(notifier: Notifier, *targets: str) -> Delivery:
    delivery = await notifier.async_ask(
        targets,
        title="Milonga",
        message="Unlock the door?",
        elsewhere="Answer here.",
        tag=TAG,
        buttons=[Button(action="YES", title="Yes")],
        context=Context(),
    )
    await let_run()
    return delivery


def said(calls: list[ServiceCall]) -> list[str]:
    return [call.data["message"] for call in calls]


async def test_an_action_that_comes_late_is_told_and_the_others_are_at_once(
    hass: HomeAssistant,
    notifier: Notifier,
    late: Late,
    kept: dict[str, Notification],
) -> None:
    there = hear(hass, "there")

    delivery = await send(notifier, "notify.slow", "notify.there", late=late)

    assert delivery == Delivery(reached=("notify.there",), late=("notify.slow",))
    assert said(there) == ["I fed her."]
    hear(hass, "another")
    await let_run()
    assert late.listens()
    assert late.deliveries == []

    slow = hear(hass, "slow")
    await let_run()

    assert said(slow) == said(there) == ["I fed her."]
    assert late.deliveries == [Delivery(reached=("notify.there", "notify.slow"))]
    assert not late.listens()
    assert kept == {}


async def test_an_entity_that_comes_late_is_told(
    hass: HomeAssistant, notifier: Notifier, late: Late
) -> None:
    slow, away = Phone("slow"), Phone("away", available=False)
    await plug_in(hass, away)

    delivery = await send(notifier, "notify.slow", "notify.away", late=late)
    assert delivery.late == ("notify.slow", "notify.away")

    await plug_in(hass, slow)
    assert slow.heard == [("I fed her.", None)]
    assert away.heard == []
    away._attr_available = True
    away.async_write_ha_state()
    await let_run()

    assert away.heard == [("I fed her.", None)]
    assert late.deliveries == [Delivery(reached=("notify.slow", "notify.away"))]
    assert not late.listens()


async def test_what_none_has_heard_is_kept_until_one_has(
    hass: HomeAssistant,
    notifier: Notifier,
    late: Late,
    kept: dict[str, Notification],
) -> None:
    delivery = await send(notifier, "notify.slow", late=late)

    assert delivery == Delivery(late=("notify.slow",), kept=True)
    assert [one["message"] for one in kept.values()] == ["I fed her."]

    hear(hass, "slow")
    await let_run()

    assert late.deliveries == [Delivery(reached=("notify.slow",))]
    assert kept == {}


async def test_one_that_does_not_come_in_a_minute_has_failed(
    hass: HomeAssistant,
    clock: Clock,
    notifier: Notifier,
    late: Late,
    kept: dict[str, Notification],
    caplog: pytest.LogCaptureFixture,
) -> None:
    await send(notifier, "notify.slow", "notify.gone", late=late)
    slow = hear(hass, "slow")
    clock.turn(timedelta(seconds=PATIENCE - 1))
    await let_run()
    assert late.deliveries == []

    clock.turn(timedelta(seconds=2))
    await let_run()

    assert said(slow) == ["I fed her."]
    assert late.deliveries == [
        Delivery(reached=("notify.slow",), failed=("notify.gone",))
    ]
    assert not late.listens()
    assert kept == {}
    assert "notify.gone could not be told" in caplog.text
    assert said(hear(hass, "gone")) == []


async def test_of_which_none_comes_it_stays_kept_as_its_owner_left_it(
    hass: HomeAssistant,
    clock: Clock,
    notifier: Notifier,
    late: Late,
    kept: dict[str, Notification],
) -> None:
    await send(notifier, "notify.gone", late=late)
    [notification_id] = kept
    async_dismiss(hass, notification_id)

    clock.turn(MINUTE)
    await let_run()

    assert late.deliveries == [Delivery(failed=("notify.gone",), kept=True)]
    assert kept == {}


async def test_while_home_assistant_starts_the_minute_has_not_begun(
    hass: HomeAssistant, clock: Clock
) -> None:
    hass.set_state(CoreState.starting)
    notifier, late = Notifier(hass), Late(hass)
    await send(notifier, "notify.slow", "notify.gone", late=late)
    clock.turn(MINUTE * 5)
    await let_run()

    start(hass)
    await let_run()
    clock.turn(timedelta(seconds=PATIENCE - 1))
    slow = hear(hass, "slow")
    await let_run()
    assert said(slow) == ["I fed her."]
    clock.turn(timedelta(seconds=2))
    await let_run()

    assert late.deliveries == [
        Delivery(reached=("notify.slow",), failed=("notify.gone",))
    ]
    assert not late.listens()


@pytest.mark.parametrize("ends_after_all", [False, True])
async def test_a_start_that_never_ends_is_not_waited_for(
    hass: HomeAssistant,
    clock: Clock,
    caplog: pytest.LogCaptureFixture,
    *,
    ends_after_all: bool,
) -> None:
    hass.set_state(CoreState.starting)
    notifier, late = Notifier(hass), Late(hass)
    await send(notifier, "notify.gone", late=late)

    clock.turn(timedelta(seconds=START_PATIENCE + 1))
    if ends_after_all:
        start(hass)
    await let_run()

    assert late.deliveries == [Delivery(failed=("notify.gone",), kept=True)]
    assert not late.listens()
    assert "ERROR" not in caplog.text
    notifier.close()


async def test_five_minutes_after_the_start_nobody_is_late_any_more(
    hass: HomeAssistant, clock: Clock, notifier: Notifier, late: Late
) -> None:
    clock.turn(timedelta(seconds=LATE_FOR - 1))
    assert (await send(notifier, "notify.gone")).late == ("notify.gone",)
    clock.turn(timedelta(seconds=2))

    delivery = await send(notifier, "notify.gone", late=late)

    assert delivery == Delivery(failed=("notify.gone",), kept=True)
    assert late.deliveries == []


async def test_one_set_up_in_a_running_home_waits_for_nobody(
    hass: HomeAssistant, clock: Clock
) -> None:
    delivery = await send(Notifier(hass), "notify.gone")

    assert delivery == Delivery(failed=("notify.gone",), kept=True)


@pytest.mark.contract("P2")
async def test_a_phone_is_waited_for_until_it_can_show_buttons(
    hass: HomeAssistant, notifier: Notifier, late: Late
) -> None:
    entity = Phone("pixel")
    await plug_in_app(hass, entity, "Pixel")

    # What is only to be known, the entity can tell already.
    assert (await send(notifier, "notify.pixel")).late == ()
    assert (await ask(notifier, "notify.pixel")).late == ("notify.pixel",)
    assert entity.heard == [("I fed her.", None)]

    calls = hear(hass, "mobile_app_pixel")
    await let_run()

    assert said(calls) == ["Unlock the door?"]
    assert len(entity.heard) == 1
    assert not late.listens()


@pytest.mark.contract("P2")
async def test_a_phone_that_cannot_show_buttons_is_asked_in_words_in_the_end(
    hass: HomeAssistant, clock: Clock, notifier: Notifier
) -> None:
    entity = Phone("pixel")
    await plug_in_app(hass, entity, "Pixel")
    await ask(notifier, "notify.pixel")

    clock.turn(MINUTE)
    await let_run()

    assert entity.heard == [("Unlock the door? Answer here.", None)]


async def test_a_group_is_told_when_its_members_are_there(
    hass: HomeAssistant, notifier: Notifier
) -> None:
    members = [{"action": "slow"}, {"action": "gone"}]
    group = {"platform": "group", "name": "family", "services": members}
    assert await async_setup_component(hass, "notify", {"notify": [group]})
    await hass.async_block_till_done()

    assert (await send(notifier, "notify.family")).late == ("notify.family",)
    slow = hear(hass, "slow")
    await let_run()
    assert slow == []
    gone = hear(hass, "gone")
    await let_run()

    assert said(slow) == said(gone) == ["I fed her."]


async def test_one_that_comes_and_goes_again_has_failed(
    hass: HomeAssistant, notifier: Notifier, late: Late
) -> None:
    await send(notifier, "notify.slow", late=late)

    slow = hear(hass, "slow")
    hass.services.async_remove("notify", "slow")
    await let_run()

    assert slow == []
    assert late.deliveries == [Delivery(failed=("notify.slow",), kept=True)]
    assert not late.listens()


@pytest.mark.contract("P2", "P6")
async def test_who_is_late_is_not_asked_what_has_been_answered(
    hass: HomeAssistant,
    notifier: Notifier,
    late: Late,
    kept: dict[str, Notification],
) -> None:
    await ask(notifier, "notify.mobile_app_slow")
    assert TAG in kept

    await notifier.async_clear(("notify.mobile_app_slow",), tag=TAG, context=Context())
    await let_run()
    slow = hear(hass, "mobile_app_slow")
    await let_run()

    assert slow == []
    assert kept == {}
    assert not late.listens()


@pytest.mark.contract("P2", "P6")
async def test_who_is_late_is_not_asked_what_was_answered_while_it_was_put(
    hass: HomeAssistant, notifier: Notifier, late: Late
) -> None:
    stuck = HeldService(hass, "notify", "stuck")
    targets = ("notify.stuck", "notify.mobile_app_slow")
    asking = hass.async_create_task(ask(notifier, *targets))
    await stuck.reached.wait()
    await notifier.async_clear(targets, tag=TAG, context=Context())
    stuck.release.set()

    assert await asking == Delivery(reached=("notify.stuck",))
    slow = hear(hass, "mobile_app_slow")
    await let_run()
    assert slow == []
    assert not late.listens()


async def test_who_is_late_hears_only_the_last_message_of_an_id(
    hass: HomeAssistant,
    notifier: Notifier,
    late: Late,
    kept: dict[str, Notification],
) -> None:
    await send(notifier, "notify.slow", message="First.", late=late)
    await send(notifier, "notify.slow", message="Second.", late=late)
    await let_run()
    assert [one["message"] for one in kept.values()] == ["Second."]

    slow = hear(hass, "slow")
    await let_run()

    assert said(slow) == ["Second."]
    assert late.deliveries == [Delivery(reached=("notify.slow",))]
    assert kept == {}
    assert not late.listens()


async def test_closed_it_waits_for_nobody_and_what_is_kept_stays(
    hass: HomeAssistant,
    notifier: Notifier,
    late: Late,
    kept: dict[str, Notification],
) -> None:
    await send(notifier, "notify.slow", late=late)

    notifier.close()
    await let_run()
    slow = hear(hass, "slow")
    await let_run()

    assert slow == []
    assert late.deliveries == []
    assert [one["message"] for one in kept.values()] == ["I fed her."]
    assert not late.listens()
    # What is still to be said is said, or kept.
    assert (await send(notifier, "notify.gone")).failed == ("notify.gone",)


async def test_closed_before_the_start_it_leaves_no_listener(
    hass: HomeAssistant,
) -> None:
    hass.set_state(CoreState.starting)
    before = hass.bus.async_listeners().get(EVENT_HOMEASSISTANT_STARTED, 0)
    notifier = Notifier(hass)
    assert hass.bus.async_listeners()[EVENT_HOMEASSISTANT_STARTED] == before + 1

    notifier.close()

    assert hass.bus.async_listeners().get(EVENT_HOMEASSISTANT_STARTED, 0) == before
    start(hass)
    await hass.async_block_till_done()


async def test_closed_while_others_are_told_it_waits_for_nobody(
    hass: HomeAssistant, notifier: Notifier, late: Late
) -> None:
    stuck = HeldService(hass, "notify", "stuck")
    targets = ("notify.stuck", "notify.slow")
    sending = hass.async_create_task(send(notifier, *targets, late=late))
    await stuck.reached.wait()
    notifier.close()
    stuck.release.set()
    await sending

    assert late.deliveries == [
        Delivery(reached=("notify.stuck",), failed=("notify.slow",))
    ]
    assert not late.listens()


# A heartbeat meanwhile.


async def in_a_new_start(home: Home, **data: Any) -> Beat:
    home.hass.set_state(CoreState.starting)
    beat = await home.add_heartbeat(
        interval={"seconds": 20},
        act=FEED,
        notify=["notify.slow", "notify.phone"],
        manners={"recheck_after": {"seconds": 1}},
        **data,
    )
    start(home.hass)
    await home.settled()
    meal = calls(("feed", {"food": "meal"}), ("tell_owner", {"message": "Fed."}))
    home.llm_server.play(meal, text("Done."), meal, text("Done."))
    return beat


async def test_a_run_does_not_wait_for_a_late_notifier(home: Home) -> None:
    beat = await in_a_new_start(home)
    for number in (1, 2):
        await home.clock.tick_beside(every=BEAT)
        await until(home, lambda: beat.state("status") == "asleep")
        runs = await beat.runs()
        assert len(runs) == await beat.ticks() == number
        assert (runs[0]["message"], runs[0]["delivery_failed"]) == ("Fed.", [])
        assert runs[0]["delivery_waiting"] == ["notify.slow"]
        assert home.told == ["Fed."] * number

    slow = hear(home.hass, "slow")
    await let_run()
    assert said(slow) == home.told == ["Fed."] * 2
    for run in await beat.runs():
        assert (run["delivery_waiting"], run["delivery_failed"]) == ([], [])


async def test_the_record_says_who_was_waited_for_in_vain(home: Home) -> None:
    beat = await in_a_new_start(home)
    await home.clock.tick_beside(every=BEAT)
    await until(home, lambda: beat.state("status") == "asleep")
    await beat.turn("off")
    await home.clock.tick_beside(62, every=timedelta(seconds=1))
    (run,) = await beat.runs()
    assert (run["delivery_waiting"], run["delivery_failed"]) == ([], ["notify.slow"])
    assert run["message"] == "Fed."


@pytest.mark.parametrize("ending", ["off", "unload", "remove"])
async def test_a_heartbeat_ends_cleanly_while_a_notifier_is_waited_for(
    home: Home, ending: str
) -> None:
    beat = await in_a_new_start(home)
    late = Late(home.hass)
    await home.clock.tick_beside(every=BEAT)
    await until(home, lambda: beat.state("status") == "asleep")
    assert home.told == ["Fed."]
    assert late.listens()

    if ending == "off":
        await beat.turn("off")
        assert beat.state("status") == "off"
    elif ending == "unload":
        assert await home.hass.config_entries.async_unload(home.entry.entry_id)
    else:
        home.hass.config_entries.async_remove_subentry(home.entry, beat.id)
    await let_run()

    slow = hear(home.hass, "slow")
    await let_run()
    # Switched off, it still tells what it had done.
    assert said(slow) == (["Fed."] if ending == "off" else [])


async def until(home: Home, over: Callable[[], bool]) -> None:
    """Let a run come to its end while something is waited for."""
    changed = asyncio.Event()
    unlisten = home.hass.bus.async_listen(
        EVENT_STATE_CHANGED, callback(lambda _: changed.set())
    )
    while not over():
        changed.clear()
        await changed.wait()
    unlisten()

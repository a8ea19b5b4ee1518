"""The look before and after an action (A5)."""

import asyncio
from collections.abc import Callable, Mapping
import json
from typing import Any

from homeassistant.core import Context, HomeAssistant, ServiceCall, callback
import pytest
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.proactive_agent.engine.errors import (
    ActionRefusedError,
    RefusalKind,
    RunCutError,
)
from custom_components.proactive_agent.engine.reach import Reach
from custom_components.proactive_agent.engine.records import (
    ActionRecord,
    ActionStatus,
    Json,
)
from custom_components.proactive_agent.guard import look as guard_look
from custom_components.proactive_agent.guard.guard import Action, Guard, Terms
from custom_components.proactive_agent.guard.past_actions import PastActions

from .support.consent import Owner
from .support.home import async_make_home

pytestmark = pytest.mark.contract("A5")

type Handler = Callable[[], Any]


class Room:
    """A lamp that does what the test says, and the door to it."""

    def __init__(self, hass: HomeAssistant) -> None:
        self.hass = hass
        self.reach = Reach(act=("cover.blind", "light.a", "light.b", "light.both"))
        self.calls = async_capture_events(hass, "call_service")
        self.settled: list[ActionRecord] = []
        self.guard = self.door()

    def door(self, *, max_actions: int = 2, dry_run: bool = False) -> Guard:
        return Guard(
            self.hass,
            context=Context(),
            terms=Terms(
                permitted=lambda: self.reach,
                ask_before_risky=True,
                max_actions=max_actions,
                dry_run=dry_run,
            ),
            lock=asyncio.Lock(),
            on_settled=lambda _index, record: self.settled.append(record),
            consent=Owner(),
            past_actions=PastActions(self.hass),
        )

    def when_called(self, service: str, handler: Handler) -> None:
        @callback
        def handle(_: ServiceCall) -> None:
            handler()

        domain, name = service.split(".")
        self.hass.services.async_register(domain, name, handle)

    def set(self, entity_id: str, state: str, **attributes: Any) -> None:
        self.hass.states.async_set(entity_id, state, attributes)

    async def act(self, service: str, *entity_ids: str, **data: Any) -> ActionRecord:
        record, _ = await self.guard.act(action(service, *entity_ids, **data))
        return record


def action(name: str, *entity_ids: str, **data: Any) -> Action:
    domain, service = name.split(".")
    return Action(domain=domain, service=service, entity_id=entity_ids, data=data)


@pytest.fixture
def room(hass: HomeAssistant) -> Room:
    room = Room(hass)
    room.set("light.a", "off")
    room.set("light.b", "off")
    room.set("cover.blind", "closed", device_class="blind")
    return room


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch, impatient: None) -> None:
    """Wait as long as it is waited for in a home."""
    monkeypatch.setattr(guard_look, "FOLLOW_TIMEOUT", 2)


@pytest.mark.usefixtures("patient")
async def test_a_state_that_follows_is_waited_for_and_no_longer(room: Room) -> None:
    def turn_on() -> None:
        room.hass.loop.call_soon(room.set, "light.a", "on")

    room.when_called("light.turn_on", turn_on)
    listeners = room.hass.bus.async_listeners()
    began = room.hass.loop.time()
    record = await room.act("light.turn_on", "light.a")
    assert room.hass.loop.time() - began < 1
    assert record.status is ActionStatus.DONE
    assert record.observed == {"light.a": "on"}
    assert record.note is None
    # What is listened to for all of Home Assistant stays; this lamp is let go of.
    assert room.hass.bus.async_listeners().keys() - listeners.keys() <= {
        "state_changed"
    }


@pytest.mark.usefixtures("patient")
async def test_all_of_several_are_waited_for(room: Room) -> None:
    def turn_on() -> None:
        room.set("light.a", "on", brightness=20)
        room.set("light.b", "on", brightness=20)
        room.hass.loop.call_later(
            0.02, room.hass.states.async_set, "light.a", "on", {"brightness": 128}
        )
        room.hass.loop.call_later(
            0.04, room.hass.states.async_set, "light.b", "on", {"brightness": 127}
        )

    room.when_called("light.turn_on", turn_on)
    record = await room.act("light.turn_on", "light.a", "light.b", brightness_pct=50)
    assert record.note is None
    assert room.hass.states.get("light.b").attributes["brightness"] == 127  # type: ignore[union-attr]
    assert room.hass.states.get("light.a").attributes["brightness"] == 128  # type: ignore[union-attr]


@pytest.mark.usefixtures("freezer")
async def test_the_look_ends_where_the_time_of_the_loop_stands_still(
    room: Room, monkeypatch: pytest.MonkeyPatch, impatient: None
) -> None:
    monkeypatch.setattr(guard_look, "FOLLOW_TIMEOUT", 0.05)
    room.when_called("light.turn_on", lambda: None)
    record = await room.act("light.turn_on", "light.a")
    assert record.note == "It was called without an error, but light.a is still off."


async def test_what_does_not_follow_is_said(room: Room) -> None:
    room.when_called("light.turn_on", lambda: room.set("light.b", "on"))
    record = await room.act("light.turn_on", "light.a", "light.b")
    assert record.status is ActionStatus.DONE
    assert record.observed == {"light.a": "off", "light.b": "on"}
    assert record.note == ("It was called without an error, but light.a is still off.")


async def test_what_is_on_its_way_is_said_to_be(room: Room) -> None:
    room.when_called("cover.open_cover", lambda: room.set("cover.blind", "opening"))
    room.set("cover.blind", "closed", device_class="blind")
    record = await room.act("cover.open_cover", "cover.blind")
    assert record.observed == {"cover.blind": "opening"}
    assert record.note == "cover.blind is still opening."


@pytest.mark.parametrize(
    ("change", "note"),
    [
        (
            lambda hass: hass.states.async_remove("light.a"),
            "It was called without an error, but light.a is gone.",
        ),
        (
            lambda hass: hass.states.async_set("light.a", "unavailable"),
            "It was called without an error, but light.a is now unavailable.",
        ),
    ],
)
async def test_what_was_lost_meanwhile_is_said(
    room: Room, change: Callable[[HomeAssistant], Any], note: str
) -> None:
    room.when_called("light.turn_on", lambda: change(room.hass))
    record = await room.act("light.turn_on", "light.a")
    assert record.status is ActionStatus.DONE
    assert record.note == note


@pytest.mark.usefixtures("patient")
async def test_where_nothing_is_expected_nothing_is_waited_for(room: Room) -> None:
    room.reach = Reach(act=("scene.night",))
    room.set("scene.night", "unknown")
    room.when_called("scene.turn_on", lambda: None)
    began = room.hass.loop.time()
    record = await room.act("scene.turn_on", "scene.night")
    assert room.hass.loop.time() - began < 1
    assert record.observed == {"scene.night": "unknown"}
    assert record.note is None


@pytest.mark.usefixtures("patient")
@pytest.mark.contract("F6")
async def test_the_look_ends_with_the_run(room: Room) -> None:
    room.when_called(
        "light.turn_on",
        lambda: room.hass.loop.call_soon(room.guard.close),
    )
    began = room.hass.loop.time()
    record = await room.act("light.turn_on", "light.a")
    assert room.hass.loop.time() - began < 1
    # It had been called before: it is done, not left behind.
    assert record.status is ActionStatus.DONE
    assert room.settled == []


ALREADY: list[tuple[str, str, Mapping[str, Any], dict[str, Any], Json]] = [
    ("light.turn_on", "on", {}, {}, "on"),
    ("light.turn_off", "off", {}, {}, "off"),
    (
        "light.turn_on",
        "on",
        {"brightness": 128},
        {"brightness_pct": 50},
        {"state": "on", "brightness": 128},
    ),
]


@pytest.mark.parametrize(("name", "state", "attributes", "data", "observed"), ALREADY)
@pytest.mark.parametrize("dry_run", [True, False])
async def test_what_already_is_so_is_not_done_again(
    room: Room,
    name: str,
    state: str,
    attributes: Mapping[str, Any],
    data: dict[str, Any],
    observed: Json,
    dry_run: bool,
) -> None:
    room.set("light.a", state, **attributes)
    room.when_called(name, lambda: None)
    room.guard = room.door(dry_run=dry_run)
    record = await room.act(name, "light.a", **data)
    assert record == ActionRecord(
        action=name,
        entity_id=("light.a",),
        data=data,
        status=ActionStatus.ALREADY,
        observed={"light.a": observed},
    )
    assert room.guard.actions == (record,)
    assert room.calls == []


@pytest.mark.parametrize(
    ("name", "data", "attributes", "seen"),
    [
        (
            "light.turn_on",
            {"rgb_color": [255, 0, 0], "effect": "none"},
            {"rgb_color": (255, 0, 0), "effect": None, "brightness": 9},
            {"state": "on", "rgb_color": [255, 0, 0], "effect": None},
        ),
        (
            "light.turn_on",
            {"effect": "x"},
            {"effect": "x\n" * 100},
            {"state": "on", "effect": f"{'x ' * 30}…"},
        ),
        (
            "light.turn_on",
            {"brightness": 3},
            {"brightness": float("nan")},
            {"state": "on", "brightness": "nan"},
        ),
        ("light.turn_on", {"flash": "short"}, {"brightness": 3}, "on"),
    ],
)
async def test_what_was_looked_at_stands_beside_the_state(
    room: Room,
    name: str,
    data: dict[str, Any],
    attributes: Mapping[str, Any],
    seen: Json,
) -> None:
    room.when_called(name, lambda: room.set("light.a", "on", **attributes))
    record = await room.act(name, "light.a", **data)
    assert record.observed == {"light.a": seen}
    json.dumps(record.observed, allow_nan=False)


async def test_what_is_not_certain_is_done(room: Room) -> None:
    room.set("light.a", "on", assumed_state=True)
    room.when_called("light.turn_on", lambda: None)
    assert (await room.act("light.turn_on", "light.a")).status is ActionStatus.DONE
    room.set("light.b", "on")
    record = await room.act("light.turn_on", "light.b", flash="short")
    assert record.status is ActionStatus.DONE
    assert len(room.calls) == 2


async def test_one_of_several_that_is_not_so_is_reason_to_act(room: Room) -> None:
    room.set("light.a", "on")
    room.when_called("light.turn_on", lambda: room.set("light.b", "on"))
    record = await room.act("light.turn_on", "light.a", "light.b")
    assert record.status is ActionStatus.DONE
    assert len(room.calls) == 1


@pytest.mark.contract("F5")
async def test_what_was_not_needed_counts_as_no_action(room: Room) -> None:
    room.when_called("light.turn_on", lambda: room.set("light.a", "on"))
    room.when_called("light.turn_off", lambda: room.set("light.a", "off"))
    for _ in range(5):
        await room.act("light.turn_off", "light.a")
    await room.act("light.turn_on", "light.a")
    await room.act("light.turn_off", "light.a")
    assert (await room.act("light.turn_off", "light.a")).status is ActionStatus.ALREADY
    with pytest.raises(RunCutError):
        await room.act("light.turn_on", "light.a")
    assert len(room.calls) == 2


async def test_nobody_is_asked_for_what_already_is_so(room: Room) -> None:
    room.reach = Reach(ask=("light.a",))
    room.when_called("light.turn_off", lambda: None)
    room.when_called("light.turn_on", lambda: None)
    assert (await room.act("light.turn_off", "light.a")).status is ActionStatus.ALREADY
    assert (await room.act("light.turn_on", "light.a")).status is ActionStatus.WAITING
    room.reach = Reach(look=("light.a",))
    with pytest.raises(ActionRefusedError) as caught:
        await room.act("light.turn_off", "light.a")
    assert caught.value.kind is RefusalKind.NOT_ALLOWED


@pytest.fixture
async def house(hass: HomeAssistant) -> Room:
    await async_make_home(hass)
    room = Room(hass)
    room.reach = Reach(
        act=(
            "cover.blind",
            "input_number.level",
            "input_select.mood",
            "light.all_lamps",
            "light.dimmer",
            "light.lamp",
        )
    )
    room.guard = room.door(max_actions=50)
    return room


@pytest.mark.parametrize(
    ("name", "entity_id", "data", "observed"),
    [
        ("light.turn_on", "light.lamp", {}, "on"),
        ("light.turn_on", "light.dimmer", {}, "on"),
        ("light.turn_on", "light.all_lamps", {}, "on"),
        (
            "cover.open_cover",
            "cover.blind",
            {},
            {"state": "open", "current_position": 100},
        ),
        ("input_number.set_value", "input_number.level", {"value": 7}, "7.0"),
        ("input_select.select_option", "input_select.mood", {"option": "wild"}, "wild"),
    ],
)
@pytest.mark.usefixtures("patient")
async def test_real_entities_follow_and_then_are_so_already(
    house: Room, name: str, entity_id: str, data: dict[str, Any], observed: Json
) -> None:
    record = await house.act(name, entity_id, **data)
    assert (record.status, record.note) == (ActionStatus.DONE, None)
    assert record.observed == {entity_id: observed}
    house.calls.clear()
    again = await house.act(name, entity_id, **data)
    if again.status is ActionStatus.DONE:
        # A template cover is optimistic only where its state says so.
        assert house.hass.states.get(entity_id).attributes.get("assumed_state")  # type: ignore[union-attr]
        return
    assert again.status is ActionStatus.ALREADY
    assert house.calls == []


async def test_a_group_is_so_only_if_all_its_members_are(
    house: Room, hass: HomeAssistant
) -> None:
    await house.act("light.turn_on", "light.lamp")
    await hass.async_block_till_done()
    assert hass.states.get("light.all_lamps").state == "on"  # type: ignore[union-attr]
    record = await house.act("light.turn_on", "light.all_lamps")
    assert record.status is ActionStatus.DONE
    assert hass.states.get("light.dimmer").state == "on"  # type: ignore[union-attr]
    hass.states.async_set("light.dimmer", "on", {"assumed_state": True})
    assert (
        await house.act("light.turn_on", "light.all_lamps")
    ).status is ActionStatus.DONE


async def test_a_member_that_does_not_follow_is_said(house: Room) -> None:
    """This dimmer is only dimmed: its owner forgot to have it switched on."""
    record = await house.act("light.turn_on", "light.all_lamps", brightness_pct=40)
    assert record.status is ActionStatus.DONE
    assert record.note == (
        "It was called without an error, but light.dimmer is still off."
    )

"""Tools are made once, and anew when the home has changed; and cost little."""

from collections.abc import Callable, Mapping
import json
import logging
from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.service import async_set_service_schema
from homeassistant.setup import async_setup_component
import pytest

from custom_components.proactive_agent.engine.reach import Reach
from custom_components.proactive_agent.engine.records import ToolCall
from custom_components.proactive_agent.home.home import resolve
from custom_components.proactive_agent.tools import toolbox
from custom_components.proactive_agent.tools.offer import Offer, make_offer
from custom_components.proactive_agent.tools.toolbox import OfferCache, Toolbox

from .support.heartbeats import FEED, LAMP, Home, clock, home
from .support.home import async_make_home, options
from .support.llm_server import llm_server, text
from .support.toolworld import States, ToolWorld

__all__ = ["clock", "home", "llm_server"]

HOME: States = {
    "climate.hall": (
        "heat",
        {
            "supported_features": 17,
            "hvac_modes": ["off", "heat"],
            "preset_modes": ["eco"],
            "min_temp": 7,
            "max_temp": 30,
            "current_temperature": 20,
        },
    ),
    "cover.blind": ("open", {"supported_features": 3, "device_class": "blind"}),
    "light.lamp": (
        "on",
        {"supported_color_modes": ["brightness"], "supported_features": 0},
    ),
    "script.feed": ("off", {}),
}


@pytest.fixture
async def world(hass: HomeAssistant) -> ToolWorld:
    scripts = {
        "feed": {"sequence": [], "fields": {"who": {"selector": {"entity": {}}}}}
    }
    assert await async_setup_component(hass, "script", {"script": scripts})
    world = ToolWorld(hass)
    await world.have(HOME)
    return world


def encoded(made: Toolbox) -> bytes:
    return json.dumps(
        [[spec.name, spec.description, spec.parameters] for spec in made.specs]
    ).encode()


def change(world: ToolWorld, entity_id: str, state: str, **attributes: Any) -> None:
    known = HOME[entity_id][1]
    world.hass.states.async_set(entity_id, state, {**known, **attributes})


UNCHANGED: Mapping[str, Callable[[ToolWorld], None]] = {
    "nothing": lambda _: None,
    "a state": lambda world: change(world, "light.lamp", "off"),
    "a reading": lambda world: change(
        world, "climate.hall", "heat", current_temperature=25, friendly_name="Hall"
    ),
    "an equal list": lambda world: change(
        world, "climate.hall", "heat", hvac_modes=["off", "heat"]
    ),
    "another entity": lambda world: world.hass.states.async_set("light.other", "on"),
}


@pytest.mark.parametrize("what", UNCHANGED)
async def test_while_the_home_is_the_same_nothing_is_made_anew(
    world: ToolWorld, what: str
) -> None:
    before = await world.offers.async_offer(world.reach)
    UNCHANGED[what](world)
    reach = Reach.of(look=(), act=[*world.reach.act], ask=())
    assert await world.offers.async_offer(reach) is before


def _rename_script(world: ToolWorld) -> None:
    er.async_get(world.hass).async_update_entity(
        "script.feed", new_entity_id="script.feed_her"
    )
    world.reach = Reach.of(look=(), act=["script.feed_her"], ask=())


def _reload_script(world: ToolWorld) -> None:
    async_set_service_schema(
        world.hass, "script", "feed", {"description": "New", "fields": {}}
    )


def _reach(world: ToolWorld, **lists: list[str]) -> None:
    world.reach = Reach.of(**{"look": [], "act": [], "ask": [], **lists})


CHANGED: Mapping[str, Callable[[ToolWorld], object]] = {
    "a choice": lambda world: change(
        world, "climate.hall", "heat", hvac_modes=["heat", "cool"]
    ),
    "a range": lambda world: change(world, "climate.hall", "heat", max_temp=28),
    "a feature": lambda world: change(
        world, "climate.hall", "heat", supported_features=1
    ),
    "what a field needs": lambda world: change(
        world, "light.lamp", "on", supported_color_modes=["onoff"]
    ),
    "a device class": lambda world: change(
        world, "cover.blind", "open", device_class="garage"
    ),
    "an entity is gone": lambda world: world.hass.states.async_remove("light.lamp"),
    "a service is gone": lambda world: world.hass.services.async_remove(
        "light", "turn_off"
    ),
    "a script was changed": _reload_script,
    "a script was renamed": _rename_script,
    "less may be touched": lambda world: _reach(world, act=["light.lamp"]),
    "it is for looking now": lambda world: _reach(world, look=[*HOME]),
    "there is a recorder": lambda world: world.hass.config.components.add("recorder"),
}


@pytest.mark.parametrize("what", CHANGED)
async def test_what_shapes_a_tool_makes_it_anew(world: ToolWorld, what: str) -> None:
    before = await world.offers.async_offer(world.reach)
    CHANGED[what](world)
    await world.hass.async_block_till_done()
    after = await world.offers.async_offer(world.reach)
    assert after is not before
    # The same as if nothing had been made before.
    assert after.specs == (await OfferCache(world.hass).async_offer(world.reach)).specs
    # A garage asks before it opens, so that the model may say why.
    assert after.specs != before.specs


async def test_a_list_changed_in_its_place_is_seen(world: ToolWorld) -> None:
    modes = ["off"]
    change(world, "climate.hall", "heat", hvac_modes=modes)
    before = await world.offers.async_offer(world.reach)
    modes.append("dry")
    after = await world.offers.async_offer(world.reach)
    assert after is not before


async def test_a_lamp_put_into_the_area_later_is_a_tool_at_the_next_wake(
    hass: HomeAssistant,
) -> None:
    await async_make_home(hass)
    world = ToolWorld(hass)
    kitchen = options(act={"area_id": ["kitchen"]})
    er.async_get(hass).async_update_entity("light.lamp", area_id=None)
    world.reach = resolve(hass, kitchen)
    before = await world.field("light_turn_on", "entity_id")
    assert "light.lamp" not in before["items"]["enum"]
    er.async_get(hass).async_update_entity("light.lamp", area_id="kitchen")
    world.reach = resolve(hass, kitchen)
    after = await world.field("light_turn_on", "entity_id")
    assert "light.lamp" in after["items"]["enum"]
    # And one that has just been built, too.
    lamp = er.async_get(hass).async_get_or_create("light", "hue", "new")
    er.async_get(hass).async_update_entity(lamp.entity_id, area_id="kitchen")
    hass.states.async_set(lamp.entity_id, "on")
    world.reach = resolve(hass, kitchen)
    newest = await world.field("light_turn_on", "entity_id")
    assert lamp.entity_id in newest["items"]["enum"]


@pytest.mark.contract("A8")
async def test_an_offer_keeps_no_guard_of_an_old_run(world: ToolWorld) -> None:
    world.note_all()
    call = ToolCall(id="1", name="light_turn_on", arguments={"entity_id": "light.lamp"})
    guards = [world.guard(), world.guard()]
    toolboxes = [await world.toolbox(guard) for guard in guards]
    await toolboxes[1].call(call)
    assert [len(guard.actions) for guard in guards] == [0, 1]
    await toolboxes[0].call(call)
    assert [len(guard.actions) for guard in guards] == [1, 1]


async def test_what_had_no_room_is_said_once(
    hass: HomeAssistant, world: ToolWorld, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    many = [f"script.s{number:03}" for number in range(150)]
    await async_setup_component(hass, "script", {})
    for entity_id in many:
        hass.services.async_register("script", entity_id.split(".")[1], _nothing)
        hass.states.async_set(entity_id, "off")
    world.reach = Reach.of(look=(), act=[*many, "light.lamp"], ask=())
    for _ in range(3):
        await world.offers.async_offer(world.reach)
    assert caplog.text.count("Too many tools, left out: ") == 1
    change(world, "light.lamp", "on", supported_color_modes=["onoff"])
    await world.offers.async_offer(world.reach)
    assert caplog.text.count("Too many tools, left out: ") == 1
    assert world.offers.offer is not None
    assert "light_turn_on" in world.offers.offer.left_out


async def _nothing(call: object) -> None:
    del call


async def test_the_bytes_do_not_depend_on_the_order_of_things(
    world: ToolWorld,
) -> None:
    before = encoded(await world.toolbox())
    hass = world.hass
    for entity_id in HOME:
        hass.states.async_remove(entity_id)
    for entity_id in reversed([*HOME]):
        state, attributes = HOME[entity_id]
        backwards = dict(reversed([*attributes.items()]))
        hass.states.async_set(entity_id, state, backwards)
    for domain, services in reversed([*hass.services.async_services().items()]):
        for service, known in reversed([*services.items()]):
            hass.services.async_remove(domain, service)
            hass.services.async_register(
                domain,
                service,
                _nothing,
                schema=known.schema,
                supports_response=known.supports_response,
            )
    await hass.async_block_till_done()
    world.offers = OfferCache(hass)  # as after a restart
    assert encoded(await world.toolbox()) == before


async def test_names_are_plain_and_stand_for_one_thing(world: ToolWorld) -> None:
    names = [spec.name for spec in (await world.toolbox()).specs]
    assert names == [
        "get_state",
        "climate_set_hvac_mode",
        "climate_set_preset_mode",
        "climate_set_temperature",
        "cover_close_cover",
        "cover_open_cover",
        "light_turn_off",
        "light_turn_on",
        "feed",
        "tell_owner",
    ]


async def test_a_wake_does_not_make_the_tools_anew(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    def note(*arguments: Any, **named: Any) -> Offer:
        made.append(1)
        return make_offer(*arguments, **named)

    monkeypatch.setattr(toolbox, "make_offer", note)
    home.llm_server.always = lambda _request: text("Nothing to do.")
    beat = await home.add_heartbeat(act=FEED)
    other = await home.add_heartbeat("Other", act=LAMP)
    for one in (beat, other, beat, other):
        await one.wake()
    assert len(made) == 2
    await beat.change(act=LAMP)
    await beat.wake()
    await beat.wake()
    assert len(made) == 3
    asked = [chat["tools"] for chat in home.llm_server.chats]
    assert asked[0] == asked[2]
    assert asked[4] == asked[5] == asked[1]

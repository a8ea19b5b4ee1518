"""A reach is kept while areas and labels lead to the same, and not a moment longer."""

from collections.abc import Iterator

from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    entity_registry as er,
    label_registry as lr,
)
import pytest

from custom_components.proactive_agent.heartbeat.reach_now import ReachNow

from .support.home import options

LAMP = "light.lamp"


@pytest.fixture(name="room")
def room_fixture(hass: HomeAssistant) -> str:
    room = ar.async_get(hass).async_create("Room").id
    entities = er.async_get(hass)
    lamp = entities.async_get_or_create("light", "test", "lamp", object_id_base="lamp")
    entities.async_update_entity(lamp.entity_id, area_id=room)
    return room


@pytest.fixture(name="reach")
def reach_fixture(hass: HomeAssistant, room: str) -> Iterator[ReachNow]:
    reach = ReachNow(hass, options(act={"area_id": [room]}))
    reach.start()
    yield reach
    reach.close()


async def test_it_is_kept_while_nothing_changes(
    hass: HomeAssistant, reach: ReachNow
) -> None:
    before = reach.get()
    hass.states.async_set(LAMP, "on")
    await hass.async_block_till_done()

    assert before.act == (LAMP,)
    assert reach.get() is before


@pytest.mark.contract("C7")
async def test_what_leaves_the_room_is_out_of_reach_at_once(
    hass: HomeAssistant, reach: ReachNow
) -> None:
    assert reach.get().act == (LAMP,)
    er.async_get(hass).async_update_entity(LAMP, area_id=None)

    assert reach.get().act == ()


@pytest.mark.contract("C7")
async def test_what_gets_the_label_is_within_reach_at_once(
    hass: HomeAssistant, room: str
) -> None:
    label = lr.async_get(hass).async_create("Mine").label_id
    reach = ReachNow(hass, options(act={"label_id": [label]}))
    reach.start()
    assert reach.get().act == ()
    er.async_get(hass).async_update_entity(LAMP, labels={label})

    assert reach.get().act == (LAMP,)
    reach.close()


@pytest.mark.contract("A1")
async def test_the_members_of_a_group_are_looked_up_at_each_moment(
    hass: HomeAssistant,
) -> None:
    reach = ReachNow(hass, options(act={"entity_id": ["group.lamps"]}))
    reach.start()
    hass.states.async_set("group.lamps", "on", {"entity_id": [LAMP]})
    assert LAMP in reach.get().act
    hass.states.async_set("group.lamps", "on", {"entity_id": []})
    await hass.async_block_till_done()

    assert LAMP not in reach.get().act
    reach.close()


@pytest.mark.contract("A1")
async def test_what_is_taken_out_with_a_group_follows_the_group(
    hass: HomeAssistant,
) -> None:
    taken_out = {"entity_id": ["group.kept_off"]}
    reach = ReachNow(hass, options(act={"entity_id": [LAMP], "exclude": taken_out}))
    reach.start()
    assert reach.get().act == (LAMP,)
    hass.states.async_set("group.kept_off", "on", {"entity_id": [LAMP]})
    await hass.async_block_till_done()

    assert reach.get().act == ()
    reach.close()


async def test_it_is_looked_up_anew_where_nothing_is_listened_to(
    hass: HomeAssistant, room: str
) -> None:
    reach = ReachNow(hass, options(act={"area_id": [room]}))
    assert reach.get().act == (LAMP,)
    await hass.async_block_till_done()
    er.async_get(hass).async_update_entity(LAMP, area_id=None)

    assert reach.get().act == ()

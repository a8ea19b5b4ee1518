"""Each heartbeat of the cookbook: asleep, woken once, done, quiet again."""

from collections.abc import Mapping
from datetime import timedelta
import re
from typing import Any

from homeassistant.config_entries import SOURCE_USER
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
import pytest
from pytest_homeassistant_custom_component.common import async_mock_service

from custom_components.proactive_agent.const import SUBENTRY_HEARTBEAT
from tests.support.cookbook import (
    PAGE,
    STORIES,
    Story,
    async_make_home,
    recipes,
)
from tests.support.heartbeats import Beat, Clock, Home, clock, endpoint
from tests.support.llm_server import LlmServer, calls, llm_server, text
from tests.support.markdown import anchor

__all__ = ["clock", "llm_server"]

NOW = "2026-12-01 09:50:00+00:00"
RECIPES = recipes()


@pytest.fixture
async def home(clock: Clock, llm_server: LlmServer, hass: HomeAssistant) -> Home:
    """A home with what the cookbook speaks of, in the morning."""
    clock.freezer.move_to(NOW)
    await async_make_home(hass)
    entry = endpoint(llm_server)
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    return Home(
        hass=hass,
        clock=clock,
        llm_server=llm_server,
        phone=async_mock_service(hass, "notify", "phone"),
        entry=entry,
    )


def test_there_are_ten_and_each_has_its_story() -> None:
    assert len(RECIPES) == 10
    assert [*RECIPES] == [*STORIES]


def test_the_table_above_leads_to_each() -> None:
    page = PAGE.read_text(encoding="utf-8")
    linked = re.findall(r"^\| \[(.+?)\]\(#(.+?)\)", page, re.MULTILINE)
    assert linked == [(title, anchor(title)) for title in RECIPES]


@pytest.mark.contract("G1", "G4", "S1", "S4")
@pytest.mark.parametrize("title", RECIPES)
async def test_it_sleeps_wakes_once_and_sleeps_again(home: Home, title: str) -> None:
    story, recipe = STORIES[title], RECIPES[title]
    put(home.hass, story.before)
    beat = await create(home, recipe)
    every = timedelta(**recipe["interval"])

    await home.clock.tick(3, every=every)
    assert not home.llm_server.chats

    put(home.hass, story.then)
    home.llm_server.play(calls(*story.calls), text("Done."))
    for _ in range(60):
        await home.clock.tick(every=every)
        if home.llm_server.chats:
            break
    await assert_it_came_to(home, beat, story)

    again_after = recipe.get("manners", {}).get("recheck_after", {"hours": 6})
    quiet = min(8, int(timedelta(**again_after) / every) - 2)
    assert quiet > 0
    await home.clock.tick(quiet, every=every)
    assert len(home.llm_server.chats) == 2
    assert len(home.told) == 1


async def assert_it_came_to(home: Home, beat: Beat, story: Story) -> None:
    assert home.llm_server.unplayed == 0
    (run,) = await beat.runs()
    assert run["error"] is None
    assert run["outcome"] == outcome_of(story)
    (told,) = home.told
    assert told.startswith(story.told)
    for entity_id, state in story.left.items():
        assert home.hass.states.is_state(entity_id, state)


def outcome_of(story: Story) -> str:
    if story.asked:
        return "waiting"
    return "spoke" if len(story.calls) == 1 else "acted"


def put(hass: HomeAssistant, states: Mapping[str, str]) -> None:
    for entity_id, state in states.items():
        hass.states.async_set(entity_id, state)


async def create(home: Home, recipe: Mapping[str, Any]) -> Beat:
    """Enter a recipe in the dialog, as its reader would."""
    flows = home.hass.config_entries.subentries
    form = await flows.async_init(
        (home.entry.entry_id, SUBENTRY_HEARTBEAT), context={"source": SOURCE_USER}
    )
    result = await flows.async_configure(form["flow_id"], dict(recipe))
    assert result["type"] is FlowResultType.CREATE_ENTRY, result
    await home.settled()
    (subentry,) = home.entry.subentries.values()
    assert subentry.title == recipe["name"]
    return Beat(hass=home.hass, entry=home.entry, id=subentry.subentry_id)

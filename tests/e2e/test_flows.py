"""Both flows, walked as an owner walks them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from playwright.async_api import Page, expect
import pytest

from demo_house.agent import add_agent
from demo_house.house import HUNGER
from demo_house.model_server import ModelServer
from tests.support.llm_server import Held, LlmServer, Raw, text

from .backend import Backend
from .pages import (
    CHANGE,
    CONFIG,
    ENTITY,
    HEARTBEAT,
    MODEL,
    NEW,
    SERVER,
    DevicePage,
    Dialog,
    IntegrationPage,
    add_integration,
    open_menu,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")

NAME: Final = "Milonga"
PROMPT: Final = "Check on Milonga. Feed her if she is hungry, then tell her owner."
LABELS: Final = NEW["data"]


async def enter_server(dialog: Dialog, model: ModelServer) -> None:
    await dialog.text(SERVER["data"]["url"]).fill(model.url)
    await dialog.press("Next")
    await dialog.is_at(MODEL["title"])
    await dialog.choose(MODEL["data"]["model"], model.model)
    await dialog.press("Submit")
    await dialog.is_at(NEW["title"])


async def enter_heartbeat(dialog: Dialog) -> None:
    await dialog.text(LABELS["name"]).fill(NAME)
    await dialog.text(LABELS["check_prompt"]).fill(PROMPT)
    await dialog.add_numeric_state("Milonga hunger", below="1.5")
    await dialog.add_target(LABELS["look"], "Milonga hunger")
    await dialog.add_target(LABELS["act"], "Feed Milonga")
    await dialog.add_choice(LABELS["notify"], "Kitchen display")


async def test_from_nothing_to_a_heartbeat_that_looks_after_its_pet(
    page: Page, backend: Backend, model: ModelServer
) -> None:
    dialog = await add_integration(page)
    await enter_server(dialog, model)
    await enter_heartbeat(dialog)
    await dialog.press("Submit")
    await expect(
        dialog.here.get_by_text(HEARTBEAT["create_entry"]["default"])
    ).to_be_visible()
    await dialog.leave_by("Finish")

    device = DevicePage(page)
    await page.goto(await backend.device_path())
    await expect(device.switch).to_be_checked()
    await device.shows("sensor", "status", "asleep")
    await backend.house.socket.act("input_number.set_value", HUNGER, value=1)
    await device.check_now()
    await expect(device.activity).to_contain_text("woke because it was asked to")
    await device.shows("sensor", "last_outcome", "acted")
    await expect(device.row(ENTITY["event"]["activity"]["name"])).to_contain_text("ago")
    await backend.until_state(HUNGER, "4.0")
    assert await backend.until(backend.notifications, "a message") == [
        "Milonga was hungry and has had a meal (hunger is at 4 of 4 hearts)."
    ]

    stored = await backend.until(backend.stored_heartbeat, "the stored heartbeat")
    entry = await backend.stored()
    assert entry["data"] == {
        "url": model.url,
        "api_key": "",
        "verify_ssl": True,
        "model": model.model,
        "extra_body": {},
    }
    assert [one["title"] for one in entry["subentries"]] == [NAME]
    assert stored["check_prompt"] == PROMPT
    assert stored["interval"] == {"minutes": 15}
    assert stored["conditions"] == [
        {"condition": "numeric_state", "entity_id": HUNGER, "below": 1.5}
    ]
    assert stored["look"] == {"entity_id": [HUNGER]}
    assert stored["act"] == {"entity_id": ["script.feed"]}
    assert stored["ask"] == {}
    assert stored["notify"] == ["notify.kitchen_display"]
    assert stored["fuses"]["max_wakes_per_day"] == 48
    assert stored["manners"]["ask_before_risky"] is True


async def test_a_heartbeat_is_changed_through_its_gear(
    page: Page, backend: Backend, model: ModelServer
) -> None:
    await add_agent(backend.house, model, interval=3600)
    before = await backend.until(backend.stored_heartbeat, "the stored heartbeat")

    integration = IntegrationPage(page)
    await integration.open()
    dialog = await integration.press(HEARTBEAT["initiate_flow"]["reconfigure"])
    await dialog.is_at(CHANGE["title"])
    await expect(dialog.text(LABELS["name"])).to_have_value(NAME)
    await expect(dialog.text(LABELS["check_prompt"])).to_have_value(
        before["check_prompt"]
    )
    for kind, label, shown in (
        ("ha-selector-condition", "conditions", "If any of 2 conditions matches"),
        ("ha-selector-target", "look", "Milonga happiness"),
        ("ha-selector-target", "act", "Call light"),
    ):
        await expect(dialog.field(kind, LABELS[label])).to_contain_text(shown)
    interval = dialog.field("ha-selector-duration", LABELS["interval"])
    hours = interval.get_by_role("spinbutton", name="hh")
    await expect(hours).to_have_value("1")

    await hours.fill("2")
    await dialog.text(LABELS["name"]).fill("Milonga the cat")
    await dialog.press("Submit")
    await expect(dialog.here).to_contain_text("Reconfiguration was successful")
    await dialog.leave_by("Close")

    await expect(integration.heartbeat).to_contain_text("Milonga the cat")
    (device,) = await backend.devices()
    assert device["name"] == "Milonga the cat"

    async def is_stored() -> bool:
        stored = await backend.stored_heartbeat()
        return bool(stored["interval"] == {"hours": 2, "minutes": 0, "seconds": 0})

    await backend.until(is_stored, "the changed interval")
    after = await backend.stored_heartbeat()
    assert {**after, "interval": before["interval"]} == before


async def test_a_model_that_has_to_be_loaded_is_waited_for_in_sight(
    page: Page, backend: Backend, slow_model: LlmServer
) -> None:
    loading = Held(text("Ready."))
    slow_model.play(loading)
    dialog = await add_integration(page)
    await dialog.text(SERVER["data"]["url"]).fill(slow_model.url)
    await dialog.press("Next")
    await dialog.is_at(MODEL["title"])
    await dialog.press("Submit")
    waiting = CONFIG["progress"]["try_model"].format(model=slow_model.models[0])
    await dialog.says(waiting)
    loading.release.set()
    await dialog.is_at(NEW["title"])
    await dialog.leave_by("Close")
    assert len(await backend.entry_ids()) == 1


async def test_a_model_of_its_own_that_is_not_there_is_said_above_its_field(
    page: Page, backend: Backend, slow_model: LlmServer
) -> None:
    dialog = await another_model(page, slow_model)
    alert = dialog.alert()
    await expect(alert).to_contain_text("large is not there. The server has: ")
    above = await alert.bounding_box()
    field = await dialog.text(LABELS["model"]).bounding_box()
    assert above
    assert field
    assert above["y"] < field["y"]
    slow_model.play(text("Ready."))
    await dialog.press("Submit")
    await dialog.leave_by("Finish")
    stored = await backend.until(backend.stored_heartbeat, "the stored heartbeat")
    assert stored["model"] == "large"


async def another_model(page: Page, server: LlmServer) -> Dialog:
    """Ask for a model that the server does not have, in a new heartbeat."""
    missing = {
        "error": {"message": "model 'large' not found", "code": "model_not_found"}
    }
    server.play(text("Ready."), Raw(status=404, body=missing))
    server.models = []
    dialog = await add_integration(page)
    await dialog.text(SERVER["data"]["url"]).fill(server.url)
    await dialog.press("Next")
    await dialog.is_at(MODEL["title"])
    await dialog.text(MODEL["data"]["model"]).fill("small")
    await dialog.press("Submit")
    await dialog.is_at(NEW["title"])
    server.models = ["small", "medium"]
    await dialog.text(LABELS["name"]).fill(NAME)
    await dialog.text(LABELS["check_prompt"]).fill(PROMPT)
    await dialog.text(LABELS["model"]).fill("large")
    await dialog.press("Submit")
    await expect(dialog.alert()).to_be_visible()
    return dialog


async def test_an_ai_task_entity_is_chosen_where_there_is_one(
    page: Page, backend: Backend
) -> None:
    dialog = await open_menu(page)
    await dialog.take("ai_task")
    await dialog.says(CONFIG["abort"]["no_ai_task"])
    await dialog.leave_by("Close")

    async with painted_task(backend):
        dialog = await open_menu(page)
        await dialog.take("ai_task")
        await dialog.is_at(CONFIG["step"]["ai_task"]["title"])
        await dialog.pick_entity("Thinker")
        await dialog.press("Submit")
        # It is only painted: the first small task shows it.
        await expect(dialog.alert()).to_contain_text("ai_task.thinker")
        await dialog.leave_by("Close")
    assert await backend.entry_ids() == []


@asynccontextmanager
async def painted_task(backend: Backend) -> AsyncIterator[None]:
    """Show the state of an AI Task entity that nobody stands behind."""
    path = "/api/states/ai_task.thinker"
    attributes = {"friendly_name": "Thinker", "supported_features": 1}
    await backend.house.api.post(path, {"state": "unknown", "attributes": attributes})
    try:
        yield
    finally:
        await backend.house.api._request("DELETE", path)


async def test_an_unreachable_server_is_said_above_its_field(
    page: Page, backend: Backend
) -> None:
    dialog = await add_integration(page)
    await dialog.text(SERVER["data"]["url"]).fill("127.0.0.1:9")
    await dialog.press("Next")
    alert = dialog.alert()
    await expect(alert).to_have_count(1)
    await expect(alert).to_contain_text("cannot be reached")
    above = await alert.bounding_box()
    field = await dialog.text(SERVER["data"]["url"]).bounding_box()
    below = await dialog.text(SERVER["data"]["api_key"]).bounding_box()
    assert above
    assert field
    assert below
    assert above["y"] < field["y"] < below["y"]
    await expect(dialog.text(SERVER["data"]["url"])).to_have_value("127.0.0.1:9")
    await dialog.leave_by("Close")
    assert await backend.entry_ids() == []

"""An automation that somebody makes of what a heartbeat does, in plain words."""

from collections.abc import AsyncIterator
from typing import Any, Final

from playwright.async_api import Page, expect
import pytest
import pytest_asyncio

from demo_house.agent import NAME, add_agent
from demo_house.house import HUNGER
from demo_house.model_server import ModelServer

from .automations import (
    CONDITIONS,
    NOTIFY,
    TRIGGERS,
    AutomationEditor,
    automations,
    delete_automations,
)
from .backend import Backend
from .pages import DevicePage

pytestmark = pytest.mark.asyncio(loop_scope="session")

ALIAS: Final = "She was looked after"


@pytest_asyncio.fixture(loop_scope="session")
async def editor(page: Page, backend: Backend) -> AsyncIterator[AutomationEditor]:
    """Open the editor; what was made in it is deleted afterwards."""
    yield AutomationEditor(page)
    await delete_automations(backend)


async def made(backend: Backend) -> dict[str, Any]:
    """Return the state of the only automation made in the editor."""
    (entity_id,) = (await automations(backend)).values()
    return await backend.state(entity_id)


async def test_an_automation_made_in_the_editor_runs_when_the_heartbeat_acts(
    page: Page, backend: Backend, model: ModelServer, editor: AutomationEditor
) -> None:
    await add_agent(backend.house, model, interval=3600)
    await editor.open()
    await editor.add("trigger", TRIGGERS["acted"]["name"])
    await expect(editor.sidebar).to_contain_text(TRIGGERS["acted"]["description"])
    await editor.choose_target(NAME)
    await editor.add("action", NOTIFY)
    await editor.write_message("Heard: {{ trigger.heartbeat }}, {{ trigger.outcome }}")
    await editor.save(ALIAS)

    async def is_made() -> bool:
        return bool(await automations(backend))

    await backend.until(is_made, "the automation")
    assert (await made(backend))["attributes"]["last_triggered"] is None

    await backend.house.socket.act("input_number.set_value", HUNGER, value=1)
    device = DevicePage(page)
    await page.goto(await backend.device_path())
    await device.check_now()
    await device.shows("sensor", "last_outcome", "acted")

    async def has_run() -> bool:
        return f"Heard: {NAME}, acted" in await backend.notifications()

    await backend.until(has_run, "what the automation says")
    assert (await made(backend))["attributes"]["last_triggered"]
    told = [one for one in await backend.notifications() if one.startswith("Heard")]
    assert len(told) == 1


async def test_every_trigger_and_condition_is_found_by_the_word_heartbeat(
    page: Page, backend: Backend, model: ModelServer, editor: AutomationEditor
) -> None:
    await add_agent(backend.house, model, interval=3600)
    await editor.open()
    for what, texts in (("trigger", TRIGGERS), ("condition", CONDITIONS)):
        await page.get_by_role("button", name=f"Add {what}").first.click()
        dialog = page.locator("add-automation-element-dialog")
        await dialog.get_by_placeholder("Search").fill("heartbeat")
        for words in texts.values():
            await expect(dialog.get_by_text(words["name"], exact=True)).to_be_visible()
            await expect(dialog.get_by_text(words["description"])).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(dialog).to_be_hidden()


async def test_a_condition_made_in_the_editor_is_about_the_chosen_heartbeat(
    page: Page, backend: Backend, model: ModelServer, editor: AutomationEditor
) -> None:
    await add_agent(backend.house, model, interval=3600)
    await editor.open()
    await editor.add("condition", CONDITIONS["is_waiting"]["name"])
    await editor.choose_target(NAME)
    fields = CONDITIONS["is_waiting"]["fields"]
    await expect(editor.sidebar).to_contain_text(fields["for"]["name"])
    await editor.save(ALIAS)

    async def is_made() -> bool:
        return bool(await automations(backend))

    await backend.until(is_made, "the automation")
    (unique_id,) = await automations(backend)
    saved = await backend.house.api.get(f"/api/config/automation/config/{unique_id}")
    (device,) = await backend.devices()
    (condition,) = saved["conditions"]
    assert condition["condition"] == "proactive_agent.is_waiting"
    assert condition["target"]["device_id"] in (device["id"], [device["id"]])
    assert (await made(backend))["state"] == "on"

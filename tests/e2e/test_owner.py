"""What owners do besides: breaking off, renaming, switching, deleting, disabling."""

import asyncio
from typing import Any, Final

from playwright.async_api import Page, expect
import pytest

from demo_house.agent import add_agent, heartbeat_answers
from demo_house.flows import add_endpoint, add_heartbeat
from demo_house.model_server import ModelServer
from tests.support.llm_server import Held, LlmServer, text

from .backend import Backend
from .pages import (
    HEARTBEAT,
    MODEL,
    NEW,
    SERVER,
    TEXTS,
    DevicePage,
    Dialog,
    IntegrationPage,
    add_integration,
    toast,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")

SWITCH: Final = "switch.milonga_heartbeat"
STATUS: Final = "sensor.milonga_status"
GONE: Final = "binary_sensor.gone"
ADD: Final = HEARTBEAT["initiate_flow"]["user"]


async def add_slow_agent(backend: Backend, model: LlmServer, **fuses: int) -> Held:
    """Add a heartbeat on a slow model; returns the answer that it will wait for."""
    answers = heartbeat_answers(3600)
    answers["fuses"] = {**answers["fuses"], **fuses}
    model.play(text("Ready."))
    endpoint = await add_endpoint(
        backend.house.api, {"url": model.url, "model": model.models[0]}
    )
    await add_heartbeat(backend.house.api, endpoint, answers)
    await backend.until_state(STATUS, "asleep")
    held = Held(text("Nothing to do."))
    model.play(held)
    return held


async def add_waiting_agent(backend: Backend, model: ModelServer) -> None:
    api = backend.house.api
    answers: dict[str, Any] = heartbeat_answers(3600)
    answers["conditions"] = [
        {"condition": "state", "entity_id": GONE, "state": "on"},
    ]
    endpoint = await add_endpoint(api, {"url": model.url, "model": model.model})
    await add_heartbeat(api, endpoint, answers)
    await backend.until(backend.issues, "the repair issue")


async def wake(page: Page, backend: Backend, held: Held) -> DevicePage:
    device = DevicePage(page)
    await page.goto(await backend.device_path())
    await device.check_now()
    async with asyncio.timeout(15):
        await held.reached.wait()
    await device.shows("sensor", "status", "running")
    return device


async def test_breaking_off_the_chain_leaves_a_server_that_can_go_on(
    page: Page, backend: Backend, model: ModelServer
) -> None:
    dialog = await add_integration(page)
    await dialog.text(SERVER["data"]["url"]).fill(model.url)
    await dialog.press("Next")
    await dialog.is_at(MODEL["title"])
    await dialog.press("Submit")
    await dialog.is_at(NEW["title"])
    await dialog.leave_by("Close")
    assert len(await backend.entry_ids()) == 1
    assert await backend.subentries() == []

    integration = IntegrationPage(page)
    await integration.open()
    dialog = await integration.press(ADD)
    await dialog.is_at(NEW["title"])
    await dialog.text(NEW["data"]["name"]).fill("Milonga")
    await dialog.text(NEW["data"]["check_prompt"]).fill("Look after Milonga.")
    # A nervous finger.
    await dialog.here.get_by_role("button", name="Submit").dblclick()
    await dialog.leave_by("Finish")
    await expect(integration.heartbeat).to_have_count(1)
    assert len(await backend.subentries()) == 1
    assert (await backend.state(SWITCH))["state"] == "on"


async def test_the_switch_of_the_page_switches_and_says_why_it_cannot_check(
    page: Page, backend: Backend, model: ModelServer
) -> None:
    agent = await add_agent(backend.house, model, interval=3600)
    device = DevicePage(page)
    await page.goto(await backend.device_path())
    await expect(device.switch).to_be_checked()
    await device.flip()
    await device.shows("sensor", "status", "off")
    await backend.until_state(agent.switch, "off")
    await device.check_now()
    refusal = TEXTS["exceptions"]["switched_off"]["message"]
    await expect(toast(page, refusal.format(heartbeat="Milonga"))).to_be_visible()
    await device.flip()
    await device.shows("sensor", "status", "asleep")


async def test_switching_off_in_the_middle_of_a_run(
    page: Page, backend: Backend, slow_model: LlmServer
) -> None:
    held = await add_slow_agent(backend, slow_model)
    device = await wake(page, backend, held)
    await device.flip()
    await device.shows("sensor", "status", "off")
    await device.shows("sensor", "last_outcome", "stopped")


async def test_a_new_name_is_the_devices_too_and_a_reload_keeps_it(
    page: Page, backend: Backend, model: ModelServer
) -> None:
    await add_agent(backend.house, model, interval=3600)
    integration = IntegrationPage(page)
    await integration.open()
    await integration.menu(integration.heartbeat, "Rename")
    await page.locator("dialog-box").get_by_role("textbox").fill("Milonga II")
    await integration.confirm("OK")

    async def is_renamed() -> bool:
        return [one["name"] for one in await backend.devices()] == ["Milonga II"]

    await backend.until(is_renamed, "the device's new name")
    await integration.menu(integration.entry, "Reload")
    await expect(toast(page, "The integration was reloaded")).to_be_visible()
    await backend.until_state(SWITCH, "on")
    assert await is_renamed()


async def test_deleting_a_heartbeat_takes_its_device_along(
    page: Page, backend: Backend, slow_model: LlmServer
) -> None:
    held = await add_slow_agent(backend, slow_model)
    await wake(page, backend, held)
    integration = IntegrationPage(page)
    await integration.open()
    await integration.menu(integration.heartbeat, "Delete")
    await integration.confirm("Delete")
    await expect(integration.heartbeat).to_have_count(0)
    await backend.until(lambda: _is_gone(backend), "the end of the device")
    assert len(await backend.entry_ids()) == 1


async def test_disabling_a_server_rests_its_heartbeats_and_deleting_ends_them(
    page: Page, backend: Backend, slow_model: LlmServer
) -> None:
    held = await add_slow_agent(backend, slow_model)
    await wake(page, backend, held)
    integration = IntegrationPage(page)
    await integration.open()
    await integration.menu(integration.entry, "Disable")
    await integration.confirm("Disable")
    await expect(integration.entry).to_contain_text("Disabled by user")
    assert await backend.state(SWITCH) == {}

    await integration.entry.get_by_role("button", name="Enable").click()
    await backend.until_state(SWITCH, "on")
    await backend.until_state(STATUS, "asleep")

    again = Held(text("Nothing to do."))
    slow_model.play(again)
    await wake(page, backend, again)
    await integration.open()
    await integration.menu(integration.entry, "Delete")
    await integration.confirm("Delete")
    await expect(integration.entry).to_have_count(0)
    await backend.until(lambda: _is_gone(backend), "the end of the device")
    assert await backend.entry_ids() == []
    assert await backend.entity_ids() == []


async def test_a_condition_on_what_is_not_there_is_a_repair_until_it_is(
    page: Page, backend: Backend, model: ModelServer
) -> None:
    await add_waiting_agent(backend, model)
    await page.goto("/config/repairs")
    texts = TEXTS["issues"]["missing_entity"]["fix_flow"]["step"]["confirm"]
    words = {"heartbeat": "Milonga", "entity_id": GONE}
    await page.get_by_text(texts["title"].format(**words)).click()
    await Dialog(page).says(texts["description"].format(**words))

    await backend.house.api.post(f"/api/states/{GONE}", {"state": "off"})
    try:

        async def is_mended() -> bool:
            return not await backend.issues()

        await backend.until(is_mended, "the end of the repair issue")
    finally:
        await backend.house.api._request("DELETE", f"/api/states/{GONE}")


async def test_a_condition_on_what_is_not_there_is_said_at_the_end_of_the_dialog(
    page: Page, backend: Backend, model: ModelServer
) -> None:
    await add_waiting_agent(backend, model)
    integration = IntegrationPage(page)
    await integration.open()
    dialog: Dialog = await integration.press(HEARTBEAT["initiate_flow"]["reconfigure"])
    await dialog.text(NEW["data"]["check_prompt"]).fill("Look after her.")
    await dialog.press("Submit")
    words = HEARTBEAT["abort"]["saved_missing_entities"].format(entities=GONE)
    await expect(dialog.here).to_contain_text(words)


async def _is_gone(backend: Backend) -> bool:
    return not await backend.devices()

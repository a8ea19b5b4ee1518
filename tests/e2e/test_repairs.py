"""What has to be mended, mended on the page where it is told; what is handed on."""

import json
from pathlib import Path
from typing import Any, Final

from playwright.async_api import Locator, Page, expect
import pytest

from demo_house.agent import add_agent, heartbeat_answers
from demo_house.flows import add_endpoint, add_heartbeat
from demo_house.model_server import ModelServer
from tests.support.llm_server import LlmServer, Raw, text

from .backend import Backend
from .pages import CHANGE, TEXTS, DevicePage, Dialog, IntegrationPage
from .test_owner import GONE, add_waiting_agent

pytestmark = pytest.mark.asyncio(loop_scope="session")

ISSUES: Final = TEXTS["issues"]
HEALTH: Final = TEXTS["system_health"]["info"]
KEY: Final = "sk-not-for-you"
NO_MODEL_SAID: Final = "does not have the model"
NO_MODEL: Final = Raw(
    status=404, body={"error": {"message": "no model", "code": "model_not_found"}}
)


async def open_issue(page: Page, key: str, step: str, **words: str) -> Dialog:
    """Press an issue on the repairs page, and wait for its dialog."""
    await page.goto("/config/repairs")
    title = ISSUES[key]["title"].format(**words)
    await page.get_by_text(title).first.click()
    dialog = Dialog(page)
    await dialog.is_at(ISSUES[key]["fix_flow"]["step"][step]["title"].format(**words))
    return dialog


def way(dialog: Dialog, key: str, option: str) -> Locator:
    """Find a way in the menu of an issue."""
    options = ISSUES[key]["fix_flow"]["step"]["init"]["menu_options"]
    return dialog.here.get_by_text(options[option], exact=True)


async def add_failing_agent(backend: Backend, model: LlmServer) -> None:
    """Add a heartbeat whose model has gone since, and let it fail once."""
    model.play(text("Ready."))
    endpoint = await add_endpoint(
        backend.house.api, {"url": model.url, "model": model.models[0]}
    )
    await add_heartbeat(backend.house.api, endpoint, heartbeat_answers(3600))
    await backend.until_state("sensor.milonga_status", "asleep")
    model.play(NO_MODEL)
    await backend.house.socket.act("button.press", "button.milonga_check_now")
    await backend.until(backend.issues, "the repair issue")


async def test_a_missing_entity_leads_to_the_dialog_of_its_heartbeat(
    page: Page, backend: Backend, model: ModelServer
) -> None:
    await add_waiting_agent(backend, model)
    dialog = await open_issue(page, "missing_entity", "confirm", heartbeat="Milonga")
    await dialog.says(GONE)
    await dialog.press(
        ISSUES["missing_entity"]["fix_flow"]["step"]["confirm"]["submit"]
    )
    await dialog.is_at(CHANGE["title"])
    await expect(dialog.text(CHANGE["data"]["name"])).to_have_value("Milonga")
    await dialog.leave_by("Close")
    (issue,) = await backend.issues()
    assert issue["translation_key"] == "missing_entity"


async def test_what_the_model_is_to_blame_for_is_tried_again_on_the_page(
    page: Page, backend: Backend, slow_model: LlmServer, foreseen: list[str]
) -> None:
    foreseen.append(NO_MODEL_SAID)
    await add_failing_agent(backend, slow_model)
    dialog = await open_issue(page, "model_not_found", "init", heartbeat="Milonga")
    await dialog.says(NO_MODEL_SAID)
    slow_model.play(NO_MODEL)
    await way(dialog, "model_not_found", "try_again").click()
    await dialog.says("It was tried just now, and it has failed again.")
    await dialog.leave_by("Close")

    dialog = await open_issue(page, "model_not_found", "init", heartbeat="Milonga")
    slow_model.play(text("Nothing to do."))
    await way(dialog, "model_not_found", "try_again").click()
    await dialog.says("It works again.")
    await dialog.leave_by("Finish")
    assert await backend.issues() == []


async def test_the_model_can_be_changed_from_there(
    page: Page, backend: Backend, slow_model: LlmServer, foreseen: list[str]
) -> None:
    foreseen.append(NO_MODEL_SAID)
    await add_failing_agent(backend, slow_model)
    dialog = await open_issue(page, "model_not_found", "init", heartbeat="Milonga")
    await way(dialog, "model_not_found", "change_endpoint").click()
    await dialog.is_at(TEXTS["config"]["step"]["server"]["title"])
    await dialog.leave_by("Close")


async def test_what_is_not_there_is_taken_out(
    page: Page, backend: Backend, model: ModelServer
) -> None:
    answers: dict[str, Any] = heartbeat_answers(3600)
    answers["look"] = {"entity_id": [*answers["look"]["entity_id"], GONE]}
    endpoint = await add_endpoint(
        backend.house.api, {"url": model.url, "model": model.model}
    )
    await add_heartbeat(backend.house.api, endpoint, answers)
    await backend.until(backend.issues, "the repair issue")
    dialog = await open_issue(page, "missing_target", "init", heartbeat="Milonga")
    await dialog.says(GONE)
    await way(dialog, "missing_target", "take_out").click()
    await dialog.says(ISSUES["missing_target"]["fix_flow"]["create_entry"]["default"])
    await dialog.leave_by("Finish")

    async def is_taken_out() -> bool:
        stored = await backend.stored_heartbeat()
        return GONE not in json.dumps(stored)

    await backend.until(is_taken_out, "the heartbeat without it")
    assert await backend.issues() == []


async def test_diagnostics_can_be_downloaded_and_name_nobody(
    page: Page, backend: Backend, slow_model: LlmServer, tmp_path: Path
) -> None:
    slow_model.play(text("Ready."), text("Nothing to do."))
    endpoint = await add_endpoint(
        backend.house.api,
        {"url": slow_model.url, "model": slow_model.models[0], "api_key": KEY},
    )
    await add_heartbeat(backend.house.api, endpoint, heartbeat_answers(3600))
    await backend.until_state("sensor.milonga_status", "asleep")
    await backend.house.socket.act("button.press", "button.milonga_check_now")
    await backend.until_state("sensor.milonga_last_outcome", "nothing")
    await page.goto(await backend.device_path())
    path = tmp_path / "diagnostics.json"
    async with page.expect_download() as downloading:
        await DevicePage(page).here.get_by_text("Download diagnostics").click()
    await (await downloading.value).save_as(path)
    found = json.loads(path.read_text())["data"]
    (heartbeat,) = found["heartbeats"]
    assert [one["result"] for one in heartbeat["gate"]] == [False]
    assert heartbeat["runs"][0]["outcome"] == "nothing"
    assert heartbeat["tools"]["bytes"] > 0
    assert found["endpoint"]["options"]["api_key"] == "**REDACTED**"
    assert KEY not in path.read_text()
    assert heartbeat_answers(3600)["check_prompt"] not in path.read_text()

    integration = IntegrationPage(page)
    await integration.open()
    async with page.expect_download() as downloading:
        await integration.menu(integration.entry, "Download diagnostics")
    await (await downloading.value).save_as(path)
    assert json.loads(path.read_text())["data"]["heartbeats"] == [heartbeat]


async def test_the_systems_health_shows_the_model(
    page: Page, backend: Backend, model: ModelServer
) -> None:
    await add_agent(backend.house, model, interval=3600)
    await page.goto("/config/repairs?dialog=system-health")
    dialog = page.locator("dialog-system-information")
    row = dialog.get_by_role("row").filter(has_text=HEALTH["endpoint"])
    await expect(row).to_contain_text("ok")
    await expect(dialog).to_contain_text(HEALTH["tokens_today"])
    await expect(dialog).to_contain_text(model.model)

"""Pictures of every dialog and of the heartbeat's page, to be looked at.

    scripts/test --e2e -o python_files=screens.py -s

puts them into a new folder, whose path is printed, and makes the readme's pictures in
docs/images anew.
"""

from pathlib import Path
import tempfile
from typing import Final

from PIL import Image
from playwright.async_api import Browser, Locator, Page, expect
import pytest

from demo_house.agent import add_agent
from demo_house.house import CHECKOUT, FRONT_DOOR, HUNGER
from demo_house.model_server import ModelServer
from tests.support.llm_server import Held, LlmServer, text

from .backend import Backend
from .browser import open_page
from .pages import (
    CHANGE,
    CONFIG,
    ENTITY,
    HEARTBEAT,
    MENU,
    MODEL,
    NEW,
    SERVER,
    TEXTS,
    DevicePage,
    Dialog,
    IntegrationPage,
    add_integration,
    open_menu,
)
from .story import add_telling_agent, live_a_story
from .test_asking import add_asking_agent, let_it_ask
from .test_flows import another_model, enter_heartbeat, enter_server, painted_task
from .test_owner import add_slow_agent, add_waiting_agent, wake
from .test_repairs import NO_MODEL_SAID, add_failing_agent, open_issue, way

pytestmark = pytest.mark.asyncio(loop_scope="session")

IMAGES: Final = CHECKOUT / "docs" / "images"
MARGIN: Final = 24
TALL: Final = 2010  # pixels: the whole form of a heartbeat can be seen


@pytest.fixture(scope="module")
def folder() -> Path:
    made = Path(tempfile.mkdtemp(prefix="proactive-agent-screens-"))
    print(f"Pictures: {made}")  # noqa: T201
    return made


async def test_screens_of_the_server(
    page: Page, backend: Backend, model: ModelServer, folder: Path
) -> None:
    dialog = await add_integration(page)
    await page.screenshot(path=folder / "server.png")
    await dialog.text(SERVER["data"]["url"]).fill("127.0.0.1:9")
    await dialog.press("Next")
    await expect(dialog.alert()).to_be_visible()
    await page.screenshot(path=folder / "server-unreachable.png")
    await dialog.text(SERVER["data"]["url"]).fill(model.url)
    await dialog.press("Next")
    await dialog.is_at(MODEL["title"])
    await page.screenshot(path=folder / "model.png")
    await dialog.press("Submit")
    await dialog.is_at(NEW["title"])
    await dialog.leave_by("Close")

    integration = IntegrationPage(page)
    await integration.open()
    await integration.menu(integration.entry, "Reconfigure")
    await dialog.is_at(SERVER["title"])
    await page.screenshot(path=folder / "server-reconfigure.png")


async def test_screens_of_the_menu(page: Page, backend: Backend, folder: Path) -> None:
    dialog = await open_menu(page)
    await dialog.says(MENU["description"])
    await page.screenshot(path=folder / "menu.png")
    await dialog.take("ai_task")
    await dialog.says(CONFIG["abort"]["no_ai_task"])
    await page.screenshot(path=folder / "ai-task-none.png")
    await dialog.leave_by("Close")
    async with painted_task(backend):
        dialog = await open_menu(page)
        await dialog.take("ai_task")
        await dialog.is_at(CONFIG["step"]["ai_task"]["title"])
        await dialog.pick_entity("Thinker")
        await page.screenshot(path=folder / "ai-task.png")
        await dialog.press("Submit")
        await expect(dialog.alert()).to_be_visible()
        await page.screenshot(path=folder / "ai-task-error.png")


async def test_screens_of_what_is_waited_for(
    page: Page, backend: Backend, slow_model: LlmServer, folder: Path
) -> None:
    loading = Held(text("Ready."))
    slow_model.play(loading)
    dialog = await add_integration(page)
    await dialog.text(SERVER["data"]["url"]).fill(slow_model.url)
    await dialog.press("Next")
    await dialog.is_at(MODEL["title"])
    await dialog.press("Submit")
    model = slow_model.models[0]
    await dialog.says(CONFIG["progress"]["try_model"].format(model=model))
    await page.screenshot(path=folder / "model-progress.png")
    loading.release.set()
    await dialog.is_at(NEW["title"])


async def test_screens_of_another_model(
    page: Page, backend: Backend, slow_model: LlmServer, folder: Path
) -> None:
    dialog = await another_model(page, slow_model)
    await dialog.alert().scroll_into_view_if_needed()
    await page.screenshot(path=folder / "heartbeat-model-error.png")


async def test_screens_of_the_form(
    browser: Browser, backend: Backend, model: ModelServer, folder: Path
) -> None:
    async with open_page(browser, backend.house, height=TALL, scale=1.5) as page:
        dialog = await add_integration(page)
        await enter_server(dialog, model)
        await page.screenshot(path=folder / "heartbeat-empty.png")
        await enter_heartbeat(dialog)
        # Folds the condition; in its middle lies the name of its entity.
        heading = dialog.here.get_by_role("heading", name="Numeric state")
        await heading.click(position={"x": 8, "y": 8})
        await page.mouse.move(0, 0)
        await _picture(
            page, dialog.here.get_by_role("dialog"), IMAGES / "heartbeat-form.png"
        )
        for section in ("fuses", "manners"):
            name = NEW["sections"][section]["name"]
            await dialog.here.get_by_role("button", name=name, exact=True).click()
        await dialog.here.locator(
            "ha-selector-duration"
        ).last.scroll_into_view_if_needed()
        await page.screenshot(path=folder / "heartbeat-sections.png")
        await dialog.press("Submit")
        words = HEARTBEAT["create_entry"]["default"]
        await expect(dialog.here.get_by_text(words)).to_be_visible()
        await page.screenshot(path=folder / "heartbeat-created.png")
        await dialog.leave_by("Finish")
        integration = IntegrationPage(page)
        await integration.open()
        await integration.press(HEARTBEAT["initiate_flow"]["user"])
        await dialog.is_at(NEW["title"])
        await dialog.press("Submit")
        await expect(dialog.alert()).to_be_visible()
        await page.screenshot(path=folder / "heartbeat-incomplete.png")


async def test_screens_of_the_page(
    browser: Browser, backend: Backend, model: ModelServer, folder: Path
) -> None:
    agent = await add_agent(backend.house, model, interval=3)
    async with open_page(browser, backend.house, height=1100, scale=1.5) as page:
        integration = IntegrationPage(page)
        await integration.open()
        await expect(integration.heartbeat).to_be_visible()
        await page.screenshot(path=folder / "integration.png")
        device = DevicePage(page)
        await page.goto(f"/config/devices/device/{agent.device_id}")
        await device.shows("sensor", "status", "asleep")
        await page.screenshot(path=folder / "device-asleep.png")
        await backend.house.socket.act("input_number.set_value", HUNGER, value=1)
        await device.shows("sensor", "last_outcome", "acted")
        await expect(device.activity).to_contain_text("told you")
        # The last lines of the activity come a moment after those of the run.
        await expect(device.activity).to_contain_text(
            ENTITY["sensor"]["last_outcome"]["name"]
        )
        await page.screenshot(path=folder / "device-acted.png")
        last = device.here.locator("ha-device-entities-card").last
        await _picture(page, device.here, IMAGES / "device.png", until=last)


async def test_screens_of_a_run(
    page: Page, backend: Backend, slow_model: LlmServer, folder: Path
) -> None:
    held = await add_slow_agent(backend, slow_model)
    await wake(page, backend, held)
    await page.screenshot(path=folder / "device-running.png")


async def test_screens_of_a_question(
    browser: Browser, backend: Backend, slow_model: LlmServer, folder: Path
) -> None:
    await add_asking_agent(backend, slow_model)
    async with open_page(browser, backend.house, height=1100, scale=1.5) as page:
        device = await let_it_ask(page, backend)
        await expect(device.activity).to_contain_text("asked whether")
        await page.mouse.move(0, 0)
        await page.screenshot(path=folder / "device-asking.png")
        last = device.here.locator("ha-device-entities-card").last
        await _picture(page, device.here, IMAGES / "asking.png", until=last)
        await device.press("approve")
        await expect(device.activity).to_contain_text("told you")
        await page.screenshot(path=folder / "device-approved.png")
        await page.goto(f"/logbook?entity_id={FRONT_DOOR}")
        await expect(page.locator("ha-logbook")).to_contain_text("Via Milonga")
        await page.screenshot(path=folder / "door-activity.png")


async def test_screens_of_a_whole_story(
    browser: Browser, backend: Backend, slow_model: LlmServer, folder: Path
) -> None:
    await add_telling_agent(backend, slow_model)
    async with open_page(browser, backend.house, height=1250, scale=1.5) as page:
        device = await live_a_story(page, backend, slow_model)
        await expect(device.activity).to_contain_text("switched itself off")
        await page.screenshot(path=folder / "device-off.png")
        device_id = (await backend.device_path()).rsplit("/", 1)[1]
        story = page.locator("ha-logbook")
        await page.goto(f"/logbook?device_id={device_id}")
        await expect(story).to_contain_text("switched itself off")
        await page.screenshot(path=folder / "activity-of-all.png")
        # The switch alone has the sentences.
        ids = await backend.entity_ids()
        (switch,) = [one for one in ids if one.startswith("switch.")]
        await page.goto(f"/logbook?entity_id={switch}")
        await expect(story).to_contain_text("woke because Milonga hunger")
        await page.screenshot(path=folder / "activity.png")
        # Others of its name may have lived here before.
        woke = story.get_by_role("button", name="woke because Milonga hunger")
        await _picture(page, story, IMAGES / "activity.png", until=woke.first)


async def test_screens_of_a_pause(
    browser: Browser, backend: Backend, slow_model: LlmServer, folder: Path
) -> None:
    held = await add_slow_agent(backend, slow_model, max_wakes_per_day=1)
    async with open_page(browser, backend.house, height=1100, scale=1.5) as page:
        device = await wake(page, backend, held)
        held.release.set()
        await device.shows("sensor", "status", "paused")
        await page.screenshot(path=folder / "device-paused.png")
        await device.row(ENTITY["sensor"]["status"]["name"]).click()
        details = page.get_by_role("button", name="Menu").last
        await details.click()
        await page.get_by_text("Details").first.click()
        await expect(page.get_by_text("Attributes", exact=True)).to_be_visible()
        await page.screenshot(path=folder / "device-paused-why.png")


async def test_screens_of_what_is_missing(
    page: Page, backend: Backend, model: ModelServer, folder: Path
) -> None:
    await add_waiting_agent(backend, model)
    await page.goto("/config/repairs")
    await page.get_by_text("waits for").click()
    await Dialog(page).says("binary_sensor")
    await page.screenshot(path=folder / "repair.png")
    integration = IntegrationPage(page)
    await integration.open()
    dialog = await integration.press(HEARTBEAT["initiate_flow"]["reconfigure"])
    await dialog.is_at(CHANGE["title"])
    await page.screenshot(path=folder / "heartbeat-change.png")
    await dialog.press("Submit")
    await expect(dialog.here).to_contain_text("binary_sensor")
    await page.screenshot(path=folder / "heartbeat-change-missing.png")


async def test_screens_of_a_repair(
    page: Page,
    backend: Backend,
    slow_model: LlmServer,
    folder: Path,
    foreseen: list[str],
) -> None:
    foreseen.append(NO_MODEL_SAID)
    await add_failing_agent(backend, slow_model)
    dialog = await open_issue(page, "model_not_found", "init", heartbeat="Milonga")
    await dialog.says(NO_MODEL_SAID)
    await page.screenshot(path=folder / "repair-model.png")
    held = Held(text("Nothing to do."))
    slow_model.play(held)
    await way(dialog, "model_not_found", "try_again").click()
    await dialog.says("You can close this dialog")
    await page.screenshot(path=folder / "repair-trying.png")
    held.release.set()
    await dialog.says("It works again.")
    await page.screenshot(path=folder / "repair-works.png")
    await dialog.leave_by("Finish")
    await page.goto("/config/repairs?dialog=system-health")
    await expect(page.locator("dialog-system-information")).to_contain_text("ok")
    health = page.get_by_text(TEXTS["system_health"]["info"]["tokens_today"])
    await health.scroll_into_view_if_needed()
    await page.screenshot(path=folder / "system-health.png")


async def _picture(
    page: Page, part: Locator, path: Path, *, until: Locator | None = None
) -> None:
    """Take a part of the page, down to `until`, in few colours: it has to load fast."""
    box = await part.bounding_box()
    assert box
    clip = {**box}
    if until and (end := await until.bounding_box()):
        clip["height"] = end["y"] + end["height"] + MARGIN - box["y"]
    await page.screenshot(path=path, clip=clip, animations="disabled")
    with Image.open(path) as taken:
        small = taken.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    small.save(path, optimize=True)

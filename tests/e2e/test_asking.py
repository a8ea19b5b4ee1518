"""A heartbeat asks before it opens a door, and its owner answers on its page."""

from typing import Any, Final

from playwright.async_api import Page, expect
import pytest

from demo_house.agent import heartbeat_answers
from demo_house.flows import add_endpoint, add_heartbeat
from demo_house.house import FRONT_DOOR
from tests.support.llm_server import LlmServer, calls, text

from .backend import Backend
from .pages import ENTITY, TEXTS, DevicePage, toast

pytestmark = pytest.mark.asyncio(loop_scope="session")

PENDING: Final = ENTITY["sensor"]["pending_approval"]["name"]
WANTED: Final = "Unlock lock (Front door)"
BECAUSE: Final = "Milonga is back from her walk and waits outside."


async def add_asking_agent(backend: Backend, model: LlmServer) -> None:
    """Add a heartbeat that will want to let Milonga in; the door is locked."""
    house = backend.house
    await house.socket.act("lock.lock", FRONT_DOOR)
    await backend.until_state(FRONT_DOOR, "locked")
    answers: dict[str, Any] = heartbeat_answers(3600)
    answers["ask"] = {"entity_id": [FRONT_DOOR]}
    model.play(text("Ready."))
    endpoint = await add_endpoint(
        house.api, {"url": model.url, "model": model.models[0]}
    )
    await add_heartbeat(house.api, endpoint, answers)
    await backend.until_state("sensor.milonga_status", "asleep")
    wanted = {"entity_id": FRONT_DOOR, "because": BECAUSE}
    model.play(calls(("lock_unlock", wanted)), text("I have asked."))


async def let_it_ask(page: Page, backend: Backend) -> DevicePage:
    """Wake it on its page, and wait for its question."""
    device = DevicePage(page)
    await page.goto(await backend.device_path())
    await device.check_now()
    await expect(device.row(PENDING)).to_contain_text(WANTED)
    await device.shows("sensor", "status", "waiting")
    return device


async def test_a_yes_on_its_page_opens_the_door_and_the_page_tells_of_it(
    page: Page, backend: Backend, slow_model: LlmServer
) -> None:
    await add_asking_agent(backend, slow_model)
    device = await let_it_ask(page, backend)
    asked = f"asked whether it may do this: {WANTED}"
    await expect(device.activity).to_contain_text(asked)
    (message,) = await backend.notifications()
    assert message.startswith(
        f"Milonga asks for your yes: {WANTED}. Because: {BECAUSE}"
    )

    await device.press("approve")
    await backend.until_state(FRONT_DOOR, "unlocked")
    await expect(device.row(PENDING)).to_contain_text("None")
    await device.shows("sensor", "status", "asleep")
    await expect(device.activity).to_contain_text(
        f"got a yes from Milonga's owner: {WANTED}"
    )
    done = f"Done after your yes: {WANTED}."
    told = f"unlocked Front door, and told you: “{done}”"
    await expect(device.activity).to_contain_text(told)
    assert await backend.until(backend.notifications, "a message") == [done]

    await device.press("approve")
    nothing = TEXTS["exceptions"]["nothing_pending"]["message"]
    await expect(toast(page, nothing.format(heartbeat="Milonga"))).to_be_visible()

    await page.goto(f"/logbook?entity_id={FRONT_DOOR}")
    story = page.locator("ha-logbook")
    await expect(story).to_contain_text("Unlocked")
    await expect(story).to_contain_text("Via Milonga")


async def test_a_no_on_its_page_leaves_the_door_locked(
    page: Page, backend: Backend, slow_model: LlmServer
) -> None:
    await add_asking_agent(backend, slow_model)
    device = await let_it_ask(page, backend)
    await device.press("reject")
    await expect(device.row(PENDING)).to_contain_text("None")
    await expect(device.activity).to_contain_text(
        f"got a no from Milonga's owner: {WANTED}"
    )
    assert (await backend.state(FRONT_DOOR))["state"] == "locked"
    assert await backend.notifications() == []

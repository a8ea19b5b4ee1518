"""A whole story: it wakes, acts, asks, gets its yes, does it, and stops."""

from typing import Any, Final

from playwright.async_api import Page, expect

from demo_house.agent import heartbeat_answers
from demo_house.flows import add_endpoint, add_heartbeat
from demo_house.house import FRONT_DOOR, HUNGER
from tests.support.llm_server import LlmServer, calls, text

from .backend import Backend
from .pages import ENTITY, DevicePage

PENDING: Final = ENTITY["sensor"]["pending_approval"]["name"]
BECAUSE: Final = "Milonga is back from her walk and waits outside."
FED: Final = "Milonga was down to one heart and had a meal."
HOME: Final = "Her owner is home and takes over."


async def add_telling_agent(backend: Backend, model: LlmServer) -> None:
    """Add a heartbeat that ticks fast and may do all there is; the door is locked."""
    house = backend.house
    await house.socket.act("lock.lock", FRONT_DOOR)
    await backend.until_state(FRONT_DOOR, "locked")
    answers: dict[str, Any] = heartbeat_answers(2)
    answers["ask"] = {"entity_id": [FRONT_DOOR]}
    answers["manners"] = {"may_stop": True}
    model.play(text("Ready."))
    endpoint = await add_endpoint(
        house.api, {"url": model.url, "model": model.models[0]}
    )
    await add_heartbeat(house.api, endpoint, answers)
    await backend.until(backend.devices, "the heartbeat's device")


async def live_a_story(page: Page, backend: Backend, model: LlmServer) -> DevicePage:
    """Let it happen on the page of the heartbeat."""
    device = DevicePage(page)
    await page.goto(await backend.device_path())
    await device.shows("sensor", "status", "asleep")
    unlock = {"entity_id": FRONT_DOOR, "because": BECAUSE}
    model.play(
        calls(("feed", {"food": "meal"}), ("lock_unlock", unlock)),
        calls(("tell_owner", {"message": FED})),
        text("Done."),
    )
    await backend.house.socket.act("input_number.set_value", HUNGER, value=1)
    await device.shows("sensor", "status", "waiting")
    await device.press("approve")
    await backend.until_state(FRONT_DOOR, "unlocked")
    await device.shows("sensor", "status", "asleep")
    model.play(calls(("stop_heartbeat", {"reason": HOME})), text("Bye."))
    await device.check_now()
    await device.shows("sensor", "status", "off")
    await expect(device.switch).not_to_be_checked()
    return device

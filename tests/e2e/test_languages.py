"""The dialogs and the page of a heartbeat on a phone, in the language of the home.

None of the integration's English is left on them, and no word is cut off.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from copy import deepcopy
from typing import Any, Final

from playwright.async_api import Browser, Locator, Page, expect
import pytest
import pytest_asyncio

from demo_house.agent import heartbeat_answers
from demo_house.errors import DemoError
from demo_house.flows import DOMAIN, add_endpoint, add_heartbeat
from demo_house.house import FRONT_DOOR
from demo_house.model_server import ModelServer
from demo_house.running import House
from tests.support.llm_server import LlmServer, calls, text

from .backend import Backend
from .browser import open_page
from .languages import Language, read
from .pages import DevicePage, Dialog, IntegrationPage, settled

pytestmark = pytest.mark.asyncio(loop_scope="session")

type Json = Mapping[str, Any]

PHONE: Final = 390  # pixels
DIALOG: Final = "dialog-data-entry-flow"
DEVICE: Final = "ha-config-device-page"
LOGBOOK: Final = "ha-panel-logbook"
INTEGRATION: Final = "ha-config-integration-page"


@pytest_asyncio.fixture(loop_scope="session", params=["de", "fr"])
async def language(
    request: pytest.FixtureRequest, house: House, foreseen: list[str]
) -> AsyncIterator[Language]:
    """Let home and owner speak another language for one walk."""
    # Home Assistant looks for the texts of each platform of a custom integration, too.
    foreseen.append("Invalid domain proactive_agent.")
    spoken = Language(request.param)
    await speak(house, spoken.code)
    yield spoken
    await speak(house, "en")


async def speak(house: House, code: str) -> None:
    """Set the language of the home, and that of its owner's profile."""
    await house.socket.command("config/core/update", language=code)
    await house.socket.command(
        "frontend/set_user_data", key="language", value={"language": code}
    )


@pytest_asyncio.fixture(loop_scope="session")
async def phone(
    browser: Browser, backend: Backend, language: Language
) -> AsyncIterator[Page]:
    """A window as narrow as a phone's, logged in."""
    async with open_page(browser, backend.house, width=PHONE) as opened:
        yield opened


async def check(
    page: Page,
    backend: Backend,
    element: str,
    language: Language,
    texts: Json,
) -> list[str]:
    """See that all these texts are there, none in English; returns what is cut."""

    async def is_complete() -> bool:
        said, _cut = await read(page, element)
        return not language.missing_in(said, texts)

    # What is missing is shown better below.
    with suppress(DemoError):
        await backend.until(is_complete, "the texts")
    said, cut = await read(page, element)
    assert language.missing_in(said, texts) == []
    assert language.english_in(said) == []
    return cut


def onward(dialog: Dialog) -> Locator:
    """Find the button that ends the step, whatever its language calls it."""
    return dialog.here.locator("ha-dialog-footer ha-button").last


def form_of(step: Json) -> dict[str, Any]:
    """Return what can be seen of a heartbeat's form."""
    shown = deepcopy(dict(step))
    # Home Assistant has no room for it beside the editor of conditions.
    del shown["data_description"]["conditions"]
    return shown


async def unfold(dialog: Dialog, step: Json) -> None:
    """Open the sections of a heartbeat's form."""
    for section in step["sections"].values():
        heading = dialog.here.get_by_role("button", name=section["name"], exact=True)
        await heading.click()
        last = list(section["data_description"].values())[-1]
        await expect(dialog.here.get_by_text(last)).to_be_visible()


async def test_both_dialogs_speak_the_language_of_the_home(
    phone: Page, backend: Backend, language: Language, model: ModelServer
) -> None:
    config = language.texts["config"]
    steps = config["step"]
    heartbeat = language.texts["config_subentries"]["heartbeat"]
    new, change = (heartbeat["step"][step] for step in ("user", "reconfigure"))

    await phone.goto(f"/config/integrations/dashboard/add?domain={DOMAIN}")
    await phone.locator("dialog-box").get_by_role("button", name="OK").click()
    dialog = Dialog(phone)
    await dialog.is_at(steps["user"]["title"])
    assert not await check(phone, backend, DIALOG, language, steps["user"])
    option = steps["user"]["menu_options"]["server"]
    await dialog.here.get_by_text(option, exact=True).click()
    await dialog.is_at(steps["server"]["title"])
    assert not await check(phone, backend, DIALOG, language, steps["server"])

    address = dialog.text(steps["server"]["data"]["url"])
    await address.fill("127.0.0.1:9")
    await onward(dialog).click()
    await expect(dialog.alert()).to_be_visible()
    sentences = language.texts["selector"]["message"]["options"]
    unreachable = {"error": sentences["error_connection"]}
    assert not await check(
        phone, backend, DIALOG, language, steps["server"] | unreachable
    )

    await address.fill(model.url)
    await onward(dialog).click()
    await dialog.is_at(steps["model"]["title"])
    assert not await check(phone, backend, DIALOG, language, steps["model"])
    await onward(dialog).click()
    await dialog.is_at(new["title"])
    await unfold(dialog, new)
    assert not await check(phone, backend, DIALOG, language, form_of(new))

    await dialog.text(new["data"]["name"]).fill("Milonga")
    await dialog.text(new["data"]["check_prompt"]).fill("Sieh nach Milonga.")
    await onward(dialog).click()
    await dialog.says(heartbeat["create_entry"]["default"])
    said = {"default": heartbeat["create_entry"]["default"]}
    assert not await check(phone, backend, DIALOG, language, said)
    await onward(dialog).click()
    await expect(dialog.here).to_be_hidden()
    await settled(phone)

    integration = IntegrationPage(phone)
    await integration.open()
    await expect(integration.heartbeat).to_contain_text("Milonga")
    shown = {
        "entry_type": heartbeat["entry_type"],
        "add": heartbeat["initiate_flow"]["user"],
        "model": config["initiate_flow"]["user"],
    }
    assert not await check(phone, backend, INTEGRATION, language, shown)
    await integration.press(heartbeat["initiate_flow"]["reconfigure"])
    await dialog.is_at(change["title"])
    await unfold(dialog, change)
    assert not await check(phone, backend, DIALOG, language, form_of(change))


async def test_the_page_of_a_heartbeat_speaks_the_language_of_the_home(
    phone: Page, backend: Backend, language: Language, slow_model: LlmServer
) -> None:
    entity = language.texts["entity"]
    sentences = language.texts["selector"]["message"]["options"]
    states = entity["sensor"]["status"]["state"]
    await add_asking_agent(backend, slow_model)
    device = DevicePage(phone)
    await phone.goto(await backend.device_path())
    status = device.row(entity["sensor"]["status"]["name"])
    await expect(status).to_contain_text(states["asleep"])

    assert not await check(phone, backend, DEVICE, language, names_of(entity))

    await press(device, entity["button"]["check_now"]["name"])
    await expect(status).to_contain_text(states["waiting"])
    outcome = entity["sensor"]["last_outcome"]["state"]["waiting"]
    last = device.row(entity["sensor"]["last_outcome"]["name"])
    await expect(last).to_contain_text(outcome)
    # Names are cut from here on, and not by us: Home Assistant favours a long state.
    await check(phone, backend, DEVICE, language, {"state": outcome})
    (message,) = await backend.notifications()
    assert language.english_in([message]) == []
    assert message.startswith(sentences["asks"].split("{")[0])

    await press(device, entity["button"]["approve"]["name"])
    await backend.until_state(FRONT_DOOR, "unlocked")
    await expect(status).to_contain_text(states["asleep"])
    await phone.goto(f"/logbook?device_id={(await backend.devices())[0]['id']}")
    told = {
        key: sentences[key]
        for key in ("logbook_asked_because", "logbook_answered_approved")
    }
    for sentence in told.values():
        opening = sentence.split("{")[0].strip()
        await expect(phone.locator("ha-logbook")).to_contain_text(opening)
    await check(phone, backend, LOGBOOK, language, told)


def names_of(entity: Json) -> dict[str, str]:
    """Return the names of the entities that are on at first."""
    return {
        key: one["name"]
        for platform in entity.values()
        for key, one in platform.items()
        if key != "ticks_used"
    }


async def press(device: DevicePage, name: str) -> None:
    """Press the button of that name."""
    await device.row(name).get_by_role("button").last.click()


async def add_asking_agent(backend: Backend, model: LlmServer) -> None:
    """Add a heartbeat that will ask whether it may let Milonga in."""
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
    await backend.until(backend.devices, "the heartbeat's device")
    wanted = {"entity_id": FRONT_DOOR, "because": "Milonga."}
    model.play(calls(("lock_unlock", wanted)), text("Milonga."))

"""The pages and dialogs that an owner meets, by the words that stand on them."""

import json
from pathlib import Path
import re
from typing import Any, Final

from playwright.async_api import Locator, Page, expect

from demo_house.flows import DOMAIN
from demo_house.house import INTEGRATION

TEXTS: Final[dict[str, Any]] = json.loads(
    Path(INTEGRATION, "translations", "en.json").read_text()
)
CONFIG: Final = TEXTS["config"]
MENU: Final = TEXTS["config"]["step"]["user"]
SERVER: Final = TEXTS["config"]["step"]["server"]
MODEL: Final = TEXTS["config"]["step"]["model"]
HEARTBEAT: Final = TEXTS["config_subentries"]["heartbeat"]
NEW: Final = HEARTBEAT["step"]["user"]
CHANGE: Final = HEARTBEAT["step"]["reconfigure"]
ENTITY: Final = TEXTS["entity"]


class Dialog:
    """The dialog of a flow, whatever step it is at."""

    def __init__(self, page: Page) -> None:
        """Look for it on this page."""
        self.page = page
        self.here = page.locator("dialog-data-entry-flow")

    async def is_at(self, title: str) -> None:
        """Wait for the step of that title."""
        await expect(self.here.get_by_text(title, exact=True)).to_be_visible()

    async def take(self, option: str) -> None:
        """Choose from the menu."""
        await self.here.get_by_text(MENU["menu_options"][option], exact=True).click()

    async def press(self, button: str) -> None:
        """Press a button at the dialog's foot."""
        await (
            self.here.locator("ha-dialog-footer")
            .get_by_role("button", name=button)
            .click()
        )

    async def leave_by(self, button: str) -> None:
        """Press a button that ends the dialog: at its foot, or the cross."""
        await self.here.get_by_role("button", name=button).last.click()
        await expect(self.here).to_be_hidden()
        await settled(self.page)

    def text(self, label: str) -> Locator:
        """Find a text field."""
        return self.here.get_by_role("textbox", name=label)

    async def says(self, text: str) -> None:
        """Wait until something is said in it."""
        await expect(self.here).to_contain_text(text)

    async def pick_entity(self, name: str) -> None:
        """Choose an entity in the dialog's only picker."""
        picker = self.here.locator("ha-entity-picker")
        await picker.get_by_role("button").first.click()
        await self._pick(name)

    def alert(self) -> Locator:
        """Find what the dialog complains of."""
        return self.here.locator("ha-alert")

    async def choose(self, label: str, option: str) -> None:
        """Choose one from a list."""
        await self.here.get_by_role("button", name=label).click()
        await self.page.get_by_role("option", name=option).click()

    def field(self, kind: str, label: str) -> Locator:
        """Find a field by its selector's element and its label."""
        # A label of what is required ends with a star.
        words = re.compile(rf"^{re.escape(label)}\s*\*?$")
        return self.here.locator(kind).filter(has=self.page.get_by_text(words))

    async def add_target(self, label: str, entity: str) -> None:
        """Add an entity to a target, by its name."""
        target = self.field("ha-selector-target", label)
        await target.get_by_role("button", name="Add target").click()
        await self._pick(entity)
        await expect(target.get_by_role("listitem")).to_contain_text([entity])

    async def add_choice(self, label: str, option: str) -> None:
        """Add one to a choice of several."""
        choice = self.field("ha-selector-select", label)
        await choice.get_by_role("button", name="Add").click()
        await self._pick(option)
        await expect(choice).to_contain_text(option)

    async def add_numeric_state(self, entity: str, *, below: str) -> None:
        """Add a condition through the condition editor."""
        editor = self.here.locator("ha-selector-condition")
        await editor.get_by_role("button", name="Add condition").click()
        kinds = self.page.locator("add-automation-element-dialog")
        await kinds.get_by_placeholder("Search").fill("numeric state")
        await kinds.get_by_role("button", name="Numeric state").click()
        await editor.get_by_role("button", name="Select an entity").click()
        await self._pick(entity)
        # Once in its field and once in the heading: what is typed earlier is lost.
        await expect(editor.get_by_text(entity, exact=True)).to_have_count(2)
        await editor.get_by_role("spinbutton", name="Below").fill(below)
        await expect(editor).to_contain_text(f"Numeric state is below {below}")

    async def _pick(self, name: str) -> None:
        picker = self.page.locator("ha-picker-combo-box")
        await picker.get_by_placeholder("Search").fill(name)
        await picker.get_by_role("option", name=name).first.click()


class IntegrationPage:
    """The integration's own page, with its servers and heartbeats."""

    def __init__(self, page: Page) -> None:
        """Look for it on this page."""
        self.page = page
        self.here = page.locator("ha-config-integration-page")
        self.entry = self.here.locator("ha-config-entry-row")
        self.heartbeat = self.here.locator("ha-config-sub-entry-row")

    async def open(self) -> None:
        """Go there."""
        await self.page.goto(f"/config/integrations/integration/{DOMAIN}")

    async def press(self, button: str) -> Dialog:
        """Press a button that opens a dialog of a flow."""
        await self.here.get_by_role("button", name=button).first.click()
        return Dialog(self.page)

    async def menu(self, row: Locator, item: str) -> None:
        """Choose from the three dots of a row."""
        await row.get_by_role("button", name="Menu").first.click()
        await row.get_by_role("menuitem", name=item, exact=True).click()

    async def confirm(self, button: str) -> None:
        """Answer Home Assistant's question."""
        box = self.page.locator("dialog-box")
        await box.get_by_role("button", name=button, exact=True).click()
        await expect(box).to_be_hidden()
        await settled(self.page)


class DevicePage:
    """The page of a heartbeat's device."""

    def __init__(self, page: Page) -> None:
        """Look for it on this page."""
        self.page = page
        self.here = page.locator("ha-config-device-page")
        self.switch = self.here.get_by_role(
            "switch", name=ENTITY["switch"]["heartbeat"]["name"]
        )
        self.activity = self.here.locator("ha-logbook")

    def row(self, name: str) -> Locator:
        """Find the row of an entity."""
        return self.here.locator("hui-generic-entity-row").filter(
            has=self.page.get_by_text(name, exact=True)
        )

    async def shows(self, platform: str, key: str, state: str) -> None:
        """Wait until an entity shows a state of its translations."""
        words = ENTITY[platform][key]
        await expect(self.row(words["name"])).to_contain_text(words["state"][state])

    async def check_now(self) -> None:
        """Press the button that wakes it."""
        await self.press("check_now")

    async def press(self, key: str) -> None:
        """Press one of its buttons."""
        row = self.row(ENTITY["button"][key]["name"])
        await row.get_by_role("button", name="Press", exact=True).click()

    async def flip(self) -> None:
        """Click the switch."""
        # What is drawn of it lies above the element that has its role.
        await self.switch.click(force=True)


async def settled(page: Page) -> None:
    """Wait until a closed dialog has gone back the step it took in the history."""
    await page.wait_for_function("!history.state?.dialog")


def toast(page: Page, text: str) -> Locator:
    """Find what is said at the foot of the page, there and for screen readers."""
    return page.get_by_text(text, exact=True).first


async def add_integration(page: Page) -> Dialog:
    """Follow the link that a readme gives, and choose a server."""
    dialog = await open_menu(page)
    await dialog.take("server")
    await dialog.is_at(SERVER["title"])
    return dialog


async def open_menu(page: Page) -> Dialog:
    """Follow the link that a readme gives, into the first dialog."""
    await page.goto(f"/config/integrations/dashboard/add?domain={DOMAIN}")
    await page.locator("dialog-box").get_by_role("button", name="OK").click()
    dialog = Dialog(page)
    await dialog.is_at(MENU["title"])
    return dialog

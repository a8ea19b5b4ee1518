"""The automation editor, by the words that stand in it."""

import re
from typing import Any, Final

from playwright.async_api import Page, expect

from .backend import Backend
from .pages import TEXTS

TRIGGERS: Final[dict[str, Any]] = TEXTS["triggers"]
CONDITIONS: Final[dict[str, Any]] = TEXTS["conditions"]
NOTIFY: Final = "Create persistent notification"

SAVED: Final = re.compile(r"/config/automation/edit/\d+")


class AutomationEditor:
    """The page on which an automation is made."""

    def __init__(self, page: Page) -> None:
        """Look for it on this page."""
        self.page = page
        self.here = page.locator("ha-automation-editor")
        self.sidebar = page.locator("ha-automation-sidebar")

    async def open(self) -> None:
        """Begin a new automation."""
        await self.page.goto("/config/automation/edit/new")

    async def add(self, what: str, name: str) -> None:
        """Add a trigger, a condition or an action, found by a word of its name."""
        button = self.here.get_by_role("button", name=f"Add {what}", exact=True)
        await button.first.click()
        dialog = self.page.locator("add-automation-element-dialog")
        await dialog.get_by_placeholder("Search").fill(name)
        await dialog.get_by_text(name).first.click()
        await expect(dialog).to_be_hidden()
        await expect(self.sidebar).to_contain_text(name)

    async def choose_target(self, name: str) -> None:
        """Choose a device as the target of what was added last."""
        await self.sidebar.get_by_role("button", name="Add target").click()
        picker = self.page.locator("ha-picker-combo-box")
        await picker.get_by_role("option", name=f"{name} Proactive Agent").click()
        target = self.sidebar.get_by_role("listitem").filter(has_text=name)
        await expect(target).to_contain_text("entit")

    async def write_message(self, message: str) -> None:
        """Fill in the first field of what was added last."""
        await self.sidebar.get_by_role("textbox").first.fill(message)

    async def save(self, name: str) -> None:
        """Save under a name."""
        await self.here.get_by_role("button", name="Save", exact=True).click()
        dialog = self.page.locator("ha-dialog-automation-save, dialog-automation-save")
        await dialog.get_by_role("textbox", name="Name").fill(name)
        await dialog.get_by_role("button", name="Save", exact=True).click()
        await expect(dialog).to_be_hidden()
        # Home Assistant goes on to the page of what was saved by itself.
        await self.page.wait_for_url(SAVED)


async def automations(backend: Backend) -> dict[str, str]:
    """Return the automations that were made in the editor: their entities' ids."""
    registry = await backend.house.socket.command("config/entity_registry/list")
    return {
        one["unique_id"]: one["entity_id"]
        for one in registry
        if one["platform"] == "automation" and one["unique_id"].isdecimal()
    }


async def delete_automations(backend: Backend) -> None:
    """Delete them as the editor's menu does."""
    for unique_id in await automations(backend):
        await backend.house.api._request(
            "DELETE", f"/api/config/automation/config/{unique_id}"
        )

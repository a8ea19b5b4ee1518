"""Notifiers of a test: notify entities, phones with the app, and what is kept.

Import the fixture `kept` in a test module.
"""

from typing import override

from homeassistant.components import persistent_notification
from homeassistant.components.notify import NotifyEntity, NotifyEntityFeature
from homeassistant.components.notify.const import DATA_COMPONENT
from homeassistant.components.persistent_notification import Notification, UpdateType
from homeassistant.core import Context, HomeAssistant, ServiceCall, callback
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    MockEntityPlatform,
    async_mock_service,
)


class Phone(NotifyEntity):
    """A notify entity that writes down what it was given."""

    _attr_should_poll = False

    def __init__(
        self,
        object_id: str,
        *,
        takes_title: bool = False,
        available: bool = True,
        error: Exception | None = None,
    ) -> None:
        self.entity_id = f"notify.{object_id}"
        self.heard: list[tuple[str, str | None]] = []
        self.contexts: list[Context | None] = []
        self._error = error
        self._attr_unique_id = object_id
        self._attr_name = object_id
        self._attr_available = available
        if takes_title:
            self._attr_supported_features = NotifyEntityFeature.TITLE

    @override
    async def async_send_message(self, message: str, title: str | None = None) -> None:
        self.contexts.append(self._context)
        if self._error is not None:
            raise self._error
        self.heard.append((message, title))


async def plug_in(hass: HomeAssistant, *phones: Phone) -> None:
    assert await async_setup_component(hass, "notify", {})
    await hass.data[DATA_COMPONENT].async_add_entities(phones)
    await hass.async_block_till_done()


async def plug_in_app(
    hass: HomeAssistant, entity: Phone, device_name: str, *, user_id: str = "owner"
) -> MockConfigEntry:
    """Add the entity of a phone on which a user has set up the app."""
    assert await async_setup_component(hass, "notify", {})
    entry = MockConfigEntry(
        domain="mobile_app",
        title=device_name,
        data={"device_name": device_name, "user_id": user_id},
    )
    entry.add_to_hass(hass)
    platform = MockEntityPlatform(hass, domain="notify", platform_name="mobile_app")
    platform.config_entry = entry
    await platform.async_add_entities([entity])
    return entry


@callback
def hear(hass: HomeAssistant, action: str) -> list[ServiceCall]:
    """Register a notify action that writes down its calls."""
    calls: list[ServiceCall] = async_mock_service(hass, "notify", action)
    return calls


@pytest.fixture
def kept(hass: HomeAssistant) -> dict[str, Notification]:
    """The persistent notifications that are shown, by their ids."""
    notifications: dict[str, Notification] = {}

    @callback
    def note(update: UpdateType, changed: dict[str, Notification]) -> None:
        if update is not UpdateType.REMOVED:
            notifications.update(changed)
            return
        for notification_id in changed:
            del notifications[notification_id]

    persistent_notification.async_register_callback(hass, note)
    return notifications

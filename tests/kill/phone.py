"""The owner's phone: the app's side of Home Assistant's Mobile App integration."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from demo_house.hass_api import HassApi

TAPPED = "mobile_app_notification_action"


@dataclass(frozen=True, slots=True, kw_only=True)
class Phone:
    """A registered phone; `notifier` is the action that reaches it."""

    name: str
    webhook_id: str

    @property
    def notifier(self) -> str:
        return f"notify.mobile_app_{self.name.lower()}"

    @classmethod
    async def register(
        cls, api: HassApi, name: str, app_data: Mapping[str, Any]
    ) -> Self:
        """Sign in with the app, as the user of the token."""
        answer = await api.post(
            "/api/mobile_app/registrations",
            {
                "app_id": "io.example.app",
                "app_name": "App",
                "app_version": "1.0",
                "device_id": name.lower(),
                "device_name": name,
                "manufacturer": "Nobody",
                "model": "One",
                "os_name": "Android",
                "os_version": "16",
                "supports_encryption": False,
                "app_data": dict(app_data),
            },
        )
        return cls(name=name, webhook_id=answer["webhook_id"])

    async def unregister(self, api: HassApi) -> None:
        """Sign out: Home Assistant knows the phone no more."""
        entries = await api.get("/api/config/config_entries/entry?domain=mobile_app")
        (entry_id,) = (one["entry_id"] for one in entries if one["title"] == self.name)
        await api.delete(f"/api/config/config_entries/entry/{entry_id}")

    async def tap(self, api: HassApi, action: str) -> None:
        """Send back what a button of a notification stands for."""
        # The app knows the webhook, and needs no token for it.
        await api.post(
            f"/api/webhook/{self.webhook_id}",
            {
                "type": "fire_event",
                "data": {"event_type": TAPPED, "event_data": {"action": action}},
            },
        )

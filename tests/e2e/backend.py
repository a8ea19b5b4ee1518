"""What is behind the pages: registries, states and what is stored."""

from collections.abc import Awaitable, Callable
import json
from typing import Any, Final

from demo_house.flows import DOMAIN
from demo_house.running import House

SECONDS: Final = 15
ENTRIES: Final = "/api/config/config_entries/entry"


class Backend:
    """Asks Home Assistant over REST and the WebSocket."""

    def __init__(self, house: House) -> None:
        """Look behind the pages of this house."""
        self.house = house

    async def entry_ids(self) -> list[str]:
        """Return the entries of the integration."""
        entries = await self.house.api.get(f"{ENTRIES}?domain={DOMAIN}")
        return [entry["entry_id"] for entry in entries]

    async def delete_entry(self, entry_id: str) -> None:
        """Delete an entry as the page's menu does."""
        await self.house.api._request("DELETE", f"{ENTRIES}/{entry_id}")

    async def stored(self) -> dict[str, Any]:
        """Return the only entry as it is stored; empty until it is."""
        # Nothing answers with it: the file is written a second after a change.
        path = self.house.config_dir / ".storage" / "core.config_entries"
        entries = json.loads(path.read_text())["data"]["entries"]
        (entry_id,) = await self.entry_ids()
        return next((one for one in entries if one["entry_id"] == entry_id), {})

    async def stored_heartbeat(self) -> dict[str, Any]:
        """Return the data of the only heartbeat as it is stored; empty until it is."""
        for subentry in (await self.stored()).get("subentries", ()):
            found: dict[str, Any] = subentry["data"]
            return found
        return {}

    async def subentries(self) -> list[dict[str, Any]]:
        """Return the heartbeats there are now."""
        return [
            subentry
            for entry_id in await self.entry_ids()
            for subentry in await self.house.socket.command(
                "config_entries/subentries/list", entry_id=entry_id
            )
        ]

    async def devices(self) -> list[dict[str, Any]]:
        """Return the heartbeats' devices."""
        devices = await self.house.socket.command("config/device_registry/list")
        return [
            device
            for device in devices
            if any(domain == DOMAIN for domain, _ in device["identifiers"])
        ]

    async def device_path(self) -> str:
        """Return the path of the only heartbeat's page."""
        (device,) = await self.until(self.devices, "the heartbeat's device")
        return f"/config/devices/device/{device['id']}"

    async def entity_ids(self) -> list[str]:
        """Return what is registered of the integration's entities."""
        registry = await self.house.socket.command("config/entity_registry/list")
        return [one["entity_id"] for one in registry if one["platform"] == DOMAIN]

    async def state(self, entity_id: str) -> dict[str, Any]:
        """Return a state; empty if there is none."""
        states = await self.house.api.get("/api/states")
        return next((one for one in states if one["entity_id"] == entity_id), {})

    async def notifications(self) -> list[str]:
        """Return the messages that wait for the owner."""
        waiting = await self.house.socket.command("persistent_notification/get")
        return [one["message"] for one in waiting]

    async def issues(self) -> list[dict[str, Any]]:
        """Return the integration's repair issues."""
        answer = await self.house.socket.command("repairs/list_issues")
        return [one for one in answer["issues"] if one["domain"] == DOMAIN]

    async def until[T](self, ask: Callable[[], Awaitable[T]], what: str) -> T:
        """Ask until the answer is not empty; raises `DemoError`."""

        async def probe() -> T | None:
            return await ask() or None

        return await self.house.process.until(probe, seconds=SECONDS, what=what)

    async def until_state(self, entity_id: str, state: str) -> None:
        """Wait for a state; raises `DemoError`."""

        async def is_there() -> bool:
            return (await self.state(entity_id)).get("state") == state

        await self.until(is_there, f"{entity_id} {state}")

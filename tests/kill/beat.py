"""A heartbeat as its owner knows it, and the file in which its requests are kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from demo_house.flows import DOMAIN, add_endpoint, add_heartbeat

from .home import lock_of
from .house import KilledHouse
from .mind import Mind
from .phone import Phone


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """A heartbeat on an endpoint of its own, so with a file of its own."""

    house: KilledHouse
    name: str
    entry_id: str

    @property
    def title(self) -> str:
        """What its messages are headed with."""
        return self.name.capitalize()

    @property
    def switch(self) -> str:
        return f"switch.{self.name}_heartbeat"

    @classmethod
    async def add(
        cls,
        house: KilledHouse,
        mind: Mind,
        phone: Phone,
        *doors: str,
        manners: Mapping[str, Any] | None = None,
    ) -> Beat:
        """Set one up by the dialogs; it is named after the first of its doors."""
        name, locks = doors[0], [lock_of(door) for door in doors]
        mind.know(name)
        endpoint = await add_endpoint(house.api, {"url": mind.url, "model": name})
        answers = {
            "name": name.capitalize(),
            "check_prompt": f"Unlock {' and '.join(locks)}.",
            "interval": {"hours": 24},
            "act": {"entity_id": locks},
            "notify": [phone.notifier],
            "manners": dict(manners or {}),
        }
        await add_heartbeat(house.api, endpoint, answers)
        beat = cls(house=house, name=name, entry_id=endpoint["result"]["entry_id"])
        await house.until(beat.is_asleep, f"the heartbeat {name}")
        return beat

    async def remove(self) -> None:
        """Delete it, and its endpoint."""
        await self.house.delete_entry(self.entry_id)

    async def is_asleep(self) -> bool:
        return await self.show("status") == "asleep"

    async def show(self, sensor: str) -> str | None:
        """Return what one of its sensors shows."""
        return await self.house.state(f"sensor.{self.name}_{sensor}")

    async def wake(self) -> Mapping[str, Any]:
        """Wake it; returns the record of the run."""
        answer = await self.house.api.post(
            f"/api/services/{DOMAIN}/wake?return_response", {"entity_id": self.switch}
        )
        record: Mapping[str, Any] = answer["service_response"][self.switch]
        return record

    def on_disk(self) -> list[dict[str, Any]]:
        """Return its requests as they are on disk, oldest first."""
        stored = self.house.stored(f"{DOMAIN}.{self.entry_id}") or {"heartbeats": {}}
        return [
            request
            for heartbeat in stored["heartbeats"].values()
            for request in heartbeat["approvals"]
        ]

    def statuses_on_disk(self) -> list[str]:
        """Return how its requests stand on disk, oldest first."""
        return [one["status"] for one in self.on_disk()]

    def is_on_on_disk(self) -> bool:
        """Say whether it is switched on, as far as the disk knows."""
        stored = self.house.stored(f"{DOMAIN}.{self.entry_id}")
        (heartbeat,) = stored["heartbeats"].values()
        return bool(heartbeat["on"])

    async def statuses(self) -> list[str]:
        """Return how its requests stand, as its diagnostics tell, oldest first."""
        found = await self.house.api.get(
            f"/api/diagnostics/config_entry/{self.entry_id}"
        )
        (heartbeat,) = found["data"]["heartbeats"]
        return [one["status"] for one in heartbeat["requests"]]

    async def answer(self, yes: bool, number: int = 0) -> Any:
        """Answer one of its requests by the action; raises `DemoError`."""
        action = f"{DOMAIN}.{'approve' if yes else 'reject'}"
        approval_id = self.on_disk()[number]["approval_id"]
        return await self.house.act(action, approval_id=approval_id)

    def expires(self, number: int = 0) -> datetime:
        """Return when one of its requests expires, as the disk has it."""
        return datetime.fromisoformat(self.on_disk()[number]["expires"])

"""The heartbeat in the demo's house, and how it is woken and asked."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from demo_house.flows import DOMAIN, add_endpoint, add_heartbeat
from demo_house.house import CALL_LIGHT
from demo_house.running import House

APPEARS_SECONDS: Final = 20
ENTRIES: Final = "/api/config/config_entries/entry"
# For a model that is too small to decide: it has to call, it is pushed towards the
# beginning of a call, and it has to come to an end.
PUSHED: Final[Mapping[str, Any]] = {
    "tool_choice": "required",
    "logit_bias": [["<tool_call>", 12]],
    "max_tokens": 64,
    "temperature": 0,
}
HEARTBEAT: Final[Mapping[str, Any]] = {
    "name": "Call light",
    "check_prompt": "Turn off the call light.",
    "interval": {"hours": 24},
    "fuses": {
        "run_timeout": 600,
        "max_turns": 2,
        "max_wakes_per_day": 0,
        "max_tokens_per_day": 0,
    },
}

type Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """A heartbeat on a real model."""

    house: House
    title: str
    switch: str

    async def wake(self) -> Json:
        """Wake it and return the run's record."""
        answer = await self.house.api.post(
            f"/api/services/{DOMAIN}/wake?return_response", {"entity_id": self.switch}
        )
        record: Json = answer["service_response"][self.switch]
        return record

    async def is_light_on(self) -> bool:
        """Say whether the light is on."""
        state = await self.house.api.get(f"/api/states/{CALL_LIGHT}")
        return bool(state["state"] == "on")


@asynccontextmanager
async def heartbeat_on(
    house: House, answers: Json, *more: str
) -> AsyncIterator[Heartbeat]:
    """Set one up by the dialogs, and take it away afterwards; raises `DemoError`.

    The light it is there for is on; `more` entities are in its hands too.
    """
    endpoint = await add_endpoint(house.api, answers)
    entry = endpoint["result"]
    try:
        act = {"entity_id": [CALL_LIGHT, *more]}
        await add_heartbeat(house.api, endpoint, {**HEARTBEAT, "act": act})
        switch = await house.process.until(
            lambda: _switch_of(house, entry["entry_id"]),
            seconds=APPEARS_SECONDS,
            what="the heartbeat's switch",
        )
        await house.socket.act("light.turn_on", CALL_LIGHT)
        yield Heartbeat(house=house, title=entry["title"], switch=switch)
    finally:
        await house.api.delete(f"{ENTRIES}/{entry['entry_id']}")


async def _switch_of(house: House, entry_id: str) -> str | None:
    for one in await house.socket.command("config/entity_registry/list"):
        entity_id: str = one["entity_id"]
        if one["config_entry_id"] == entry_id and entity_id.startswith("switch."):
            return entity_id
    return None

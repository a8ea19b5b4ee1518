"""Milonga's heartbeat: set up by the flows, found again by the registries."""

import asyncio
from dataclasses import dataclass
from typing import Any, Final

from .flows import DOMAIN, add_endpoint, add_heartbeat
from .house import HAPPY, HUNGER, IN_ITS_HANDS
from .model_server import ModelServer
from .running import House

NAME: Final = "Milonga"
CHECK_PROMPT: Final = (
    "Check on Milonga. Take care of whatever is low, put out her call light, "
    "then tell her owner in one line."
)
APPEARS_SECONDS: Final = 20
# Home Assistant reloads an entry by itself this long after an entity was enabled.
OWN_RELOAD_SECONDS: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """The heartbeat, by the ids that Home Assistant gave it."""

    entry_id: str
    device_id: str
    switch: str
    ticks_used: str


async def add_agent(house: House, model: ModelServer, *, interval: int) -> Agent:
    """Add the endpoint and its heartbeat; an interval is in seconds."""
    endpoint = await add_endpoint(house.api, endpoint_answers(model))
    await add_heartbeat(house.api, endpoint, heartbeat_answers(interval))
    return await _find(house, endpoint["result"]["entry_id"])


def endpoint_answers(model: ModelServer) -> dict[str, Any]:
    """Return what an owner would type for this model."""
    return {"url": model.url, "api_key": model.api_key, "model": model.model}


def heartbeat_answers(interval: int) -> dict[str, Any]:
    """Return what Milonga's owner has chosen, in shortened time."""
    low = [
        {"condition": "numeric_state", "entity_id": gauge, "below": 1.5}
        for gauge in (HUNGER, HAPPY)
    ]
    return {
        "name": NAME,
        "check_prompt": CHECK_PROMPT,
        "interval": {"seconds": interval},
        "conditions": [{"condition": "or", "conditions": low}],
        "look": {"entity_id": [HUNGER, HAPPY]},
        "act": {"entity_id": list(IN_ITS_HANDS)},
        # A day here has a wake every few minutes.
        "fuses": {"max_wakes_per_day": 0, "max_tokens_per_day": 0},
        "manners": {"recheck_after": {"seconds": 3 * interval}},
    }


async def count_ticks(house: House, agent: Agent) -> float:
    """Enable the sensor that counts ticks; it is off by default.

    It is there at once, but Home Assistant will reload the endpoint once more by
    itself; returns the loop's time of that.
    """
    await house.socket.command(
        "config/entity_registry/update", entity_id=agent.ticks_used, disabled_by=None
    )
    reloads_at = asyncio.get_running_loop().time() + OWN_RELOAD_SECONDS
    await house.api.post(f"/api/config/config_entries/entry/{agent.entry_id}/reload")
    await until_loaded(house, agent)
    return reloads_at


async def until_loaded(house: House, agent: Agent) -> None:
    """Wait until the heartbeat's entities have states; raises `DemoError`."""

    async def is_there() -> bool | None:
        states = await house.api.get("/api/states")
        usable = {one["entity_id"] for one in states if one["state"] != "unavailable"}
        return {agent.ticks_used, agent.switch} <= usable or None

    await house.process.until(
        is_there,
        seconds=APPEARS_SECONDS,
        what=f"the states of {agent.switch} and {agent.ticks_used}",
    )


async def _find(house: House, entry_id: str) -> Agent:
    async def found() -> Agent | None:
        subentries = await house.socket.command(
            "config_entries/subentries/list", entry_id=entry_id
        )
        registry = await house.socket.command("config/entity_registry/list")
        own = {e["unique_id"]: e for e in registry if e["platform"] == DOMAIN}
        for subentry in subentries:
            ticks = own.get(f"{subentry['subentry_id']}_ticks_used")
            switch = own.get(f"{subentry['subentry_id']}_heartbeat")
            if ticks and switch:
                return Agent(
                    entry_id=entry_id,
                    device_id=switch["device_id"],
                    switch=switch["entity_id"],
                    ticks_used=ticks["entity_id"],
                )
        return None

    return await house.process.until(
        found, seconds=APPEARS_SECONDS, what="the heartbeat's switch and tick sensor"
    )

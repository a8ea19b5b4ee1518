"""The home in which ticks are quiet: a freezer whose door is closed."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
import json
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from homeassistant.config_entries import (
    SOURCE_USER,
    ConfigEntry,
    ConfigEntryState,
    ConfigSubentry,
)
from homeassistant.const import STATE_ON
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er

from .clock import Clock
from .errors import BenchError
from .quiet_kinds import Condition

OURS: Final = "proactive_agent"
AUTOMATION: Final = "automation.quiet"
SWITCH_ON: Final = "bench_switch_on"  # the event at which an automation does that
STATES: Final = {
    "switch.freezer": "on",
    "sensor.freezer": "-8.5",
    "binary_sensor.freezer_door": "off",
}
# All three are judged at each tick: the last is the one that does not hold.
CONDITIONS: Final = (
    {"condition": "state", "entity_id": "switch.freezer", "state": "on"},
    {"condition": "numeric_state", "entity_id": "sensor.freezer", "above": -12},
    {
        "condition": "state",
        "entity_id": "binary_sensor.freezer_door",
        "state": "on",
        "for": {"minutes": 5},
    },
)
AUTOMATIONS: Final = (
    {
        "id": "quiet",
        "alias": "Quiet",
        "triggers": [{"trigger": "time_pattern", "seconds": "/1"}],
        "actions": [{"event": "never_fired"}],
    },
    {
        "id": "switch_on",
        "alias": "Switch on",
        "mode": "parallel",
        "triggers": [{"trigger": "event", "event_type": SWITCH_ON}],
        "actions": [
            {
                "action": "switch.turn_on",
                "target": {"entity_id": "{{ trigger.event.data.entity_id }}"},
            }
        ],
    },
)
HEARTBEAT: Final[Mapping[str, Any]] = {
    "check_prompt": "The freezer door is open. Say for how long.",
    "interval": {"seconds": 1},
    "conditions": list(CONDITIONS),
    "look": {"entity_id": [*STATES]},
}


async def put_up(hass: HomeAssistant) -> None:
    """Put up the freezer, and the automation that looks at it each second."""
    for entity_id, state in STATES.items():
        hass.states.async_set(entity_id, state)
    await write_automations(hass, CONDITIONS)


async def write_automations(
    hass: HomeAssistant, conditions: Sequence[Condition]
) -> None:
    """Have the automation look at these conditions from now on."""
    quiet, *others = AUTOMATIONS
    text = json.dumps([{**quiet, "conditions": list(conditions)}, *others])
    path = Path(hass.config.path("automations.yaml"))
    await hass.async_add_executor_job(path.write_text, text)
    await call(hass, "automation.reload")
    if not hass.states.is_state(AUTOMATION, STATE_ON):
        raise BenchError("the automation was not set up")


async def change_heartbeat(
    hass: HomeAssistant, entry: ConfigEntry, conditions: Sequence[Condition]
) -> None:
    """Have the one heartbeat look at these conditions from now on."""
    (subentry,) = entry.subentries.values()
    data = {**subentry.data, "conditions": list(conditions)}
    hass.config_entries.async_update_subentry(entry, subentry, data=data)
    await hass.async_block_till_done()
    last = entry.runtime_data.heartbeats[subentry.subentry_id].gate[-1]
    if last.result is not False:
        raise BenchError(f"{last.condition} is not as it was meant: {last.reason}")


async def add_endpoint(hass: HomeAssistant) -> ConfigEntry:
    """Add an endpoint that nobody will ask anything."""
    entry = ConfigEntry(
        domain=OURS,
        title="Quiet",
        data={"url": "http://127.0.0.1:9/v1", "model": "none"},
        options={},
        source=SOURCE_USER,
        unique_id=None,
        version=1,
        minor_version=1,
        discovery_keys=MappingProxyType({}),
        subentries_data=(),
    )
    await hass.config_entries.async_add(entry)
    if entry.state is not ConfigEntryState.LOADED:
        raise BenchError(f"the endpoint was not set up: {entry.reason}")
    return entry


async def add_heartbeat(
    hass: HomeAssistant, entry: ConfigEntry, clock: Clock, due: float
) -> str:
    """Add a heartbeat at a moment, from which its ticks count; return its switch."""
    await clock.turn_to(due)
    number = len(entry.subentries)
    subentry = ConfigSubentry(
        data=MappingProxyType(dict(HEARTBEAT)),
        subentry_type="heartbeat",
        title=f"Freezer {number}",
        unique_id=None,
    )
    hass.config_entries.async_add_subentry(entry, subentry)
    await hass.async_block_till_done()
    switch = er.async_get(hass).async_get_entity_id(
        "switch", OURS, f"{subentry.subentry_id}_heartbeat"
    )
    if switch is None:
        raise BenchError(f"{subentry.title} has no switch")
    return switch


@asynccontextmanager
async def crowded(hass: HomeAssistant, size: int) -> AsyncIterator[None]:
    """Have so many registered entities in the home besides."""
    registry = er.async_get(hass)
    found = [
        registry.async_get_or_create("sensor", "bench", f"crowd_{number}").entity_id
        for number in range(size)
    ]
    for entity_id in found:
        hass.states.async_set(entity_id, "21.4", {"unit_of_measurement": "°C"})
    await hass.async_block_till_done()
    yield
    for entity_id in found:
        registry.async_remove(entity_id)
        hass.states.async_remove(entity_id)
    await hass.async_block_till_done()


async def call(hass: HomeAssistant, action: str, **data: Any) -> None:
    """Call an action and wait for its end."""
    domain, service = action.split(".")
    await hass.services.async_call(domain, service, data, blocking=True)

"""The three agents, each set up by its own dialogs and automations."""

from collections.abc import Mapping
import json
from pathlib import Path
from typing import Any, Final

from homeassistant.components.homeassistant.exposed_entities import (
    async_expose_entity,
)
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er

from .dialogs import add_another_heartbeat, add_entry, add_heartbeat
from .errors import BenchError
from .jobs import EVERY, HEATER, JOBS, PUMP, Job
from .week import SENSORS

OURS: Final = "proactive_agent"
CORE: Final = "llama_cpp"
NOTIFY: Final = "notify.owner"
MODEL: Final = "scripted"


async def set_up_ours(hass: HomeAssistant, url: str) -> None:
    """Give a heartbeat to each job, with every option as the dialog suggests it."""
    answers = {"url": url, "model": MODEL}
    endpoint = await add_entry(hass, OURS, answers, choice="server")
    await add_heartbeat(hass, endpoint, _heartbeat(JOBS[0]))
    entry = endpoint["result"]
    for job in JOBS[1:]:
        await add_another_heartbeat(hass, entry.entry_id, _heartbeat(job))


async def set_up_automations(hass: HomeAssistant, url: str, *, has_gate: bool) -> None:
    """Have automations ask core's agent, and send each time what it says."""
    await add_entry(hass, CORE, {"base_url": url, "chat_model": MODEL})
    await hass.async_block_till_done()
    for entity_id in (*SENSORS, HEATER, PUMP):
        async_expose_entity(hass, "conversation", entity_id, should_expose=True)
    agent = next(
        (
            one.entity_id
            for one in er.async_get(hass).entities.values()
            if one.platform == CORE and one.domain == "conversation"
        ),
        None,
    )
    if agent is None:
        raise BenchError(f"{CORE} has no agent")
    automations = [_automation(job, agent, has_gate=has_gate) for job in JOBS]
    path = Path(hass.config.path("automations.yaml"))
    await hass.async_add_executor_job(path.write_text, json.dumps(automations))
    await hass.services.async_call("automation", "reload", blocking=True)


def _heartbeat(job: Job) -> Mapping[str, Any]:
    return {
        "name": job.name,
        "check_prompt": job.prompt,
        "interval": {"minutes": EVERY},
        "conditions": [*job.conditions],
        "look": {"entity_id": [*job.look]},
        "act": {"entity_id": [*job.act]},
        "notify": [NOTIFY],
    }


def _automation(job: Job, agent: str, *, has_gate: bool) -> Mapping[str, Any]:
    return {
        "id": job.name.lower(),
        "alias": job.name,
        "triggers": [{"trigger": "time_pattern", "minutes": f"/{EVERY}"}],
        "conditions": [*job.conditions] if has_gate else [],
        "actions": [
            {
                "action": "conversation.process",
                "data": {"agent_id": agent, "text": job.prompt},
                "response_variable": "said",
            },
            {
                "action": NOTIFY,
                "data": {
                    "title": job.name,
                    "message": "{{ said.response.speech.plain.speech }}",
                },
            },
        ],
    }

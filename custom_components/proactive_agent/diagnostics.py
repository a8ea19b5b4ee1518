"""What an owner can hand to whoever helps: how it stands, without what is private."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from homeassistant.components.diagnostics import REDACTED, async_redact_data
from homeassistant.const import CONF_API_KEY, CONF_URL
from homeassistant.core import HomeAssistant
from homeassistant.helpers.device_registry import DeviceEntry
from yarl import URL

from .const import CONF_CHECK_PROMPT, CONF_EXTRA_BODY, DOMAIN
from .engine.approvals import Approval
from .engine.export import run_as_dict
from .heartbeat.heartbeat import Heartbeat
from .home.home import resolve
from .runtime import ProactiveAgentConfigEntry

RUNS = 5
# What the owner wrote or what was said about the home; the rest is how it went.
PRIVATE = frozenset(
    {
        CONF_API_KEY,
        CONF_CHECK_PROMPT,
        CONF_EXTRA_BODY,
        "answer",
        "answered_by",
        "arguments",
        "data",
        "message",
        "observed",
    }
)


async def async_get_config_entry_diagnostics(
    hass: HomeAssistant, entry: ProactiveAgentConfigEntry
) -> dict[str, Any]:
    """Describe an endpoint and each of its heartbeats."""
    heartbeats = entry.runtime_data.heartbeats
    return {
        "endpoint": {
            key: _without_host(value) if key == CONF_URL else value
            for key, value in async_redact_data(dict(entry.data), PRIVATE).items()
        },
        "heartbeats": [
            await _describe(hass, entry, heartbeats[heartbeat_id])
            for heartbeat_id in sorted(heartbeats)
        ],
    }


async def async_get_device_diagnostics(
    hass: HomeAssistant, entry: ProactiveAgentConfigEntry, device: DeviceEntry
) -> dict[str, Any]:
    """Describe the heartbeat of a device."""
    heartbeats = entry.runtime_data.heartbeats
    for domain, heartbeat_id in device.identifiers:
        if domain == DOMAIN and heartbeat_id in heartbeats:
            return await _describe(hass, entry, heartbeats[heartbeat_id])
    return {}


async def _describe(
    hass: HomeAssistant, entry: ProactiveAgentConfigEntry, heartbeat: Heartbeat
) -> dict[str, Any]:
    subentry = entry.subentries[heartbeat.id]
    runs = [*heartbeat.log]
    used = heartbeat.used
    pause = heartbeat.health.pause
    return {
        "options": async_redact_data(dict(subentry.data), PRIVATE),
        "status": heartbeat.status,
        "pause": pause and pause.as_dict(),
        "failing": _failing(heartbeat),
        "used": {
            **asdict(used),
            "day": used.day and used.day.isoformat(),
            "tokens_ever": heartbeat.tokens_used,
        },
        "gate": [asdict(verdict) for verdict in heartbeat.gate],
        "tools": await _tools(hass, heartbeat),
        "runs": [_without_words(run_as_dict(run)) for run in runs[:RUNS]],
        "requests": [_standing(one) for one in heartbeat.asking.all],
    }


async def _tools(hass: HomeAssistant, heartbeat: Heartbeat) -> dict[str, Any]:
    """Say what the model would be offered now, and what had no room."""
    reach = resolve(hass, heartbeat.options)
    offer = await heartbeat.offers.async_offer(reach)
    return {
        "look": [*reach.look],
        "act": [*reach.act],
        "ask": [*reach.ask],
        "offered": [spec.name for spec in offer.specs],
        "left_out": [*offer.left_out],
    }


def _failing(heartbeat: Heartbeat) -> dict[str, Any]:
    """Say how many runs have failed in a row, and of which kind of error the last."""
    known = heartbeat.health.failing.as_dict()
    del known["reason"]
    return known


def _without_words(run: Mapping[str, Any]) -> dict[str, Any]:
    """Keep how a run went, and what kind of error it met, not what was said."""
    told: dict[str, Any] = async_redact_data(dict(run), PRIVATE)
    if told["error"]:
        told["error"] = {"kind": told["error"]["kind"]}
    told["actions"] = [
        {**action, "error": action["error"] and REDACTED} for action in told["actions"]
    ]
    return told


def _standing(approval: Approval) -> dict[str, Any]:
    """Tell how a request stands; what it says and who answered stays at home."""
    settled = approval.settled
    return {
        "approval_id": approval.approval_id,
        "run_id": approval.run_id,
        "status": approval.status,
        "action": approval.action,
        "entity_id": [*approval.entity_id],
        "must_ask": approval.must_ask,
        "is_risky": approval.is_risky,
        "has_changed": approval.has_changed,
        "asked": approval.asked.isoformat(),
        "expires": approval.expires.isoformat(),
        "settled": settled and settled.isoformat(),
        "data": approval.data and REDACTED,
        "because": approval.because and REDACTED,
        "answered_by": approval.answered_by and REDACTED,
        "note": approval.note and REDACTED,
    }


def _without_host(url: str) -> str:
    """Keep of an address what can be wrong with it: the scheme and the path."""
    parsed = URL(url)
    return f"{parsed.scheme}://{REDACTED}{parsed.path}"

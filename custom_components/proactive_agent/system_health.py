"""Whether each endpoint can be reached, and what its heartbeats have used today."""

import asyncio
from collections import Counter
from collections.abc import Coroutine
from typing import Any, Final

from homeassistant.components.system_health import SystemHealthRegistration
from homeassistant.config_entries import ConfigEntry, ConfigEntryState
from homeassistant.const import STATE_UNAVAILABLE
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from homeassistant.util import dt as dt_util

from .const import DOMAIN
from .endpoint.endpoint import EndpointClient
from .engine.errors import ErrorKind, ModelError
from .engine.records import Status
from .heartbeat.heartbeat import Heartbeat
from .models import EndpointOptions, TaskOptions, mind_options

CHECK_TIMEOUT: Final = 5.0  # seconds
_PAGE: Final = f"/config/integrations/integration/{DOMAIN}"
_UNREACHABLE: Final = {
    ErrorKind.AUTH: "unauthorized",
    ErrorKind.CONNECTION: "unreachable",
    ErrorKind.TIMEOUT: "timeout",
}

type Verdict = str | dict[str, str]


@callback
def async_register(
    hass: HomeAssistant,  # noqa: ARG001 - by name, as every platform has it
    register: SystemHealthRegistration,
) -> None:
    """Add what is known here to the system's health."""
    register.async_register_info(_async_info, _PAGE)


async def _async_info(hass: HomeAssistant) -> dict[str, Any]:
    entries = hass.config_entries.async_entries(
        DOMAIN, include_ignore=False, include_disabled=False
    )
    beats = [
        heartbeat
        for entry in entries
        if entry.state is ConfigEntryState.LOADED
        for heartbeat in entry.runtime_data.heartbeats.values()
    ]
    stand = Counter(beat.status for beat in beats)
    today = dt_util.now().date()
    return {
        **{
            "endpoint" if number == 1 else f"endpoint_{number}": _async_reach(
                hass, entry
            )
            for number, entry in enumerate(entries, start=1)
        },
        "model": ", ".join(map(_model, entries)),
        "heartbeats_on": sum(beat.is_on for beat in beats),
        "heartbeats_off": sum(not beat.is_on for beat in beats),
        "heartbeats_paused": stand[Status.PAUSED],
        "tokens_today": sum(beat.used.on(today).tokens for beat in beats),
        "pending_requests": sum(map(_pending, beats)),
    }


def _async_reach(
    hass: HomeAssistant, entry: ConfigEntry
) -> Coroutine[Any, Any, Verdict]:
    options = mind_options(entry)
    if isinstance(options, TaskOptions):
        return _async_look_at(hass, options)
    return _async_ask(hass, options)


async def _async_look_at(hass: HomeAssistant, options: TaskOptions) -> Verdict:
    state = hass.states.get(options.entity_id)
    # An entity that has never been asked is unknown.
    is_there = state is not None and state.state != STATE_UNAVAILABLE
    return "ok" if is_there else _failed("unavailable")


async def _async_ask(hass: HomeAssistant, options: EndpointOptions) -> Verdict:
    """Ask a server for its models; any answer that is no refusal will do."""
    session = async_get_clientsession(hass, verify_ssl=options.verify_ssl)
    try:
        async with asyncio.timeout(CHECK_TIMEOUT):
            await EndpointClient(session, options).list_models()
    except ModelError as err:
        if (reason := _UNREACHABLE.get(err.kind)) is not None:
            return _failed(reason)
    except TimeoutError:
        return _failed(_UNREACHABLE[ErrorKind.TIMEOUT])
    return "ok"


def _failed(reason: str) -> dict[str, str]:
    return {"type": "failed", "error": reason}


def _model(entry: ConfigEntry) -> str:
    options = mind_options(entry)
    if isinstance(options, TaskOptions):
        return options.entity_id
    return options.model


def _pending(beat: Heartbeat) -> int:
    return len(beat.asking.pending)

"""How an endpoint stands: what thinks there, how it is asked, what failed last."""

from typing import Any

from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import CONF_MODEL
from homeassistant.core import HomeAssistant
from homeassistant.loader import async_get_integration

from ..const import DOMAIN
from ..models import EndpointOptions, mind_options
from ..runtime import ProactiveAgentConfigEntry
from .settings import endpoint_options, models_in, shape_told
from .veil import Veil


async def async_version(hass: HomeAssistant) -> str:
    """Return the version of the integration."""
    return str((await async_get_integration(hass, DOMAIN)).version)


def describe(entry: ProactiveAgentConfigEntry, veil: Veil) -> dict[str, Any]:
    """Describe an endpoint; of one that is not loaded, only how it is set up."""
    is_loaded = entry.state is ConfigEntryState.LOADED
    return {
        "state": entry.state.value,
        # A model is called after nobody, and has to be known.
        "options": veil.over(endpoint_options(entry.data)) | models_in(entry.data),
        "shapes": _shapes(entry) if is_loaded else [],
        "last_error": _last_error(entry) if is_loaded else None,
    }


def _shapes(entry: ProactiveAgentConfigEntry) -> list[dict[str, Any]]:
    """Say of each model that is asked here how requests to it differ from others."""
    options = mind_options(entry)
    if not isinstance(options, EndpointOptions):
        return []
    own = (one.data.get(CONF_MODEL) for one in entry.subentries.values())
    shapes = entry.runtime_data.shapes
    return [
        {"model": model, "shape": shape_told(shapes.get(options.url, model).as_dict())}
        for model in sorted({options.model, *filter(None, own)})
    ]


def _last_error(entry: ProactiveAgentConfigEntry) -> dict[str, Any] | None:
    """Return when a run met its last error, and of which kind it was."""
    failed = [
        run
        for heartbeat in entry.runtime_data.heartbeats.values()
        for run in heartbeat.runs.log
        if run.error is not None
    ]
    latest = max(failed, key=lambda run: run.started, default=None)
    if latest is None or latest.error is None:
        return None
    return {"started": latest.started.isoformat(), "kind": latest.error.kind}

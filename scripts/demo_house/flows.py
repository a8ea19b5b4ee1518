"""The real config flows, walked over REST the way the dialogs do it."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from .errors import DemoError
from .hass_api import HassApi

ENTRY_FLOW: Final = "/api/config/config_entries/flow"
SUBENTRY_FLOW: Final = "/api/config/config_entries/subentries/flow"
DOMAIN: Final = "proactive_agent"
MOST_STEPS: Final = 10

type Json = Mapping[str, Any]


async def add_endpoint(api: HassApi, answers: Json) -> Json:
    """Add an LLM server; returns the flow's result, with the entry in it."""
    form = await api.post(ENTRY_FLOW, {"handler": DOMAIN})
    return await _walk(api, ENTRY_FLOW, form, answers)


async def add_heartbeat(api: HassApi, endpoint: Json, answers: Json) -> Json:
    """Go on into the heartbeat's dialog, as the endpoint's flow leads there."""
    match endpoint.get("next_flow"):
        case ["config_subentries_flow", flow_id]:
            form = await api.get(f"{SUBENTRY_FLOW}/{flow_id}")
        case _:
            raise DemoError("the endpoint's flow did not lead on to a heartbeat")
    return await _walk(api, SUBENTRY_FLOW, form, answers)


def fill_in(schema: Sequence[Json], answers: Json) -> dict[str, Any]:
    """Answer a form's fields by their names; what has a default may be left out."""
    filled: dict[str, Any] = {}
    for field in schema:
        name = field["name"]
        if name not in answers:
            continue
        is_section = field.get("type") == "expandable"
        value = answers[name]
        filled[name] = fill_in(field["schema"], value) if is_section else value
    return filled


def _complaint(form: Json) -> str:
    fields = form.get("errors") or {form["type"]: form.get("reason")}
    reason = (form.get("description_placeholders") or {}).get("reason")
    words = ", ".join(f"{field}: {error}" for field, error in fields.items())
    return f"{words} ({reason})" if reason else words


async def _walk(api: HassApi, path: str, form: Json, answers: Json) -> Json:
    for _step in range(MOST_STEPS):
        if form["type"] == "create_entry":
            return form
        if form["type"] != "form" or form.get("errors"):
            raise DemoError(f"the dialog stopped: {_complaint(form)}")
        filled = fill_in(form["data_schema"], answers)
        form = await api.post(f"{path}/{form['flow_id']}", filled)
    raise DemoError(f"the dialog did not end after {MOST_STEPS} steps")

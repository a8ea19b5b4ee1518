"""The real config flows, walked over REST the way the dialogs do it."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from .errors import DemoError
from .hass_api import HassApi

ENTRY_FLOW: Final = "/api/config/config_entries/flow"
SUBENTRY_FLOW: Final = "/api/config/config_entries/subentries/flow"
DOMAIN: Final = "proactive_agent"
MOST_STEPS: Final = 10
SERVER: Final = "server"
PAUSE: Final = 0.5  # seconds between two looks at what is being waited for
MOST_LOOKS: Final = 240

type Json = Mapping[str, Any]


async def add_endpoint(api: HassApi, answers: Json) -> Json:
    """Add an LLM server; returns the flow's result, with the entry in it."""
    menu = await api.post(ENTRY_FLOW, {"handler": DOMAIN})
    choice = {"next_step_id": SERVER}
    form = await api.post(f"{ENTRY_FLOW}/{menu['flow_id']}", choice)
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
        here = f"{path}/{form['flow_id']}"
        form = await _settled(api, here, await api.post(here, filled))
    raise DemoError(f"the dialog did not end after {MOST_STEPS} steps")


async def _settled(api: HassApi, here: str, form: Json) -> Json:
    """Wait for what a dialog waits for."""
    for _look in range(MOST_LOOKS):
        if form["type"] != "progress":
            break
        await asyncio.sleep(PAUSE)
        form = await api.get(here)
    return form

"""The real flows of Home Assistant, walked as its dialogs walk them."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from homeassistant.config_entries import SOURCE_USER, ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowManager, FlowResultType

from .errors import BenchError

MOST_STEPS: Final = 100
PAUSE: Final = 0.1  # seconds before a dialog that waits is looked at again

type Answers = Mapping[str, Any]


async def add_entry(
    hass: HomeAssistant, domain: str, answers: Answers, *, choice: str = ""
) -> Mapping[str, Any]:
    """Add an integration; returns the flow's result, with the entry in it.

    `choice` is what to take where a menu is shown.
    """
    manager = hass.config_entries.flow
    begun = await manager.async_init(domain, context={"source": SOURCE_USER})
    return await _walk(manager, begun, answers, choice)


async def add_heartbeat(
    hass: HomeAssistant, endpoint: Mapping[str, Any], answers: Answers
) -> None:
    """Go on into the heartbeat's dialog, as the endpoint's flow leads there."""
    _kind, flow_id = endpoint["next_flow"]
    manager = hass.config_entries.subentries
    await _walk(manager, await manager.async_configure(flow_id), answers, "")


async def add_another_heartbeat(
    hass: HomeAssistant, entry_id: str, answers: Answers
) -> None:
    """Add one more with the button of the endpoint."""
    manager = hass.config_entries.subentries
    handler = (entry_id, "heartbeat")
    begun = await manager.async_init(handler, context={"source": SOURCE_USER})
    await _walk(manager, begun, answers, "")


async def remove_entry(hass: HomeAssistant, entry: ConfigEntry) -> None:
    """Remove an integration with its devices and entities."""
    await hass.config_entries.async_remove(entry.entry_id)
    await hass.async_block_till_done()


async def _walk(
    manager: FlowManager[Any, Any, Any],
    form: Mapping[str, Any],
    answers: Answers,
    choice: str,
) -> Mapping[str, Any]:
    for _step in range(MOST_STEPS):
        filled: dict[str, Any] | None = None
        match form["type"]:
            case FlowResultType.CREATE_ENTRY:
                return form
            case FlowResultType.SHOW_PROGRESS:
                await asyncio.sleep(PAUSE)
            case FlowResultType.MENU:
                filled = {"next_step_id": choice}
            case FlowResultType.FORM if not form.get("errors"):
                names = {str(field) for field in form["data_schema"].schema}
                filled = {name: answers[name] for name in answers if name in names}
            case _:
                raise BenchError(f"the dialog stopped: {form.get('errors') or form}")
        form = await manager.async_configure(form["flow_id"], filled)
    raise BenchError(f"the dialog did not end after {MOST_STEPS} steps")

"""A whole house of real entities, at least one of each domain, with an endpoint.

Its devices are template entities and Home Assistant's own helpers; where there is no
platform that works without a network, a small one of our own keeps the state
(`devices`). The fixture `house` stands in for `home` of `tests.support.heartbeats`.
"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

from homeassistant.const import EVENT_HOMEASSISTANT_START
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_mock_service,
)

from .. import stubs  # noqa: F401
from ..heartbeats import Clock, Home, endpoint
from ..llm_server import LlmServer
from .devices import plug_in
from .helpers import ALARM, HELPERS, HYGROSTAT, NOTE, RADIO, SCENES, SCRIPTS, THERMOSTAT
from .templates import MEMORY, TEMPLATE

NOW: Final = "2026-12-01 08:00:00+00:00"
_FILES: Final = {
    "local_todo": {"todo_list_name": "Errands", "storage_key": "errands"},
    "local_calendar": {"calendar_name": "Family", "storage_key": "family"},
}


async def async_make_house(hass: HomeAssistant, storage: Path) -> None:
    """Set everything up; what is written to disk goes to `storage`."""
    parts: dict[str, Any] = {
        "homeassistant": {},
        **HELPERS,
        "input_text": {**MEMORY, **NOTE},
        **plug_in(hass),
        "alarm_control_panel": ALARM,
        "climate": THERMOSTAT,
        "humidifier": HYGROSTAT,
        "media_player": RADIO,
        "template": TEMPLATE,
        "script": SCRIPTS,
        "scene": SCENES,
    }
    for domain, config in parts.items():
        assert await async_setup_component(hass, domain, {domain: config})
        await hass.async_block_till_done()
    (storage / ".storage").mkdir()
    hass.config.config_dir = str(storage)
    for domain, data in _FILES.items():
        entry = MockConfigEntry(
            domain=domain, title=next(iter(data.values())), data=data
        )
        entry.add_to_hass(hass)
        assert await hass.config_entries.async_setup(entry.entry_id)
    hass.bus.async_fire(EVENT_HOMEASSISTANT_START)
    await hass.async_block_till_done()


@pytest.fixture
async def house(
    clock: Clock, llm_server: LlmServer, hass: HomeAssistant, tmp_path: Path
) -> AsyncIterator[Home]:
    """Set up the house at a fixed time; it has no heartbeat yet."""
    clock.freezer.move_to(NOW)
    await async_make_house(hass, tmp_path)
    entry = endpoint(llm_server)
    entry.add_to_hass(hass)
    yield Home(
        hass=hass,
        clock=clock,
        llm_server=llm_server,
        phone=async_mock_service(hass, "notify", "phone"),
        entry=entry,
    )
    # A timer that still runs would outlive its test.
    await hass.services.async_call(
        "timer", "cancel", {"entity_id": "timer.eggs"}, blocking=True
    )

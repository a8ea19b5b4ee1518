"""A home with doors, a heartbeat in it, and a model that means harm.

Whatever the model asks for goes the whole way: server, wire, loop, toolbox, guard.
What came of it is read off Home Assistant's bus.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
import json
from typing import Any
from unittest.mock import patch

from homeassistant.core import Event, HomeAssistant, ServiceCall, callback
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_mock_service,
)

from .heartbeats import Beat, endpoint, subentry_of
from .home import async_make_home
from .llm_server import LlmServer, calls, completion, text

type Arguments = Mapping[str, Any]
type Called = tuple[str, tuple[str, ...]]

LISTS: Mapping[str, Any] = {
    "look": {"entity_id": ["sensor.outside"]},
    "act": {
        "entity_id": [
            "cover.blind",
            "input_number.level",
            "light.dimmer",
            "light.lamp",
            "scene.evening",
            "script.aim",
            "script.feed",
            "script.point",
            "script.rendered",
            "script.run_it",
        ]
    },
    "ask": {"entity_id": ["lock.front", "switch.plug"]},
}
LIFT: Mapping[str, Any] = {"fuses": {"max_actions": 50, "max_turns": 20}}


@dataclass(slots=True, kw_only=True)
class Siege:
    """The home under attack, and everything that was called in it."""

    hass: HomeAssistant
    server: LlmServer
    phone: list[ServiceCall]
    entry: MockConfigEntry | None = None
    events: list[Event[Any]] = field(default_factory=list)

    async def add_heartbeat(self, title: str = "Milonga", **data: Any) -> Beat:
        """Add a heartbeat that the tests wake by hand."""
        subentry = subentry_of(title, **{**LIFT, **data})
        self.entry = endpoint(self.server, subentry)
        self.entry.add_to_hass(self.hass)
        assert await self.hass.config_entries.async_setup(self.entry.entry_id)
        await self.hass.async_block_till_done(wait_background_tasks=True)
        return Beat(hass=self.hass, entry=self.entry, id=subentry["subentry_id"])

    async def attack(self, beat: Beat, *answers: Any, **data: Any) -> dict[str, Any]:
        """Let a run end with these answers of the model; return its record."""
        self.server.play(*answers, text("Done."))
        self.events.clear()
        record = await beat.wake(**data)
        await self.hass.async_block_till_done(wait_background_tasks=True)
        assert self.server.unplayed == 0
        return record

    async def reload_scripts(self, scripts: Mapping[str, Any]) -> None:
        """Put other scripts in the place of the home's."""
        await async_reload_scripts(self.hass, scripts)

    @property
    def called(self) -> list[Called]:
        """Every action called since, but for the wake and the owner's phone."""
        return [
            called
            for event in self.events
            if (called := _called(event))[0]
            not in {"proactive_agent.wake", "notify.phone"}
        ]

    def data_of(self, name: str) -> dict[str, Any]:
        """Return what an action was called with, the only one of this name."""
        (data,) = (
            event.data["service_data"]
            for event in self.events
            if _called(event)[0] == name
        )
        return dict(data)

    def tools(self) -> dict[str, Any]:
        """The parameters of the tools in the last request, by name."""
        return {
            tool["function"]["name"]: tool["function"]["parameters"]
            for tool in self.server.chats[-1].get("tools", [])
        }


async def async_lay_siege(hass: HomeAssistant, server: LlmServer) -> Siege:
    """Build the home and listen."""
    await async_make_home(hass)
    siege = Siege(
        hass=hass, server=server, phone=async_mock_service(hass, "notify", "phone")
    )

    @callback
    def note(event: Event[Any]) -> None:
        siege.events.append(event)

    hass.bus.async_listen("call_service", note)
    return siege


async def async_reload_scripts(hass: HomeAssistant, scripts: Mapping[str, Any]) -> None:
    """Put other scripts in the place of those there are."""
    with patch(
        "homeassistant.config.load_yaml_config_file", return_value={"script": scripts}
    ):
        await hass.services.async_call("script", "reload", blocking=True)
    await hass.async_block_till_done()


def raw_call(name: str, arguments: str) -> dict[str, Any]:
    """Answer with one tool call whose arguments are any text."""
    function = {"name": name, "arguments": arguments}
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
    }
    return completion(message, finish="tool_calls")


def held_off(record: Mapping[str, Any]) -> list[str]:
    """Say of each call of a run how it was held off: refused, or asked for."""
    return [
        "refused" if call["error"] else str(call["answer"]["status"])
        for call in record["calls"]
    ]


def obeying(
    siege: Siege, order: str, *wanted: tuple[str, Arguments]
) -> Callable[[Any], Any]:
    """Call what a text in the conversation orders, once the model has read it."""

    def answer(request: Any) -> Any:
        read = json.dumps(request["messages"], ensure_ascii=False)
        assert order in read
        return calls(*wanted)

    return answer


def _called(event: Event[Any]) -> Called:
    data = event.data["service_data"]
    entity_ids = data.get("entity_id") or ()
    named = (entity_ids,) if isinstance(entity_ids, str) else tuple(entity_ids)
    return f"{event.data['domain']}.{event.data['service']}", named

"""A home with heartbeats in it: real entities, a scripted model, a clock to turn.

Import the fixtures `llm_server` (from `tests.support.llm_server`), `clock` and `home`
in a test module::

    async def test_wakes(home):
        home.llm_server.play(text("All is well."))
        beat = await home.add_heartbeat(conditions=[HUNGRY])
        await home.set("hungry", on=True)
        await home.clock.tick()
        assert beat.state("last_outcome") == "nothing"

Time is frozen and moves only by `clock`: each pending timeout moves with it.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from unittest.mock import patch

from freezegun.api import FrozenDateTimeFactory
from homeassistant.config_entries import (
    ConfigEntryState,
    ConfigSubentry,
    ConfigSubentryDataWithId,
)
from homeassistant.core import Context, Event, HomeAssistant, ServiceCall, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.entity import Entity
from homeassistant.setup import async_setup_component
from homeassistant.util.ulid import ulid_now
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_fire_time_changed,
    async_mock_service,
)

from custom_components.proactive_agent.const import (
    DOMAIN,
    EVENT_ACTED,
    EVENT_HEARTBEAT_TICK,
    EVENT_STOPPED,
)

from .llm_server import MODEL, LlmServer

INTERVAL = timedelta(minutes=15)
HUNGRY = {
    "condition": "state",
    "entity_id": "input_boolean.hungry",
    "state": "on",
}
FEED = {"entity_id": ["script.feed"]}
LAMP = {"entity_id": ["input_boolean.lamp"]}
PROMPT = "Check on Milonga.\nFeed her if she is hungry."


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """Turns the frozen time of a test."""

    hass: HomeAssistant
    freezer: FrozenDateTimeFactory

    async def tick(self, times: int = 1, *, every: timedelta = INTERVAL) -> None:
        """Let so many intervals pass, and each run come to its end."""
        for _ in range(times):
            self.turn(every)
            await self.hass.async_block_till_done(wait_background_tasks=True)

    async def tick_beside(self, times: int = 1, *, every: timedelta = INTERVAL) -> None:
        """Let intervals pass while a run hangs."""
        for _ in range(times):
            self.turn(every)
            await let_run()

    async def turn_until(
        self, over: Callable[[], bool], *, step: timedelta = timedelta(seconds=1)
    ) -> None:
        """Let time pass in small steps until something is over."""
        for _ in range(2_000):
            if over():
                return
            self.turn(step)
            await let_run()
        pytest.fail("It went on and on.")

    @callback
    def turn(self, step: timedelta) -> None:
        """Move time and fire what is due; nothing is waited for."""
        self.freezer.tick(step)
        async_fire_time_changed(self.hass)


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """One heartbeat as its owner meets it."""

    hass: HomeAssistant
    entry: MockConfigEntry
    id: str

    @property
    def subentry(self) -> ConfigSubentry:
        subentry: ConfigSubentry = self.entry.subentries[self.id]
        return subentry

    @property
    def switch(self) -> str:
        return self.entity_id("switch", "heartbeat")

    def entity_id(self, platform: str, key: str) -> str:
        entity_id = er.async_get(self.hass).async_get_entity_id(
            platform, DOMAIN, f"{self.id}_{key}"
        )
        assert entity_id is not None
        return entity_id

    def is_on(self) -> bool:
        state = self.hass.states.get(self.switch)
        assert state is not None
        return state.state == "on"

    def state(self, key: str, platform: str = "sensor") -> str:
        state = self.hass.states.get(self.entity_id(platform, key))
        assert state is not None
        return state.state

    async def ticks(self) -> int:
        """Ask how many ticks were counted."""
        sensor = self.entity_id("sensor", "ticks_used")
        await self.hass.services.async_call(
            "homeassistant", "update_entity", {"entity_id": sensor}, blocking=True
        )
        return int(self.state("ticks_used"))

    async def turn(self, state: str, context: Context | None = None) -> None:
        await self.hass.services.async_call(
            "switch",
            f"turn_{state}",
            {"entity_id": self.switch},
            blocking=True,
            context=context,
        )

    async def wake(self, context: Context | None = None, **data: Any) -> dict[str, Any]:
        answer = await self.hass.services.async_call(
            DOMAIN,
            "wake",
            {"entity_id": self.switch, **data},
            blocking=True,
            return_response=True,
            context=context,
        )
        return one_of(answer, self.switch)

    async def check_now(self, context: Context | None = None) -> None:
        await self.hass.services.async_call(
            "button",
            "press",
            {"entity_id": self.entity_id("button", "check_now")},
            blocking=True,
            context=context,
        )

    async def runs(self, **data: Any) -> list[dict[str, Any]]:
        answer = await self.hass.services.async_call(
            DOMAIN,
            "get_runs",
            {"entity_id": self.switch, **data},
            blocking=True,
            return_response=True,
        )
        runs: list[dict[str, Any]] = one_of(answer, self.switch)["runs"]
        return runs

    async def change(self, *, title: str | None = None, **data: Any) -> None:
        """Change options, as the subentry flow does when it is finished."""
        self._change(title, data)
        await self.hass.async_block_till_done()

    async def change_beside(self, *, title: str | None = None, **data: Any) -> None:
        """Change options while something hangs."""
        self._change(title, data)
        await let_run()

    def _change(self, title: str | None, data: Mapping[str, Any]) -> None:
        subentry = self.subentry
        self.hass.config_entries.async_update_subentry(
            self.entry,
            subentry,
            data={**subentry.data, **data},
            title=title or subentry.title,
        )

    async def remove(self) -> None:
        self.hass.config_entries.async_remove_subentry(self.entry, self.id)
        await self.hass.async_block_till_done()


@dataclass(slots=True, kw_only=True)
class Home:
    """A home with a pet, a lamp, a phone, and an endpoint for heartbeats."""

    hass: HomeAssistant
    clock: Clock
    llm_server: LlmServer
    phone: list[ServiceCall]
    entry: MockConfigEntry
    events: list[Event] = field(default_factory=list)

    async def add_heartbeat(
        self, title: str = "Milonga", *, counted: bool = True, **data: Any
    ) -> Beat:
        """Add a heartbeat; the endpoint is set up with the first one.

        `counted` enables the sensor of its ticks, which is polled and written.
        """
        subentry_id = ulid_now()
        data = heartbeat_data(**data)
        subentry = ConfigSubentry(
            data=data,  # type: ignore[arg-type] # made read-only by Home Assistant
            subentry_id=subentry_id,
            subentry_type="heartbeat",
            title=title,
            unique_id=None,
        )
        with ExitStack() as stack:
            if counted:
                stack.enter_context(
                    patch.object(Entity, "entity_registry_enabled_default", new=True)
                )
            self.hass.config_entries.async_add_subentry(self.entry, subentry)
            if not self.is_loaded:
                assert await self.hass.config_entries.async_setup(self.entry.entry_id)
            await self.hass.async_block_till_done(wait_background_tasks=True)
        return Beat(hass=self.hass, entry=self.entry, id=subentry_id)

    @callback
    def note(self, event: Event) -> None:
        """Keep an event for `fired`."""
        self.events.append(event)

    @property
    def is_loaded(self) -> bool:
        return self.entry.state is ConfigEntryState.LOADED

    async def set(self, helper: str, *, on: bool) -> None:
        """Switch one of the input booleans `hungry` and `lamp`."""
        await self.hass.services.async_call(
            "input_boolean",
            f"turn_{'on' if on else 'off'}",
            {"entity_id": f"input_boolean.{helper}"},
            blocking=True,
        )

    async def reload(self) -> None:
        assert await self.hass.config_entries.async_reload(self.entry.entry_id)
        await self.settled()

    async def settled(self) -> None:
        """Wait until nothing is going on any more."""
        await self.hass.async_block_till_done(wait_background_tasks=True)

    def fired(self, event_type: str) -> list[dict[str, Any]]:
        """Return the data of the events of this type, oldest first."""
        return [
            dict(event.data) for event in self.events if event.event_type == event_type
        ]

    @property
    def told(self) -> list[str]:
        """What the owner's phone has shown."""
        return [call.data["message"] for call in self.phone]


async def let_run() -> None:
    """Let everything go on that can, while something hangs: nothing is waited for."""
    for _ in range(25):
        await asyncio.sleep(0)


def heartbeat_data(**changes: Any) -> dict[str, Any]:
    """Return a subentry's data: the phone is told, nothing may be touched."""
    return {
        "check_prompt": PROMPT,
        "interval": {"minutes": 15},
        "notify": ["notify.phone"],
        **changes,
    }


def subentry_of(title: str, **data: Any) -> ConfigSubentryDataWithId:
    """Return a heartbeat for a config entry that is still to be made."""
    return ConfigSubentryDataWithId(
        data=heartbeat_data(**data),
        subentry_id=ulid_now(),
        subentry_type="heartbeat",
        title=title,
        unique_id=None,
    )


def endpoint(
    server: LlmServer, *subentries: ConfigSubentryDataWithId
) -> MockConfigEntry:
    """Return an endpoint entry that points to the scripted server."""
    return MockConfigEntry(
        domain=DOMAIN,
        title="Scripted",
        data={"url": server.url, "model": MODEL, "api_key": "key"},
        subentries_data=subentries,
    )


def one_of(answer: Any, entity_id: str) -> dict[str, Any]:
    """Return the part of an action's answer that is one entity's, its only one."""
    assert isinstance(answer, Mapping)
    assert [*answer] == [entity_id]
    part: dict[str, Any] = answer[entity_id]
    return part


class HeldService:
    """An action that does not end before it is released."""

    def __init__(self, hass: HomeAssistant, domain: str, service: str) -> None:
        self.reached = asyncio.Event()
        self.release = asyncio.Event()
        self.calls: list[ServiceCall] = []
        self.error: Exception | None = None
        hass.services.async_register(domain, service, self._handle)

    async def _handle(self, call: ServiceCall) -> None:
        self.calls.append(call)
        self.reached.set()
        await self.release.wait()
        if self.error is not None:
            raise self.error


@pytest.fixture
def clock(freezer: FrozenDateTimeFactory, hass: HomeAssistant) -> Clock:
    """Freeze the time of a test."""
    return Clock(hass=hass, freezer=freezer)


@pytest.fixture
async def home(clock: Clock, llm_server: LlmServer, hass: HomeAssistant) -> Home:
    """Set up the home; it has no heartbeat yet."""
    for domain, config in (
        ("homeassistant", {}),
        ("input_boolean", {"hungry": None, "lamp": None, "door": None}),
        ("script", SCRIPTS),
    ):
        assert await async_setup_component(hass, domain, {domain: config})
    entry = endpoint(llm_server)
    entry.add_to_hass(hass)
    made = Home(
        hass=hass,
        clock=clock,
        llm_server=llm_server,
        phone=async_mock_service(hass, "notify", "phone"),
        entry=entry,
    )
    for event_type in (EVENT_HEARTBEAT_TICK, EVENT_ACTED, EVENT_STOPPED, "fed"):
        hass.bus.async_listen(event_type, made.note)
    await hass.async_block_till_done()
    return made


SCRIPTS: dict[str, Any] = {
    "feed": {
        "alias": "Feed",
        "description": "Give the pet something to eat.",
        "fields": {
            "food": {
                "required": True,
                "selector": {"select": {"options": ["meal", "snack"]}},
            },
        },
        "sequence": [{"event": "fed", "event_data": {"food": "{{ food }}"}}],
    },
    "valve": {
        "alias": "Valve",
        "sequence": [
            {"event": "valve_opened"},
            {"action": "test.wait"},
            {"event": "valve_closed"},
        ],
    },
    "fails": {"alias": "Fails", "sequence": [{"action": "test.fail"}]},
}

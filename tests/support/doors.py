"""A home with two locks, a phone with the app, and a heartbeat that has to ask.

Import the fixture `door` in a test module, with `clock` and `home`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from homeassistant.core import Context, Event, HomeAssistant, ServiceCall, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.proactive_agent.const import DOMAIN

from .heartbeats import Beat, Home
from .llm_server import calls, text
from .notifiers import hear

FRONT: Final = "lock.front_door"
BACK: Final = "lock.back_door"
LOCKS: Final = {"entity_id": [FRONT, BACK]}
PHONE: Final = "notify.mobile_app_owner"
BECAUSE: Final = "She stands outside."
TAPPED: Final = "mobile_app_notification_action"
APPROVE, REJECT = 0, 1


@dataclass(slots=True, kw_only=True)
class Door:
    """What an owner meets of a heartbeat that asks."""

    home: Home
    beat: Beat
    phone: list[ServiceCall]
    opened: list[str] = field(default_factory=list)

    @property
    def hass(self) -> HomeAssistant:
        return self.home.hass

    async def ask(self, lock: str = FRONT, **data: Any) -> str:
        """Let a run ask for a lock to be opened; returns the request's id."""
        arguments = {"entity_id": lock, "because": BECAUSE, **data}
        self.home.llm_server.play(calls(("lock_unlock", arguments)), text("Asked."))
        before = len(self.phone)
        await self.beat.wake()
        await self.home.settled()
        asked = self.phone[before]
        return str(asked.data["data"]["tag"]).removeprefix(f"{DOMAIN}_")

    @property
    def shown(self) -> Mapping[str, Any]:
        """The attributes of the pending approval."""
        entity_id = self.beat.entity_id("sensor", "pending_approval")
        state = self.hass.states.get(entity_id)
        assert state is not None
        return state.attributes

    @property
    def state(self) -> str:
        return self.beat.state("pending_approval")

    def button(self, approval_id: str, which: int) -> str:
        """Return what this request's button on the phone sends back."""
        (action,) = {
            call.data["data"]["actions"][which]["action"]
            for call in self.phone
            if call.data.get("data", {}).get("tag") == f"{DOMAIN}_{approval_id}"
            and "actions" in call.data["data"]
        }
        return str(action)

    @callback
    def send(self, action: Any, context: Context) -> None:
        """Send back what a button on a phone sends, or something else."""
        self.hass.bus.async_fire(TAPPED, {"action": action}, context=context)

    async def tap(self, action: Any, user_id: str | None = None) -> None:
        """Send the same, and wait for what comes of it."""
        self.send(action, Context(user_id=user_id))
        await self.home.settled()

    async def press(self, which: str, context: Context | None = None) -> None:
        """Press a button of the device's page."""
        await self.hass.services.async_call(
            "button",
            "press",
            {"entity_id": self.beat.entity_id("button", which)},
            blocking=True,
            context=context,
        )
        await self.home.settled()

    async def answer(
        self, service: str, approval_id: str, context: Context | None = None
    ) -> Any:
        """Call an action of the integration."""
        answer = await self.hass.services.async_call(
            DOMAIN,
            service,
            {"approval_id": approval_id},
            blocking=True,
            return_response=True,
            context=context,
        )
        await self.home.settled()
        return answer

    async def error(
        self, service: str, approval_id: str, context: Context | None = None
    ) -> HomeAssistantError:
        """Return the error with which an answer is refused."""
        with pytest.raises(HomeAssistantError) as refused:
            await self.answer(service, approval_id, context)
        await self.home.settled()
        return refused.value

    @property
    def told(self) -> list[str]:
        """What the phone has shown, but for the questions themselves."""
        return [
            call.data["message"]
            for call in self.phone
            if call.data["message"] != "clear_notification"
            and "actions" not in call.data.get("data", {})
        ]

    @property
    def cleared(self) -> list[str]:
        """The tags that were taken off the phone."""
        return [
            call.data["data"]["tag"]
            for call in self.phone
            if call.data["message"] == "clear_notification"
        ]


def own_phone(hass: HomeAssistant, user_id: str, name: str) -> list[ServiceCall]:
    """Give a user a phone with the app; returns what it is sent."""
    data = {"device_name": name, "user_id": user_id}
    MockConfigEntry(domain="mobile_app", title=name, data=data).add_to_hass(hass)
    return hear(hass, f"mobile_app_{name.lower()}")


@pytest.fixture
async def door(home: Home) -> Door:
    """Add the locks, the phone and the heartbeat."""
    hass = home.hass
    await async_add_locks(hass)
    phone = hear(hass, "mobile_app_owner")
    beat = await home.add_heartbeat(ask=LOCKS, notify=[PHONE])
    door = Door(home=home, beat=beat, phone=phone)

    @callback
    def note(event: Event) -> None:
        door.opened.append(event.data["lock"])

    hass.bus.async_listen("opened", note)
    return door


async def async_add_locks(hass: HomeAssistant) -> None:
    """Add the locks of a front door and of a back door, which say when they open."""
    bolts = {f"{name}_bolt": {"initial": "locked"} for name in ("front", "back")}
    assert await async_setup_component(hass, "input_text", {"input_text": bolts})
    locks = [_lock(name) for name in ("front", "back")]
    assert await async_setup_component(hass, "template", {"template": {"lock": locks}})
    await hass.async_block_till_done()


def _lock(name: str) -> dict[str, Any]:
    bolt = f"input_text.{name}_bolt"
    entity_id = f"lock.{name}_door"
    opened = {"event": "opened", "event_data": {"lock": entity_id}}
    turn = {
        "action": "input_text.set_value",
        "target": {"entity_id": bolt},
        "data": {"value": "unlocked"},
    }
    return {
        "name": f"{name.title()} door",
        "unique_id": name,
        "state": f"{{{{ states('{bolt}') }}}}",
        "lock": [],
        "unlock": [opened, turn],
    }

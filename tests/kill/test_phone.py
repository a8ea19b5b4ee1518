"""Asking and answering with the real Mobile App integration, as the app does it.

This phone needs no cloud: it is told over its WebSocket, and confirms what it shows.
"""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
import pytest_asyncio

from demo_house.hass_api import Data

from .beat import Beat
from .home import lock_of
from .house import KilledHouse
from .mind import BECAUSE, Mind
from .phone import Phone
from .points import PHONE_DOORS
from .witness import Witness
from .words import sentence

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.contract("P2"),
    pytest.mark.contract("P6"),
]

OWNER: Final = "Milonga's owner"
FRONT, BACK = PHONE_DOORS


class Screen:
    """What a phone has been sent, each confirmed as the app does it."""

    def __init__(self, house: KilledHouse, phone: Phone) -> None:
        self.phone = phone
        self.shown: list[dict[str, Any]] = []
        self._house = house
        self._confirming: set[asyncio.Task[Any]] = set()

    async def light_up(self) -> None:
        """Open the channel over which the phone is told."""
        await self._house.socket.subscribe(
            self._show,
            "mobile_app/push_notification_channel",
            webhook_id=self.phone.webhook_id,
            support_confirm=True,
        )

    async def until(self, number: int) -> dict[str, Any]:
        """Wait for that many notifications; returns the last of them."""
        await self._house.until(lambda: len(self.shown) >= number, f"{number} shown")
        assert len(self.shown) == number, self.shown
        return self.shown[-1]

    async def tap(self, button: Data) -> None:
        await self.phone.tap(self._house.api, button["action"])

    async def rest(self) -> None:
        """Let every confirmation be taken; raises `DemoError` for one that is not."""
        await asyncio.gather(*self._confirming)

    def _show(self, notification: dict[str, Any]) -> None:
        self.shown.append(notification)
        confirming = self._house.socket.command(
            "mobile_app/push_notification_confirm",
            webhook_id=self.phone.webhook_id,
            confirm_id=notification["hass_confirm_id"],
        )
        self._confirming.add(asyncio.create_task(confirming))


@pytest_asyncio.fixture(loop_scope="session")
async def screen(
    house: KilledHouse, request: pytest.FixtureRequest
) -> AsyncIterator[Screen]:
    name = f"Screen{PHONE_DOORS.index(request.param)}"
    phone = await Phone.register(house.api, name, {"push_websocket_channel": True})
    lit = Screen(house, phone)
    await lit.light_up()
    yield lit
    await lit.rest()
    await phone.unregister(house.api)


@pytest.mark.parametrize("screen", [FRONT], indirect=True)
async def test_a_yes_on_the_phone_opens_the_door_once(
    house: KilledHouse, witness: Witness, mind: Mind, screen: Screen
) -> None:
    beat = await Beat.add(house, mind, screen.phone, FRONT)
    changes: list[dict[str, Any]] = []
    await house.socket.subscribe(
        changes.append, "subscribe_events", event_type="state_changed"
    )
    began = datetime.now(UTC)

    await beat.wake()

    asked = await screen.until(1)
    assert asked["title"] == beat.title
    assert asked["message"] == (
        f"{sentence('asks', FRONT, heartbeat=beat.title)} "
        f"{sentence('asks_because', FRONT, because=BECAUSE)}."
    )
    yes, no = asked["data"]["actions"]
    assert (yes["title"], no["title"]) == ("Approve", "Reject")
    assert yes["authenticationRequired"]
    assert await house.state(lock_of(FRONT)) == "locked"

    await screen.tap(yes)

    told = await screen.until(3)
    cleared = screen.shown[1]
    assert cleared["message"] == "clear_notification"
    assert cleared["data"]["tag"] == asked["data"]["tag"]
    assert told["message"] == sentence("approval_done", FRONT)
    assert await house.state(lock_of(FRONT)) == "unlocked"
    assert witness.deeds[FRONT] == 1

    await screen.tap(yes)
    reply = await screen.until(4)
    assert reply["message"] == sentence("reply_approval_answered", FRONT, who=OWNER)
    await screen.tap(no)

    assert beat.statuses_on_disk() == ["done"]
    assert witness.deeds[FRONT] == 1
    unlocked = [one for one in _states(changes, lock_of(FRONT)) if one == "unlocked"]
    assert len(unlocked) == 1
    await house.until(lambda: _put_down(house, beat, began), "the logbook's entry")
    await beat.remove()


@pytest.mark.parametrize("screen", [BACK], indirect=True)
async def test_a_no_on_the_phone_leaves_the_door_locked(
    house: KilledHouse, witness: Witness, mind: Mind, screen: Screen
) -> None:
    beat = await Beat.add(house, mind, screen.phone, BACK)
    await beat.wake()
    asked = await screen.until(1)
    _, no = asked["data"]["actions"]

    await screen.tap(no)

    cleared = await screen.until(2)
    assert cleared["message"] == "clear_notification"
    assert cleared["data"]["tag"] == asked["data"]["tag"]
    assert beat.statuses_on_disk() == ["rejected"]
    assert await house.state(lock_of(BACK)) == "locked"
    assert witness.deeds[BACK] == 0
    await beat.remove()


def _states(changes: list[dict[str, Any]], entity_id: str) -> list[str]:
    return [
        change["data"]["new_state"]["state"]
        for change in changes
        if change["data"]["entity_id"] == entity_id and change["data"]["new_state"]
    ]


async def _put_down(house: KilledHouse, beat: Beat, began: datetime) -> bool:
    """Say whether the logbook puts the unlocked door down to the heartbeat (A8)."""
    found = await house.api.get(
        f"/api/logbook/{(began - timedelta(seconds=1)).strftime('%Y-%m-%dT%H:%M:%SZ')}"
        f"?entity={lock_of(FRONT)}"
    )
    return any(
        one.get("state") == "unlocked" and one.get("context_name") == beat.title
        for one in found
    )

"""The story in shortened time: five ticks, of which one wakes the model."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from .agent import Agent, until_loaded
from .errors import DemoError
from .house import CALL_LIGHT, HAPPY, HUNGER
from .ledger import Ledger
from .model_server import ModelServer
from .narrator import Narrator
from .running import House
from .verdict import TICKS

TIME_PASSES: Final = "input_boolean.time_passes"
HUNGER_EVERY: Final = f"{HUNGER}_every"
HAPPY_EVERY: Final = f"{HAPPY}_every"

# In intervals of the heartbeat. Hunger, from 3 hearts, falls at 1.75 and 3.5: low at
# the fourth tick and not before; happiness, from 4, at 2.75 and 5.5: never low. No
# fall is nearer to a tick than a quarter of an interval.
START: Final[Mapping[str, float]] = {HUNGER: 3, HAPPY: 4}
LASTS: Final[Mapping[str, float]] = {HUNGER_EVERY: 1.75, HAPPY_EVERY: 2.75}
# After the story the pet takes it easier: some dozen quiet ticks to each wake.
EASIER: Final = 5
READINGS_PER_TICK: Final = 10
# A run is bounded by its own 60 s; the ticks it covers are not counted.
LONGEST_RUN: Final = 75
RELOAD_SECONDS: Final = 3


class Story:
    """Tells the story, then goes on narrating for as long as it is let."""

    def __init__(
        self,
        house: House,
        agent: Agent,
        model: ModelServer,
        narrator: Narrator,
        *,
        interval: int,
        reloads_at: float,
    ) -> None:
        """Direct this house; an interval is in seconds.

        `reloads_at` is the loop's time when Home Assistant reloads the heartbeat.
        """
        self._house = house
        self._agent = agent
        self._model = model
        self._narrator = narrator
        self._interval = interval
        self._reloads_at = reloads_at
        self.ledger = Ledger(requests=model.meter.requests, tokens=model.meter.tokens)

    async def tell(self) -> Ledger:
        """Tell the story once; raises `DemoError` if it does not come to its end."""
        await self._set_the_scene()
        await self._let_reload_pass()
        await self._listen()
        act = self._house.socket.act
        await asyncio.gather(
            act("switch.turn_on", self._agent.switch),
            act("input_boolean.turn_on", TIME_PASSES),
        )
        bound = self._interval * (TICKS + 1) + LONGEST_RUN
        try:
            async with asyncio.timeout(bound):
                while self.ledger.tick.number < TICKS:
                    await self._follow(readings=1)
                # Whatever the last tick sets off must show before the books close.
                await self._follow(readings=READINGS_PER_TICK // 2)
        except TimeoutError as err:
            seen = f"{self.ledger.tick.number} of {TICKS} ticks in {bound} s"
            raise DemoError(f"the story did not come to its end: {seen}") from err
        return self.ledger

    async def go_on(self) -> None:
        """Narrate each tick until cancelled, in slower time."""
        await self._set(LASTS, EASIER * self._interval)
        while self._house.process.returncode is None:
            # The visitor may reload, disable or delete what is being read here.
            with suppress(DemoError):
                await self._follow(readings=1)

    async def _set_the_scene(self) -> None:
        act = self._house.socket.act
        await act("switch.turn_off", self._agent.switch)
        await act("input_boolean.turn_off", TIME_PASSES)
        await self._set(START, 1)
        await self._set(LASTS, self._interval)
        await act("light.turn_off", CALL_LIGHT)

    async def _let_reload_pass(self) -> None:
        """Wait for it if it would come in the middle of the story."""
        left = self._reloads_at - asyncio.get_running_loop().time()
        if left < (TICKS + 1) * self._interval:
            self._narrator.say(f"Waiting for a reload of the agent ({left:.0f} s) ...")
            await asyncio.sleep(max(0, left) + RELOAD_SECONDS)
            await until_loaded(self._house, self._agent)

    async def _set(self, values: Mapping[str, float], factor: float) -> None:
        for entity_id, value in values.items():
            await self._house.socket.act(
                "input_number.set_value", entity_id, value=value * factor
            )

    async def _listen(self) -> None:
        def notified(message: dict[str, Any]) -> None:
            if message["type"] == "added":
                for one in message["notifications"].values():
                    self.ledger.saw_notification(one["message"])

        socket = self._house.socket
        await socket.subscribe(self.ledger.saw_event, "subscribe_events")
        await socket.subscribe(notified, "persistent_notification/subscribe")
        for entity_id in START:
            state = await self._house.api.get(f"/api/states/{entity_id}")
            self.ledger.saw_event(
                {
                    "event_type": "state_changed",
                    "data": {"entity_id": entity_id, "new_state": state},
                }
            )

    async def _follow(self, *, readings: int) -> None:
        for _ in range(readings):
            await asyncio.sleep(self._interval / READINGS_PER_TICK)
            await self._read()
            self._narrator.follow(self.ledger)

    async def _read(self) -> None:
        """Ask for the count: the sensor writes nothing by itself on a quiet tick."""
        sensor = self._agent.ticks_used
        await self._house.socket.act("homeassistant.update_entity", sensor)
        state = (await self._house.api.get(f"/api/states/{sensor}"))["state"]
        meter = self._model.meter
        if state.isdecimal():
            self.ledger.read(
                ticks_used=int(state), requests=meter.requests, tokens=meter.tokens
            )

"""What goes on in the home while the power is on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import count
import random
from typing import Final

from demo_house.errors import DemoError

from .house import KilledHouse
from .phone import Phone
from .witness import Witness

TROUBLE: Final = "input_boolean.trouble"
NEWS: Final = "input_text.news"
# Seconds that there is trouble, and that there is none.
LASTS: Final = (0.6, 1.4)
IS_OVER_FOR: Final = (0.1, 0.4)
SEES_A_QUESTION_AFTER: Final = 0.05  # seconds


class Hour:
    """Trouble comes and goes, and the owner says yes to whatever is asked."""

    def __init__(
        self,
        house: KilledHouse,
        witness: Witness,
        phone: Phone,
        title: str,
        dice: random.Random,
    ) -> None:
        """Answer what the heartbeat of this title asks."""
        self._house = house
        self._witness = witness
        self._phone = phone
        self._title = title
        self._dice = dice
        self._news = count()
        self._answered: set[str] = set()

    @asynccontextmanager
    async def passes(self) -> AsyncIterator[None]:
        """Let it all go on, until the power is cut or nobody looks any more."""
        going_on = [
            asyncio.create_task(self._be_troubled()),
            asyncio.create_task(self._answer()),
        ]
        try:
            yield
        finally:
            for one in going_on:
                one.cancel()
            await asyncio.gather(*going_on, return_exceptions=True)

    async def _be_troubled(self) -> None:
        while True:
            news = f"News {next(self._news)}"
            await self._do("input_text.set_value", entity_id=NEWS, value=news)
            await self._do("input_boolean.turn_on", entity_id=TROUBLE)
            await asyncio.sleep(self._dice.uniform(*LASTS))
            await self._do("input_boolean.turn_off", entity_id=TROUBLE)
            await asyncio.sleep(self._dice.uniform(*IS_OVER_FOR))

    async def _do(self, action: str, **data: str) -> None:
        with suppress(DemoError):  # The power may be cut meanwhile.
            await self._house.act(action, **data)

    async def _answer(self) -> None:
        while True:
            for push in self._witness.asked(self._title):
                yes = push.buttons[0]
                if yes not in self._answered:
                    with suppress(DemoError):
                        await self._phone.tap(self._house.api, yes)
                        self._answered.add(yes)
            await asyncio.sleep(SEES_A_QUESTION_AFTER)

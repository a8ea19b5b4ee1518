"""The one door for messages to the owner (S1, S5, S6, P2)."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
import logging

from homeassistant.components import persistent_notification
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError

from ..const import DOMAIN
from .letter import Button, Letter, clearing
from .start import Start
from .targets import (
    NOTIFY,
    Recipient,
    Way,
    is_complete,
    phones_of_user,
    recipients_of,
    way_to,
)

__all__ = ["Button", "Delivery", "Notifier", "OnLate"]

_LOGGER = logging.getLogger(__name__)

SEND_TIMEOUT = 30  # seconds

type OnLate = Callable[[Delivery], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """Which targets a message reached; `kept` if only Home Assistant shows it.

    `late` are targets that may still be loading: they are waited for.
    """

    reached: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    late: tuple[str, ...] = ()
    kept: bool = False


class Notifier:
    """Sends a message to each target; one that fails does not stop the others."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Send through this Home Assistant, until it is closed."""
        self._hass = hass
        self._start = Start(hass)
        self._latest: dict[str, Letter] = {}
        self._late: dict[str, asyncio.Task[None]] = {}

    @callback
    def close(self) -> None:
        """Wait for nobody any longer; a message that reached none stays kept."""
        self._start.close()
        for letter_id in tuple(self._late):
            self._supersede(letter_id)

    async def async_finish(self) -> None:
        """Wait for who is late, as long as they are waited for, and close."""
        try:
            if self._late:
                await asyncio.wait(self._late.values())
        finally:
            self.close()

    async def async_send(
        self,
        targets: Sequence[str],
        *,
        title: str,
        message: str,
        notification_id: str,
        context: Context,
        replaces: str | None = None,
        on_late: OnLate | None = None,
    ) -> Delivery:
        """Send one plain line to notify entities and `notify.*` actions (S5).

        Without a target, or if none was reached, a persistent notification with
        this id holds the message. Each target gets it once and has 30 seconds.
        With `replaces` it takes the place of the request of this tag instead.

        Targets that are missing just after the start of Home Assistant are named as
        `late`, and told as soon as they are there; `on_late` is then called with what
        became of the whole, unless a later message of this id came before.
        """
        if replaces is None:
            letter = Letter.message(notification_id, title, message, context)
        else:
            letter = Letter.update(replaces, title, message, context)
        return await self._deliver(letter, targets, on_late)

    async def async_ask(
        self,
        targets: Sequence[str],
        *,
        title: str,
        message: str,
        elsewhere: str,
        tag: str,
        buttons: Sequence[Button],
        context: Context,
        on_late: OnLate | None = None,
    ) -> Delivery:
        """Put a request with buttons on phones (P2); otherwise as `async_send`.

        Whoever may not see buttons is told `elsewhere`, how to answer. The tag, of at
        most 64 characters, is the id of the persistent notification too.
        """
        letter = Letter.request(tag, title, (message, elsewhere), buttons, context)
        return await self._deliver(letter, targets, on_late)

    async def async_reply(
        self, user_id: str, *, title: str, message: str, tag: str, context: Context
    ) -> bool:
        """Answer a tap on the phones of the user who tapped, in the request's place.

        Says whether one was reached.
        """
        letter = Letter.update(tag, title, message, context)
        phones = phones_of_user(self._hass, user_id)
        sent = await asyncio.gather(*(self._reaches(one, letter) for one in phones))
        return any(sent)

    async def async_clear(
        self, targets: Sequence[str], *, tag: str, context: Context
    ) -> None:
        """Take a request off every phone and out of Home Assistant, where that works.

        Who is still waited for will not be asked any more.
        """
        self._supersede(tag)
        self._dismiss(tag)
        await self._take_off(recipients_of(self._hass, targets), tag, context)

    async def _deliver(
        self, letter: Letter, targets: Sequence[str], on_late: OnLate | None
    ) -> Delivery:
        self._supersede(letter.id)
        self._latest[letter.id] = letter
        recipients = recipients_of(self._hass, targets)
        late = [one for one in recipients if self._is_late(one, letter)]
        there = [one for one in recipients if one not in late]
        try:
            delivery = await self._tell(there, letter)
        except asyncio.CancelledError:
            # Nobody knows any more who has heard it.
            if self._still_stands(letter):
                self._keep(letter)
            raise
        if not self._still_stands(letter):
            if letter.data is not None and letter.id not in self._latest:
                # A phone may have got it only after it was taken off.
                await self._take_off(there, letter.id, letter.context)
            return delivery
        if delivery.reached:
            self._dismiss(letter.id)
        else:
            self._keep(letter)
        delivery = replace(
            delivery,
            late=tuple(target for one in late for target in one.targets),
            kept=not delivery.reached,
        )
        if late:
            self._late[letter.id] = self._hass.async_create_background_task(
                self._tell_late(letter, late, delivery, on_late),
                f"{DOMAIN} late notifiers",
            )
        return delivery

    async def _tell_late(
        self,
        letter: Letter,
        late: Sequence[Recipient],
        so_far: Delivery,
        on_late: OnLate | None,
    ) -> None:
        told = await self._tell(late, letter, wait=True)
        del self._late[letter.id]
        if told.reached and so_far.kept:
            self._dismiss(letter.id)
        if on_late is not None:
            reached = so_far.reached + told.reached
            failed = so_far.failed + told.failed
            on_late(Delivery(reached=reached, failed=failed, kept=not reached))

    async def _tell(
        self, recipients: Sequence[Recipient], letter: Letter, *, wait: bool = False
    ) -> Delivery:
        sent = await asyncio.gather(
            *(self._reaches(one, letter, wait=wait) for one in recipients)
        )
        told = tuple(
            (target, ok)
            for one, ok in zip(recipients, sent, strict=True)
            for target in one.targets
        )
        return Delivery(
            reached=tuple(target for target, ok in told if ok),
            failed=tuple(target for target, ok in told if not ok),
        )

    async def _reaches(
        self, recipient: Recipient, letter: Letter, *, wait: bool = False
    ) -> bool:
        if wait:
            await self._start.async_wait(
                recipient.targets, lambda: self._is_complete(recipient, letter)
            )
        try:
            async with asyncio.timeout(SEND_TIMEOUT):
                await self._call(recipient, letter)
        except Exception as error:  # noqa: BLE001 - a notifier may raise anything
            name = " and ".join(recipient.targets)
            reason = str(error) or type(error).__name__
            _LOGGER.warning("%s could not be told: %s", name, reason)
            return False
        return True

    async def _call(self, recipient: Recipient, letter: Letter) -> None:
        way = way_to(self._hass, recipient, data=letter.data is not None)
        if way is None:
            raise HomeAssistantError("it is not available")
        await self._hass.services.async_call(
            NOTIFY,
            way.action,
            letter.service_data(way),
            blocking=True,
            context=letter.context,
        )

    async def _take_off(
        self, recipients: Iterable[Recipient], tag: str, context: Context
    ) -> None:
        ways = (way_to(self._hass, one, data=True) for one in recipients)
        await asyncio.gather(
            *(self._clear(way, tag, context) for way in ways if way and way.takes_data)
        )

    async def _clear(self, way: Way, tag: str, context: Context) -> None:
        try:
            async with asyncio.timeout(SEND_TIMEOUT):
                await self._hass.services.async_call(
                    NOTIFY, way.action, clearing(tag), blocking=True, context=context
                )
        except Exception as error:  # noqa: BLE001 - a notifier may raise anything
            _LOGGER.debug("A request was not taken off %s: %s", way.action, error)

    def _is_late(self, recipient: Recipient, letter: Letter) -> bool:
        return self._start.is_recent and not self._is_complete(recipient, letter)

    def _is_complete(self, recipient: Recipient, letter: Letter) -> bool:
        return is_complete(self._hass, recipient, data=letter.data is not None)

    @callback
    def _supersede(self, letter_id: str) -> None:
        """Let nobody be told any more what a later message makes old."""
        self._latest.pop(letter_id, None)
        if (waiting := self._late.pop(letter_id, None)) is not None:
            waiting.cancel()

    @callback
    def _still_stands(self, letter: Letter) -> bool:
        """Say, once, whether nothing has superseded what was under way."""
        if self._latest.get(letter.id) is not letter:
            return False
        del self._latest[letter.id]
        return True

    @callback
    def _keep(self, letter: Letter) -> None:
        persistent_notification.async_create(
            self._hass, letter.in_full, letter.title, letter.id
        )

    @callback
    def _dismiss(self, letter_id: str) -> None:
        persistent_notification.async_dismiss(self._hass, letter_id)

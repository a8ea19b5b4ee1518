"""Answers that phones send back from the buttons of a notification (P2, P6)."""

from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import CALLBACK_TYPE, Context, Event, HomeAssistant, callback
from homeassistant.exceptions import Unauthorized

from ..asking.reporter import tag_of
from ..const import DOMAIN, TAP_APPROVE, TAP_REJECT
from ..engine.errors import ApprovalError, NothingDoneError
from ..notifier.notifier import Notifier
from ..texts import Texts
from .answers import Answers, Request, placeholders

TAPPED: Final = "mobile_app_notification_action"
# Seconds in which the same tap is replied to once.
REPLY_PAUSE: Final = 60
# Taps that are kept for later while Home Assistant starts.
MAX_EARLY: Final = 50
_INTEGRATION: Final = "Proactive Agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tap:
    """One tap on a button of ours; its secret need not belong to any request."""

    yes: bool
    secret: str
    context: Context

    @classmethod
    def of(cls, event: Event[dict[str, Any]]) -> Tap | None:
        """Read an event; None if it is not about a button of ours."""
        action = event.data.get("action")
        if not isinstance(action, str):
            return None
        for prefix, yes in ((TAP_APPROVE, True), (TAP_REJECT, False)):
            if action.startswith(prefix):
                secret = action.removeprefix(prefix)
                return cls(yes=yes, secret=secret, context=event.context)
        return None


class Taps:
    """Takes the taps for the heartbeats of one endpoint.

    Each endpoint hears each tap. If none of them has its request, only the first of
    `everyone` (the answers of all endpoints that are loaded) replies to it.
    """

    def __init__(
        self,
        hass: HomeAssistant,
        entry: ConfigEntry,
        answers: Answers,
        everyone: Callable[[], list[Answers]],
    ) -> None:
        """Prepare; nothing is heard before `listen`."""
        self._hass = hass
        self._entry = entry
        self._answers = answers
        self._everyone = everyone
        self._notifier = Notifier(hass)
        # Also if the endpoint is never set up.
        entry.async_on_unload(self._notifier.close)
        self._replied: dict[tuple[str, str | None], float] = {}
        self._early: deque[Tap] | None = deque(maxlen=MAX_EARLY)

    @callback
    def listen(self) -> CALLBACK_TYPE:
        """Hear taps; returns what ends it.

        Those that nobody knows are kept until `start`: some may only be late.
        """
        return self._hass.bus.async_listen(TAPPED, self._heard)

    @callback
    def start(self) -> None:
        """Reply from now on also to unknown taps: all requests are loaded (P7)."""
        early, self._early = self._early or (), None
        for tap in early:
            self._take(tap)

    @callback
    def _heard(self, event: Event[dict[str, Any]]) -> None:
        if (tap := Tap.of(event)) is not None:
            self._take(tap)

    @callback
    def _take(self, tap: Tap) -> None:
        if (request := self._answers.by_secret(tap.secret)) is not None:
            self._spawn(self._answer(request, tap))
        elif self._early is not None:
            self._early.append(tap)
        elif self._is_nobodys(tap):
            self._spawn(self._reply(tap, "reply_unknown"))

    def _is_nobodys(self, tap: Tap) -> bool:
        """Say whether no endpoint knows it, and this is the one to say so."""
        everyone = self._everyone()
        is_known = any(one.by_secret(tap.secret) is not None for one in everyone)
        return not is_known and everyone[:1] == [self._answers]

    async def _answer(self, request: Request, tap: Tap) -> None:
        try:
            await self._answers.async_take(request, yes=tap.yes, context=tap.context)
        except NothingDoneError:
            return  # Said where the heartbeat speaks.
        except ApprovalError as err:
            await self._reply(tap, f"reply_{err.kind}", request)
        except Unauthorized:
            await self._reply(tap, "reply_unauthorized", request)

    async def _reply(self, tap: Tap, key: str, request: Request | None = None) -> None:
        """Tell whoever tapped that nothing was done, and why (P6)."""
        tag = f"{tag_of(request.approval) if request else DOMAIN}_reply"
        if self._has_just_replied(tag, tap.context.user_id):
            return
        texts = await Texts.async_load(self._hass)
        known = placeholders(self._hass, request) if request else {}
        message = texts.say(key, **known)
        options = request.heartbeat.options if request else None
        title = options.title if options else _INTEGRATION
        context = Context()
        if (user_id := tap.context.user_id) and await self._notifier.async_reply(
            user_id, title=title, message=message, tag=tag, context=context
        ):
            return
        await self._notifier.async_send(
            options.notify if options else (),
            title=title,
            message=message,
            notification_id=tag.removeprefix(f"{DOMAIN}_"),
            context=context,
        )

    @callback
    def _has_just_replied(self, tag: str, user_id: str | None) -> bool:
        now = self._hass.loop.time()
        self._replied = {
            one: at for one, at in self._replied.items() if now - at < REPLY_PAUSE
        }
        if (tag, user_id) in self._replied:
            return True
        self._replied[tag, user_id] = now
        return False

    @callback
    def _spawn(self, job: Coroutine[Any, Any, None]) -> None:
        self._entry.async_create_background_task(
            self._hass, job, f"{DOMAIN} tap", eager_start=True
        )

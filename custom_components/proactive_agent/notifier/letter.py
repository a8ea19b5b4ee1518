"""A message as it is handed to each way (P2, S6)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from homeassistant.const import ATTR_ENTITY_ID
from homeassistant.core import Context

from ..const import DOMAIN
from ..engine.plain_text import message_line, plain_line
from .targets import Way

_MAX_BUTTON = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """An answer that a phone offers below a request.

    `action` comes back with the event `mobile_app_notification_action`. The phone
    must be unlocked for one that `needs_unlock` (as far as its app can ask for that).
    """

    action: str
    title: str
    destructive: bool = False
    needs_unlock: bool = False


def shown_as(notification_id: str) -> str:
    """Return the id under which Home Assistant shows a message that it keeps."""
    return f"{DOMAIN}_{notification_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """A message, worded for each way that it may be sent; all of it is plain text.

    `data` is for phones only. `in_full` is for who cannot see buttons: it says what
    they would. A later letter with the same `id` takes its place.
    """

    id: str
    title: str
    line: str
    in_full: str
    data: Mapping[str, Any] | None
    context: Context

    @classmethod
    def message(
        cls, notification_id: str, title: str, message: str, context: Context
    ) -> Self:
        """Write something to be known."""
        line = message_line(message)
        return cls(
            id=shown_as(notification_id),
            title=plain_line(title),
            line=line,
            in_full=line,
            data=None,
            context=context,
        )

    @classmethod
    def update(cls, tag: str, title: str, message: str, context: Context) -> Self:
        """Write something that takes the place of a request on phones."""
        line = message_line(message)
        return cls(
            id=tag,
            title=plain_line(title),
            line=line,
            in_full=line,
            data={"tag": tag, "group": DOMAIN},
            context=context,
        )

    @classmethod
    def request(
        cls,
        tag: str,
        title: str,
        texts: tuple[str, str],
        buttons: Sequence[Button],
        context: Context,
    ) -> Self:
        """Write a question, and how to answer where there are no buttons."""
        message, elsewhere = texts
        return cls(
            id=tag,
            title=plain_line(title),
            line=message_line(message),
            in_full=message_line(message, elsewhere),
            data={
                "tag": tag,
                "group": DOMAIN,
                "actions": [_action(button) for button in buttons],
                # What iOS reads, and then what Android does: show it at once.
                "push": {"interruption-level": "time-sensitive"},
                "priority": "high",
                "ttl": 0,
            },
            context=context,
        )

    def service_data(self, way: Way) -> dict[str, Any]:
        """Return what the action of this way is called with."""
        has_buttons = way.takes_data and not way.group
        data: dict[str, Any] = {"message": self.line if has_buttons else self.in_full}
        if way.takes_title:
            data["title"] = self.title
        if way.entity_id is not None:
            data[ATTR_ENTITY_ID] = way.entity_id
        if self.data is not None and way.takes_data:
            data["data"] = dict(self.data)
        return data


def clearing(tag: str) -> dict[str, Any]:
    """Return what takes a request off a phone."""
    return {"message": "clear_notification", "data": {"tag": tag}}


def _action(button: Button) -> dict[str, Any]:
    return {
        "action": button.action,
        "title": plain_line(button.title, _MAX_BUTTON),
        "authenticationRequired": button.needs_unlock,
        "destructive": button.destructive,
    }

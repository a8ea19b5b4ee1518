"""Refuses what cannot be done now, with the reason (C8)."""

from homeassistant.exceptions import ServiceValidationError

from .const import DOMAIN


def refuse_if(title: str, **reasons: bool) -> None:
    """Raise `ServiceValidationError` for the first reason that is true.

    A reason is the key of an exception in the translations; `title` names the heartbeat
    in it.
    """
    for reason, holds in reasons.items():
        if holds:
            raise ServiceValidationError(
                translation_domain=DOMAIN,
                translation_key=reason,
                translation_placeholders={"heartbeat": title},
            )

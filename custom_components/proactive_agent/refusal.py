"""What is said to whoever asks for what cannot be done now (C8)."""

from homeassistant.exceptions import ServiceValidationError

from .const import DOMAIN


def refuse_if(title: str, **reasons: bool) -> None:
    """Raise `ServiceValidationError` with the first reason that holds.

    Each is the key of an exception that names the heartbeat of this title.
    """
    for reason, holds in reasons.items():
        if holds:
            raise ServiceValidationError(
                translation_domain=DOMAIN,
                translation_key=reason,
                translation_placeholders={"heartbeat": title},
            )

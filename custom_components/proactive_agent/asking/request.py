"""A new request for a yes, from the action that a run wants to take (P1)."""

import secrets

from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util
from homeassistant.util.ulid import ulid_now

from ..engine.approvals import Approval
from ..engine.plain_text import plain_line
from ..guard.checks import is_risky
from ..guard.facts import entries_of
from ..guard.guard import Action
from ..models import HeartbeatOptions
from .carrying_out import situation_of


def new_request(
    hass: HomeAssistant,
    options: HeartbeatOptions,
    action: Action,
    *,
    run_id: str,
    index: int,
    because: str,
) -> Approval:
    """Return the request for this action, the one at `index` in its run's record.

    `because` is the reason where the action itself has none. Its `words` are missing.
    """
    now = dt_util.utcnow()
    states = situation_of(hass, action)
    return Approval(
        approval_id=ulid_now(),
        action=action.name,
        entity_id=action.entity_id,
        data=action.data,
        named=action.named,
        must_ask=action.must_ask,
        is_risky=is_risky(hass, action),
        because=plain_line(action.because) or plain_line(because),
        states=states,
        entries=entries_of(hass, states),
        secret=secrets.token_urlsafe(16),
        run_id=run_id,
        index=index,
        context_id=ulid_now(),
        asked=now,
        expires=now + options.manners.approval_timeout,
        targets=options.notify,
    )

"""The forms of both flows: fields, selectors and defaults."""

from collections.abc import Container, Iterator, Sequence
from datetime import timedelta
from typing import Any, Final

from homeassistant.components.notify import (
    DOMAIN as NOTIFY_DOMAIN,
    SERVICE_NOTIFY,
    SERVICE_PERSISTENT_NOTIFICATION,
    SERVICE_SEND_MESSAGE,
)
from homeassistant.const import (
    CONF_API_KEY,
    CONF_MODEL,
    CONF_NAME,
    CONF_URL,
    CONF_VERIFY_SSL,
)
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import section
from homeassistant.helpers.selector import (
    BooleanSelector,
    DurationSelectorConfig,
    NumberSelectorConfig,
    NumberSelectorMode,
    ObjectSelector,
    SelectOptionDict,
    Selector,
    SelectSelector,
    SelectSelectorConfig,
    SelectSelectorMode,
    TextSelector,
    TextSelectorConfig,
    TextSelectorType,
)
import voluptuous as vol

from .. import const as c
from .selectors import (
    RawConditionSelector,
    RawDurationSelector,
    RawNumberSelector,
    RawTargetSelector,
)

# No targets of their own, or what happens anyway when nobody is chosen.
_NO_TARGETS: Final = frozenset(
    {SERVICE_NOTIFY, SERVICE_SEND_MESSAGE, SERVICE_PERSISTENT_NOTIFICATION}
)

_PASSWORD: Final = TextSelector(
    TextSelectorConfig(type=TextSelectorType.PASSWORD, autocomplete="off")
)

SERVER_SCHEMA: Final = vol.Schema(
    {
        vol.Required(CONF_URL): TextSelector(),
        vol.Optional(CONF_API_KEY): _PASSWORD,
        vol.Required(CONF_VERIFY_SSL, default=True): BooleanSelector(),
    }
)
KEY_SCHEMA: Final = vol.Schema({vol.Optional(CONF_API_KEY): _PASSWORD})


def model_schema(models: Sequence[str]) -> vol.Schema:
    """Choose among the models a server has, or write one down."""
    return vol.Schema(
        {
            vol.Required(CONF_MODEL): _model_choice(models),
            vol.Optional(c.CONF_EXTRA_BODY): ObjectSelector(),
        }
    )


def heartbeat_schema(
    hass: HomeAssistant,
    models: Sequence[str] | None,
    unfolded: Container[str] = (),
) -> vol.Schema:
    """One form for a whole heartbeat; its limits and manners are folded away.

    `models` are those of its server, None where there is nothing to choose from.
    """
    recipients = SelectSelector(
        SelectSelectorConfig(
            options=list(_recipients(hass)), multiple=True, custom_value=True
        )
    )
    return vol.Schema(
        {
            vol.Required(CONF_NAME): TextSelector(),
            vol.Required(c.CONF_CHECK_PROMPT): TextSelector(
                TextSelectorConfig(multiline=True)
            ),
            vol.Required(
                c.CONF_INTERVAL, default=_parts(c.DEFAULT_INTERVAL)
            ): RawDurationSelector(),
            vol.Optional(c.CONF_CONDITIONS, default=list): RawConditionSelector(),
            vol.Optional(c.CONF_LOOK, default=dict): RawTargetSelector(),
            vol.Optional(c.CONF_ACT, default=dict): RawTargetSelector(),
            vol.Optional(c.CONF_ASK, default=dict): RawTargetSelector(),
            vol.Optional(c.CONF_NOTIFY, default=list): recipients,
            **({} if models is None else _another_model(models)),
            # No default: the frontend would show it instead of the fields' own.
            vol.Optional(c.CONF_FUSES): section(
                FUSES_SCHEMA, {"collapsed": c.CONF_FUSES not in unfolded}
            ),
            vol.Optional(c.CONF_MANNERS): section(
                MANNERS_SCHEMA, {"collapsed": c.CONF_MANNERS not in unfolded}
            ),
        }
    )


def _another_model(models: Sequence[str]) -> dict[vol.Marker, Selector[Any]]:
    return {vol.Optional(CONF_MODEL): _model_choice(models)}


def _model_choice(models: Sequence[str]) -> Selector[Any]:
    if not models:
        return TextSelector()
    return SelectSelector(
        SelectSelectorConfig(
            options=list(models),
            custom_value=True,
            sort=True,
            mode=SelectSelectorMode.DROPDOWN,
        )
    )


def _number(least: int = 0) -> RawNumberSelector:
    return RawNumberSelector(
        NumberSelectorConfig(min=least, step=1, mode=NumberSelectorMode.BOX)
    )


def _parts(duration: timedelta) -> dict[str, int]:
    """Return a duration as the selector shows it, without empty parts."""
    minutes, seconds = divmod(int(duration.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    parts = {"hours": hours, "minutes": minutes, "seconds": seconds}
    return {unit: amount for unit, amount in parts.items() if amount}


FUSES_SCHEMA: Final = vol.Schema(
    {
        vol.Optional(c.CONF_MAX_TICKS, default=0): _number(),
        vol.Optional(c.CONF_MAX_DURATION): RawDurationSelector(
            DurationSelectorConfig(enable_day=True)
        ),
        vol.Optional(c.CONF_RUN_TIMEOUT, default=c.DEFAULT_RUN_TIMEOUT): _number(1),
        vol.Optional(c.CONF_MAX_TURNS, default=c.DEFAULT_MAX_TURNS): _number(1),
        vol.Optional(c.CONF_MAX_ACTIONS, default=c.DEFAULT_MAX_ACTIONS): _number(1),
        vol.Optional(
            c.CONF_MAX_WAKES_PER_DAY, default=c.DEFAULT_MAX_WAKES_PER_DAY
        ): _number(),
        vol.Optional(
            c.CONF_MAX_TOKENS_PER_DAY, default=c.DEFAULT_MAX_TOKENS_PER_DAY
        ): _number(),
    }
)
MANNERS_SCHEMA: Final = vol.Schema(
    {
        vol.Optional(c.CONF_MAY_STOP, default=False): BooleanSelector(),
        vol.Optional(c.CONF_STOP_AFTER_ACTING, default=False): BooleanSelector(),
        vol.Optional(c.CONF_ASK_BEFORE_RISKY, default=True): BooleanSelector(),
        vol.Optional(
            c.CONF_RECHECK_AFTER, default=_parts(c.DEFAULT_RECHECK_AFTER)
        ): RawDurationSelector(),
        vol.Optional(
            c.CONF_SETTLE_FOR, default=_parts(c.DEFAULT_SETTLE_FOR)
        ): RawDurationSelector(),
        vol.Optional(
            c.CONF_APPROVAL_TIMEOUT, default=_parts(c.DEFAULT_APPROVAL_TIMEOUT)
        ): RawDurationSelector(),
    }
)


def _recipients(hass: HomeAssistant) -> Iterator[SelectOptionDict]:
    """List who can be told: notify entities, and actions that are none of them."""
    states = hass.states.async_all(NOTIFY_DOMAIN)
    for state in states:
        yield SelectOptionDict(
            value=state.entity_id, label=f"{state.name} ({state.entity_id})"
        )
    entity_ids = {state.entity_id for state in states}
    for action in sorted(hass.services.async_services_for_domain(NOTIFY_DOMAIN)):
        target = f"{NOTIFY_DOMAIN}.{action}"
        if action not in _NO_TARGETS and target not in entity_ids:
            spoken = action.replace("_", " ").capitalize()
            yield SelectOptionDict(value=target, label=f"{spoken} ({target})")

"""Triggers on what a heartbeat does."""

from asyncio import Task
from typing import Any, ClassVar, Final, override

from homeassistant.components.event import ATTR_EVENT_TYPE, DOMAIN as EVENT_DOMAIN
from homeassistant.const import CONF_TARGET
from homeassistant.core import CALLBACK_TYPE, Context, HomeAssistant, State, callback
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.helpers.automation import DomainSpec
from homeassistant.helpers.trigger import (
    NotTriggeredReasonReporter,
    StatelessEntityTriggerBase,
    Trigger,
    TriggerActionRunner,
    TriggerNotTriggeredReporter,
)
from homeassistant.helpers.typing import ConfigType

from .activity import Activity
from .const import (
    ATTR_ANSWERED_BY,
    ATTR_APPROVAL_ID,
    ATTR_DETAIL,
    ATTR_HEARTBEAT,
    ATTR_MESSAGE,
    ATTR_REASON,
    ATTR_RUN_ID,
)
from .identity import KEY_ACTIVITY
from .targeted import require, standing_for

# What an automation finds in `trigger`; null where the event has no such thing.
_DETAILS: Final = (
    ATTR_RUN_ID,
    ATTR_MESSAGE,
    "outcome",
    "kind",
    ATTR_REASON,
    ATTR_DETAIL,
    ATTR_APPROVAL_ID,
    ATTR_ANSWERED_BY,
)


class _ActivityTrigger(StatelessEntityTriggerBase):
    """A trigger on one kind of event in the activity of heartbeats."""

    _domain_specs = {EVENT_DOMAIN: DomainSpec()}  # noqa: RUF012 - as its base has it
    activity: ClassVar[Activity]

    @override
    @classmethod
    async def async_validate_config(
        cls, hass: HomeAssistant, config: ConfigType
    ) -> ConfigType:
        """Refuse entities that are no heartbeat's activity."""
        valid = await super().async_validate_config(hass, config)
        require(hass, valid[CONF_TARGET], KEY_ACTIVITY)
        return valid

    @override
    def entity_filter(self, entities: set[str]) -> set[str]:
        """Leave out the other events of an area."""
        return standing_for(self._hass, super().entity_filter(entities), KEY_ACTIVITY)

    @override
    def is_valid_state(
        self, state: State, report_not_triggered: NotTriggeredReasonReporter
    ) -> bool:
        """Say whether the last event is of this kind."""
        return state.attributes.get(ATTR_EVENT_TYPE) == self.activity

    @override
    async def async_attach_runner(
        self,
        run_action: TriggerActionRunner,
        did_not_trigger: TriggerNotTriggeredReporter | None = None,
    ) -> CALLBACK_TYPE:
        """Attach it, with what there is to say of the event in `trigger`."""

        @callback
        def run(
            extra_trigger_payload: dict[str, Any],
            description: str,
            context: Context | None = None,
        ) -> Task[Any]:
            told = _told(self._hass, extra_trigger_payload["to_state"])
            return run_action({**extra_trigger_payload, **told}, description, context)

        return await super().async_attach_runner(run, did_not_trigger)


def _told(hass: HomeAssistant, state: State) -> dict[str, Any]:
    """Return what an automation is told of the event, and of its heartbeat."""
    entry = er.async_get(hass).async_get(state.entity_id)
    device_id = entry.device_id if entry else None
    device = dr.async_get(hass).async_get(device_id) if device_id else None
    return {
        ATTR_HEARTBEAT: (device.name_by_user or device.name) if device else None,
        "device_id": device_id,
        **{key: state.attributes.get(key) for key in _DETAILS},
    }


def _on(kind: Activity) -> type[Trigger]:
    class ActivityTrigger(_ActivityTrigger):
        activity = kind

    return ActivityTrigger


TRIGGERS: dict[str, type[Trigger]] = {
    kind.value: _on(kind)
    for kind in (
        Activity.ACTED,
        Activity.SPOKE,
        Activity.ASKED,
        Activity.FAILED,
        Activity.STOPPED,
    )
}


async def async_get_triggers(
    hass: HomeAssistant,  # noqa: ARG001 - every integration is asked with it
) -> dict[str, type[Trigger]]:
    """Return the triggers by their names in an automation."""
    return TRIGGERS

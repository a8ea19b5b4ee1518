"""Conditions on what a heartbeat is doing."""

from typing import override

from homeassistant.components.sensor import DOMAIN as SENSOR_DOMAIN
from homeassistant.const import CONF_TARGET
from homeassistant.core import HomeAssistant
from homeassistant.helpers.automation import DomainSpec
from homeassistant.helpers.condition import Condition, EntityStateConditionBase
from homeassistant.helpers.typing import ConfigType

from .engine.records import Status
from .identity import KEY_STATUS
from .targeted import require, standing_for


class _StatusCondition(EntityStateConditionBase):
    """A condition on the status of heartbeats, for a while if so wished."""

    _domain_specs = {SENSOR_DOMAIN: DomainSpec()}  # noqa: RUF012 - as its base has it

    @override
    @classmethod
    async def async_validate_config(
        cls, hass: HomeAssistant, config: ConfigType
    ) -> ConfigType:
        """Refuse entities that are no heartbeat's status."""
        valid = await super().async_validate_config(hass, config)
        require(hass, valid[CONF_TARGET], KEY_STATUS)
        return valid

    @override
    def entity_filter(self, entities: set[str]) -> set[str]:
        """Leave out the other sensors of a device or an area."""
        return standing_for(self._hass, super().entity_filter(entities), KEY_STATUS)


class _IsRunning(_StatusCondition):
    """The model is being asked, or what it wanted is being done."""

    _states = {Status.RUNNING}  # noqa: RUF012 - as its base has it


class _IsWaiting(_StatusCondition):
    """It waits for its owner's answer."""

    _states = {Status.WAITING}  # noqa: RUF012 - as its base has it


CONDITIONS: dict[str, type[Condition]] = {
    "is_running": _IsRunning,
    "is_waiting": _IsWaiting,
}


async def async_get_conditions(
    hass: HomeAssistant,  # noqa: ARG001 - every integration is asked with it
) -> dict[str, type[Condition]]:
    """Return the conditions by their names in an automation."""
    return CONDITIONS

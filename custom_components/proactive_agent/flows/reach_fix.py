"""A repair for entities that a heartbeat may use and that are not there."""

from typing import Any

from homeassistant.components.repairs import RepairsFlowResult
from homeassistant.const import ATTR_ENTITY_ID
from homeassistant.helpers import config_validation as cv

from ..const import CONF_ACT, CONF_ASK, CONF_LOOK
from ..home.missing import missing
from .mending import GONE, Fix


class ReachFix(Fix):
    """Takes the missing entities off the lists, or leads on to choose others."""

    ways = ("change_heartbeat", "take_out")

    async def async_step_take_out(
        self, _user_input: dict[str, Any] | None = None
    ) -> RepairsFlowResult:
        """Take out what is missing now."""
        if (affected := self.affected) is None:
            return self.async_abort(reason=GONE)
        gone = missing(self.hass, affected.heartbeat.options)
        data = dict(affected.subentry.data)
        for key in (CONF_LOOK, CONF_ACT, CONF_ASK):
            target = dict(data.get(key) or {})
            if ATTR_ENTITY_ID in target:
                target[ATTR_ENTITY_ID] = [
                    one
                    for one in cv.ensure_list(target[ATTR_ENTITY_ID])
                    if one not in gone
                ]
                data[key] = target
        self.hass.config_entries.async_update_subentry(
            affected.entry, affected.subentry, data=data
        )
        return self.async_create_entry(data={})

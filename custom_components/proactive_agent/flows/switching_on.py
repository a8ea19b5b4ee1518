"""A repair for a memory that was lost: which heartbeats are to be on again (D1)."""

from typing import Any, Final

from homeassistant.components.repairs import RepairsFlowResult
from homeassistant.helpers.selector import (
    SelectOptionDict,
    SelectSelector,
    SelectSelectorConfig,
    SelectSelectorMode,
)
import voluptuous as vol

from .mending import GONE, Fix

_HEARTBEATS: Final = "heartbeats"


class SwitchOnFix(Fix):
    """Switches on what its owner chooses; the others stay off."""

    async def async_step_init(
        self, _user_input: dict[str, Any] | None = None
    ) -> RepairsFlowResult:
        """Show what is off, whatever came with the request."""
        if (entry := self.entry) is None:
            return self.async_abort(reason=GONE)
        off = [
            SelectOptionDict(value=beat.id, label=beat.options.title)
            for beat in entry.runtime_data.heartbeats.values()
            if not beat.is_on
        ]
        choice = SelectSelector(
            SelectSelectorConfig(
                options=off, multiple=True, mode=SelectSelectorMode.LIST
            )
        )
        return self.async_show_form(
            step_id="choose",
            data_schema=vol.Schema({vol.Optional(_HEARTBEATS, default=list): choice}),
            description_placeholders=dict(self.words),
        )

    async def async_step_choose(self, user_input: dict[str, Any]) -> RepairsFlowResult:
        """Switch on what was chosen."""
        if (entry := self.entry) is None:
            return self.async_abort(reason=GONE)
        for heartbeat_id in user_input[_HEARTBEATS]:
            if heartbeat := entry.runtime_data.heartbeats.get(heartbeat_id):
                await heartbeat.async_turn_on()
        return self.async_create_entry(data={})

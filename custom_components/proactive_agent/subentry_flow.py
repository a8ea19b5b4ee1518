"""The dialogs of a heartbeat: to create one and to change it."""

from collections.abc import Mapping
from typing import Any

from homeassistant.config_entries import ConfigSubentryFlow, SubentryFlowResult
from homeassistant.const import CONF_NAME

from .const import SUBENTRY_HEARTBEAT
from .flow_check import Checked, async_check
from .flow_schemas import heartbeat_schema


class HeartbeatSubentryFlow(ConfigSubentryFlow):
    """One form for everything; its name becomes the subentry's title."""

    async def async_step_user(
        self, user_input: dict[str, Any] | None = None
    ) -> SubentryFlowResult:
        """Create a heartbeat."""
        if user_input is None:
            return self._show("user", {})
        checked = await self._async_check(user_input)
        if checked.errors:
            return self._show("user", user_input, checked)
        return self.async_create_entry(
            title=checked.name,
            data=checked.data,
            description="missing_entities" if checked.missing else None,
            description_placeholders=_placeholders(checked),
        )

    async def async_step_reconfigure(
        self, user_input: dict[str, Any] | None = None
    ) -> SubentryFlowResult:
        """Change a heartbeat."""
        subentry = self._get_reconfigure_subentry()
        if user_input is None:
            filled = {CONF_NAME: subentry.title, **subentry.data}
            return self._show("reconfigure", filled)
        checked = await self._async_check(user_input)
        if checked.errors:
            return self._show("reconfigure", user_input, checked)
        result = self.async_update_and_abort(
            self._get_entry(), subentry, title=checked.name, data=checked.data
        )
        if checked.missing:
            return self.async_abort(
                reason="saved_missing_entities",
                description_placeholders=_placeholders(checked),
            )
        return result

    async def _async_check(self, entered: Mapping[str, Any]) -> Checked:
        own_id = self.context.get("subentry_id")
        others = self._get_entry().get_subentries_of_type(SUBENTRY_HEARTBEAT)
        taken = [other.title for other in others if other.subentry_id != own_id]
        return await async_check(self.hass, entered, taken)

    def _show(
        self, step_id: str, filled: Mapping[str, Any], checked: Checked | None = None
    ) -> SubentryFlowResult:
        errors = checked.errors if checked else {}
        return self.async_show_form(
            step_id=step_id,
            data_schema=self.add_suggested_values_to_schema(
                heartbeat_schema(self.hass, unfolded=errors), filled
            ),
            errors=errors,
            description_placeholders=_placeholders(checked),
        )


def _placeholders(checked: Checked | None) -> dict[str, str]:
    return {
        "reason": checked.reason if checked else "",
        "entities": ", ".join(checked.missing) if checked else "",
    }

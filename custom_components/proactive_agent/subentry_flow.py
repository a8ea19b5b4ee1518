"""The dialogs of a heartbeat: to create one and to change it."""

from collections.abc import Mapping
from typing import Any

from homeassistant.config_entries import (
    SOURCE_RECONFIGURE,
    ConfigSubentryFlow,
    SubentryFlowContext,
    SubentryFlowResult,
)
from homeassistant.const import CONF_MODEL, CONF_NAME, CONF_URL

from .const import SUBENTRY_HEARTBEAT
from .flows.check import Checked, async_check
from .flows.schemas import heartbeat_schema
from .flows.server import async_models, async_probe_another, is_models_fault
from .flows.waiting import WaitingFlow
from .models import EndpointOptions
from .texts import async_error_text


class HeartbeatSubentryFlow(
    WaitingFlow[SubentryFlowContext, SubentryFlowResult, tuple[str, str]],
    ConfigSubentryFlow,
):
    """One form for everything; its name becomes the subentry's title."""

    def __init__(self) -> None:
        """Start with nothing entered."""
        self._models: list[str] | None = None
        self._entered: dict[str, Any] = {}
        self._checked = Checked(name="")

    async def async_step_user(
        self, user_input: dict[str, Any] | None = None
    ) -> SubentryFlowResult:
        """Create a heartbeat."""
        if user_input is None:
            return await self._async_show({})
        return await self._async_entered(user_input, model_before=None)

    async def async_step_reconfigure(
        self, user_input: dict[str, Any] | None = None
    ) -> SubentryFlowResult:
        """Change a heartbeat."""
        subentry = self._get_reconfigure_subentry()
        if user_input is None:
            return await self._async_show({CONF_NAME: subentry.title, **subentry.data})
        return await self._async_entered(
            user_input, model_before=subentry.data.get(CONF_MODEL)
        )

    async def async_step_model_tried(
        self, _user_input: dict[str, Any] | None = None
    ) -> SubentryFlowResult:
        """Store the heartbeat, unless its own model cannot be used."""
        err = self._failure
        # A server that cannot be reached now may be reached at the next tick.
        if err is None or not is_models_fault(err):
            return self._save()
        self._checked.errors[CONF_MODEL] = "model_refused"
        self._checked.reason = await async_error_text(self.hass, err)
        return await self._async_show(self._entered, self._checked)

    async def _async_entered(
        self, entered: dict[str, Any], *, model_before: str | None
    ) -> SubentryFlowResult:
        self._entered = entered
        self._checked = await self._async_check(entered)
        if self._checked.errors:
            return await self._async_show(entered, self._checked)
        model = self._checked.data.get(CONF_MODEL)
        if model is None or model == model_before:
            return self._save()
        endpoint = EndpointOptions.from_entry(self._get_entry())
        return await self._async_attempt(
            async_probe_another(self.hass, endpoint, model),
            doing="try_model",
            then="model_tried",
            words={"model": model},
        )

    def _save(self) -> SubentryFlowResult:
        checked = self._checked
        if not self._is_change:
            return self.async_create_entry(
                title=checked.name,
                data=checked.data,
                description="missing_entities" if checked.missing else None,
                description_placeholders=_placeholders(checked),
            )
        result = self.async_update_and_abort(
            self._get_entry(),
            self._get_reconfigure_subentry(),
            title=checked.name,
            data=checked.data,
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

    async def _async_show(
        self, filled: Mapping[str, Any], checked: Checked | None = None
    ) -> SubentryFlowResult:
        errors = checked.errors if checked else {}
        schema = heartbeat_schema(
            self.hass, await self._async_models(), unfolded=errors
        )
        return self.async_show_form(
            step_id="reconfigure" if self._is_change else "user",
            data_schema=self.add_suggested_values_to_schema(schema, filled),
            errors=errors,
            description_placeholders=_placeholders(checked),
        )

    async def _async_models(self) -> list[str] | None:
        """Return what can be chosen instead; asked once, None where nothing can."""
        entry = self._get_entry()
        if self._models is None and CONF_URL in entry.data:
            endpoint = EndpointOptions.from_entry(entry)
            self._models = await async_models(self.hass, endpoint)
        return self._models

    @property
    def _is_change(self) -> bool:
        return self.source == SOURCE_RECONFIGURE


def _placeholders(checked: Checked | None) -> dict[str, str]:
    return {
        "reason": checked.reason if checked else "",
        "entities": ", ".join(checked.missing) if checked else "",
    }

"""The dialogs of an endpoint: a server and a model on it, or an AI Task entity."""

from collections.abc import Mapping
from typing import Any, override

from homeassistant.config_entries import (
    SOURCE_REAUTH,
    SOURCE_RECONFIGURE,
    SOURCE_USER,
    ConfigEntry,
    ConfigEntryState,
    ConfigFlowResult,
    ConfigSubentryFlow,
    FlowType,
    SubentryFlowContext,
)
from homeassistant.const import (
    CONF_API_KEY,
    CONF_ENTITY_ID,
    CONF_MODEL,
    CONF_URL,
)
from homeassistant.core import HomeAssistant, callback
from yarl import URL

from .const import DOMAIN, SUBENTRY_HEARTBEAT
from .flows.ai_task import async_probe_task, has_tasks, task_schema, task_title
from .flows.schemas import KEY_SCHEMA
from .flows.server import model_error
from .flows.server_steps import ServerSteps
from .subentry_flow import HeartbeatSubentryFlow
from .texts import async_error_text


class ProactiveAgentConfigFlow(ServerSteps, domain=DOMAIN):
    """What thinks for the heartbeats, then straight on into the first of them."""

    VERSION = 1
    MINOR_VERSION = 1

    @classmethod
    @callback
    @override
    def async_get_supported_subentry_types(
        cls, config_entry: ConfigEntry
    ) -> dict[str, type[ConfigSubentryFlow]]:
        """Return the kinds of subentries: heartbeats."""
        return {SUBENTRY_HEARTBEAT: HeartbeatSubentryFlow}

    @override
    async def async_step_user(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask where the model is: on a server, or in Home Assistant already."""
        return self.async_show_menu(step_id="user", menu_options=["server", "ai_task"])

    async def async_step_reconfigure(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask again for what is there."""
        if not self._draft:
            self._draft = dict(self._get_reconfigure_entry().data)
        if CONF_ENTITY_ID in self._draft:
            return await self.async_step_ai_task(user_input)
        return await self.async_step_server(user_input)

    async def async_step_ai_task(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask which AI Task entity is the model."""
        if not has_tasks(self.hass):
            return self.async_abort(reason="no_ai_task")
        if user_input is None:
            return self._show_task()
        self._draft = {CONF_ENTITY_ID: user_input[CONF_ENTITY_ID]}
        self._async_abort_entries_match(self._draft)
        return await self._async_attempt(
            async_probe_task(self.hass, user_input[CONF_ENTITY_ID]),
            doing="try_task",
            then="task_tried",
        )

    async def async_step_task_tried(
        self, _user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Store the endpoint, or say what is wrong with the entity."""
        if (err := self._failure) is None:
            return self._finish()
        reason = await async_error_text(self.hass, err)
        return self._show_task({CONF_ENTITY_ID: "task_refused"}, reason)

    @override
    async def async_on_create_entry(self, result: ConfigFlowResult) -> ConfigFlowResult:
        """Lead on into the dialog of the first heartbeat."""
        flow = await self.hass.config_entries.subentries.async_init(
            (result["result"].entry_id, SUBENTRY_HEARTBEAT),
            context=SubentryFlowContext(source=SOURCE_USER),
        )
        result["next_flow"] = (FlowType.CONFIG_SUBENTRIES_FLOW, flow["flow_id"])
        return result

    async def async_step_reauth(
        self, _entry_data: Mapping[str, Any]
    ) -> ConfigFlowResult:
        """Begin when the server has refused the key."""
        self._draft = dict(self._get_reauth_entry().data)
        return await self.async_step_reauth_confirm()

    async def async_step_reauth_confirm(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask for another key and try it."""
        if user_input is None:
            return self._show_key({})
        self._entered = user_input
        self._draft[CONF_API_KEY] = user_input.get(CONF_API_KEY, "").strip()
        # A list of models is often public; only a real request needs the key.
        return await self._async_try_model(then="key_tried")

    async def async_step_key_tried(
        self, _user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Store the key, or say what is wrong."""
        if (err := self._failure) is None:
            return self._update(self._get_reauth_entry())
        field, error = model_error(err, self._draft)
        errors = {field if field == CONF_API_KEY else "base": error}
        reason = await async_error_text(self.hass, err)
        return self._show_key(self._entered, errors, reason)

    def _finish(self) -> ConfigFlowResult:
        # While this one was tried, another dialog may have set up the same.
        keys = {CONF_ENTITY_ID, CONF_URL, CONF_MODEL} & self._draft.keys()
        self._async_abort_entries_match({key: self._draft[key] for key in keys})
        if self.source == SOURCE_RECONFIGURE:
            return self._update(self._get_reconfigure_entry())
        return self.async_create_entry(
            title=_title(self.hass, self._draft), data=self._draft
        )

    def _show_key(
        self,
        filled: Mapping[str, Any],
        errors: dict[str, str] | None = None,
        reason: str = "",
    ) -> ConfigFlowResult:
        return self.async_show_form(
            step_id="reauth_confirm",
            data_schema=self.add_suggested_values_to_schema(KEY_SCHEMA, filled),
            errors=errors or {},
            description_placeholders=self._placeholders(reason),
        )

    def _show_task(
        self, errors: dict[str, str] | None = None, reason: str = ""
    ) -> ConfigFlowResult:
        return self.async_show_form(
            step_id="ai_task",
            data_schema=self.add_suggested_values_to_schema(task_schema(), self._draft),
            errors=errors or {},
            description_placeholders=self._placeholders(reason),
        )

    def _update(self, entry: ConfigEntry) -> ConfigFlowResult:
        """Store the draft; a name that the owner has given the entry is kept."""
        is_unchanged = entry.data == self._draft
        is_named = entry.title != _title(self.hass, entry.data)
        result = self.async_update_and_abort(
            entry,
            title=entry.title if is_named else _title(self.hass, self._draft),
            data=self._draft,
        )
        # A loaded entry listens for changes; one that is not, or the same key given
        # again, has to be told to try.
        if entry.state is not ConfigEntryState.LOADED or (
            is_unchanged and self.source == SOURCE_REAUTH
        ):
            self.hass.config_entries.async_schedule_reload(entry.entry_id)
        return result


def _title(hass: HomeAssistant, data: Mapping[str, Any]) -> str:
    if CONF_ENTITY_ID in data:
        return task_title(hass, data[CONF_ENTITY_ID])
    return f"{data[CONF_MODEL]} ({URL(data[CONF_URL]).host})"

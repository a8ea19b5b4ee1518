"""The dialogs of an endpoint: an LLM server and the model on it."""

from collections.abc import Mapping
from typing import Any, override

from homeassistant.config_entries import (
    SOURCE_REAUTH,
    SOURCE_RECONFIGURE,
    SOURCE_USER,
    ConfigEntry,
    ConfigEntryState,
    ConfigFlow,
    ConfigFlowResult,
    ConfigSubentryFlow,
    FlowType,
    SubentryFlowContext,
)
from homeassistant.const import CONF_API_KEY, CONF_MODEL, CONF_URL, CONF_VERIFY_SSL
from homeassistant.core import callback
from yarl import URL

from .const import CONF_EXTRA_BODY, DOMAIN, SUBENTRY_HEARTBEAT
from .engine.errors import ModelError
from .engine.wire import normalise_url
from .flow_schemas import KEY_SCHEMA, SERVER_SCHEMA, model_schema
from .flow_server import (
    OWN_KEYS,
    SERVER_ERRORS,
    async_find_server,
    async_probe,
    model_error,
)
from .subentry_flow import HeartbeatSubentryFlow
from .texts import async_error_text


class ProactiveAgentConfigFlow(ConfigFlow, domain=DOMAIN):
    """Server, then model, then straight on into the first heartbeat."""

    VERSION = 1
    MINOR_VERSION = 1

    def __init__(self) -> None:
        """Start with an empty draft of the entry's data."""
        self._draft: dict[str, Any] = {}
        self._models: tuple[str, ...] = ()

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
        """Ask for the server of a new endpoint."""
        return await self._async_server_step(user_input)

    async def async_step_reconfigure(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask for the server of an endpoint that there is."""
        if not self._draft:
            self._draft = dict(self._get_reconfigure_entry().data)
        return await self._async_server_step(user_input)

    async def async_step_model(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask for the model, and have it show that it can be given tools."""
        if user_input is None:
            return self._show_model(self._draft)
        if errors := _entered_errors(user_input):
            return self._show_model(user_input, errors)
        model = user_input[CONF_MODEL].strip()
        options = user_input.get(CONF_EXTRA_BODY) or {}
        self._draft |= {CONF_MODEL: model, CONF_EXTRA_BODY: options}
        self._async_abort_entries_match(
            {CONF_URL: self._draft[CONF_URL], CONF_MODEL: model}
        )
        try:
            await async_probe(self.hass, self._draft)
        except ModelError as err:
            reason = await async_error_text(self.hass, err)
            field, error = model_error(err, self._draft)
            if field in (CONF_URL, CONF_API_KEY):
                return self._show_server(self._draft, {field: error}, reason)
            return self._show_model(user_input, {field: error}, reason)
        if self.source == SOURCE_RECONFIGURE:
            return self._update(self._get_reconfigure_entry())
        return self.async_create_entry(title=_title(self._draft), data=self._draft)

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
        errors: dict[str, str] = {}
        reason = ""
        if user_input is not None:
            self._draft[CONF_API_KEY] = user_input.get(CONF_API_KEY, "").strip()
            try:
                # A list of models is often public; only a real request needs the key.
                await async_probe(self.hass, self._draft)
            except ModelError as err:
                reason = await async_error_text(self.hass, err)
                field, error = model_error(err, self._draft)
                errors = {field if field == CONF_API_KEY else "base": error}
            else:
                return self._update(self._get_reauth_entry())
        return self.async_show_form(
            step_id="reauth_confirm",
            data_schema=self.add_suggested_values_to_schema(KEY_SCHEMA, user_input),
            errors=errors,
            description_placeholders=self._placeholders(reason),
        )

    async def _async_server_step(
        self, user_input: dict[str, Any] | None
    ) -> ConfigFlowResult:
        if user_input is None:
            return self._show_server(self._draft)
        try:
            url = normalise_url(user_input[CONF_URL])
        except ValueError:
            return self._show_server(user_input, {CONF_URL: "invalid_url"})
        self._draft |= {
            CONF_URL: url,
            CONF_API_KEY: user_input.get(CONF_API_KEY, "").strip(),
            CONF_VERIFY_SSL: user_input[CONF_VERIFY_SSL],
        }
        try:
            server = await async_find_server(self.hass, self._draft)
        except ModelError as err:
            field, error = SERVER_ERRORS[err.kind]
            reason = await async_error_text(self.hass, err)
            return self._show_server(user_input, {field: error}, reason)
        self._draft[CONF_URL] = server.url
        self._models = server.models
        return await self.async_step_model()

    def _show_server(
        self,
        filled: Mapping[str, Any],
        errors: dict[str, str] | None = None,
        reason: str = "",
    ) -> ConfigFlowResult:
        is_new = self.source == SOURCE_USER
        return self.async_show_form(
            step_id="user" if is_new else "reconfigure",
            data_schema=self.add_suggested_values_to_schema(SERVER_SCHEMA, filled),
            errors=errors or {},
            description_placeholders=self._placeholders(reason),
            last_step=False,
        )

    def _show_model(
        self,
        filled: Mapping[str, Any],
        errors: dict[str, str] | None = None,
        reason: str = "",
    ) -> ConfigFlowResult:
        if CONF_MODEL not in filled and len(self._models) == 1:
            filled = {**filled, CONF_MODEL: self._models[0]}
        return self.async_show_form(
            step_id="model",
            data_schema=self.add_suggested_values_to_schema(
                model_schema(self._models), filled
            ),
            errors=errors or {},
            description_placeholders=self._placeholders(reason),
        )

    def _placeholders(self, reason: str) -> dict[str, str]:
        # Each error's text may use any of these, so all are always there.
        return {
            "reason": reason,
            "models": ", ".join(self._models) or "none",
            "model": self._draft.get(CONF_MODEL, ""),
            "server": self._draft.get(CONF_URL, ""),
            "own_keys": ", ".join(sorted(OWN_KEYS)),
        }

    def _update(self, entry: ConfigEntry) -> ConfigFlowResult:
        """Store the draft; a name that the owner has given the entry is kept."""
        is_unchanged = entry.data == self._draft
        is_named = entry.title != _title(entry.data)
        result = self.async_update_and_abort(
            entry,
            title=entry.title if is_named else _title(self._draft),
            data=self._draft,
        )
        # A loaded entry listens for changes; one that is not, or the same key given
        # again, has to be told to try.
        if entry.state is not ConfigEntryState.LOADED or (
            is_unchanged and self.source == SOURCE_REAUTH
        ):
            self.hass.config_entries.async_schedule_reload(entry.entry_id)
        return result


def _title(data: Mapping[str, Any]) -> str:
    return f"{data[CONF_MODEL]} ({URL(data[CONF_URL]).host})"


def _entered_errors(entered: Mapping[str, Any]) -> dict[str, str]:
    """Return what can be said of model and options before anything is sent."""
    if not entered[CONF_MODEL].strip():
        return {CONF_MODEL: "model_required"}
    options = entered.get(CONF_EXTRA_BODY) or {}
    if not isinstance(options, dict):
        return {CONF_EXTRA_BODY: "options_no_object"}
    if OWN_KEYS & options.keys():
        return {CONF_EXTRA_BODY: "options_reserved"}
    return {}

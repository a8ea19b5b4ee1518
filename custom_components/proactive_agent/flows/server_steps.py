"""The steps to a server and a model on it, each tried before the next."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from homeassistant.config_entries import (
    SOURCE_USER,
    ConfigFlow,
    ConfigFlowContext,
    ConfigFlowResult,
)
from homeassistant.const import CONF_API_KEY, CONF_MODEL, CONF_URL, CONF_VERIFY_SSL

from ..const import CONF_EXTRA_BODY
from ..engine.wire import normalise_url
from ..texts import async_error_text
from .schemas import SERVER_SCHEMA, model_schema
from .server import (
    OWN_KEYS,
    async_find_server,
    async_probe,
    entered_errors,
    model_error,
    server_error,
)
from .waiting import WaitingFlow


class ServerSteps(WaitingFlow[ConfigFlowContext, ConfigFlowResult, str], ConfigFlow):
    """Server, then model; what is wrong leads back to the field it belongs to."""

    def __init__(self) -> None:
        """Start with an empty draft of the entry's data."""
        self._draft: dict[str, Any] = {}
        self._entered: dict[str, Any] = {}
        self._models: tuple[str, ...] = ()

    @abstractmethod
    def _finish(self) -> ConfigFlowResult:
        """Store the draft."""

    async def async_step_server(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask for a server and look for it."""
        if user_input is None:
            return self._show_server(self._draft)
        self._entered = user_input
        try:
            url = normalise_url(user_input[CONF_URL])
        except ValueError:
            return self._show_server(user_input, {CONF_URL: "invalid_url"})
        self._draft |= {
            CONF_URL: url,
            CONF_API_KEY: user_input.get(CONF_API_KEY, "").strip(),
            CONF_VERIFY_SSL: user_input[CONF_VERIFY_SSL],
        }
        return await self._async_attempt(
            self._async_find(), doing="find_server", then="server_found"
        )

    async def async_step_server_found(
        self, _user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Go on to the model, or say what is wrong with the server."""
        if (err := self._failure) is None:
            return self._show_model(self._draft)
        field, error = server_error(err)
        reason = await async_error_text(self.hass, err)
        return self._show_server(self._entered, {field: error}, reason)

    async def async_step_model(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask for the model, and have it show that it can be given tools."""
        if user_input is None:
            return self._show_model(self._draft)
        if errors := entered_errors(user_input):
            return self._show_model(user_input, errors)
        self._entered = user_input
        model = user_input[CONF_MODEL].strip()
        options = user_input.get(CONF_EXTRA_BODY) or {}
        self._draft |= {CONF_MODEL: model, CONF_EXTRA_BODY: options}
        self._async_abort_entries_match(
            {CONF_URL: self._draft[CONF_URL], CONF_MODEL: model}
        )
        return await self._async_try_model(then="model_tried")

    async def async_step_model_tried(
        self, _user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Store the endpoint, or say what is wrong with it."""
        if (err := self._failure) is None:
            return self._finish()
        field, error = model_error(err, self._draft)
        reason = await async_error_text(self.hass, err)
        if field in (CONF_URL, CONF_API_KEY):
            return self._show_server(self._draft, {field: error}, reason)
        return self._show_model(self._entered, {field: error}, reason)

    async def _async_find(self) -> None:
        server = await async_find_server(self.hass, self._draft)
        self._draft[CONF_URL] = server.url
        self._models = server.models

    async def _async_try_model(self, *, then: str) -> ConfigFlowResult:
        return await self._async_attempt(
            async_probe(self.hass, self._draft),
            doing="try_model",
            then=then,
            words={"model": self._draft[CONF_MODEL]},
        )

    def _show_server(
        self,
        filled: Mapping[str, Any],
        errors: dict[str, str] | None = None,
        reason: str = "",
    ) -> ConfigFlowResult:
        is_new = self.source == SOURCE_USER
        return self.async_show_form(
            step_id="server" if is_new else "reconfigure",
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
            "model": self._draft.get(CONF_MODEL, ""),
            "server": self._draft.get(CONF_URL, ""),
            "own_keys": ", ".join(sorted(OWN_KEYS)),
        }

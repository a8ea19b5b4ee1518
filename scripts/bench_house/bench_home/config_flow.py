"""The only question: how many things the home has."""

from typing import Any

from homeassistant.config_entries import ConfigFlow, ConfigFlowResult
import voluptuous as vol

DOMAIN = "bench_home"
SIZE = "size"


class BenchHomeConfigFlow(ConfigFlow, domain=DOMAIN):
    """One form."""

    async def async_step_user(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask for the size."""
        if user_input is None:
            return self.async_show_form(
                step_id="user", data_schema=vol.Schema({vol.Required(SIZE): int})
            )
        return self.async_create_entry(title="Bench home", data=user_input)

"""The actions of the integration."""

from homeassistant.components.switch import DOMAIN as SWITCH_DOMAIN
from homeassistant.core import HomeAssistant, SupportsResponse, callback
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.service import async_register_platform_entity_service
import voluptuous as vol

from .const import (
    ATTR_DRY_RUN,
    ATTR_LIMIT,
    DOMAIN,
    SERVICE_GET_RUNS,
    SERVICE_WAKE,
)
from .run_log import MAX_RUNS


@callback
def async_setup_services(hass: HomeAssistant) -> None:
    """Register the actions; each is called on a heartbeat's switch."""
    async_register_platform_entity_service(
        hass,
        DOMAIN,
        SERVICE_WAKE,
        entity_domain=SWITCH_DOMAIN,
        func="async_wake",
        schema={vol.Optional(ATTR_DRY_RUN, default=False): cv.boolean},
        supports_response=SupportsResponse.OPTIONAL,
    )
    async_register_platform_entity_service(
        hass,
        DOMAIN,
        SERVICE_GET_RUNS,
        entity_domain=SWITCH_DOMAIN,
        func="async_get_runs",
        schema={
            vol.Optional(ATTR_LIMIT, default=10): vol.All(
                vol.Coerce(int), vol.Range(min=1, max=MAX_RUNS)
            )
        },
        supports_response=SupportsResponse.ONLY,
    )

"""The actions of the integration."""

from homeassistant.components.switch import DOMAIN as SWITCH_DOMAIN
from homeassistant.const import ATTR_ENTITY_ID
from homeassistant.core import (
    HomeAssistant,
    ServiceCall,
    ServiceResponse,
    SupportsResponse,
    callback,
)
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.service import async_register_platform_entity_service
import voluptuous as vol

from .const import (
    ATTR_APPROVAL_ID,
    ATTR_DRY_RUN,
    ATTR_LIMIT,
    DOMAIN,
    SERVICE_APPROVE,
    SERVICE_GET_RUNS,
    SERVICE_REJECT,
    SERVICE_WAKE,
)
from .engine.errors import ApprovalFault
from .engine.run_log import MAX_RUNS
from .runtime import ProactiveAgentConfigEntry

_ANSWER = vol.Schema({vol.Required(ATTR_APPROVAL_ID): cv.string})


@callback
def async_setup_services(hass: HomeAssistant) -> None:
    """Register the actions, most of them called on a heartbeat's switch."""
    for service in (SERVICE_APPROVE, SERVICE_REJECT):
        hass.services.async_register(
            DOMAIN,
            service,
            _async_answer,
            schema=_ANSWER,
            supports_response=SupportsResponse.OPTIONAL,
        )
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


async def _async_answer(call: ServiceCall) -> ServiceResponse:
    """Answer a request of any heartbeat (P2)."""
    approval_id = call.data[ATTR_APPROVAL_ID]
    entries: list[ProactiveAgentConfigEntry] = (
        call.hass.config_entries.async_loaded_entries(DOMAIN)
    )
    for answers in (entry.runtime_data.answers for entry in entries):
        if (request := answers.by_id(approval_id)) is not None:
            break
    else:
        raise ServiceValidationError(
            translation_domain=DOMAIN, translation_key=ApprovalFault.NOT_FOUND
        )
    approval = await answers.async_answer(
        request, yes=call.service == SERVICE_APPROVE, context=call.context
    )
    return {
        ATTR_APPROVAL_ID: approval.approval_id,
        "status": approval.status,
        "action": approval.action,
        ATTR_ENTITY_ID: [*approval.entity_id],
        "note": approval.note,
    }

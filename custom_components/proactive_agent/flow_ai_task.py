"""Which of Home Assistant's own AI Task entities can be the model of an endpoint."""

from homeassistant.const import ATTR_SUPPORTED_FEATURES, CONF_ENTITY_ID
from homeassistant.core import HomeAssistant, State, callback
from homeassistant.helpers.selector import (
    EntitySelector,
    EntitySelectorConfig,
    EntityWithDeviceFilterSelectorConfig,
)
import voluptuous as vol

_DOMAIN = "ai_task"
_FEATURE = "ai_task.AITaskEntityFeature.GENERATE_DATA"


@callback
def has_tasks(hass: HomeAssistant) -> bool:
    """Say whether there is an entity to choose."""
    return any(map(_can_generate, hass.states.async_all(_DOMAIN)))


@callback
def task_schema() -> vol.Schema:
    """Choose an entity; to be asked for only where `has_tasks`."""
    fit = EntityWithDeviceFilterSelectorConfig(
        domain=_DOMAIN, supported_features=[_FEATURE]
    )
    selector = EntitySelector(EntitySelectorConfig(filter=fit))
    return vol.Schema({vol.Required(CONF_ENTITY_ID): selector})


@callback
def task_error(hass: HomeAssistant, entity_id: str) -> str | None:
    """Return the error of an entity that cannot be the model."""
    state = hass.states.get(entity_id)
    if state is None or state.domain != _DOMAIN:
        return "no_such_task"
    return None if _can_generate(state) else "task_without_data"


@callback
def task_title(hass: HomeAssistant, entity_id: str) -> str:
    """Name an endpoint after its entity."""
    state = hass.states.get(entity_id)
    return state.name if state else entity_id


def _can_generate(state: State) -> bool:
    # Imported where such an entity proves that it is loaded: it brings a lot along.
    from homeassistant.components.ai_task import (  # noqa: PLC0415
        AITaskEntityFeature,
    )

    features = state.attributes.get(ATTR_SUPPORTED_FEATURES, 0)
    return bool(features & AITaskEntityFeature.GENERATE_DATA)

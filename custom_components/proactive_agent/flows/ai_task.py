"""Which of Home Assistant's own AI Task entities can be the model of an endpoint."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from homeassistant.const import CONF_ENTITY_ID
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers.selector import (
    EntitySelector,
    EntitySelectorConfig,
    EntityWithDeviceFilterSelectorConfig,
)
import voluptuous as vol

from ..endpoint.endpoint import PROBE_MESSAGES, PROBE_TOOLS
from ..endpoint.retry import PROBE
from ..engine.errors import ErrorKind, ModelError, RunCutError
from ..engine.journal import Journal
from ..engine.ports import Allowance
from ..engine.records import JsonObject, ToolAnswer, ToolCall, ToolSpec
from ..task.model import TASK_DOMAIN, TaskMind, can_think

_FEATURE: Final = "ai_task.AITaskEntityFeature.GENERATE_DATA"
_RULES: Final[JsonObject] = {"role": "system", "content": "You are tried out."}
# The call that it is asked for, and a word after it.
_TURNS: Final = 2


@callback
def has_tasks(hass: HomeAssistant) -> bool:
    """Say whether there is an entity to choose."""
    return any(map(can_think, hass.states.async_all(TASK_DOMAIN)))


@callback
def task_schema() -> vol.Schema:
    """Choose an entity; to be asked for only where `has_tasks`."""
    fit = EntityWithDeviceFilterSelectorConfig(
        domain=TASK_DOMAIN, supported_features=[_FEATURE]
    )
    selector = EntitySelector(EntitySelectorConfig(filter=fit))
    return vol.Schema({vol.Required(CONF_ENTITY_ID): selector})


@callback
def task_title(hass: HomeAssistant, entity_id: str) -> str:
    """Name an endpoint after its entity."""
    state = hass.states.get(entity_id)
    return state.name if state else entity_id


async def async_probe_task(hass: HomeAssistant, entity_id: str) -> None:
    """Have the entity work on one tiny task with a tool; raises `ModelError`."""
    name = str(PROBE_TOOLS[0].description)
    mind = TaskMind(hass, entity_id, name=name, context=Context())
    mind.check_ready()
    try:
        async with asyncio.timeout(PROBE.seconds):
            # Who calls on and on can at least call.
            with suppress(RunCutError):
                await mind.converse(
                    _ProbeTools(),
                    (_RULES, *PROBE_MESSAGES),
                    max_turns=_TURNS,
                    allowance=_FREE,
                    journal=Journal(),
                )
    except TimeoutError as err:
        raise ModelError(ErrorKind.TIMEOUT) from err


class _ProbeTools:
    """One tool that does nothing."""

    specs: Sequence[ToolSpec] = PROBE_TOOLS

    def acts(self, name: str) -> bool:
        return not name

    async def call(self, call: ToolCall) -> ToolAnswer:
        return ToolAnswer(content=f"{call.name}: thank you.")


_FREE: Final = Allowance(
    remaining=lambda: None, charge=lambda _: None, check=lambda: None
)

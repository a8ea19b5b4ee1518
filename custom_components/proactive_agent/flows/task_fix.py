"""A repair for an endpoint whose AI Task entity is not there any more."""

from typing import Any

from homeassistant.components.repairs import RepairsFlowResult

from .ai_task import has_tasks
from .mending import Fix


class TaskFix(Fix):
    """Leads on to the endpoint's dialog, if there is another one to choose."""

    async def async_step_confirm(
        self, _user_input: dict[str, Any] | None = None
    ) -> RepairsFlowResult:
        """Lead on."""
        if not has_tasks(self.hass):
            return self.async_abort(reason="no_ai_task")
        return await self.async_step_change_endpoint()

"""The dialogs of what has to be mended, where there is something to do about it."""

from collections.abc import Mapping
from typing import Any, Final

from homeassistant.components.repairs import RepairsFlow
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir

from .const import DOMAIN
from .flows.budget_fix import BudgetFix
from .flows.mending import ChangeFix
from .flows.reach_fix import ReachFix
from .flows.switching_on import SwitchOnFix
from .flows.task_fix import TaskFix
from .flows.trying import TryFix, WakeFix

# By the translation key of an issue; the others are about the model.
_FIXES: Final[Mapping[str, type[RepairsFlow]]] = {
    "budget_tokens": BudgetFix,
    "budget_wakes": BudgetFix,
    "failing": WakeFix,
    "invalid_conditions": ChangeFix,
    "missing_ai_task": TaskFix,
    "missing_entity": ChangeFix,
    "missing_target": ReachFix,
    "store_unreadable": SwitchOnFix,
}


async def async_create_fix_flow(
    hass: HomeAssistant,
    issue_id: str,
    data: dict[str, Any] | None,  # noqa: ARG001 - the flow is given it
) -> RepairsFlow:
    """Return the dialog of an issue."""
    issue = ir.async_get(hass).async_get_issue(DOMAIN, issue_id)
    key = issue.translation_key if issue else None
    return _FIXES.get(key or "", TryFix)()

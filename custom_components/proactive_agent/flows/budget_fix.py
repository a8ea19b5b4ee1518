"""A repair for a budget that is too small day after day: raise it, or leave it."""

from typing import Any, Final

from homeassistant.components.repairs import RepairsFlowResult
from homeassistant.helpers.selector import NumberSelectorConfig, NumberSelectorMode
import voluptuous as vol

from ..const import (
    ATTR_LIMIT,
    CONF_FUSES,
    CONF_MAX_TOKENS_PER_DAY,
    CONF_MAX_WAKES_PER_DAY,
)
from .mending import GONE, Affected, Fix
from .selectors import RawNumberSelector
from .values import FieldError, read_number

_LIMIT: Final = "limit"
_SELECTOR: Final = RawNumberSelector(
    NumberSelectorConfig(min=1, step=1, mode=NumberSelectorMode.BOX)
)


class BudgetFix(Fix):
    """Asks for a higher limit; the heartbeat goes on at once."""

    ways = ("raise_limit", "leave_it", "change_heartbeat")

    async def async_step_raise_limit(
        self, user_input: dict[str, Any] | None = None
    ) -> RepairsFlowResult:
        """Ask for another limit, and store one that is higher."""
        affected = self.affected
        limit = self._limit(affected)
        if affected is None or limit is None:
            return self.async_abort(reason=GONE)
        errors: dict[str, str] = {}
        if user_input is not None:
            try:
                higher = read_number(
                    user_input[_LIMIT], "limit_not_higher", least=limit + 1
                )
            except FieldError as err:
                errors[_LIMIT] = str(err)
            else:
                return self._store(affected, higher)
        wanted = vol.Required(_LIMIT, default=limit * 2)
        return self.async_show_form(
            step_id="raise_limit",
            data_schema=self.add_suggested_values_to_schema(
                vol.Schema({wanted: _SELECTOR}), user_input
            ),
            errors=errors,
            description_placeholders={**self.words, _LIMIT: str(limit)},
        )

    async def async_step_leave_it(
        self, _user_input: dict[str, Any] | None = None
    ) -> RepairsFlowResult:
        """Leave the limit as it is, and speak of it no more."""
        if (affected := self.affected) is None:
            return self.async_abort(reason=GONE)
        runtime = affected.entry.runtime_data
        runtime.concerns.leave_budget(affected.subentry.subentry_id)
        return self.async_create_entry(data={})

    def _limit(self, affected: Affected | None) -> int | None:
        """Return the limit as it is now; None if there is none any more."""
        if affected is None:
            return None
        fuses = affected.heartbeat.options.fuses
        return {
            CONF_MAX_WAKES_PER_DAY: fuses.max_wakes_per_day,
            CONF_MAX_TOKENS_PER_DAY: fuses.max_tokens_per_day,
        }.get(self._key)

    @property
    def _key(self) -> str:
        return str((self.data or {}).get(ATTR_LIMIT))

    def _store(self, affected: Affected, limit: int) -> RepairsFlowResult:
        data = affected.subentry.data
        fuses = {**(data.get(CONF_FUSES) or {}), self._key: limit}
        self.hass.config_entries.async_update_subentry(
            affected.entry, affected.subentry, data={**data, CONF_FUSES: fuses}
        )
        return self.async_create_entry(data={})

"""Which conditions of Home Assistant rest on states, whatever their kind (C4)."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from homeassistant.const import CONF_CONDITION, CONF_ENTITY_ID, CONF_FOR, CONF_OPTIONS
from homeassistant.core import HomeAssistant
from homeassistant.helpers.condition import ConditionChecker, LegacyConditionChecker
from homeassistant.helpers.typing import ConfigType

from .needs import Need
from .target import TargetNeed

# Home Assistant has these asked for again and again: it cannot see what a template
# reads, or where people are, as we do.
_OF_STATES: Final = ("numeric_state", "template", "zone")


def rests_on_states(
    hass: HomeAssistant, config: ConfigType, checker: ConditionChecker
) -> bool:
    """Say whether what its needs rest on decides alone, and not also the time."""
    if not checker.needs_polling or config[CONF_CONDITION] in _OF_STATES:
        return True
    if config[CONF_CONDITION] == "device":
        return _of_named_device(hass, config, checker)
    return False


def durations(
    config: ConfigType, entity_ids: Sequence[str]
) -> list[tuple[str, timedelta]] | None:
    """Return for how long which states have to last; None if that is not known."""
    duration = config.get(CONF_FOR)
    if config[CONF_CONDITION] == "state" and isinstance(duration, timedelta):
        return [(entity_id, duration) for entity_id in entity_ids]
    return None


def is_for_later(needs: Sequence[Need]) -> bool:
    """Say whether no time that passes can make true what does not hold now.

    So it is of a duration while nothing has begun to last.
    """
    targets = [need for need in needs if isinstance(need, TargetNeed)]
    return bool(targets) and all(target.cannot_ripen() for target in targets)


def _of_named_device(
    hass: HomeAssistant, config: ConfigType, checker: ConditionChecker
) -> bool:
    """Say whether a device's condition is one of Home Assistant's on its entity."""
    options = config.get(CONF_OPTIONS) or config
    judge = getattr(checker, "_platform_checker", None)
    if judge is None or CONF_ENTITY_ID not in options:
        return False
    return not LegacyConditionChecker(hass, judge).needs_polling

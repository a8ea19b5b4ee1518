"""The reason for an action, in the model's words, for its owner to read (P1)."""

from dataclasses import replace
from typing import Any

from homeassistant.helpers import selector
import probatio

from .fields import Parameters
from .values import Field

BECAUSE = "because"
_DESCRIPTION = "For the owner, who is asked first: in one short sentence, why."


def with_reason(parameters: Parameters) -> Parameters:
    """Return the parameters of a tool that may have to ask, with room for a reason."""
    text = Field(selector.TextSelector(), is_wide=False)
    reason = {probatio.Optional(BECAUSE, description=_DESCRIPTION): text}
    return replace(parameters, schema=parameters.schema.extend(reason))


def takes_reason(parameters: Parameters) -> bool:
    """Say whether an action has a field of this name itself: that is left alone."""
    return any(str(marker) == BECAUSE for marker in parameters.schema.schema)


def take_reason(data: dict[str, Any]) -> str:
    """Take the reason out of the arguments of a call."""
    return str(data.pop(BECAUSE, ""))

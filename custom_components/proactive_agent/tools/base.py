"""What the tools of a run have in common."""

from abc import abstractmethod
from collections.abc import Mapping
import json
from math import isfinite
from typing import Any, override

from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from homeassistant.helpers.json import ExtendedJSONEncoder, json_bytes
from homeassistant.util.json import json_loads
import probatio

from ..const import DOMAIN
from ..engine.one_line import one_line
from ..engine.records import Json

_MAX_TEXT = 4_096
_MAX_DEPTH = 8
_MAX_VALUES = 1_000
_MAX_INT_BITS = 64


class ArgumentError(Exception):
    """The arguments of a call do not fit; the sentence is for the model (R4)."""


class AgentTool(llm.Tool):
    """A tool of a run; `acts` if it changes something in the home."""

    integration = DOMAIN
    acts = False

    @override
    @abstractmethod
    async def async_call(
        self,
        hass: HomeAssistant,
        tool_input: llm.ToolInput,
        llm_context: llm.LLMContext,
    ) -> llm.ToolResult:
        """Answer a call; raises `ArgumentError` for arguments that do not fit."""

    def arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Check a call's arguments; raises `ArgumentError` with one sentence.

        A null stands for an argument that was left out.
        """
        arguments = {key: value for key, value in given.items() if value is not None}
        known = [str(marker) for marker in self.parameters.schema]
        for key, value in arguments.items():
            if key not in known:
                raise ArgumentError(
                    f"{self.name} does not take {one_line(key, 60)!r}; "
                    f"it takes {', '.join(known) or 'no arguments'}."
                )
            if fault := _fault(value):
                raise ArgumentError(f"{key} {fault}.")
        try:
            checked: dict[str, Any] = self.parameters(arguments)
        except probatio.Invalid as err:
            raise ArgumentError(sentence_of(err)) from err
        return checked


def as_json(value: Any) -> Json:
    """Return a value of Home Assistant as plain JSON, as its own encoder does (R5)."""
    try:
        plain: Json = json_loads(json_bytes(value))
    except TypeError, ValueError, RecursionError:
        plain = json.loads(
            json.dumps(value, cls=ExtendedJSONEncoder, skipkeys=True),
            parse_constant=lambda _: None,
        )
    return plain


def sentence_of(err: probatio.Invalid) -> str:
    """Write the first thing that does not fit as one sentence."""
    first = err.errors[0] if isinstance(err, probatio.MultipleInvalid) else err
    key = ".".join(str(part) for part in first.path)
    return one_line(f"{key}: {first.msg}." if key else f"{first.msg}.", 600)


def _fault(value: Any) -> str | None:
    """Find what no schema of ours names but no action should ever be given."""
    pending = [(value, 0)]
    seen = 0
    while pending:
        one, depth = pending.pop()
        seen += 1
        if seen > _MAX_VALUES or depth > _MAX_DEPTH:
            return "holds too much"
        if isinstance(one, Mapping):
            pending += [(part, depth + 1) for part in (*one, *one.values())]
        elif isinstance(one, list):
            pending += [(part, depth + 1) for part in one]
        elif fault := _scalar_fault(one):
            return fault
    return None


def _scalar_fault(value: Any) -> str | None:
    if isinstance(value, str) and len(value) > _MAX_TEXT:
        return "is too long"
    if isinstance(value, float) and not isfinite(value):
        return "must be a finite number"
    if isinstance(value, int) and value.bit_length() > _MAX_INT_BITS:
        return "is too large"
    return None

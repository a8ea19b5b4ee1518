"""The tools of one run: what the model may see, do and say."""

from collections.abc import Callable, Sequence
import logging
from typing import Final

from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm

from ..const import DOMAIN
from ..engine.errors import ActionRefusedError, RunCutError
from ..engine.one_line import one_line
from ..engine.reach import Reach
from ..engine.records import ToolAnswer, ToolCall, ToolSpec
from ..guard.guard import Guard
from .base import AgentTool, ArgumentError
from .catalogue import Catalogue
from .offer import Facts, Offer, facts_of, make_offer, spec_of
from .own import StopHeartbeatTool, TellOwnerTool

_LOGGER = logging.getLogger(__name__)

MAX_TOOLS = 128
_OWN_TOOLS = 2  # what it may ask of its heartbeat


def _nobody(_text: str) -> None:
    """Stand for who would hear it."""


# Each run tells the model the same of them.
_OWN_SPECS: Final = {
    tool.name: spec_of(tool)
    for tool in (TellOwnerTool(_nobody), StopHeartbeatTool(_nobody))
}


class Toolbox:
    """The engine's `Tools`, made of Home Assistant's own `llm.Tool`."""

    def __init__(
        self,
        hass: HomeAssistant,
        offer: Offer,
        *,
        guard: Guard,
        tell: Callable[[str], None],
        stop: Callable[[str], None] | None,
        context: Context,
    ) -> None:
        """Bind an offer to one run: its guard, its context, and who hears of it."""
        self.left_out = offer.left_out
        self._hass = hass
        own = [TellOwnerTool(tell), *([StopHeartbeatTool(stop)] if stop else [])]
        self._tools: dict[str, AgentTool] = {
            tool.name: tool for tool in (*offer.tools(guard), *own)
        }
        self._specs = (*offer.specs, *(_OWN_SPECS[tool.name] for tool in own))
        self._llm_context = llm.LLMContext(
            platform=DOMAIN,
            context=context,
            language="en",
            assistant=DOMAIN,
            device_id=None,
        )

    @property
    def specs(self) -> Sequence[ToolSpec]:
        """The tools as the model is told of them, in a stable order."""
        return self._specs

    def acts(self, name: str) -> bool:
        """Say whether this tool changes something in the home."""
        return name in self._tools and self._tools[name].acts

    async def call(self, call: ToolCall) -> ToolAnswer:
        """Answer a call; raises nothing but `RunCutError` (R4)."""
        if call.fault is not None:
            return _error(call.fault)
        tool = self._tools.get(call.name)
        if tool is None:
            return _error(
                f"There is no tool called {one_line(call.name, 64)!r}. "
                f"There are: {', '.join(self._tools)}."
            )
        tool_input = llm.ToolInput(
            tool_name=tool.name, tool_args={**call.arguments}, id=call.id
        )
        try:
            result = await tool.async_call(self._hass, tool_input, self._llm_context)
        except (ActionRefusedError, ArgumentError) as err:
            return _error(str(err))
        except RunCutError:
            raise
        except Exception:
            _LOGGER.exception("The tool %s failed", tool.name)
            return _error(f"{tool.name} failed for an internal reason.")
        return ToolAnswer(content=result.data, error=result.error)


class OfferCache:
    """Makes the tools for one heartbeat, anew only when the home has changed."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Begin with nothing made."""
        self.offer: Offer | None = None
        self._hass = hass
        self._catalogue: Catalogue | None = None
        self._facts: Facts | None = None

    async def async_offer(self, reach: Reach) -> Offer:
        """Return the tools for a reach; the last ones if nothing has changed."""
        catalogue = await Catalogue.async_read(self._hass, self._catalogue)
        facts = facts_of(self._hass, catalogue, reach)
        if (
            self.offer is not None
            and catalogue is self._catalogue
            and facts == self._facts
        ):
            return self.offer
        offer = make_offer(self._hass, catalogue, reach, room=MAX_TOOLS - _OWN_TOOLS)
        if offer.left_out and (
            self.offer is None or self.offer.left_out != offer.left_out
        ):
            _LOGGER.info("Too many tools, left out: %s", ", ".join(offer.left_out))
        self.offer, self._catalogue, self._facts = offer, catalogue, facts
        return offer

    async def async_toolbox(
        self,
        *,
        reach: Reach,
        guard: Guard,
        tell: Callable[[str], None],
        stop: Callable[[str], None] | None,
        context: Context,
    ) -> Toolbox:
        """Return the toolbox of one run, bound to its guard and its context."""
        return Toolbox(
            self._hass,
            await self.async_offer(reach),
            guard=guard,
            tell=tell,
            stop=stop,
            context=context,
        )


def _error(sentence: str) -> ToolAnswer:
    return ToolAnswer(content=sentence, error=True)

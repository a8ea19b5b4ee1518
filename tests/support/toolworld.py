"""A home that is only states, with Home Assistant's own actions, and its tools."""

import asyncio
from collections.abc import Mapping
from typing import Any

from homeassistant.core import Context, HomeAssistant, ServiceCall, SupportsResponse
from homeassistant.setup import async_setup_component

from custom_components.proactive_agent.engine.reach import Reach
from custom_components.proactive_agent.engine.records import (
    Json,
    ToolAnswer,
    ToolCall,
    ToolSpec,
)
from custom_components.proactive_agent.guard.guard import Guard, Terms
from custom_components.proactive_agent.guard.past_actions import PastActions
from custom_components.proactive_agent.tools.toolbox import OfferCache, Toolbox

from . import stubs  # noqa: F401
from .consent import Owner

type States = Mapping[str, tuple[str, Mapping[str, Any]]]


class ToolWorld:
    """Some states, what may be done with them, and what was called."""

    def __init__(self, hass: HomeAssistant) -> None:
        self.hass = hass
        self.reach = Reach()
        self.offers = OfferCache(hass)
        self.calls: list[ServiceCall] = []

    async def have(self, states: States, *, look: bool = False) -> None:
        """Add states, and the actions of their domains, which only note the call."""
        for entity_id, (state, attributes) in states.items():
            domain = entity_id.partition(".")[0]
            if domain not in self.hass.config.components:
                assert await async_setup_component(self.hass, domain, {domain: {}})
                await self.hass.async_block_till_done()
            self.hass.states.async_set(entity_id, state, attributes)
        self.reach = Reach.of(
            look=(*self.reach.look, *(states if look else ())),
            act=(*self.reach.act, *(() if look else states)),
            ask=(),
        )

    def answer_with(self, domain: str, service: str, response: Any = None) -> None:
        """Let an action note the call and answer, as what it is registered for."""
        known = self.hass.services.async_services_for_domain(domain)[service]

        async def note(call: ServiceCall) -> Any:
            self.calls.append(call)
            return response

        self.hass.services.async_register(
            domain,
            service,
            note,
            schema=known.schema,
            supports_response=known.supports_response,
        )

    def note_all(self) -> None:
        """Let every action note the call and do nothing."""
        for domain, services in [*self.hass.services.async_services().items()]:
            for service, known in [*services.items()]:
                response: Any = (
                    None if known.supports_response is SupportsResponse.NONE else {}
                )
                self.answer_with(domain, service, response)

    def guard(self, *, dry_run: bool = False, ask: bool = False) -> Guard:
        return Guard(
            self.hass,
            context=Context(),
            terms=Terms(
                permitted=lambda: self.reach,
                ask_before_risky=ask,
                max_actions=1_000,
                dry_run=dry_run,
            ),
            lock=asyncio.Lock(),
            on_settled=lambda _index, _record: None,
            consent=Owner(),
            past_actions=PastActions(self.hass),
        )

    async def toolbox(self, guard: Guard | None = None) -> Toolbox:
        return await self.offers.async_toolbox(
            reach=self.reach,
            guard=guard or self.guard(),
            tell=lambda _message: None,
            stop=None,
            context=Context(),
        )

    async def specs(self) -> dict[str, ToolSpec]:
        return {spec.name: spec for spec in (await self.toolbox()).specs}

    async def field(self, tool: str, name: str) -> Any:
        """Return the schema of a field without its description, None if it has none."""
        parameters: Any = (await self.specs())[tool].parameters
        field = parameters["properties"].get(name)
        return field and {
            word: value for word, value in field.items() if word != "description"
        }

    async def call(self, tool: str, **arguments: Json) -> ToolAnswer:
        toolbox = await self.toolbox()
        return await toolbox.call(ToolCall(id="1", name=tool, arguments=arguments))

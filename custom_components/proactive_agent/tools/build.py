"""Finds what applies to the chosen entities and makes tools of it (DESIGN §4)."""

from collections.abc import Mapping
from dataclasses import dataclass
import logging
from typing import Any

from homeassistant.const import ATTR_DEVICE_CLASS
from homeassistant.core import HomeAssistant, split_entity_id
from homeassistant.helpers import llm
from homeassistant.helpers.service import (
    async_get_all_descriptions,
    async_get_cached_service_description,
)
from homeassistant.helpers.translation import async_get_translations

from ..engine.one_line import one_line
from ..engine.policy import SCRIPT, is_free, is_never
from ..engine.reach import Reach
from ..guard import Guard
from ..guard_facts import script_service
from .action import ActionTool, ScriptTool
from .fields import action_parameters, script_parameters
from .match import targeted
from .names import unique_name

_LOGGER = logging.getLogger(__name__)

_MAX_DESCRIPTION = 500
_REPEATABLE = ("turn_", "set_", "select_option")


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """What Home Assistant can do by now, and how it says it in English."""

    actions: Mapping[str, Mapping[str, Any]]
    texts: Mapping[str, str]

    @classmethod
    async def async_read(cls, hass: HomeAssistant) -> Catalogue:
        """Read the descriptions; cheap after the first time.

        Where a base component of Home Assistant lacks a package, its descriptions
        cannot be read; the scripts, which describe themselves, are left.
        """
        try:
            actions = await async_get_all_descriptions(hass)
        except ImportError as err:
            _LOGGER.warning("Only scripts can be tools: %s", err)
            actions = {SCRIPT: _described_scripts(hass)}
        texts = await async_get_translations(hass, "en", "services", {*actions})
        return cls(actions=actions, texts=texts)

    def text(self, description: Mapping[str, Any], *path: str) -> str:
        """Return a description's text: its own, else the translated one."""
        own = description.get("description") or description.get("name")
        key = ".".join(("component", path[0], "services", *path[1:]))
        text = own or self.texts.get(f"{key}.description", "")
        for name, value in (description.get("description_placeholders") or {}).items():
            text = text.replace(f"{{{name}}}", str(value))
        return one_line(text, _MAX_DESCRIPTION)

    def fields(self, domain: str, service: str) -> dict[str, Any]:
        """Return the fields of an action with their texts, sections kept."""
        fields = self.actions[domain][service].get("fields") or {}
        return self._with_texts(fields, domain, service)

    def _with_texts(
        self, fields: Mapping[str, Any], domain: str, service: str
    ) -> dict[str, Any]:
        described: dict[str, Any] = {}
        for name, config in fields.items():
            field = config or {}
            if isinstance(section := field.get("fields"), Mapping):
                described[name] = {"fields": self._with_texts(section, domain, service)}
                continue
            text = self.text(field, domain, service, "fields", name)
            described[name] = {**field, "description": text}
        return described


def _described_scripts(hass: HomeAssistant) -> dict[str, Any]:
    return {
        service: description
        for service in hass.services.async_services_for_domain(SCRIPT)
        if (description := async_get_cached_service_description(hass, SCRIPT, service))
    }


def action_tools(
    hass: HomeAssistant, catalogue: Catalogue, reach: Reach, guard: Guard
) -> list[ActionTool]:
    """Return a tool for each action that applies to an entity of `act` or `ask`."""
    tools: list[ActionTool] = []
    taken: set[str] = set()
    for domain in sorted(catalogue.actions):
        for service in sorted(catalogue.actions[domain]):
            description = catalogue.actions[domain][service]
            if (
                domain == SCRIPT
                or is_never(domain, service)
                or _only_answers(description)
            ):
                continue
            targets = targeted(hass, description.get("target"), reach.actors)
            if not targets:
                continue
            name = unique_name(f"{domain}_{service}", taken)
            taken.add(name)
            tools.append(
                ActionTool(
                    guard,
                    name=name,
                    domain=domain,
                    service=service,
                    description=catalogue.text(description, domain, service),
                    parameters=action_parameters(
                        hass,
                        catalogue.fields(domain, service),
                        targets=targets,
                        actors=reach.actors,
                    ),
                    annotations=llm.ToolAnnotations(
                        destructive=not _all_free(hass, domain, service, targets),
                        idempotent=service.startswith(_REPEATABLE),
                    ),
                )
            )
    return tools


def script_tools(
    hass: HomeAssistant,
    catalogue: Catalogue,
    reach: Reach,
    guard: Guard,
    taken: set[str],
) -> list[ScriptTool]:
    """Return a tool for each script of `act` or `ask`, by its object id."""
    tools: list[ScriptTool] = []
    for entity_id in reach.actors:
        domain, object_id = split_entity_id(entity_id)
        if domain != SCRIPT:
            continue
        service = script_service(hass, entity_id)
        description = catalogue.actions.get(SCRIPT, {}).get(service)
        if description is None:
            continue
        name = unique_name(object_id, taken, prefix="script_")
        taken.add(name)
        tools.append(
            ScriptTool(
                guard,
                entity_id=entity_id,
                name=name,
                service=service,
                description=catalogue.text(description, SCRIPT, service)
                or f"Run {entity_id}.",
                parameters=script_parameters(
                    hass, catalogue.fields(SCRIPT, service), actors=reach.actors
                ),
                annotations=llm.ToolAnnotations(),
            )
        )
    return tools


def _only_answers(description: Mapping[str, Any]) -> bool:
    response = description.get("response")
    return response is not None and not response.get("optional")


def _all_free(
    hass: HomeAssistant, domain: str, service: str, targets: tuple[str, ...]
) -> bool:
    states = (hass.states.get(entity_id) for entity_id in targets)
    return all(
        state is not None
        and is_free(domain, service, state.attributes.get(ATTR_DEVICE_CLASS))
        for state in states
    )

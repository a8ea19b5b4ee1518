"""Finds what applies to the chosen entities and plans a tool for it (DESIGN §4)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from homeassistant.const import ATTR_DEVICE_CLASS
from homeassistant.core import HomeAssistant, split_entity_id
from homeassistant.helpers import config_validation as cv, llm

from ..engine.policy import SCRIPT, is_free, is_never
from ..engine.reach import Reach
from ..guard_facts import script_service
from .action import ActionPlan
from .catalogue import Catalogue
from .choices import hangs_on_entity, options_of
from .fields import action_parameters, script_parameters
from .match import targeted
from .names import unique_name

_REPEATABLE = ("turn_", "set_", "select_option")
# That an action only answers is no promise that it changes nothing.
_READING = ("browse_", "get_", "list_", "search_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plans:
    """Everything that applies, in a stable order."""

    reading: list[ActionPlan] = field(default_factory=list)
    acting: list[ActionPlan] = field(default_factory=list)
    scripts: list[ActionPlan] = field(default_factory=list)


def plan_tools(hass: HomeAssistant, catalogue: Catalogue, reach: Reach) -> Plans:
    """Plan a tool for each action and script that applies to the reach."""
    taken: set[str] = set()
    plans = Plans()
    for domain, service in _offered(catalogue):
        reads = _only_reads(catalogue.actions[domain][service], service)
        plan = _action_plan(
            hass,
            catalogue,
            (domain, service),
            _readable(reach, domain) if reads else reach.actors,
            unique_name(f"{domain}_{service}", taken),
            reads=reads,
        )
        if plan is not None:
            taken.add(plan.name)
            (plans.reading if reads else plans.acting).append(plan)
    plans.scripts.extend(_script_plans(hass, catalogue, reach, taken))
    return plans


def _offered(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    for domain in sorted(catalogue.actions):
        for service in sorted(catalogue.actions[domain]):
            if domain != SCRIPT and not is_never(domain, service):
                yield domain, service


def _readable(reach: Reach, domain: str) -> tuple[str, ...]:
    """Return what a domain may be read of: its own entities, as the guard has it."""
    return tuple(one for one in reach.visible if split_entity_id(one)[0] == domain)


def _only_reads(description: Mapping[str, Any], service: str) -> bool:
    response = description.get("response")
    only_answers = response is not None and not response.get("optional")
    return only_answers and service.startswith(_READING)


def _action_plan(
    hass: HomeAssistant,
    catalogue: Catalogue,
    action: tuple[str, str],
    candidates: Sequence[str],
    name: str,
    *,
    reads: bool,
) -> ActionPlan | None:
    domain, service = action
    description = catalogue.actions[domain][service]
    targets = _targets(hass, domain, description, candidates)
    if not targets:
        return None
    return ActionPlan(
        name=name,
        domain=domain,
        service=service,
        description=catalogue.text(description, domain, service),
        parameters=action_parameters(
            hass,
            domain,
            catalogue.fields(domain, service),
            targets=targets,
            actors=candidates,
        ),
        annotations=llm.ToolAnnotations(
            read_only=reads,
            destructive=not (reads or _all_free(hass, domain, service, targets)),
            idempotent=reads or service.startswith(_REPEATABLE),
        ),
        reads=reads,
    )


def _script_plans(
    hass: HomeAssistant, catalogue: Catalogue, reach: Reach, taken: set[str]
) -> Iterator[ActionPlan]:
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
        yield ActionPlan(
            name=name,
            domain=SCRIPT,
            service=service,
            description=catalogue.text(description, SCRIPT, service)
            or f"Run {entity_id}.",
            parameters=script_parameters(
                hass, catalogue.fields(SCRIPT, service), actors=reach.actors
            ),
            annotations=llm.ToolAnnotations(),
            script=entity_id,
        )


def _targets(
    hass: HomeAssistant,
    domain: str,
    description: Mapping[str, Any],
    candidates: Sequence[str],
) -> tuple[str, ...]:
    """Return the entities an action applies to.

    One that names none of the words without which the action cannot be called does
    not count, unless it supports the action by a feature: it may name them later.
    """
    target = description.get("target") or {}
    found = targeted(hass, target, candidates)
    if any("supported_features" in one for one in cv.ensure_list(target.get("entity"))):
        return found
    needed = [
        name
        for name, config in (description.get("fields") or {}).items()
        if (config or {}).get("required") and hangs_on_entity(domain, name)
    ]
    return tuple(
        entity_id
        for entity_id in found
        if (state := hass.states.get(entity_id))
        and all(options_of(domain, name, state) for name in needed)
    )


def _all_free(
    hass: HomeAssistant, domain: str, service: str, targets: tuple[str, ...]
) -> bool:
    states = (hass.states.get(entity_id) for entity_id in targets)
    return all(
        state is not None
        and is_free(domain, service, state.attributes.get(ATTR_DEVICE_CLASS))
        for state in states
    )

"""Finds what applies to the chosen entities and plans a tool for it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
import logging
from typing import Any

from homeassistant.core import HomeAssistant, split_entity_id
from homeassistant.helpers import config_validation as cv, llm

from ..engine.policy import SCRIPT, Verdict, is_never
from ..engine.reach import Reach
from ..guard.checks import Action, judge_action
from ..guard.facts import script_service
from .action import ActionPlan
from .amendments import is_superfluous, with_rules
from .catalogue import Catalogue
from .choices import hangs_on_entity, options_of
from .fields import action_parameters, script_parameters
from .match import targeted
from .names import unique_name
from .reason import takes_reason, with_reason

_LOGGER = logging.getLogger(__name__)

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
    planner = _Planner(hass, catalogue, reach)
    plans = Plans()
    for domain in sorted(catalogue.actions):
        for service in sorted(catalogue.actions[domain]):
            if domain == SCRIPT or is_never(domain, service):
                continue
            if is_superfluous(domain, service):
                continue
            plan = planner.attempt(planner.action, domain, service)
            if plan is not None:
                (plans.reading if plan.reads else plans.acting).append(plan)
    for entity_id in reach.actors:
        if split_entity_id(entity_id)[0] == SCRIPT:
            plan = planner.attempt(planner.script, *split_entity_id(entity_id))
            if plan is not None:
                plans.scripts.append(plan)
    return plans


class _Planner:
    """Plans one tool after the other, no two of one name."""

    def __init__(self, hass: HomeAssistant, catalogue: Catalogue, reach: Reach) -> None:
        self._hass = hass
        self._catalogue = catalogue
        self._reach = reach
        self._taken: set[str] = set()

    def attempt(
        self, plan_one: Callable[[str, str], ActionPlan | None], domain: str, name: str
    ) -> ActionPlan | None:
        """Plan a tool; whoever describes itself oddly must not cost all the others."""
        try:
            plan = plan_one(domain, name)
        except Exception:
            _LOGGER.exception("%s.%s cannot be a tool", domain, name)
            return None
        if plan is not None:
            self._taken.add(plan.name)
        return plan

    def action(self, domain: str, service: str) -> ActionPlan | None:
        """Plan an action, if it applies to anything."""
        hass, catalogue = self._hass, self._catalogue
        description = catalogue.actions[domain][service]
        reads = _only_reads(description, service)
        candidates = self._readable(domain) if reads else self._reach.actors
        targets = _targets(hass, domain, description, candidates)
        if not targets:
            return None
        parameters = action_parameters(
            hass,
            domain,
            catalogue.fields(domain, service),
            targets=targets,
            actors=candidates,
        )
        action = Action(
            domain=domain,
            service=service,
            entity_id=targets,
            must_ask=parameters.must_ask,
        )
        asks = not reads and _asks(hass, action, self._reach)
        has_reason = asks and not takes_reason(parameters)
        return ActionPlan(
            name=unique_name(f"{domain}_{service}", self._taken),
            domain=domain,
            service=service,
            description=with_rules(
                catalogue.text(description, domain, service),
                action.name,
                parameters.names,
            ),
            parameters=with_reason(parameters) if has_reason else parameters,
            annotations=llm.ToolAnnotations(
                read_only=reads,
                destructive=asks,
                idempotent=reads or service.startswith(_REPEATABLE),
            ),
            reads=reads,
            has_reason=has_reason,
        )

    def script(self, domain: str, object_id: str) -> ActionPlan | None:
        """Plan a script, if it can be run by now."""
        hass, catalogue = self._hass, self._catalogue
        entity_id = f"{domain}.{object_id}"
        service = script_service(hass, entity_id)
        description = catalogue.actions.get(SCRIPT, {}).get(service)
        if description is None:
            return None
        parameters = script_parameters(
            hass, catalogue.fields(SCRIPT, service), actors=self._reach.actors
        )
        asks = parameters.must_ask or entity_id in self._reach.ask
        has_reason = asks and not takes_reason(parameters)
        return ActionPlan(
            name=unique_name(object_id, self._taken, prefix="script_"),
            domain=SCRIPT,
            service=service,
            description=catalogue.text(description, SCRIPT, service)
            or f"Run {entity_id}.",
            parameters=with_reason(parameters) if has_reason else parameters,
            annotations=llm.ToolAnnotations(),
            script=entity_id,
            has_reason=has_reason,
        )

    def _readable(self, domain: str) -> tuple[str, ...]:
        """Return what a domain may be read of: its own entities only."""
        return tuple(
            one for one in self._reach.visible if split_entity_id(one)[0] == domain
        )


def _only_reads(description: Mapping[str, Any], service: str) -> bool:
    response = description.get("response")
    only_answers = response is not None and not response.get("optional")
    return only_answers and service.startswith(_READING)


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


def _asks(hass: HomeAssistant, action: Action, reach: Reach) -> bool:
    """Tell whether the guard would ask the owner first, or refuse (A1)."""
    verdict = judge_action(hass, action, reach, ask_before_risky=True)
    return verdict is not Verdict.ALLOW

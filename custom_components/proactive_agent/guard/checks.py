"""The checks in front of an action: who, what, and is it there (A1, A2, A4)."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
import re

from homeassistant.const import ENTITY_MATCH_ALL, STATE_UNAVAILABLE
from homeassistant.core import HomeAssistant, SupportsResponse
from homeassistant.helpers import (
    config_validation as cv,
    device_registry as dr,
    entity_registry as er,
)

from ..const import DOMAIN
from ..engine.errors import ActionRefusedError, RefusalKind
from ..engine.policy import SCRIPT, Listed, Verdict, judge, judge_reading
from ..engine.reach import Reach
from ..engine.records import Json, JsonObject
from .facts import script_service, subjects

# Each entity id that a text holds, also one that overlaps another.
_ENTITY_ID = re.compile(r"(?=\b(\w+\.\w+))")
_REGISTRY_ID = re.compile(r"\b[0-9a-f]{32}\b")
_TARGETS = frozenset(cv.ENTITY_SERVICE_FIELDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """An action the model asks for, its entities already literal.

    `named` are entities that stand in `data`: they are checked as those in
    `entity_id` are. `must_ask` marks data that reaches further than entities (A3),
    `because` is what the model says for it, should its owner be asked.
    """

    domain: str
    service: str
    entity_id: tuple[str, ...]
    data: JsonObject = field(default_factory=dict)
    named: tuple[str, ...] = ()
    must_ask: bool = False
    because: str = ""

    @property
    def name(self) -> str:
        """The action as Home Assistant writes it."""
        return f"{self.domain}.{self.service}"

    @property
    def is_script(self) -> bool:
        """A script takes its fields and no target."""
        return self.domain == SCRIPT


def check(hass: HomeAssistant, action: Action, reach: Reach) -> None:
    """Raise `ActionRefusedError` for what must not or cannot be called now."""
    _check_call(hass, action, reach.actors, "act on")
    if action.is_script:
        _check_script(hass, action, reach)


def check_reading(hass: HomeAssistant, action: Action, reach: Reach) -> None:
    """Raise `ActionRefusedError` for anything but a mere answer on what may be seen.

    What an action gives back says nothing about what it does besides; only one that
    Home Assistant knows to be called for its answer alone is taken for a reading.
    """
    _check_call(hass, action, reach.visible, "look at")
    answers = hass.services.supports_response(action.domain, action.service)
    judged = judge_reading(
        action.domain, action.service, subjects(hass, action.entity_id, reach)
    )
    if answers is not SupportsResponse.ONLY or judged is not Verdict.ALLOW:
        raise _not_allowed(f"{action.name} is not allowed here.")


def judge_action(
    hass: HomeAssistant, action: Action, reach: Reach, *, ask_before_risky: bool
) -> Verdict:
    """Judge an action on everything it names, groups as their members."""
    targets = judge(
        action.domain,
        action.service,
        subjects(hass, action.entity_id, reach),
        ask_before_risky=ask_before_risky,
        must_ask=action.must_ask,
    )
    named = subjects(hass, (*action.named, *_mentioned(action)), reach)
    if any(one.own for one in named):
        return Verdict.DENY
    asked = any(one.listed is Listed.ASK for one in named)
    return max(targets, Verdict.ASK) if asked else targets


def is_risky(hass: HomeAssistant, action: Action) -> bool:
    """Tell whether an action is not free, even on entities in `act` (P2)."""
    touched = subjects(hass, action.entity_id, Reach())
    judged = judge(
        action.domain,
        action.service,
        touched,
        ask_before_risky=True,
        must_ask=action.must_ask,
    )
    return judged is not Verdict.ALLOW


def _check_call(
    hass: HomeAssistant, action: Action, allowed: Collection[str], verb: str
) -> None:
    if not action.entity_id:
        raise _not_allowed(f"{action.name} needs an entity_id.")
    if action.domain == DOMAIN:
        raise _not_allowed(f"{action.name} is not allowed here.")
    for entity_id in (*action.entity_id, *action.named):
        if entity_id not in allowed:
            raise _not_allowed(f"You may not {verb} {entity_id[:100]!r}.")
    _check_data(action)
    if not hass.services.has_service(action.domain, action.service):
        raise ActionRefusedError(
            RefusalKind.UNAVAILABLE, f"{action.name} does not exist any more."
        )
    _check_present(hass, action)


def _check_data(action: Action) -> None:
    if not action.is_script and (wide := sorted(_TARGETS & action.data.keys())):
        raise _not_allowed(f"{wide[0]} is not taken here; name entities only.")


def _check_script(hass: HomeAssistant, action: Action, reach: Reach) -> None:
    """A script may use any text as a target: entities in it are checked too (A3)."""
    if [script_service(hass, one) for one in action.entity_id] != [action.service]:
        raise _not_allowed(f"{action.name} is not the action of this script.")
    for text in _texts(action.data):
        if (named := _reaching_too_far(hass, text.lower(), reach)) is not None:
            raise _not_allowed(f"You may not act on {named}.")


def _reaching_too_far(hass: HomeAssistant, text: str, reach: Reach) -> str | None:
    """Return the first thing in a text that a script could act on and may not.

    A template in it is only text: what a script is given is not rendered again.
    """
    if text.strip() == ENTITY_MATCH_ALL:
        return ENTITY_MATCH_ALL
    for entity_id in _ENTITY_ID.findall(text):
        if entity_id not in reach.actors and hass.states.get(entity_id) is not None:
            return str(entity_id)
    entities, devices = er.async_get(hass), dr.async_get(hass)
    for registry_id in _REGISTRY_ID.findall(text):
        entry = entities.entities.get_entry(registry_id)
        if devices.async_get(registry_id) is not None or (
            entry is not None and entry.entity_id not in reach.actors
        ):
            return str(registry_id)
    return None


def _mentioned(action: Action) -> list[str]:
    """Return what a script's texts name, as far as it passed the checks (A3)."""
    if not action.is_script:
        return []
    texts = [text.lower() for text in _texts(action.data)]
    return [entity_id for text in texts for entity_id in _ENTITY_ID.findall(text)]


def _texts(value: Json) -> Iterator[str]:
    pending = [value]
    while pending:
        match pending.pop():
            case str() as text:
                yield text
            case Mapping() as mapping:
                pending += [*mapping, *mapping.values()]
            case Sequence() as items:
                pending += items


def _check_present(hass: HomeAssistant, action: Action) -> None:
    for entity_id in action.entity_id:
        state = hass.states.get(entity_id)
        if state is None:
            raise ActionRefusedError(
                RefusalKind.UNAVAILABLE, f"{entity_id} does not exist; nothing done."
            )
        if state.state == STATE_UNAVAILABLE:
            raise ActionRefusedError(
                RefusalKind.UNAVAILABLE, f"{entity_id} is unavailable; nothing done."
            )


def _not_allowed(sentence: str) -> ActionRefusedError:
    return ActionRefusedError(RefusalKind.NOT_ALLOWED, sentence)

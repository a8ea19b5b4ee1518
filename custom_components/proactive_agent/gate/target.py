"""The entities of a purpose-specific condition, found as Home Assistant does."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from homeassistant.const import ATTR_ENTITY_ID
from homeassistant.core import (
    HomeAssistant,
    State,
    split_entity_id,
    valid_entity_id,
)
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.condition import (
    BEHAVIOR_ALL,
    ConditionChecker,
    EntityConditionBase,
    EntityNumericalConditionBase,
)
from homeassistant.helpers.target import (
    TargetSelection,
    async_extract_referenced_entity_ids,
)

from ..const import SILENT_STATES
from .needs import holds_number, trouble_in_words, trouble_of
from .registries import Registries
from .standing import Basis
from .tree import Trouble

_NAMED_AT_MOST = 5
# How Home Assistant joins its entities and their durations, if nobody has changed it.
_JUDGING = (
    "needs_polling",
    "_async_check",
    "_check_any_match_state",
    "_check_all_match_state",
)


@dataclass(slots=True, kw_only=True)
class TargetNeed:
    """A target of which at least one entity can be judged.

    Home Assistant leaves the others out, and "all" of none is true there.
    `checker` is None for a condition that is not one of its entity conditions.
    """

    hass: HomeAssistant
    target: Mapping[str, Any]
    checker: EntityConditionBase | None
    registries: Registries
    _found: tuple[set[str], set[str]] | None = field(default=None, init=False)
    _version: int = field(default=-1, init=False)

    def __post_init__(self) -> None:
        """Hear of registries, if these say what the target leads to."""
        if self.wanders:
            self.registries.listen()

    def fault(self) -> str | None:
        """Say why none of the target's entities can be judged."""
        named, candidates = self._resolve()
        if self._any_counts(candidates):
            return None
        suspects = sorted({*named, *candidates})
        if not suspects:
            return "its target has no matching entity"
        reasons = [
            trouble_in_words(self.hass, one) for one in suspects[:_NAMED_AT_MOST]
        ]
        if len(suspects) > _NAMED_AT_MOST:
            reasons.append(f"{len(suspects) - _NAMED_AT_MOST} more")
        return f"none of its entities can be judged: {', '.join(reasons)}"

    @property
    def wanders(self) -> bool:
        """Whether areas, labels and the like may lead to others at the next tick."""
        chosen = {key for key, value in self.target.items() if value}
        named = cv.ensure_list(self.target.get(ATTR_ENTITY_ID))
        return chosen != {ATTR_ENTITY_ID} or not all(map(valid_entity_id, named))

    def basis(self) -> Basis:
        """Return all entities of the kind that it leads to, and what leads there."""
        if not self.wanders:
            return Basis(entity_ids=tuple(cv.ensure_list(self.target[ATTR_ENTITY_ID])))
        _, found = self._find()
        return Basis(entity_ids=tuple(found), registries=self.registries)

    def cannot_ripen(self) -> bool:
        """Say whether the condition would not hold without its duration either."""
        checker = self.checker
        if checker is None or any(
            getattr(type(checker), name) is not getattr(EntityConditionBase, name)
            for name in _JUDGING
        ):
            return False
        states = map(self.hass.states.get, self._resolve()[1])
        matches = [
            checker.is_valid_state(state)
            for state in states
            if state is not None and self._counts(state)
        ]
        wants_all = checker._behavior == BEHAVIOR_ALL  # noqa: SLF001 - see _look_up
        return not (all(matches) if wants_all else any(matches))

    def entity_ids(self) -> Iterator[str]:
        """Yield the named entities and those the target leads to today."""
        named, candidates = self._resolve()
        yield from named | candidates

    def troubles(self) -> Iterator[tuple[str, Trouble]]:
        """Yield silent entities that were named, or all if no entity can answer."""
        named, candidates = self._resolve()
        suspects = named if self._any_counts(candidates) else named | candidates
        for entity_id in suspects:
            if trouble := trouble_of(self.hass, entity_id):
                yield entity_id, trouble

    def _resolve(self) -> tuple[set[str], set[str]]:
        """Return the named entities, and all that the condition looks at."""
        named, found = self._find()
        # What an entity is, its state says as well: it is looked at each time.
        return named, self.checker.entity_filter(found) if self.checker else found

    def _find(self) -> tuple[set[str], set[str]]:
        """Return the named entities, and all of the kind that the target leads to."""
        if self._found is None or self._version != self.registries.version:
            self._version = self.registries.version
            self._found = self._look_up()
        return self._found

    def _look_up(self) -> tuple[set[str], set[str]]:
        # The checker's own rules, or a condition would be judged on other entities
        # than Home Assistant judges it on; they have no public name there.
        checker = self.checker
        found = async_extract_referenced_entity_ids(
            self.hass,
            TargetSelection(dict(self.target)),
            expand_group=False,
            primary_entities_only=(
                checker is None or checker._primary_entities_only  # noqa: SLF001
            ),
        )
        candidates = found.referenced | found.indirectly_referenced
        if checker is not None:
            domains = checker._domain_specs  # noqa: SLF001
            candidates = {
                one for one in candidates if split_entity_id(one)[0] in domains
            }
        return found.referenced, candidates

    def _any_counts(self, entity_ids: set[str]) -> bool:
        states = map(self.hass.states.get, entity_ids)
        return any(state is not None and self._counts(state) for state in states)

    def _counts(self, state: State) -> bool:
        if self.checker is not None:
            return self.checker._should_include(state)  # noqa: SLF001 - see _look_up
        return state.state not in SILENT_STATES


def limit_test(checker: ConditionChecker) -> Callable[[State], str | None]:
    """Return what a condition demands of an entity that stands for a number."""
    if not isinstance(checker, EntityNumericalConditionBase):
        return holds_number
    limits = (checker.threshold, checker.lower_threshold, checker.upper_threshold)

    def fit(state: State) -> str | None:
        # Home Assistant's own reading of it, units included: see _look_up.
        useless = any(
            limit.entity == state.entity_id
            and checker._get_threshold_value(limit) is None  # noqa: SLF001
            for limit in limits
            if limit is not None
        )
        return f"{state.entity_id} is no limit to compare with" if useless else None

    return fit

"""One plain condition: Home Assistant's own checker, and what it needs."""

from collections.abc import Iterator, Sequence
from typing import override

from homeassistant.core import HomeAssistant
from homeassistant.helpers.condition import ConditionChecker
from homeassistant.helpers.trace import trace_get
from homeassistant.helpers.typing import ConfigType

from ..engine.records import GateVerdict
from . import words
from .asked import Asked
from .grounds import grounds, whatever_is_seen
from .lasting import durations, is_for_later, rests_on_states
from .needs import Need, trouble_in_words, trouble_of
from .reading import ReadTemplate
from .standing import Basis, Standing
from .tree import Answer, Trouble


class UnjudgeableError(Exception):
    """The checker answered, but its answer stands on nothing."""


class Leaf:
    """A condition without others inside."""

    def __init__(
        self,
        hass: HomeAssistant,
        config: ConfigType,
        checker: ConditionChecker,
        needs: Sequence[Need],
    ) -> None:
        """Take a validated configuration and the checker built from it."""
        self._hass = hass
        self._config = config
        self._checker = checker
        self._needs = tuple(needs)
        self._fault: str | None = None
        self._answer: Answer = None
        self.is_fixed = self._is_fixed()
        self._rests_on_states = rests_on_states(hass, config, checker)
        self._fixed_standing = self._fixed()
        self._standing: Standing | None = None
        self._looked_at: frozenset[str] = frozenset()
        self.name = words.name(config)

    def _is_fixed(self) -> bool:
        """Say whether it depends on the same entities for as long as it lives."""
        return not any(need.wanders for need in self._needs)

    def judge(self) -> Answer:
        """Ask the checker, if all it needs is there (G1, G2).

        An answer that still stands is taken again.
        """
        if self.stands():
            return self._answer
        self._standing = self._answer = None
        if self._fixed_standing is not None:
            self._fixed_standing.begin()
        self._answer = self._ask()
        self._standing = self._fixed_standing or self._found()
        if not self.is_fixed:
            self._looked_at = frozenset(self.entity_ids())
        return self._answer

    def stands(self) -> bool:
        """Say whether the last answer cannot be another by now (C4)."""
        return self._standing is not None and not self._standing.is_over()

    def stands_at(self, answer: Answer) -> bool:
        """Say whether this was the last answer, and cannot be another by now."""
        return self._answer is answer and self.stands()

    def looked_at(self) -> Iterator[frozenset[str]]:
        """Yield its entities as of the last time, if they may be others."""
        if not self.is_fixed:
            yield self._looked_at

    def _ask(self) -> Answer:
        for need in self._needs:
            if fault := need.fault():
                self._fault = fault
                return None
        try:
            self._fault = None
            return self._check()
        except Exception as err:  # noqa: BLE001 - any integration may bring a checker
            self._fault = words.error(err)
            return None

    def _check(self) -> Answer:
        if (answer := self._checker.async_check()) is None:
            raise UnjudgeableError("it gives no answer")
        return bool(answer)

    def explain(self) -> GateVerdict:
        """Judge, and say what was seen (G3)."""
        result = self.judge()
        reason = self._fault or words.observation(
            self._hass, self._config, sorted(set(self.entity_ids())), result=result
        )
        return GateVerdict(condition=self.name, result=result, reason=reason)

    def grounds(self) -> Iterator[str]:
        """Say why it holds, in words for its owner."""
        yield grounds(self._hass, self._config, sorted(set(self.entity_ids())))

    def sightings(self) -> Iterator[str]:
        """Say of its entities what they say."""
        yield from whatever_is_seen(self._hass, sorted(set(self.entity_ids())))

    def entity_ids(self) -> Iterator[str]:
        """Yield the entities the needs are about."""
        for need in self._needs:
            yield from need.entity_ids()

    def troubles(self) -> Iterator[tuple[str, Trouble]]:
        """Yield the entities that are missing or silent."""
        for need in self._needs:
            yield from need.troubles()

    def _fixed(self) -> Standing | None:
        """Return what is followed for as long as it lives, if that never changes."""
        bases = self._bases() if self.is_fixed else None
        if bases is None:
            return None
        if self._rests_on_states:
            return Standing(self._hass, bases)
        lasting = durations(
            self._config, [one for basis in bases for one in basis.entity_ids]
        )
        return Standing(self._hass, bases, lasting) if lasting else None

    def _found(self) -> Standing | None:
        """Return what the answer rests on that was just given, if it is all known."""
        if self._answer is None or (bases := self._bases()) is None:
            return None
        may_ripen = self._answer or not is_for_later(self._needs)
        if may_ripen and not self._rests_on_states:
            return None
        standing = Standing(self._hass, bases)
        standing.begin()
        return standing

    def _bases(self) -> list[Basis] | None:
        found = [need.basis() for need in self._needs]
        known = [basis for basis in found if basis is not None]
        return known if known and len(known) == len(found) else None


class TemplateLeaf(Leaf):
    """A template condition; its entities are those the rendering read (G2)."""

    def __init__(
        self,
        hass: HomeAssistant,
        config: ConfigType,
        checker: ConditionChecker,
        *,
        asked: Asked,
    ) -> None:
        """Take the silent states that the template is allowed to see."""
        super().__init__(hass, config, checker, ())
        self._template: ReadTemplate = config["value_template"]
        self._asked = asked

    @override
    def _is_fixed(self) -> bool:
        """Each rendering may read other entities."""
        return False

    @override
    def _check(self) -> Answer:
        try:
            answer = super()._check()
        except Exception:
            self._demand_states()
            raise
        self._demand_states()
        if errors := (trace_get(clear=False) or {})[""][-1].template_errors:
            raise UnjudgeableError(f"its template fails: {'; '.join(errors)}")
        return answer

    def _demand_states(self) -> None:
        """Raise for an entity that was read and has no state to judge by."""
        for entity_id, _ in sorted(self.troubles()):
            raise UnjudgeableError(trouble_in_words(self._hass, entity_id))

    @override
    def _bases(self) -> list[Basis] | None:
        basis = self._template.basis()
        return None if basis is None else [basis]

    @override
    def entity_ids(self) -> Iterator[str]:
        """Yield what the template read last."""
        yield from self._template.read

    @override
    def troubles(self) -> Iterator[tuple[str, Trouble]]:
        """Yield those it read that are missing, or silent and not asked for."""
        for entity_id in self._template.read:
            if trouble := trouble_of(self._hass, entity_id):
                state = self._hass.states.get(entity_id)
                if state is None or not self._asked.covers(entity_id, state.state):
                    yield entity_id, trouble

"""One plain condition: Home Assistant's own checker, and what it needs."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import override

from homeassistant.const import CONF_CONDITION, CONF_FOR
from homeassistant.core import HomeAssistant
from homeassistant.helpers.condition import ConditionChecker, trace_condition
from homeassistant.helpers.template import Template
from homeassistant.helpers.trace import trace_get
from homeassistant.helpers.typing import ConfigType

from ..engine.records import GateVerdict
from . import words
from .asked import Asked
from .grounds import grounds, whatever_is_seen
from .needs import Need, trouble_in_words, trouble_of
from .standing import Standing
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
        self._standing = _standing(hass, config, checker, self._needs)
        self._answer: Answer = None
        self.name = words.name(config)

    @property
    def is_fixed(self) -> bool:
        """Whether it depends on the same entities for as long as it lives."""
        return not any(need.wanders for need in self._needs)

    def judge(self) -> Answer:
        """Ask the checker, if all it needs is there (G1, G2).

        An answer that still stands is taken again.
        """
        if self._standing is None:
            return self._ask()
        if self._standing.is_over():
            self._standing.begin()
            self._answer = self._ask()
        return self._answer

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

    def standings(self) -> Iterator[Standing | None]:
        """Yield how long the answer stands."""
        yield self._standing

    def troubles(self) -> Iterator[tuple[str, Trouble]]:
        """Yield the entities that are missing or silent."""
        for need in self._needs:
            yield from need.troubles()


def _standing(
    hass: HomeAssistant,
    config: ConfigType,
    checker: ConditionChecker,
    needs: Sequence[Need],
) -> Standing | None:
    """Follow the answer of a condition, if states are all that it rests on."""
    rests_on = [need.rests_on() for need in needs]
    named = [one for found in rests_on for one in found or ()]
    if not named or None in rests_on:
        return None
    if not checker.needs_polling:
        return Standing(hass, named)
    duration = config.get(CONF_FOR)
    if config[CONF_CONDITION] == "state" and isinstance(duration, timedelta):
        return Standing(hass, named, [(one, duration) for one in named])
    return None


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
        self._template: Template = config["value_template"]
        self._asked = asked
        self._read: frozenset[str] = frozenset()

    @property
    @override
    def is_fixed(self) -> bool:
        """Each rendering may read other entities."""
        return False

    @override
    def _check(self) -> Answer:
        try:
            answer = super()._check()
        except Exception:
            # Only a rendering of our own tells what a failing template read.
            with trace_condition(None):
                info = self._template.async_render_to_info(parse_result=False)
            self._note(frozenset(info.entities))
            raise
        # What was read stands in the trace, which spares a second rendering.
        seen = (trace_get(clear=False) or {})[""][-1].as_dict()
        self._note(frozenset(seen["result"]["entities"]))
        if errors := seen.get("template_errors"):
            raise UnjudgeableError(f"its template fails: {'; '.join(errors)}")
        return answer

    def _note(self, read: frozenset[str]) -> None:
        self._read = read
        for entity_id, _ in sorted(self.troubles()):
            raise UnjudgeableError(trouble_in_words(self._hass, entity_id))

    @override
    def entity_ids(self) -> Iterator[str]:
        """Yield what the template read last."""
        yield from self._read

    @override
    def troubles(self) -> Iterator[tuple[str, Trouble]]:
        """Yield those it read that are missing, or silent and not asked for."""
        for entity_id in self._read:
            if trouble := trouble_of(self._hass, entity_id):
                state = self._hass.states.get(entity_id)
                if state is None or not self._asked.covers(entity_id, state.state):
                    yield entity_id, trouble

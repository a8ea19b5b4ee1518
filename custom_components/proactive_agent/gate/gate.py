"""Home Assistant conditions → open or closed, with the reason."""

from collections.abc import Mapping, Sequence
from contextvars import Context
from typing import Any, Self

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.condition import ConditionChecker
from homeassistant.helpers.trace import suppress_template_error_logging_cv

from ..engine.plain_text import plain_line
from ..engine.records import GateVerdict
from .build import Builder
from .grounds import listed
from .registries import Registries
from .tree import Answer, Broken, Node, Trouble, conjunction


class Gate:
    """The conditions of one heartbeat, built once and judged at each tick (G1)."""

    def __init__(
        self,
        hass: HomeAssistant,
        nodes: Sequence[Node],
        checkers: Sequence[ConditionChecker],
        references: Sequence[tuple[str, str]],
        registries: Registries,
        name: str,
    ) -> None:
        """Take what a `Builder` built; use `async_build`."""
        self.name = name
        self._hass = hass
        self._nodes = tuple(nodes)
        self._checkers = tuple(checkers)
        self._references = tuple(references)
        self._broken = tuple(node for node in nodes if isinstance(node, Broken))
        self._registries = registries
        self._wanderers = [node for node in nodes if not node.is_fixed]
        # Judged in a context of its own: a timer that was started by an automation
        # carries that automation's trace, which each check would make longer.
        self._context = Context()
        self._context.run(suppress_template_error_logging_cv.set, True)  # noqa: FBT003

    @classmethod
    async def async_build(
        cls, hass: HomeAssistant, raw_conditions: Sequence[Any] | Any, name: str
    ) -> Self:
        """Build from what the condition selector stored; never raises for it.

        A condition that cannot be built keeps the gate closed and says why.
        """
        builder = Builder(hass)
        try:
            built = [
                await builder.async_condition(raw) for raw in _listed(raw_conditions)
            ]
        except BaseException:
            builder.discard()
            raise
        gate = cls(
            hass,
            [node for node in built if node is not None],
            builder.checkers,
            builder.references,
            builder.registries,
            name,
        )
        gate.explain()  # judges every part once, so that templates have read
        return gate

    @callback
    def judge(self) -> Answer:
        """Say whether all conditions hold right now; None cannot be judged (G2)."""
        if self._broken:
            return None
        return self._context.copy().run(self._judge)

    @property
    def stays_closed(self) -> bool:
        """Whether to judge it would do nothing but find it closed, as it was."""
        if self._broken:
            return False
        for node in self._nodes:
            if node.stands_at(answer=False):
                return True
            # Where it would look anew is what is told of it.
            if not (node.is_fixed or node.stands()):
                return False
        return False

    @property
    def looked_at(self) -> Sequence[frozenset[str]]:
        """What those looked at last that may look at others each time."""
        return [one for node in self._wanderers for one in node.looked_at()]

    def _judge(self) -> Answer:
        return conjunction(node.judge() for node in self._nodes)

    @callback
    def is_open(self) -> bool:
        """Say whether the gate is open; it is not if in doubt (G1, G2)."""
        return self.judge() is True

    @callback
    def explain(self) -> tuple[GateVerdict, ...]:
        """Judge each condition and say why (G3); disabled ones are left out."""
        return self._context.copy().run(
            lambda: tuple(node.explain() for node in self._nodes)
        )

    @callback
    def grounds(self) -> str:
        """Say why it is open, in one line for its owner; empty without conditions."""
        try:
            said = self._context.copy().run(
                lambda: [ground for node in self._nodes for ground in node.grounds()]
            )
            return plain_line(listed(self._hass, said))
        except Exception:  # noqa: BLE001 - no wake may fail for want of words
            return ""

    @property
    def entity_ids(self) -> frozenset[str]:
        """Entities the gate depends on, with those its templates read last."""
        return frozenset(
            entity_id for node in self._nodes for entity_id in node.entity_ids()
        )

    @callback
    def unjudgeable(self) -> Mapping[str, Trouble]:
        """Return the entities that are missing, or silent without being asked for."""
        return dict(self._context.copy().run(self._troubles))

    def _troubles(self) -> list[tuple[str, Trouble]]:
        return [trouble for node in self._nodes for trouble in node.troubles()]

    @property
    def faults(self) -> tuple[GateVerdict, ...]:
        """The conditions that could not be built, and why."""
        return tuple(node.explain() for node in self._broken)

    @property
    def needs_rebuild(self) -> bool:
        """Whether building again may help, or an entity was renamed meanwhile."""
        registry = er.async_get(self._hass)
        return any(node.curable for node in self._broken) or any(
            er.async_resolve_entity_id(registry, reference) != entity_id
            for reference, entity_id in self._references
        )

    @callback
    def async_unload(self) -> None:
        """Give back all listeners; those of conditions with a duration, too."""
        self._registries.close()
        for checker in self._checkers:
            checker.async_unload()


def _listed(raw: Any) -> list[Any]:
    if raw is None:
        return []
    return list(raw) if isinstance(raw, list | tuple) else [raw]

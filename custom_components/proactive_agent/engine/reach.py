"""Which entities a run may see and touch."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The owner's three lists as entity ids: disjoint, sorted (A1)."""

    look: tuple[str, ...] = ()
    act: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()

    @classmethod
    def of(cls, *, look: Iterable[str], act: Iterable[str], ask: Iterable[str]) -> Self:
        """Sort out who stands where: an entity in two lists has the stricter."""
        asked = frozenset(ask)
        acted = frozenset(act) - asked
        return cls(
            look=tuple(sorted(frozenset(look) - asked - acted)),
            act=tuple(sorted(acted)),
            ask=tuple(sorted(asked)),
        )

    @property
    def actors(self) -> tuple[str, ...]:
        """Everything that may be acted on, with or without a yes."""
        return self.act + self.ask

    @property
    def visible(self) -> tuple[str, ...]:
        """Everything that may be seen, actors first."""
        return self.actors + self.look

"""And, or, not over answers that may be missing (Kleene's three values)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from ..engine.records import GateVerdict

type Answer = bool | None
type Joint = Literal["and", "or", "not"]
type Trouble = Literal["missing", "unavailable"]

_LEAD = {
    "and": "",
    "or": "one of these must hold: ",
    "not": "none of these may hold: ",
}


class Node(Protocol):
    """One condition of the gate, however much is inside it."""

    @property
    def name(self) -> str:
        """A short name for the owner."""
        ...

    @property
    def is_fixed(self) -> bool:
        """Whether it depends on the same entities for as long as it lives."""
        ...

    def judge(self) -> Answer:
        """Answer from the present states; None is "cannot be judged" (G2)."""
        ...

    def explain(self) -> GateVerdict:
        """Answer with the reason in words (G3)."""
        ...

    def grounds(self) -> Iterator[str]:
        """Yield why it holds, in words for its owner; for one that holds."""
        ...

    def sightings(self) -> Iterator[str]:
        """Yield what its entities say, whether it holds or not."""
        ...

    def entity_ids(self) -> Iterator[str]:
        """Yield what the answer is known to depend on."""
        ...

    def stands(self) -> bool:
        """Say whether the last answer cannot be another by now (C4)."""
        ...

    def stands_at(self, answer: Answer) -> bool:
        """Say whether this was the last answer, and cannot be another by now."""
        ...

    def looked_at(self) -> Iterator[frozenset[str]]:
        """Yield what each looked at last that may look at others the next time."""
        ...

    def troubles(self) -> Iterator[tuple[str, Trouble]]:
        """Yield the entities that keep it from being judged."""
        ...


def conjunction(answers: Iterator[Answer]) -> Answer:
    """Say whether all hold; stops at the first that does not."""
    result: Answer = True
    for answer in answers:
        if answer is False:
            return False
        if answer is None:
            result = None
    return result


def disjunction(answers: Iterator[Answer]) -> Answer:
    """Say whether one holds; stops at the first that does."""
    result: Answer = False
    for answer in answers:
        if answer:
            return True
        if answer is None:
            result = None
    return result


def negation(answers: Iterator[Answer]) -> Answer:
    """Say whether none holds; what is unknown stays unknown."""
    result = disjunction(answers)
    return None if result is None else not result


_JOIN = {"and": conjunction, "or": disjunction, "not": negation}
# One part that says this decides for all.
_DECISIVE = {"and": False, "or": True, "not": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Several conditions under one word."""

    joint: Joint
    name: str
    parts: Sequence[Node]

    @property
    def is_fixed(self) -> bool:
        """It is if all its parts are."""
        return all(part.is_fixed for part in self.parts)

    def judge(self) -> Answer:
        """Join the parts' answers; nothing enabled inside is no answer."""
        if not self.parts:
            return None
        return _JOIN[self.joint](part.judge() for part in self.parts)

    def explain(self) -> GateVerdict:
        """Join the parts' answers and reasons."""
        if not self.parts:
            return GateVerdict(
                condition=self.name, result=None, reason="nothing in it is enabled"
            )
        verdicts = [part.explain() for part in self.parts]
        return GateVerdict(
            condition=self.name,
            result=_JOIN[self.joint](verdict.result for verdict in verdicts),
            reason=_LEAD[self.joint] + "; ".join(v.reason for v in verdicts),
        )

    def grounds(self) -> Iterator[str]:
        """Yield those of the parts that hold; of a not, what was seen instead."""
        for part in self.parts:
            if self.joint == "not":
                yield from part.sightings()
            elif part.judge():
                yield from part.grounds()

    def sightings(self) -> Iterator[str]:
        """Yield what the parts' entities say."""
        for part in self.parts:
            yield from part.sightings()

    def entity_ids(self) -> Iterator[str]:
        """Yield the parts' entities."""
        for part in self.parts:
            yield from part.entity_ids()

    def stands(self) -> bool:
        """Say so of all the parts together."""
        return all(part.stands() for part in self.parts)

    def stands_at(self, answer: Answer) -> bool:
        """Conclude it from the parts, as far as these have been asked."""
        if not self.parts or answer is None:
            return False
        joined = not answer if self.joint == "not" else answer
        if joined is _DECISIVE[self.joint]:
            return any(part.stands_at(joined) for part in self.parts)
        return all(part.stands_at(joined) for part in self.parts)

    def looked_at(self) -> Iterator[frozenset[str]]:
        """Yield what those of the parts looked at."""
        for part in self.parts:
            yield from part.looked_at()

    def troubles(self) -> Iterator[tuple[str, Trouble]]:
        """Yield the parts' troubles."""
        for part in self.parts:
            yield from part.troubles()


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A condition that could not be built; it keeps the whole gate closed.

    `curable` says that another attempt may succeed without a change by the owner.
    """

    name: str
    reason: str
    curable: bool

    @property
    def is_fixed(self) -> bool:
        """Nothing is known of its entities."""
        return True

    def judge(self) -> Answer:
        """Nothing can be said."""
        return None

    def explain(self) -> GateVerdict:
        """Say what is wrong with it."""
        return GateVerdict(condition=self.name, result=self.judge(), reason=self.reason)

    def grounds(self) -> Iterator[str]:
        """It never holds."""
        yield from ()

    def sightings(self) -> Iterator[str]:
        """Nothing is known of its entities."""
        yield from ()

    def entity_ids(self) -> Iterator[str]:
        """Nothing is known of its entities."""
        yield from ()

    def stands(self) -> bool:
        """It never has another answer."""
        return True

    def stands_at(self, answer: Answer) -> bool:
        """There is no answer."""
        return answer is None

    def looked_at(self) -> Iterator[frozenset[str]]:
        """It looks at nothing."""
        yield from ()

    def troubles(self) -> Iterator[tuple[str, Trouble]]:
        """The condition is at fault, not an entity."""
        yield from ()

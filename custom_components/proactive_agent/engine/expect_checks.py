"""Single things to look for in an entity's state after an action (A5)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from math import isfinite


class Seen(IntEnum):
    """How an entity stands to what was asked of it, the further off the greater.

    `CLOSE` is as near as devices round, `UNCLEAR` shows nothing either way.
    """

    EXACT = 0
    CLOSE = 1
    UNCLEAR = 2
    ON_ITS_WAY = 3
    OTHER = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One look at an entity."""

    state: str
    attributes: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a look showed; `attribute` is what was looked at, None is the state."""

    seen: Seen
    attribute: str | None = None


type Check = Callable[[View], Finding]
type Field = Callable[[object], Check]


def state_in(*wanted: str) -> Check:
    """Look for one of these states."""

    def check(view: View) -> Finding:
        return Finding(seen=Seen.EXACT if view.state in wanted else Seen.OTHER)

    return check


def state_not_in(*unwanted: str) -> Check:
    """Look for any state but these."""

    def check(view: View) -> Finding:
        return Finding(seen=Seen.OTHER if view.state in unwanted else Seen.EXACT)

    return check


def state_is() -> Field:
    """Look for the value of a field as the state."""
    return lambda value: state_in(str(value))


def state_near(*, close: float) -> Field:
    """Look for a number as the state, give or take a share of `close`."""

    def field(value: object) -> Check:
        wanted = number(value)
        slack = close * abs(wanted or 0)

        def check(view: View) -> Finding:
            return Finding(seen=_nearness(number(view.state), wanted, 1e-6, slack))

        return check

    return field


def attribute_is(name: str) -> Field:
    """Look for the value of a field as an attribute."""

    def field(value: object) -> Check:
        def check(view: View) -> Finding:
            shown = view.attributes.get(name)
            if shown is None:
                return Finding(seen=Seen.UNCLEAR, attribute=name)
            seen = Seen.EXACT if shown == value else Seen.OTHER
            return Finding(seen=seen, attribute=name)

        return check

    return field


def attribute_near(
    name: str, *, exact: float = 0, close: float = 0, scale: float = 1
) -> Field:
    """Look for a number, or a list of numbers, as an attribute.

    `exact` and `close` are in the attribute's unit; the field's value is multiplied
    by `scale` to come to it.
    """

    def field(value: object) -> Check:
        wanted = [number(part) for part in _parts(value)]

        def check(view: View) -> Finding:
            if view.attributes.get(name) is None:
                return Finding(seen=Seen.UNCLEAR, attribute=name)
            shown = [number(part) for part in _parts(view.attributes[name])]
            if len(shown) != len(wanted):
                return Finding(seen=Seen.OTHER, attribute=name)
            seen = max(
                _nearness(one, None if want is None else want * scale, exact, close)
                for one, want in zip(shown, wanted, strict=True)
            )
            return Finding(seen=seen, attribute=name)

        return check

    return field


def attribute_if_shown(name: str, wanted: float, *, close: float = 0) -> Check:
    """Look for a number as an attribute that not every such entity has."""
    near = attribute_near(name, close=close)(wanted)

    def check(view: View) -> Finding:
        if view.attributes.get(name) is None:
            return Finding(seen=Seen.EXACT)
        return near(view)

    return check


def moved(before: View, name: str | None, direction: int) -> Check:
    """Look for a number that has become greater or smaller; None is the state."""
    start = number(before.state if name is None else before.attributes.get(name))

    def check(view: View) -> Finding:
        end = number(view.state if name is None else view.attributes.get(name))
        if start is None or end is None:
            return Finding(seen=Seen.UNCLEAR, attribute=name)
        seen = Seen.EXACT if (end - start) * direction > 0 else Seen.OTHER
        return Finding(seen=seen, attribute=name)

    return check


def number(value: object) -> float | None:
    """Return a finite number, None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        found = float(value)
    except ValueError, OverflowError:
        return None
    return found if isfinite(found) else None


def _parts(value: object) -> list[object]:
    return [*value] if isinstance(value, (list, tuple)) else [value]


def _nearness(
    shown: float | None, wanted: float | None, exact: float, close: float
) -> Seen:
    if shown is None or wanted is None:
        return Seen.UNCLEAR
    distance = abs(shown - wanted)
    if distance <= exact:
        return Seen.EXACT
    return Seen.CLOSE if distance <= close else Seen.OTHER

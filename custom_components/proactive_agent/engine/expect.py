"""What an action should lead to, and what is seen of it (A5)."""

from collections.abc import Iterable
from dataclasses import dataclass

from .expect_checks import Check, Finding, Seen, View, moved, number
from .expect_rules import RULES
from .one_line import one_line
from .records import JsonObject

__all__ = ["Expectation", "Seen", "View", "expect", "sentence"]

_BRIGHTNESS = ("brightness", "brightness_pct")
_SAYS_NOTHING = {"unknown": Seen.UNCLEAR, "unavailable": Seen.OTHER}
_MAX_NAMED = 5
_MAX_VALUE = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What one action should lead to for one entity.

    `is_whole` if everything that was asked can be looked for; `is_step` if the
    action goes on from wherever the entity stands; `is_momentary` if it does
    something even where all looks as asked.
    """

    before: View
    checks: tuple[Check, ...]
    moving: frozenset[str] = frozenset()
    is_whole: bool = True
    is_step: bool = False
    is_momentary: bool = False

    def find(self, view: View) -> Finding:
        """Return what is furthest from what was asked, as the entity looks now."""
        if view.state in self.moving:
            return Finding(seen=Seen.ON_ITS_WAY)
        if (nothing := _SAYS_NOTHING.get(view.state)) is not None:
            return Finding(seen=nothing)
        return max((check(view) for check in self.checks), key=lambda found: found.seen)

    @property
    def is_already_met(self) -> bool:
        """Whether it is certain that calling the action would change nothing."""
        return (
            self.is_whole
            and not self.is_step
            and not self.is_momentary
            and not self.before.attributes.get("assumed_state")
            and self.find(self.before).seen is Seen.EXACT
        )

    def attributes(self, view: View) -> list[str]:
        """Return which attributes are looked at, beside the state."""
        found = (check(view).attribute for check in self.checks)
        return [name for name in dict.fromkeys(found) if name is not None]

    def describe(self, entity_id: str, view: View) -> str | None:
        """Say in words how an entity is not as asked; None if it is, or unclear."""
        found = self.find(view)
        if found.seen <= Seen.UNCLEAR:
            return None
        if found.attribute is not None:
            return f"the {found.attribute} of {entity_id} is {_shown(found, view)}"
        stays = view.state == self.before.state or found.seen is Seen.ON_ITS_WAY
        return f"{entity_id} is {'still' if stays else 'now'} {_shown(found, view)}"


def expect(name: str, data: JsonObject, before: View) -> Expectation | None:
    """Return what an action, "domain.service", should lead to; None if nobody knows.

    `before` is the entity as it is when the action is about to be called.
    """
    rule = RULES.get(name)
    if rule is None:
        return None
    if _means_off(name, data):
        return expect("light.turn_off", {}, before)
    checks = [*rule.checks]
    checks += [rule.fields[key](data[key]) for key in data if key in rule.fields]
    if rule.steps is not None:
        attribute, direction = rule.steps
        checks.append(moved(before, attribute or None, direction))
    if not checks:
        return None
    return Expectation(
        before=before,
        checks=tuple(checks),
        moving=rule.moving,
        is_whole=data.keys() <= rule.fields.keys() | rule.ways,
        is_step=rule.steps is not None,
        is_momentary=rule.momentary,
    )


def sentence(findings: Iterable[str], *, failed: bool) -> str:
    """Put what was found otherwise than asked into one sentence."""
    found = [*findings]
    said = "; ".join(found[:_MAX_NAMED])
    more = f"; and {len(found) - _MAX_NAMED} more" if len(found) > _MAX_NAMED else ""
    start = "It was called without an error, but " if failed else ""
    return f"{start}{said}{more}."


def _means_off(name: str, data: JsonObject) -> bool:
    """Tell whether a light is dimmed down to nothing, which switches it off."""
    return name == "light.turn_on" and any(
        number(data[key]) == 0 for key in _BRIGHTNESS if key in data
    )


def _shown(found: Finding, view: View) -> str:
    value = view.attributes.get(found.attribute) if found.attribute else view.state
    return one_line("unknown" if value is None else str(value), _MAX_VALUE)

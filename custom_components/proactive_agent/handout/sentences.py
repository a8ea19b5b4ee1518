"""Of a text as much as can be told: entities, numbers and words that we know."""

from collections.abc import Collection
import re
from typing import Any, Final

from homeassistant.components.diagnostics import REDACTED

_BETWEEN: Final = r"(?:[\s,;()]|:(?!\d))+"
_TOKENS: Final = re.compile(rf"({_BETWEEN})")
# A long name of a condition may end within that of an entity.
_ENTITY: Final = re.compile(r"[a-z_]+\.[a-z0-9_]+…?")
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?%?|\d\d?:\d\d(?::\d\d)?")
_STATE: Final = re.compile(r"[a-z_]{1,32}")
_SAME_AGAIN: Final = re.compile(rf"({re.escape(REDACTED)})(?:{_BETWEEN}\1)+")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Whose words are a fixed few; elsewhere a state may be anything somebody wrote.
_FIXED: Final = _words(
    "alarm_control_panel automation binary_sensor climate cover fan group"
    " humidifier input_boolean lawn_mower light lock media_player remote schedule"
    " script siren sun switch timer update vacuum valve water_heater"
)
# Whose numbers are a code or a place rather than a measurement.
_NOT_MEASURED: Final = _words(
    "code conversation device_tracker input_text lock notify person text zone"
)
_LIMITS: Final = frozenset({"above", "below", "after", "before"})
_KNOWN: Final = _LIMITS | _words(
    "a all and any are at be being but cannot condition conditions disabled does"
    " enabled exist false for has hold holds hours hour in is it judged minutes"
    " minute more no none not nothing number numeric_state of on or prepared seconds"
    " second state still template the time to trigger true unavailable unknown until"
    " weekday mon tue wed thu fri sat sun when which zone device says gives answer"
    " compare limit with one these must may can its entities entity names fails"
)


def told(text: str) -> str:
    """Return a sentence about conditions without what only its home may know."""
    kept: list[str] = []
    about = before = ""
    for token in _TOKENS.split(text):
        if not token or _TOKENS.fullmatch(token):
            kept.append(token)
            continue
        if _ENTITY.fullmatch(token):
            about = token.partition(".")[0]
            kept.append(token)
        else:
            kept.append(token if _may_be_told(token, about, before) else REDACTED)
        before = token.lower()
    return _SAME_AGAIN.sub(r"\1", "".join(kept))


def _may_be_told(token: str, about: str, before: str) -> bool:
    if _NUMBER.fullmatch(token):
        return about not in _NOT_MEASURED and (bool(about) or before in _LIMITS)
    is_state = about in _FIXED and before in {"is", "or", "not"}
    return token.lower() in _KNOWN or (is_state and bool(_STATE.fullmatch(token)))


def may_be_compared(value: Any, domains: Collection[str]) -> bool:
    """Say whether it can be told what entities of these domains are compared with."""
    match value:
        case list():
            return all(may_be_compared(one, domains) for one in value)
        case str() if _ENTITY.fullmatch(value) or value in _KNOWN:
            return True
        case str() if _STATE.fullmatch(value):
            return bool(domains) and _FIXED.issuperset(domains)
    return bool(domains) and _NOT_MEASURED.isdisjoint(domains)


def is_telling_nothing(value: str) -> bool:
    """Say whether a value is an entity, a number or the word of a state."""
    return any(one.fullmatch(value) for one in (_ENTITY, _NUMBER, _STATE))


def hidden(value: Any) -> str | None:
    """Say of what is hidden only how long it is; nothing stays nothing."""
    if value is None or value == "":
        return None
    size = len(value if isinstance(value, str) else str(value))
    return f"{REDACTED} ({size} characters)"

"""What an error says is not wanted: names of what was sent."""

from collections.abc import Collection, Iterable, Iterator
import re
from typing import Final

from .facts import Facts

_REFUSED: Final = re.compile(
    r"unsupported"
    r"|(?:not|n't) (?:currently |yet )?(?:support|permit|allow|recogni|accept)"
    r"|not (?:be )?(?:permitted|allowed|available|implemented|known|defined|compatible)"
    r"|unknown|unrecogni|unexpected|extra (?:inputs|fields|keys|param)|extra_forbidden"
    r"|additional (?:propert|param|field)|cannot find field|no such (?:field|param)"
    r"|invalid (?:parameter|argument|field|key|option|property)(?! value)"
    r"|deprecated|incompatible|disallowed|forbidden|only the default|\binstead\b"
    r"|can(?:not|'t) (?:both )?be (?:used|set|specified|provided|combined)"
    r"|must (?:not|be (?:removed|omitted|unset))|remove (?:the|this|it)\b"
)
_CLAUSE: Final = re.compile(r"[;\n]")
# Words that stand in any sentence: of a key only if they are marked as one.
_COMMON: Final = frozenset(
    {"format", "include", "input", "metadata", "name", "options", "provider", "reason"}
    | {"reasoning", "service", "stop", "store", "stream", "text", "think", "thinking"}
    | {"title", "default", "description", "user", "usage", "models", "route", "plugins"}
)
_SHORTEST: Final = 4  # letters of a word that is looked for without a mark
_LABEL: Final = (
    r"(?:arguments?|param(?:eter)?s?|fields?|propert(?:y|ies)|keys?|names?|options?"
    r"|keywords?|inputs?)(?: supplied| provided| received| given)?:? "
)


def clauses(facts: Facts) -> list[str]:
    """Return what an error says, statement by statement."""
    return [part.strip() for part in _CLAUSE.split(facts.message) if part.strip()]


def refusing(facts: Facts) -> Iterator[str]:
    """Return the statements that say of something that it is not wanted."""
    is_sure = _REFUSED.search(facts.words.lower()) is not None
    for clause in clauses(facts):
        if is_sure or _REFUSED.search(clause.lower()):
            yield clause


def refused_keys(facts: Facts, sent: Collection[str]) -> list[str]:
    """Return the keys of a body that are not wanted, each statement's first.

    The field that a server has for it counts where it names one of them; some put
    `model` there, and only the sentence tells.
    """
    stated = re.split(r"[.\[]", facts.parameter.removeprefix("body."))[0]
    if stated in sent and _REFUSED.search(f"{facts.words} {facts.message}".lower()):
        return [stated]
    firsts = (first_named(clause, sent) for clause in refusing(facts))
    return list(dict.fromkeys(filter(None, firsts)))


def first_named(text: str, names: Iterable[str]) -> str | None:
    """Return the name that a text mentions first."""
    places = {
        name: place for name in names if (place := _place(text, name)) is not None
    }
    return min(places, key=places.__getitem__, default=None)


def all_named(text: str, names: Iterable[str]) -> set[str]:
    """Return the names that a text marks as such."""
    return {name for name in names if _marked(name).search(text)}


def _place(text: str, name: str) -> int | None:
    match = _marked(name).search(text)
    if match is None and len(name) >= _SHORTEST and name not in _COMMON:
        match = re.search(rf"(?<![\w-]){_spelt(name)}(?![\w-])", text, re.IGNORECASE)
    return match.end() if match else None


def _marked(name: str) -> re.Pattern[str]:
    """Find a name in quotes, in brackets, behind a label, or as part of a path."""
    return re.compile(
        rf"(?:^|['\"`\u201c\u2018\[{{(/.]|{_LABEL})['\"`]?{_spelt(name)}(?![\w-]| \w)"
        rf"|(?:['\"`\u201c\u2018]|{_LABEL}['\"`]?){_spelt(name)}(?![\w-])"
        rf"|: {_spelt(name)}\.?$",
        re.IGNORECASE,
    )


def _spelt(name: str) -> str:
    """Return a pattern for a name, also `asThis` and `as this`."""
    return re.escape(name).replace("_", "[_ ]?")

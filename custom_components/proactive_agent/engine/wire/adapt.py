"""An error, and the request that met it → the shape in which it could be taken."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from ..errors import Advice, ErrorKind, ModelError
from .demands import (
    ABOUT_HISTORY,
    ABOUT_TOOLS,
    FLAGS,
    LIMIT_WANTED,
    REASONING_WANTED,
    SCHEMA_REFUSED,
)
from .facts import Facts
from .refusal import all_named, refused_keys, refusing
from .reshape import extra_keys
from .room import cap, room
from .schemas import ORNAMENTS, keywords_of
from .shape import KEPT, LIMITS, Shape
from .values import as_list

_COMPLAINTS: Final = frozenset(
    {ErrorKind.BAD_REQUEST, ErrorKind.UNSUPPORTED_PARAMETER, ErrorKind.CONTEXT_LENGTH}
)
_INTERNAL: Final = 500  # also what some servers say of a request they cannot read
_SOME_TOKENS: Final = 4096  # where a server wants to be told of a limit
_TIGHT: Final = 1024  # tokens; with less, a call of a tool may not fit in


def adapt(
    error: ModelError, facts: Facts, sent: Mapping[str, Any], tried: Sequence[Shape]
) -> Shape | None:
    """Return another shape in which the request may be taken, None if there is none.

    `tried` are the shapes of this request so far, the last of them that of `sent`; a
    shape is never tried twice, so nothing goes to and fro.
    """
    if error.advice is Advice.ALL_THOUGHT and tried[-1].max_tokens is not None:
        # What was once all that was left is too little for this request.
        roomy = replace(tried[-1], max_tokens=None, is_tight=False)
        return None if roomy in tried else roomy
    if error.kind not in _COMPLAINTS and facts.status != _INTERNAL:
        return None
    case = _Case(error.kind, facts, sent, tried[-1])
    found = (shape for way in _WAYS for shape in way(case))
    return next((shape for shape in found if shape not in tried), None)


class _Case(NamedTuple):
    kind: ErrorKind
    facts: Facts
    sent: Mapping[str, Any]
    shape: Shape


def _less(case: _Case) -> Iterator[Shape]:
    """Allow the answer as many tokens as there is room for."""
    is_full = case.kind is ErrorKind.CONTEXT_LENGTH
    most = (room if is_full else cap)(case.facts, case.sent)
    if most is not None:
        is_tight = is_full and most < _TIGHT
        yield replace(case.shape, max_tokens=most, is_tight=is_tight)
    elif LIMIT_WANTED.search(case.facts.message.lower()) and not case.sent.keys() & {
        *LIMITS
    }:
        yield replace(case.shape, max_tokens=_SOME_TOKENS)


def _reasoning(case: _Case) -> Iterator[Shape]:
    """Give back what was thought, where the server has to see it again."""
    wanted = REASONING_WANTED.search(case.facts.message.lower())
    if wanted and not list(refusing(case.facts)):
        key = "reasoning_content"
        yield replace(
            case.shape.with_names("assistant_keys", key),
            message_keys=case.shape.message_keys - {key},
        )


def _history(case: _Case) -> Iterator[Shape]:
    """Leave out of the history what only another server would know."""
    extra = extra_keys(as_list(case.sent.get("messages")))
    named: set[str] = set()
    for clause in refusing(case.facts):
        if ABOUT_HISTORY.search(f"{clause} {case.facts.parameter}".lower()):
            named |= all_named(f"{clause} {case.facts.parameter}", extra)
    if named:
        yield replace(
            case.shape.with_names("message_keys", *named),
            assistant_keys=case.shape.assistant_keys - named,
        )


def _schema(case: _Case) -> Iterator[Shape]:
    """Take keywords out of the tools' schemas: those named, else all of little use."""
    keywords = keywords_of(as_list(case.sent.get("tools")))
    named: set[str] = set()
    for clause in refusing(case.facts):
        if ABOUT_TOOLS.search(f"{clause} {case.facts.parameter}".lower()):
            named |= all_named(clause, keywords)
    if named:
        yield case.shape.with_names("schema_keywords", *named)
    text = case.facts.message.lower()
    if SCHEMA_REFUSED.search(text) and "response_format" not in text:
        yield case.shape.with_names("schema_keywords", *(keywords & ORNAMENTS))


def _keys(case: _Case) -> Iterator[Shape]:
    """Rename or leave out the keys of the body that are not wanted."""
    refused = refused_keys(case.facts, case.sent.keys() - KEPT)
    if refused:
        yield _without(refused, case, may_rename=True)
        yield _without(refused, case, may_rename=False)


def _without(refused: list[str], case: _Case, *, may_rename: bool) -> Shape:
    shape = case.shape
    renamed = dict(shape.renamed)
    dropped = set(shape.dropped)
    for key in refused:
        ours = next((old for old, new in renamed.items() if new == key), key)
        was_renamed = renamed.pop(ours, None) is not None
        other = LIMITS[key == LIMITS[0]]
        if key not in LIMITS or not may_rename or other in case.sent:
            dropped.add(ours)
        elif not was_renamed:
            renamed[key] = other
    return replace(
        shape,
        dropped=frozenset(dropped),
        renamed=renamed,
        streamed=shape.streamed and "stream" not in refused,
        max_tokens=None if dropped & {*LIMITS} else shape.max_tokens,
    )


def _flags(case: _Case) -> Iterator[Shape]:
    text = f"{case.facts.message} {case.facts.parameter}".lower()
    for flag, pattern in FLAGS.items():
        if pattern.search(text):
            yield case.shape.with_flag(flag)


_WAYS: Final[tuple[Callable[[_Case], Iterator[Shape]], ...]] = (
    _less,
    _reasoning,
    _history,
    _schema,
    _keys,
    _flags,
)

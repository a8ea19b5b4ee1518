"""Whether a template says the same for as long as what it reads is the same (C4).

Home Assistant tells which states a rendering has read, and whether it read the time.
Of all else that a template can read (registries, issues, chance) it tells nothing: one
that names anything that is not known here to be free of that is rendered each time.
"""

from collections.abc import Iterator
from typing import Final

import jinja2
from jinja2 import nodes
from jinja2.tests import TESTS

from .standing import Basis

_NUMBERS: Final = {"abs", "float", "int", "bool", "max", "min", "round", "sum"} | {
    "average",
    "median",
    "log",
    "sqrt",
    "is_number",
}
_STATES: Final = {"expand", "has_value", "is_state", "is_state_attr", "state_attr"} | {
    "states"
}
_TIMES: Final = {"now", "relative_time", "time_since", "time_until", "today_at"} | {
    "timedelta",
    "utcnow",
}
# The entity that a numeric state is about.
_OF_A_NUMBER: Final = {"state"}
_GLOBALS: Final = (
    _NUMBERS
    | _STATES
    | _TIMES
    | {"dict", "iif", "loop", "namespace", "range", "set", "tuple", "zip"}
    | _OF_A_NUMBER
)
_LISTS: Final = (
    {"batch", "count", "dictsort", "first", "groupby", "items", "join"}
    | {"last", "length", "list", "map", "reject", "rejectattr", "reverse"}
    | {"select", "selectattr", "slice", "sort", "unique", "contains", "flatten"}
    | {"intersect", "difference", "union", "symmetric_difference", "set"}
)
_TEXTS: Final = {"capitalize", "d", "default", "iif", "lower", "replace", "string"} | {
    "title",
    "trim",
    "upper",
    "regex_match",
    "regex_replace",
    "regex_search",
}
_FILTERS: Final = _NUMBERS | _LISTS | _TEXTS | (_STATES - {"is_state", "is_state_attr"})
_TESTS: Final = (
    {*TESTS}
    | {"contains", "has_value", "is_number", "is_state", "match"}
    | {"is_state_attr", "list", "search", "set", "tuple"}
)
_METHODS: Final = (
    {"endswith", "get", "items", "keys", "lower", "lstrip", "replace"}
    | {"rstrip", "split", "startswith", "strip", "title", "total_seconds"}
    | {"upper", "values"}
)
# These change without a new state, or are put together with what a registry says.
_UNSEEN: Final = ("last_reported", "with_unit", "rounded")
# Others' templates, and what is named only while it is rendered.
_FOREIGN: Final = (
    nodes.Extends,
    nodes.FromImport,
    nodes.Getitem,
    nodes.Import,
    nodes.Include,
)
# Which of their arguments name a filter, a test or an attribute.
_NAMING: Final = {
    "map": (_FILTERS,),
    "select": (_TESTS,),
    "reject": (_TESTS,),
    "selectattr": (None, _TESTS),
    "rejectattr": (None, _TESTS),
    "groupby": (None,),
    "join": (None, None),
    "max": (None, None),
    "min": (None, None),
    "sort": (None, None, None),
    "sum": (None,),
    "unique": (None, None),
}


def steady_basis(source: str) -> Basis | None:
    """Return the states that a template names; None if more may decide what it gives.

    Home Assistant does not say of an entity that it was read where the template only
    looks whether there is one.
    """
    environment = jinja2.Environment(
        extensions=["jinja2.ext.loopcontrols", "jinja2.ext.do"], autoescape=True
    )
    try:
        tree = environment.parse(source)
    except jinja2.TemplateSyntaxError:
        return None
    own = {*_own_names(tree)}
    macros = {macro.name for macro in tree.find_all(nodes.Macro)}
    if not all(_is_known(node, own, macros) for node in _all(tree)):
        return None
    paths = [*_paths(tree)]
    return Basis(
        entity_ids=tuple(".".join(path[:2]) for path in paths if len(path) > 1),
        domains=tuple(path[0] for path in paths if len(path) == 1),
        has_all=[] in paths,
    )


def _all(node: nodes.Node) -> Iterator[nodes.Node]:
    for child in node.iter_child_nodes():
        yield child
        yield from _all(child)


def _paths(node: nodes.Node) -> Iterator[list[str]]:
    """Yield what comes after each `states`, but where it is called."""
    for child in node.iter_child_nodes():
        if isinstance(node, nodes.Call) and _is_states(child):
            continue
        if (path := _path(child)) is None:
            yield from _paths(child)
        else:
            yield path


def _path(node: nodes.Node) -> list[str] | None:
    match node:
        case nodes.Name(name="states"):
            return []
        case nodes.Getattr(node=inner, attr=name):
            found = _path(inner)
        case nodes.Getitem(node=inner, arg=nodes.Const(value=str() as name)):
            found = _path(inner)
        case _:
            return None
    return None if found is None else [*found, *name.split(".")]


def _is_states(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Name) and node.name == "states"


def _own_names(tree: nodes.Node) -> Iterator[str]:
    """Yield the names that the template itself gives something."""
    for name in tree.find_all(nodes.Name):
        if name.ctx != "load":
            yield name.name
    for macro in tree.find_all(nodes.Macro):
        yield macro.name


def _is_known(node: nodes.Node, own: set[str], macros: set[str]) -> bool:
    known = not isinstance(node, _FOREIGN)
    match node:
        case nodes.Name(name=name, ctx="load"):
            known = name in own or name in _GLOBALS
        case nodes.Const(value=str() as text) | nodes.Getattr(attr=text):
            known = not any(word in text for word in _UNSEEN)
        case nodes.Getitem(arg=nodes.Const() | nodes.Slice()):
            known = True
        case nodes.Call():
            known = _is_known_call(node, macros)
        case nodes.Filter():
            known = _is_known_filter(node)
        case nodes.Test(name=name):
            known = name in _TESTS
    return known


def _is_known_call(call: nodes.Call, macros: set[str]) -> bool:
    match call.node:
        case nodes.Name(name="states"):
            # With more than an entity, a registry says how its state is shown.
            return len(call.args) == 1 and not _has_more(call)
        case nodes.Name(name=name):
            return name in _GLOBALS or name in macros
        case nodes.Getattr(attr=name):
            return name in _METHODS
    return False


def _is_known_filter(node: nodes.Filter) -> bool:
    if node.name not in _FILTERS or node.dyn_args or node.dyn_kwargs:
        return False
    if node.name == "states":
        return not (node.args or node.kwargs)
    if node.name == "map" and len(node.args) > 1:
        return False  # it may be told how to show a state
    for argument, names in zip(node.args, _NAMING.get(node.name, ()), strict=False):
        if not isinstance(argument, nodes.Const):
            return False
        if names is not None and argument.value not in names:
            return False
    return all(
        pair.key not in _UNSEEN
        and (pair.key != "attribute" or isinstance(pair.value, nodes.Const))
        for pair in node.kwargs
    )


def _has_more(call: nodes.Call) -> bool:
    return bool(call.kwargs or call.dyn_args or call.dyn_kwargs)

"""The rules of the house, checked on source text alone.

A package is given as `{"engine.loop": source, …}`; each function yields a sentence for
every fault it finds.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from graphlib import CycleError, TopologicalSorter
import sys

type Package = Mapping[str, str]
type Floor = Sequence[str]

MAX_LINES = 300
ROOT_NAME = "custom_components.proactive_agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One imported module as a module of the package, or else of the world."""

    line: int
    own: str | None = None
    foreign: str | None = None


def imports_of(module: str, source: str, known: Iterable[str]) -> Iterator[Import]:
    """Find every import, those inside functions and `if TYPE_CHECKING` too."""
    names = frozenset(known)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield _found(node.lineno, alias.name, names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(module, node, names)
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                own = _own(inner)
                target = inner if own is not None and own in names else base
                yield _found(node.lineno, target, names)


def _absolute(module: str, node: ast.ImportFrom, names: frozenset[str]) -> str:
    if not node.level:
        return node.module or ""
    # A package's own `__init__` stands one step deeper than its name says.
    is_package = any(name.startswith(f"{module}.") for name in names)
    parts = ROOT_NAME.split(".")
    if module != "__init__":
        parts += module.split(".") + (["__init__"] if is_package else [])
    else:
        parts.append("__init__")
    parts = parts[: len(parts) - node.level]
    return ".".join([*parts, node.module] if node.module else parts)


def _own(name: str) -> str | None:
    if name == ROOT_NAME:
        return "__init__"
    return name.removeprefix(f"{ROOT_NAME}.") if name.startswith(ROOT_NAME) else None


def _found(line: int, name: str, names: frozenset[str]) -> Import:
    own = _own(name)
    if own is None:
        return Import(line=line, foreign=name)
    while own not in names and "." in own:
        own = own.rpartition(".")[0]
    return Import(line=line, own=own)


def _inside(module: str, room: str) -> bool:
    """Say whether a module belongs to a room, given as patterns with blanks between."""
    return any(fnmatchcase(module, pattern) for pattern in room.split())


def _place(module: str, floors: Sequence[Floor]) -> tuple[int, str] | None:
    for height, floor in enumerate(floors):
        for room in floor:
            if _inside(module, room):
                return height, room
    return None


def strangers(package: Package, floors: Sequence[Floor]) -> Iterator[str]:
    """Find modules that have no place in the table of floors."""
    for module in package:
        if _place(module, floors) is None:
            yield (
                f"{module} is on no floor: add it to FLOORS in"
                " tests/test_architecture.py, where its imports let it stand"
            )


def upward_imports(package: Package, floors: Sequence[Floor]) -> Iterator[str]:
    """Find imports of what stands higher, or in another room of the same floor."""
    for module, source in package.items():
        here = _place(module, floors)
        if here is None:
            continue
        for found in imports_of(module, source, package):
            there = _place(found.own, floors) if found.own else None
            if there is None or there == here or there[0] < here[0]:
                continue
            way = "upward" if there[0] > here[0] else "to another room of its floor"
            yield f"{module}:{found.line} imports {found.own}, which leads {way}"


def cycles(package: Package) -> Iterator[str]:
    """Find modules that import each other in a ring."""
    graph = {
        module: {
            found.own
            for found in imports_of(module, source, package)
            if found.own and found.own != module
        }
        for module, source in package.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        yield "modules import each other: " + " → ".join(reversed(error.args[1]))


def engine_strays(package: Package) -> Iterator[str]:
    """Find imports of the engine that are not the standard library nor itself."""
    for module, source in package.items():
        if module.partition(".")[0] != "engine":
            continue
        for found in imports_of(module, source, package):
            if found.own and found.own.partition(".")[0] != "engine":
                yield f"{module}:{found.line} imports {found.own}, outside the engine"
            if found.foreign and _top(found.foreign) not in sys.stdlib_module_names:
                yield f"{module}:{found.line} imports {found.foreign}"


def importers_of(package: Package, foreign: str, allowed: str) -> Iterator[str]:
    """Find modules that import something which only the allowed rooms may."""
    for module, source in package.items():
        if _inside(module, allowed):
            continue
        for found in imports_of(module, source, package):
            if found.foreign and _top(found.foreign) == foreign:
                yield f"{module}:{found.line} imports {foreign}; only {allowed} may"


def _top(name: str) -> str:
    return name.partition(".")[0]


def long_modules(package: Package) -> Iterator[str]:
    """Find modules that have grown over the limit."""
    for module, source in package.items():
        lines = len(source.splitlines())
        if lines > MAX_LINES:
            yield f"{module} has {lines} lines; {MAX_LINES} is the most"


def taken_names(package: Package, taken: Iterable[str]) -> Iterator[str]:
    """Find modules that Home Assistant would load as a platform by their name."""
    names = frozenset(taken)
    for module in package:
        if _top(module) in names:
            yield f"{module} bears the name of a Home Assistant platform"


def uses_of_hass_data(package: Package) -> Iterator[str]:
    """Find `hass.data`: what belongs to an entry lives in its runtime data."""
    for module, source in package.items():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Attribute) and node.attr == "data":
                owner = node.value
                name = owner.attr if isinstance(owner, ast.Attribute) else None
                name = owner.id if isinstance(owner, ast.Name) else name
                if name in {"hass", "_hass"}:
                    yield f"{module}:{node.lineno} uses hass.data"

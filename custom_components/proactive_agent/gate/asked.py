"""Which silent states a template's author asks for or guards against (G2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, TypeGuard

from homeassistant.core import valid_entity_id
import jinja2
from jinja2 import nodes

from ..const import SILENT_STATES

# The two extensions Home Assistant's own environment has.
_PARSER = jinja2.Environment(
    extensions=["jinja2.ext.loopcontrols", "jinja2.ext.do"], autoescape=True
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Silent states named in a template as literals.

    `of_entity` holds those that are plainly compared with one entity's state;
    one that is named in any other way counts `anywhere`.
    """

    of_entity: frozenset[tuple[str, str]] = frozenset()
    anywhere: frozenset[str] = frozenset()

    @classmethod
    def in_template(cls, source: str) -> Self:
        """Find the literals in a template's text; none in one that is not read."""
        try:
            tree = _PARSER.parse(source)
        except jinja2.TemplateSyntaxError:
            return cls()
        of_entity: set[tuple[str, str]] = set()
        attributed: set[int] = set()
        for entity_id, literals in _comparisons(tree):
            attributed.update(id(literal) for literal in literals)
            of_entity.update((entity_id, literal.value) for literal in literals)
        return cls(
            of_entity=frozenset(of_entity),
            anywhere=frozenset(
                literal.value
                for literal in _silent_literals(tree)
                if id(literal) not in attributed
            ),
        )

    def covers(self, entity_id: str, state: str) -> bool:
        """Say whether this state of this entity is one the author thought of."""
        return state in self.anywhere or (entity_id, state) in self.of_entity


def _comparisons(tree: nodes.Node) -> Iterator[tuple[str, list[nodes.Const]]]:
    """Yield each entity whose state is compared, with the silent literals."""
    for compare in tree.find_all(nodes.Compare):
        sides = [compare.expr, *(operand.expr for operand in compare.ops)]
        subjects = {entity_id for side in sides if (entity_id := _entity_of(side))}
        if len(subjects) == 1:
            yield subjects.pop(), _listed_literals(sides)
    for call in tree.find_all(nodes.Call):
        match call:
            case nodes.Call(
                node=nodes.Name(name="is_state"),
                args=[nodes.Const(value=str() as entity_id), wanted],
            ):
                yield entity_id, _listed_literals([wanted])


def _entity_of(node: nodes.Node) -> str | None:
    """Return the entity whose state this expression is, where that is plain."""
    match node:
        case nodes.Call(
            node=nodes.Name(name="states"), args=[nodes.Const(value=str() as entity_id)]
        ):
            return entity_id
        case nodes.Getattr(
            attr="state",
            node=nodes.Getattr(
                attr=name,
                node=nodes.Getattr(attr=domain, node=nodes.Name(name="states")),
            ),
        ) if valid_entity_id(f"{domain}.{name}"):
            return f"{domain}.{name}"
    return None


def _listed_literals(expressions: list[nodes.Expr]) -> list[nodes.Const]:
    """Return the silent literals that stand alone or in a list."""
    flat: list[nodes.Node] = []
    for node in expressions:
        flat.extend(
            node.items if isinstance(node, nodes.List | nodes.Tuple) else [node]
        )
    return [node for node in flat if _is_silent_literal(node)]


def _silent_literals(tree: nodes.Node) -> Iterator[nodes.Const]:
    return (node for node in tree.find_all(nodes.Const) if _is_silent_literal(node))


def _is_silent_literal(node: nodes.Node) -> TypeGuard[nodes.Const]:
    return (
        isinstance(node, nodes.Const)
        and isinstance(node.value, str)
        and node.value in SILENT_STATES
    )

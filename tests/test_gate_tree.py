"""Trees of and, or and not against an evaluation of their own."""

from itertools import product
from typing import Any

from homeassistant.core import HomeAssistant
from hypothesis import HealthCheck, given, settings, strategies as st
import pytest

from custom_components.proactive_agent.gate import Gate

# The states a leaf `state: on` looks at, and what it can say of them.
ANSWERS: dict[str | None, bool | None] = {
    "on": True,
    "off": False,
    "unavailable": None,
    "unknown": None,
    None: None,
}
ENTITIES = [f"sensor.s{number}" for number in range(4)]

leaves = st.sampled_from(
    [{"condition": "state", "entity_id": name, "state": "on"} for name in ENTITIES]
)


def _joined(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    parts = st.lists(children, min_size=1, max_size=3)
    long = st.builds(
        lambda joint, conditions: {"condition": joint, "conditions": conditions},
        st.sampled_from(["and", "or", "not"]),
        parts,
    )
    short = st.builds(
        lambda joint, conditions: {joint: conditions},
        st.sampled_from(["and", "or", "not"]),
        parts,
    )
    return long | short


trees = st.recursive(leaves, _joined, max_leaves=8)
situations = st.fixed_dictionaries(
    {name: st.sampled_from(list(ANSWERS)) for name in ENTITIES}
)


def worlds(situation: dict[str, str | None]) -> list[dict[str, bool]]:
    """Return every way in which the unknown answers could turn out."""
    choices = [
        [True, False] if ANSWERS[state] is None else [bool(ANSWERS[state])]
        for state in situation.values()
    ]
    return [dict(zip(situation, picks, strict=True)) for picks in product(*choices)]


def plain(tree: dict[str, Any], world: dict[str, bool]) -> bool:
    """Evaluate a tree where everything is known."""
    if tree.get("condition") == "state":
        return world[tree["entity_id"]]
    joint = tree.get("condition") or next(iter(tree))
    parts = [plain(part, world) for part in tree.get("conditions") or tree[joint]]
    return {"and": all(parts), "or": any(parts), "not": not any(parts)}[joint]


def kleene(tree: dict[str, Any], situation: dict[str, str | None]) -> bool | None:
    """Evaluate a tree in three values, written in another way than the gate's."""
    ranks: dict[bool | None, int] = {False: 0, None: 1, True: 2}
    names: list[bool | None] = [False, None, True]
    if tree.get("condition") == "state":
        return ANSWERS[situation[tree["entity_id"]]]
    joint = tree.get("condition") or next(iter(tree))
    parts = [
        ranks[kleene(part, situation)] for part in tree.get("conditions") or tree[joint]
    ]
    rank = {"and": min(parts), "or": max(parts), "not": 2 - max(parts)}[joint]
    return names[rank]


@pytest.mark.contract("G1", "G2", "G3")
@settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(conditions=st.lists(trees, min_size=1, max_size=3), situation=situations)
async def test_any_tree(
    hass: HomeAssistant,
    conditions: list[dict[str, Any]],
    situation: dict[str, str | None],
) -> None:
    for entity_id, state in situation.items():
        if state is None:
            hass.states.async_remove(entity_id)
        else:
            hass.states.async_set(entity_id, state)
    gate = await Gate.async_build(hass, conditions, "Milonga")
    expected = [kleene(tree, situation) for tree in conditions]
    assert [verdict.result for verdict in gate.explain()] == expected
    assert gate.is_open() is all(answer is True for answer in expected)
    if gate.is_open():
        # However the unknown turns out, the owner's conditions hold.
        assert all(
            plain(tree, world) for tree in conditions for world in worlds(situation)
        )
    gate.async_unload()

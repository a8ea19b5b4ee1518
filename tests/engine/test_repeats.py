"""What was done and has changed nothing since (A7)."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
import json
from typing import Any

import pytest

from custom_components.proactive_agent.engine.repeats import (
    MAX_REMEMBERED,
    MAX_WRITTEN,
    Repeats,
    action_key,
    past_as_dict,
    past_from_dict,
)

pytestmark = pytest.mark.contract("A7")

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
SIX_HOURS = timedelta(hours=6)
HUNGRY = {"script.feed": "off", "sensor.hunger": "1.0", "light.lamp": "off"}


def after(
    states: Mapping[str, str], *acted_on: str, before: Mapping[str, str] = HUNGRY
) -> Repeats:
    repeats = Repeats()
    repeats.add("feed", before, states, acted_on=acted_on or ("script.feed",), at=NOON)
    return repeats


def found(repeats: Repeats, *, hours: float = 2) -> bool:
    now = NOON + timedelta(hours=hours)
    return repeats.find("feed", now=now, within=SIX_HOURS) is not None


def to_tell(repeats: Repeats) -> bool:
    past = repeats.find("feed", now=NOON, within=SIX_HOURS)
    assert past is not None
    return past.to_tell


def test_what_changed_nothing_is_remembered_for_a_time() -> None:
    repeats = after(HUNGRY)
    assert found(repeats)
    assert found(repeats, hours=5.9)
    assert not found(repeats, hours=6)
    assert repeats.find("play", now=NOON, within=SIX_HOURS) is None
    assert repeats.entity_ids == HUNGRY.keys()


@pytest.mark.parametrize(
    ("state", "helped"), [("3.0", True), ("1.1", False), ("unknown word", True)]
)
def test_what_changes_the_situation_at_once_has_helped(
    state: str, helped: bool
) -> None:
    assert found(after({**HUNGRY, "sensor.hunger": state})) is not helped


def test_an_entity_that_is_gone_is_a_change() -> None:
    assert not found(after({"script.feed": "off"}))


@pytest.mark.parametrize(
    ("entity_id", "state", "helped"),
    [
        ("sensor.hunger", "3.0", True),
        ("sensor.hunger", "1.1", False),
        ("light.lamp", "on", True),
        ("light.lamp", "off", False),
        ("sensor.unseen", "on", False),
    ],
)
def test_what_changes_the_situation_later_has_helped(
    entity_id: str, state: str, helped: bool
) -> None:
    repeats = after(HUNGRY)
    repeats.change(entity_id, state)
    assert found(repeats) is not helped
    assert (repeats.entity_ids == frozenset()) is helped


def test_a_change_counts_also_after_it_is_over() -> None:
    repeats = after(HUNGRY)
    repeats.change("sensor.hunger", "3.0")
    repeats.change("sensor.hunger", "1.0")
    assert not found(repeats)


def test_that_the_entity_itself_followed_is_no_help_yet() -> None:
    lit = {**HUNGRY, "light.lamp": "on"}
    repeats = after(lit, "light.lamp")
    assert found(repeats)
    repeats.change("light.lamp", "on")
    assert found(repeats)
    repeats.change("light.lamp", "off")
    assert not found(repeats)


def test_the_owner_hears_of_it_once_for_each_time_it_was_done() -> None:
    repeats = after(HUNGRY)
    repeats.mark_told("feed")
    repeats.mark_told("never done")
    assert not to_tell(repeats)
    repeats.add("feed", HUNGRY, HUNGRY, acted_on=(), at=NOON)
    assert to_tell(repeats)


@pytest.mark.contract("S2")
def test_of_what_has_shown_an_effect_the_owner_does_not_hear() -> None:
    repeats = Repeats()
    repeats.add("feed", HUNGRY, HUNGRY, acted_on=(), at=NOON, has_shown=True)
    assert not to_tell(repeats)


def test_a_later_time_that_helped_replaces_one_that_did_not() -> None:
    repeats = after(HUNGRY)
    repeats.add("feed", HUNGRY, {}, acted_on=(), at=NOON)
    assert not found(repeats)


def test_it_forgets_everything_when_told_to() -> None:
    repeats = after(HUNGRY)
    repeats.forget()
    assert not found(repeats)
    assert repeats.entity_ids == frozenset()


def test_memory_is_bounded_and_keeps_the_latest() -> None:
    repeats = Repeats()
    for number in range(MAX_REMEMBERED + 1):
        repeats.add(str(number), HUNGRY, HUNGRY, acted_on=(), at=NOON)
    assert repeats.find("0", now=NOON, within=SIX_HOURS) is None
    for number in range(1, MAX_REMEMBERED + 1):
        assert repeats.find(str(number), now=NOON, within=SIX_HOURS) is not None


def test_the_same_action_is_the_same_in_any_order() -> None:
    one = action_key("light.turn_on", ("light.a", "light.b"), {"x": 1, "y": [2]})
    assert one == action_key(
        "light.turn_on", ("light.b", "light.a"), {"y": [2], "x": 1}
    )
    assert one != action_key("light.turn_on", ("light.a",), {"x": 1, "y": [2]})
    assert one != action_key("light.turn_on", ("light.a", "light.b"), {"x": 2})
    assert one != action_key("light.turn_off", ("light.a", "light.b"), {"x": 1})


def test_the_clock_that_was_set_back_does_not_lengthen_it() -> None:
    assert found(after(HUNGRY), hours=-1)
    assert not found(after(HUNGRY), hours=-7)


@pytest.mark.contract("C6")
def test_what_is_written_is_what_is_read() -> None:
    repeats = after(HUNGRY)
    repeats.add("play", HUNGRY, HUNGRY, acted_on=(), at=NOON, has_shown=True)

    written = json.loads(json.dumps(past_as_dict(repeats.all)))

    assert Repeats(past_from_dict(written)).all == repeats.all
    assert [*written] == ["feed", "play"]


@pytest.mark.contract("C6")
def test_the_latest_are_written_if_there_is_too_much() -> None:
    house = {f"light.{number}": "on" for number in range(MAX_WRITTEN // 2)}
    repeats = Repeats()
    for key in ("feed", "play", "sing"):
        repeats.add(key, house, house, acted_on=(), at=NOON)

    assert [*past_as_dict(repeats.all)] == ["play", "sing"]


@pytest.mark.contract("D1")
@pytest.mark.parametrize(
    "rubbish",
    [
        ["feed"],
        {"feed": {"at": "2026-11-30T12:00:00", "states": {}, "to_tell": True}},
        {"feed": {"at": NOON.isoformat(), "states": {"x": 1}, "to_tell": True}},
        {"feed": {"at": NOON.isoformat(), "states": {}, "to_tell": "yes"}},
    ],
    ids=str,
)
def test_rubbish_is_not_read(rubbish: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        past_from_dict(rubbish)

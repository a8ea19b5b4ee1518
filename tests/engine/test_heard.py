from datetime import UTC, datetime, timedelta
import json
from typing import Any

import pytest

from custom_components.proactive_agent.engine.heard import (
    MAX_HEARD,
    Heard,
    have_heard,
    with_heard,
)

pytestmark = pytest.mark.contract("S4")

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
RECHECK = timedelta(hours=6)
WARM = {"sensor.hall": "20.0", "light.lamp": "on"}


def heard(*targets: str, at: datetime = NOON, **changes: Any) -> Heard:
    return Heard(at=at, **{"states": WARM, "targets": frozenset(targets), **changes})


def known(
    *told: Heard,
    states: dict[str, str] = WARM,
    unhelpful: frozenset[str] = frozenset(),
    after: timedelta = timedelta(hours=1),
) -> set[str]:
    return {
        *have_heard(told, states, unhelpful, now=NOON + after, recheck_after=RECHECK)
    }


def test_who_has_heard_of_a_situation_has_heard_it() -> None:
    assert known() == set()
    assert known(heard("notify.a"), heard("notify.b", "notify.c")) == {
        "notify.a",
        "notify.b",
        "notify.c",
    }


def test_after_a_while_it_is_news_again() -> None:
    assert known(heard("notify.a"), after=RECHECK - timedelta(seconds=1))
    assert not known(heard("notify.a"), after=RECHECK)
    # A clock that was set back keeps nobody silent for long.
    assert known(heard("notify.a"), after=-timedelta(hours=1))
    assert not known(heard("notify.a"), after=-RECHECK)


@pytest.mark.parametrize(
    ("states", "is_known"),
    [
        ({"sensor.hall": "20.1", "light.lamp": "on"}, True),
        ({"sensor.hall": "22", "light.lamp": "on"}, False),
        ({"sensor.hall": "20.0", "light.lamp": "off"}, False),
        ({"sensor.hall": "20.0"}, False),
        ({**WARM, "light.other": "on"}, False),
    ],
)
def test_the_situation_counts_and_trembling_is_none(
    states: dict[str, str], is_known: bool
) -> None:
    assert bool(known(heard("notify.a"), states=states)) is is_known


def test_a_situation_that_comes_back_is_no_news() -> None:
    cold = {**WARM, "sensor.hall": "5"}
    assert known(heard("notify.a"), heard("notify.a", states=cold)) == {"notify.a"}


def test_with_nothing_to_compare_all_is_news() -> None:
    assert not known(heard("notify.a", states={}), states={})


def test_that_something_did_not_help_is_heard_by_itself() -> None:
    did_not_help = heard("notify.a", unhelpful=frozenset({"x", "y"}))
    assert known(did_not_help, unhelpful=frozenset({"x"})) == {"notify.a"}
    assert not known(did_not_help, unhelpful=frozenset({"x", "z"}))
    assert not known(heard("notify.a"), unhelpful=frozenset({"x"}))
    assert known(did_not_help) == {"notify.a"}


def test_so_much_is_kept() -> None:
    told: tuple[Heard, ...] = ()
    for number in range(MAX_HEARD + 3):
        told = with_heard(told, heard(str(number)))
    assert [one.targets for one in told] == [
        frozenset({str(number)}) for number in range(3, MAX_HEARD + 3)
    ]


@pytest.mark.contract("C6")
@pytest.mark.parametrize("unhelpful", [(), ("x", "y")])
def test_what_is_written_is_what_is_read(unhelpful: tuple[str, ...]) -> None:
    one = heard("notify.b", "notify.a", unhelpful=frozenset(unhelpful))
    assert Heard.from_dict(json.loads(json.dumps(one.as_dict()))) == one


@pytest.mark.contract("D1")
@pytest.mark.parametrize(
    "change",
    [
        {"at": "2026-11-30T12:00:00"},
        {"at": None},
        {"states": ["x"]},
        {"states": {"x": 1}},
        {"targets": "notify.a"},
        {"targets": [1]},
        {"unhelpful": None},
    ],
    ids=str,
)
def test_rubbish_is_not_read(change: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        Heard.from_dict({**heard("notify.a").as_dict(), **change})


def test_what_was_written_before_words_were_kept_can_be_read() -> None:
    written = heard("notify.a", message="It is warm.").as_dict()
    assert Heard.from_dict(written).message == "It is warm."
    del written["message"]
    assert Heard.from_dict(written).message == ""
    with pytest.raises(TypeError):
        Heard.from_dict({**written, "message": None})

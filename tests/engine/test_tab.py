from collections.abc import Sequence

import pytest

from custom_components.proactive_agent.engine.errors import CutReason, RunCutError
from custom_components.proactive_agent.engine.journal import Journal
from custom_components.proactive_agent.engine.ports import Allowance
from custom_components.proactive_agent.engine.records import (
    JsonObject,
    ToolSpec,
    Usage,
)
from custom_components.proactive_agent.engine.tab import Tab

TOOLS = (ToolSpec(name="feed", description="Feeds.", parameters={"type": "object"}),)
MESSAGES: Sequence[JsonObject] = ({"role": "user", "content": "word " * 400},)


class Purse:
    """A day's tokens; each charge is kept."""

    def __init__(self, left: int | None = None, cut: CutReason | None = None) -> None:
        self.left = left
        self.cut = cut
        self.charges: list[int] = []

    @property
    def allowance(self) -> Allowance:
        return Allowance(
            remaining=lambda: self.left, charge=self.charges.append, check=self._check
        )

    @property
    def charged(self) -> int:
        return sum(self.charges)

    def _check(self) -> None:
        if self.cut is not None:
            raise RunCutError(self.cut)


def tab_of(purse: Purse, journal: Journal | None = None) -> Tab:
    return Tab(TOOLS, purse.allowance, journal or Journal(usage=None))


@pytest.mark.contract("F5")
def test_a_request_is_charged_before_it_is_made() -> None:
    purse = Purse()
    tab_of(purse).open(MESSAGES)
    assert 500 < purse.charged < 600


@pytest.mark.contract("F5")
def test_it_is_settled_at_what_it_has_used() -> None:
    purse, journal = Purse(), Journal(usage=None)
    tab = tab_of(purse, journal)
    tab.open(MESSAGES)
    tab.settle(Usage(prompt=700, completion=30), MESSAGES)
    tab.open(MESSAGES)
    tab.settle(Usage(prompt=800, completion=1))
    assert purse.charged == 1_531
    assert journal.usage == Usage(prompt=1_500, completion=31)


@pytest.mark.contract("F5")
def test_where_nobody_knows_what_came_back_is_charged_too() -> None:
    purse, journal = Purse(), Journal(usage=None)
    tab = tab_of(purse, journal)
    tab.open(MESSAGES)
    asked = purse.charged
    tab.settle(None, MESSAGES)
    assert asked + 500 < purse.charged < 2 * asked
    assert journal.usage is None


@pytest.mark.contract("F5")
def test_what_is_settled_is_not_settled_again() -> None:
    purse = Purse()
    tab = tab_of(purse)
    tab.open(MESSAGES)
    tab.settle(Usage(prompt=10))
    tab.settle(Usage(prompt=5))
    assert purse.charged == 15


def test_a_request_that_is_not_made_costs_nothing() -> None:
    purse = Purse()
    tab = tab_of(purse)
    tab.open(MESSAGES)
    tab.cancel()
    assert purse.charged == 0


@pytest.mark.contract("F5")
@pytest.mark.parametrize("left", [0, -3])
def test_without_tokens_nothing_is_asked(left: int) -> None:
    purse = Purse(left)
    with pytest.raises(RunCutError) as cut:
        tab_of(purse).open(MESSAGES)
    assert cut.value.kind is CutReason.TOKEN_LIMIT
    assert purse.charges == []


@pytest.mark.contract("C5")
def test_a_run_that_was_cut_asks_nothing() -> None:
    purse = Purse(cut=CutReason.STOPPED)
    with pytest.raises(RunCutError) as cut:
        tab_of(purse).open(MESSAGES)
    assert cut.value.kind is CutReason.STOPPED
    assert purse.charges == []


def test_a_last_token_is_enough_to_ask() -> None:
    purse = Purse(1)
    tab_of(purse).open(MESSAGES)
    assert purse.charged > 1

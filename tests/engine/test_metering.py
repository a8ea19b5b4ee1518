from collections.abc import Callable

from hypothesis import given, settings, strategies as st
import pytest

from custom_components.proactive_agent.engine.errors import (
    CutReason,
    ErrorKind,
    ModelError,
    RunCutError,
)
from custom_components.proactive_agent.engine.metering import MeteredModel
from custom_components.proactive_agent.engine.records import (
    JsonObject,
    Reply,
    ToolSpec,
    Usage,
)
from tests.support.scripted import ScriptedModel, Step, says

MESSAGES: tuple[JsonObject, ...] = ({"role": "user", "content": "x" * 400},)
TOOLS = (ToolSpec(name="feed", description="y" * 400, parameters={}),)


class Meter:
    """A budget, and a model that is measured against it."""

    def __init__(
        self, *steps: Step, budget: int | None = None, check: Callable[[], None]
    ) -> None:
        self.charges: list[int] = []
        self.budget = budget
        self.scripted = ScriptedModel(*steps)
        self.model = MeteredModel(
            self.scripted,
            remaining=lambda: self.left,
            charge=self.charges.append,
            check=check,
        )

    @property
    def left(self) -> int | None:
        return None if self.budget is None else self.budget - sum(self.charges)

    async def complete(self) -> Reply:
        return await self.model.complete(MESSAGES, TOOLS)


def meter(*steps: Step, budget: int | None = None) -> Meter:
    return Meter(*steps, budget=budget, check=lambda: None)


@pytest.mark.contract("F5")
async def test_a_request_is_charged_before_it_is_made_and_settled_after() -> None:
    at_request: list[int] = []

    def answer() -> Reply:
        at_request.extend(measured.charges)
        return says("Done.", Usage(prompt=120, completion=30))

    measured = meter(answer)

    reply = await measured.complete()

    [expected] = at_request
    assert 200 <= expected <= 240
    assert measured.charges == [expected, 150 - expected]
    assert reply.usage == Usage(prompt=120, completion=30)
    assert reply.text == "Done."


@pytest.mark.contract("F5")
async def test_what_the_server_does_not_tell_is_estimated_and_marked() -> None:
    measured = meter(says("z" * 800))

    reply = await measured.complete()

    assert reply.usage is not None
    assert reply.usage.estimated
    assert reply.usage.prompt == measured.charges[0]
    assert 200 <= reply.usage.completion <= 220
    assert sum(measured.charges) == reply.usage.total


@pytest.mark.contract("F5")
async def test_the_tools_are_part_of_the_estimate() -> None:
    with_tools, without = meter(says("")), meter(says(""))

    await with_tools.model.complete(MESSAGES, TOOLS)
    await without.model.complete(MESSAGES, ())

    assert with_tools.charges[0] - without.charges[0] >= 100


@pytest.mark.contract("F5")
@pytest.mark.parametrize("budget", [0, -1, -500])
async def test_without_a_budget_no_request_is_made(budget: int) -> None:
    measured = meter(budget=budget)

    with pytest.raises(RunCutError) as cut:
        await measured.complete()

    assert cut.value.kind is CutReason.TOKEN_LIMIT
    assert measured.scripted.requests == []
    assert measured.charges == []


@pytest.mark.contract("F5")
async def test_the_last_token_still_buys_a_request_and_then_there_is_none() -> None:
    measured = meter(says("Done.", Usage(prompt=120, completion=30)), budget=1)

    await measured.complete()

    assert measured.left == -149
    with pytest.raises(RunCutError):
        await measured.complete()


@pytest.mark.contract("F5")
async def test_no_limit_lets_every_request_through() -> None:
    measured = meter(says("1", Usage(prompt=10**9)), says("2"))

    await measured.complete()
    reply = await measured.complete()

    assert reply.text == "2"


@pytest.mark.contract("F5", "R7")
async def test_a_request_that_fails_keeps_its_charge() -> None:
    # What a failed request has cost nobody knows; the fuse takes the safe side.
    error = ModelError(ErrorKind.TIMEOUT)
    measured = meter(error)

    with pytest.raises(ModelError) as raised:
        await measured.complete()

    assert raised.value is error
    assert error.usage == Usage(prompt=measured.charges[0], estimated=True)
    assert sum(measured.charges) == error.usage.total > 0


@pytest.mark.contract("F5", "R7")
@pytest.mark.parametrize("used", [Usage(), Usage(prompt=9, completion=4000)])
async def test_a_request_that_fails_is_settled_where_its_cost_is_known(
    used: Usage,
) -> None:
    measured = meter(ModelError(ErrorKind.INVALID_RESPONSE, usage=used))

    with pytest.raises(ModelError) as raised:
        await measured.complete()

    assert raised.value.usage == used
    assert measured.charges[0] > 0
    assert sum(measured.charges) == used.total


@pytest.mark.contract("C5")
async def test_a_run_that_may_not_go_on_asks_nothing_and_pays_nothing() -> None:
    def check() -> None:
        raise RunCutError(CutReason.STOPPED)

    measured = Meter(says("never"), budget=0, check=check)

    with pytest.raises(RunCutError) as cut:
        await measured.complete()

    assert cut.value.kind is CutReason.STOPPED
    assert measured.scripted.requests == []
    assert measured.charges == []


@pytest.mark.contract("F5")
@given(
    usages=st.lists(
        st.none()
        | st.builds(Usage, prompt=st.integers(0, 10**6), completion=st.integers(0, 999))
    )
)
@settings(deadline=None)
async def test_all_charges_together_are_what_was_used(
    usages: list[Usage | None],
) -> None:
    measured = meter(*(says("text", usage) for usage in usages))
    total = Usage()
    for _ in usages:
        reply = await measured.complete()
        assert reply.usage is not None
        total += reply.usage
        assert sum(measured.charges) == total.total >= 0

"""What came to nothing is paid for all the same."""

import pytest

from custom_components.proactive_agent.engine.bill import Bill
from custom_components.proactive_agent.engine.errors import ErrorKind, ModelError
from custom_components.proactive_agent.engine.records import Usage
from tests.support.scripted import says

EXPECTED = Usage(prompt=100, estimated=True)
USED = Usage(prompt=20, completion=8)


def _failed(usage: Usage | None) -> ModelError:
    return ModelError(ErrorKind.INVALID_RESPONSE, usage=usage)


@pytest.mark.contract("F5")
@pytest.mark.parametrize(
    ("failures", "total"),
    [
        ([], Usage()),
        ([Usage(), Usage()], Usage()),
        ([USED, Usage(), USED], USED + USED),
        ([None], EXPECTED),
        ([None, None, None], EXPECTED),
        ([None, USED, None], EXPECTED + USED),
    ],
)
def test_failures_add_up(failures: list[Usage | None], total: Usage) -> None:
    bill = Bill(lambda: EXPECTED)
    for usage in failures:
        bill.add(_failed(usage))
    assert bill.total == total


@pytest.mark.contract("F5")
def test_an_answer_bears_what_came_before_it() -> None:
    bill = Bill(lambda: EXPECTED)
    reply = says("Hi.", USED)
    assert bill.settle(reply) is reply
    bill.add(_failed(USED))
    assert bill.settle(reply).usage == USED + USED
    unknown = bill.settle(says("Hi.")).usage
    assert unknown is not None
    assert unknown.prompt == 120
    assert unknown.completion > 8
    assert unknown.estimated

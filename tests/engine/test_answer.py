"""Answers are valid JSON of bounded length (R5)."""

import json
from typing import Any

import pytest

from custom_components.proactive_agent.engine.answer import (
    ANSWER_LIMIT,
    NOTICE,
    encode_answer,
    shrink,
)
from custom_components.proactive_agent.engine.records import ToolAnswer

pytestmark = pytest.mark.contract("R5")


def nested(depth: int) -> Any:
    value: Any = "core"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [None, True, 0, 1.5, "grün", [], {}, {"light.lamp": {"state": "on"}}, [1, [2]]],
)
def test_what_fits_is_written_as_it_is(value: Any) -> None:
    assert json.loads(encode_answer(ToolAnswer(content=value))) == value


def test_an_error_is_marked_as_one() -> None:
    answer = ToolAnswer(content="No such entity.", error=True)
    assert json.loads(encode_answer(answer)) == {"error": "No such entity."}


@pytest.mark.parametrize(
    "value",
    [
        "x" * 1_000_000,
        '"\\' * 50_000,
        [{"state": "on", "name": f"light {number}"} for number in range(50_000)],
        {f"key {number}": "v" * 1_000 for number in range(500)},
        {"k" * 10_000: {"k" * 10_000: "v" * 10_000}},
        [["x" * 300] * 300] * 300,
        nested(5_000),
        nested(100_000),
        "\x00" * 10_000,
    ],
    ids=range(9),
)
def test_what_is_too_long_is_cut_and_says_so(value: Any) -> None:
    text = encode_answer(ToolAnswer(content=value))
    assert len(text) <= ANSWER_LIMIT
    assert json.loads(text)["notice"] == NOTICE


def test_a_long_list_keeps_its_head_and_counts_the_rest() -> None:
    cut = json.loads(shrink([{"summary": f"item {n}"} for n in range(400)], 1_000))
    kept = len(cut["answer"]) - 1
    assert kept > 5
    assert cut["answer"][0] == {"summary": "item 0"}
    assert cut["answer"][-1] == f"… {400 - kept} more"


def test_a_large_object_says_how_many_keys_are_missing() -> None:
    cut = json.loads(shrink({f"key{n}": n for n in range(900)}, 2_000))
    assert cut["answer"]["…"] == f"{900 - len(cut['answer']) + 1} more"


@pytest.mark.parametrize(
    ("value", "kept"),
    [(float("nan"), None), (float("-inf"), None), (10**5_000, None)],
    ids=["nan", "infinite", "huge"],
)
def test_what_json_cannot_say_is_left_out(value: float, kept: None) -> None:
    cut = json.loads(shrink({"a": value, "b": 2, "c": 1.5, "d": True}, 1_000))
    assert cut["answer"] == {"a": kept, "b": 2, "c": 1.5, "d": True}


def test_half_a_character_does_not_break_the_wire() -> None:
    text = encode_answer(ToolAnswer(content="a\ud800b"))
    assert text.encode() == b'"a?b"'


def test_a_limit_that_holds_nothing_still_gives_the_notice() -> None:
    assert json.loads(shrink(["x" * 99] * 99, 100)) == {"notice": NOTICE}

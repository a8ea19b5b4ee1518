"""What is read back from disk is taken only as the kind that was written."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from custom_components.proactive_agent.engine.stored import (
    count_from,
    dict_from,
    flag_from,
    list_from,
    moment_from,
    text_from,
    text_or_none_from,
    texts_by_name_from,
    texts_from,
)

pytestmark = pytest.mark.contract("D1")


@pytest.mark.parametrize(
    ("read", "written", "value"),
    [
        (text_from, "on", "on"),
        (text_or_none_from, None, None),
        (text_or_none_from, "", ""),
        (flag_from, False, False),
        (count_from, 0, 0),
        (
            moment_from,
            "2026-11-30T12:00:00+00:00",
            datetime(2026, 11, 30, 12, tzinfo=UTC),
        ),
        (list_from, [1, "a"], [1, "a"]),
        (texts_from, ["a", "b"], ("a", "b")),
        (dict_from, {"a": 1}, {"a": 1}),
        (texts_by_name_from, {"a": "b"}, {"a": "b"}),
    ],
)
def test_it_reads_its_own_kind(
    read: Callable[[Any], Any], written: Any, value: Any
) -> None:
    assert read(written) == value


@pytest.mark.parametrize(
    ("read", "rubbish"),
    [
        (text_from, None),
        (text_from, 1),
        (text_or_none_from, 0),
        (flag_from, 1),
        (flag_from, None),
        (count_from, True),
        (count_from, 1.0),
        (count_from, "1"),
        (moment_from, None),
        (list_from, "ab"),
        (list_from, None),
        (texts_from, ["a", 1]),
        (texts_from, "ab"),
        (dict_from, ["a"]),
        (texts_by_name_from, {"a": 1}),
        (texts_by_name_from, {1: "a"}),
    ],
)
def test_another_kind_is_refused(read: Callable[[Any], Any], rubbish: Any) -> None:
    with pytest.raises(TypeError):
        read(rubbish)


@pytest.mark.parametrize(
    ("read", "rubbish"),
    [
        (count_from, -1),
        (moment_from, "2026-11-30T12:00:00"),
        (moment_from, "noon"),
    ],
)
def test_a_value_out_of_range_is_refused(
    read: Callable[[Any], Any], rubbish: Any
) -> None:
    with pytest.raises(ValueError, match=r"expected|Invalid"):
        read(rubbish)

"""Time spans in words."""

from datetime import timedelta

import pytest

from custom_components.proactive_agent.engine.spans import ago


@pytest.mark.parametrize(
    ("span", "words"),
    [
        (timedelta(seconds=-5), "just now"),
        (timedelta(), "just now"),
        (timedelta(seconds=59.9), "just now"),
        (timedelta(minutes=1), "1 min ago"),
        (timedelta(minutes=59.9), "59 min ago"),
        (timedelta(minutes=119), "1 h ago"),
        (timedelta(hours=24), "1 day ago"),
        (timedelta(hours=50), "2 days ago"),
    ],
)
def test_a_time_span_is_one_round_number(span: timedelta, words: str) -> None:
    assert ago(span) == words

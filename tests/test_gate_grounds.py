"""How long something lasted, for a sentence of any language (G3)."""

from datetime import timedelta

import pytest

from custom_components.proactive_agent.gate.grounds import in_hours


@pytest.mark.contract("G3")
@pytest.mark.parametrize(
    ("lasted", "said"),
    [
        (timedelta(seconds=1), "0:00:01"),
        (timedelta(minutes=5), "0:05:00"),
        (timedelta(days=2, minutes=3), "48:03:00"),
    ],
)
def test_days_are_said_in_hours(lasted: timedelta, said: str) -> None:
    assert in_hours(lasted) == said

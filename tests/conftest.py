"""Fixtures for every test."""

import pytest

# Home Assistant's test configuration brings a `custom_components` package of its
# own; importing ours first is what makes the integration be found.
import custom_components  # noqa: F401
from tests.support.llm_server import llm_server  # noqa: F401 - a fixture for all

# Only imported for a home: the tests of the engine do without Home Assistant.
GUARD_LOOK = "custom_components.proactive_agent.guard.look"


@pytest.fixture(autouse=True)
def auto_enable_custom_integrations(request: pytest.FixtureRequest) -> None:
    """Let Home Assistant load the integration, where a test starts one at all."""
    if "hass" in request.fixturenames:
        request.getfixturevalue("enable_custom_integrations")


@pytest.fixture(autouse=True)
def impatient(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait no two seconds for the states of stand-ins, which never follow (A5).

    Where the wait is what a test is about, it sets the time back.
    """
    if "hass" in request.fixturenames:
        monkeypatch.setattr(f"{GUARD_LOOK}.FOLLOW_TIMEOUT", 0)

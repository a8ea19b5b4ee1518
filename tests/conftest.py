"""Fixtures for every test."""

import pytest

# Home Assistant's test configuration brings a `custom_components` package of its
# own; importing ours first is what makes the integration be found.
import custom_components  # noqa: F401
from tests.support.llm_server import llm_server  # noqa: F401 - a fixture for all


@pytest.fixture(autouse=True)
def auto_enable_custom_integrations(request: pytest.FixtureRequest) -> None:
    """Let Home Assistant load the integration, where a test starts one at all."""
    if "hass" in request.fixturenames:
        request.getfixturevalue("enable_custom_integrations")

"""Selectors whose answers the flow checks itself, so that it can name the field.

Home Assistant refuses a bad answer to a selector with a bare HTTP 400 that names no
field inside a section. Here the answers come through as they were given.
"""

from typing import Any

from homeassistant.helpers.selector import (
    ConditionSelector,
    DurationSelector,
    NumberSelector,
    TargetSelector,
)


class _AsGiven:
    """Lets an answer through as it is; goes before the selector's own class."""

    def __call__(self, data: Any) -> Any:
        """Return the answer."""
        return data


class RawConditionSelector(_AsGiven, ConditionSelector):
    """Conditions as JSON: what the original returns, no entry can store."""


class RawDurationSelector(_AsGiven, DurationSelector):
    """A duration that may be too short, or none at all."""


class RawNumberSelector(_AsGiven, NumberSelector):
    """A number that may be out of its range."""


class RawTargetSelector(_AsGiven, TargetSelector):
    """A target that may hold a template."""

"""Lets pytest-homeassistant-custom-component run on a newer Home Assistant.

Used as `-p early_home_assistant`. The test package imports httpx before Home Assistant,
which 2026.11 refuses, and looks for a function where 2026.10 had it.
"""

# The import comes first: it aliases httpx and voluptuous before anyone needs them.
import homeassistant  # noqa: F401
from homeassistant.components import logger
from homeassistant.components.logger import helpers

MOVED = "_clear_logger_overwrites"

if not hasattr(logger, MOVED):
    setattr(logger, MOVED, getattr(helpers, MOVED))

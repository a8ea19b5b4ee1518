"""Every action that Home Assistant describes becomes a schema any server takes."""

from collections.abc import Iterator, Mapping
import json
from pathlib import Path
from typing import Any

from homeassistant import components
from homeassistant.core import HomeAssistant
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.service import _load_services_file
from homeassistant.loader import Integration
import pytest
import voluptuous as vol

from custom_components.proactive_agent.tools.fields import (
    action_parameters,
    script_parameters,
)
from custom_components.proactive_agent.tools.schema import json_schema

from .support import stubs  # noqa: F401
from .support.json_schema import faults

ROOT = Path(components.__path__[0])
# Whatever an entity could support, so that no field is left out.
ABLE: dict[str, Any] = {
    "supported_features": 2**31 - 1,
    "supported_color_modes": [
        *("brightness", "color_temp", "hs", "rgb", "rgbw", "rgbww", "white", "xy")
    ],
    "min_temp": 7,
    "max_temp": 35,
    "options": ["a", "b"],
}


def described(hass: HomeAssistant) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Find the actions of every integration that comes with Home Assistant."""
    for path in sorted(ROOT.glob("*/services.yaml")):
        domain = path.parent.name
        manifest = json.loads((path.parent / "manifest.json").read_text())
        integration = Integration(hass, f"x.{domain}", path.parent, manifest, set())
        found: Any = _load_services_file(integration)
        for service, description in found.items():
            yield domain, service, description or {}


def domains_of(description: Mapping[str, Any]) -> list[str]:
    targets = cv.ensure_list((description.get("target") or {}).get("entity"))
    named = [one for target in targets for one in cv.ensure_list(target.get("domain"))]
    return named or ["light"]


async def test_every_action_has_a_plain_schema(hass: HomeAssistant) -> None:
    wrong: list[str] = []
    every_action = [*described(hass)]
    assert len(every_action) > 500
    for domain, service, description in every_action:
        targets = [f"{one}.able" for one in domains_of(description)]
        for entity_id in targets:
            hass.states.async_set(entity_id, "on", ABLE)
        fields = description.get("fields") or {}
        for parameters in (
            action_parameters(hass, domain, fields, targets=targets, actors=targets),
            script_parameters(hass, fields, actors=targets),
        ):
            schema = json_schema(parameters.schema)
            json.dumps(schema, allow_nan=False)
            wrong += [f"{domain}.{service}{one}" for one in faults(schema)]
    assert not wrong


@pytest.mark.parametrize(
    ("schema", "fault"),
    [
        ({}, "has the type None"),
        ({"type": ["string", "null"]}, "has the type"),
        ({"type": "string", "format": "date"}, "says format"),
        ({"type": "string", "enum": []}, "has the enum"),
        ({"type": "string", "enum": ["a", "a"]}, "has the enum"),
        ({"type": "string", "minimum": 1}, "in a string"),
        ({"type": "array"}, "lists what?"),
        ({"type": "array", "items": {"$ref": "x"}}, "[]: has the type"),
        ({"type": "number", "minimum": 2, "maximum": 1}, "empty range"),
        ({"type": "object", "required": ["x"]}, "requires"),
        ({"type": "object", "properties": {"x": {"type": "any"}}}, ".x: has the type"),
    ],
)
def test_a_schema_that_is_not_plain_is_found(
    schema: dict[str, Any], fault: str
) -> None:
    assert any(fault in one for one in faults(schema))


def test_words_of_converters_do_not_get_through() -> None:
    schema = vol.Schema(
        {
            vol.Required("a", default=1): vol.All(int, vol.Range(min=0)),
            vol.Optional("b"): vol.Any(None, vol.All(str, vol.Length(min=1))),
            vol.Optional("c"): vol.Match(r"^x"),
            vol.Optional("d"): [vol.Any("x", "y")],
            vol.Optional("e"): {vol.Optional("f"): vol.Email()},
            vol.Optional("g"): vol.Url(),
        }
    )
    assert [*faults(json_schema(schema))] == []

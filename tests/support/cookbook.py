"""What docs/cookbook.md says, and a home in which it can happen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
import re
from typing import Any, Final

from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.helpers import area_registry as ar, entity_registry as er
from homeassistant.setup import async_setup_component
from homeassistant.util.yaml import parse_yaml

PAGE: Final = Path(__file__).parents[2] / "docs" / "cookbook.md"
RECIPE: Final = re.compile(
    r"^## (?P<title>.+?)\n\n```yaml\n(?P<yaml>.+?)```", re.MULTILINE | re.DOTALL
)

_HOME: Final[Mapping[str, Any]] = {
    "homeassistant": {},
    "input_boolean": {"pills_taken": None, "bathroom_heater": {"initial": True}},
    "script": {
        "feed_cat": {
            "alias": "Feed the cat",
            "fields": {
                "portion": {"selector": {"select": {"options": ["small", "large"]}}}
            },
            "sequence": [{"event": "fed", "event_data": {"portion": "{{ portion }}"}}],
        }
    },
    "climate": {
        "platform": "generic_thermostat",
        "name": "Bathroom",
        "heater": "input_boolean.bathroom_heater",
        "target_sensor": "sensor.bathroom_temperature",
        "target_temp": 22,
        "initial_hvac_mode": "heat",
    },
    "template": [
        {
            "light": [
                {"name": name, "unique_id": name, "turn_on": [], "turn_off": []}
                for name in ("Kitchen", "Reading lamp")
            ],
            "switch": [
                {
                    "name": "Server plug",
                    "unique_id": "plug",
                    "turn_on": [],
                    "turn_off": [],
                }
            ],
        }
    ],
}


def recipes() -> dict[str, dict[str, Any]]:
    """Return what each heading of the page has to enter."""
    page = PAGE.read_text(encoding="utf-8")
    found: dict[str, Any] = {
        match["title"]: parse_yaml(match["yaml"]) for match in RECIPE.finditer(page)
    }
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """What happens in the home, and what comes of it.

    Everything begins as `before`; with `then` the conditions come to hold. The model
    does `calls` once, by which the owner hears `told`, and `left` is as it is after.
    """

    before: Mapping[str, str]
    then: Mapping[str, str]
    calls: tuple[tuple[str, Mapping[str, Any]], ...]
    told: str
    left: Mapping[str, str] = field(default_factory=dict)
    asked: bool = False


def telling(sentence: str) -> tuple[str, Mapping[str, Any]]:
    """Return the call that tells the owner something."""
    return "tell_owner", {"message": sentence}


STORIES: Final[Mapping[str, Story]] = {
    "The freezer door": Story(
        before={
            "binary_sensor.freezer_door": "off",
            "sensor.freezer_temperature": "-18",
        },
        then={"binary_sensor.freezer_door": "on"},
        calls=(telling("The freezer door has been open for 6 minutes, -18 inside."),),
        told="The freezer door has been open for 6 minutes, -18 inside.",
    ),
    "The laundry is done": Story(
        before={
            "sensor.washing_machine": "running",
            "binary_sensor.washing_machine_door": "off",
        },
        then={"sensor.washing_machine": "finished"},
        calls=(telling("The laundry is done."),),
        told="The laundry is done.",
    ),
    "Dry plants": Story(
        before={
            "sensor.basil_moisture": "55",
            "sensor.ficus_moisture": "30",
            "sensor.monstera_moisture": "40",
        },
        then={"sensor.basil_moisture": "22"},
        calls=(telling("The basil is dry."),),
        told="The basil is dry.",
    ),
    "A window open while heating": Story(
        before={"binary_sensor.bathroom_window": "off"},
        then={"binary_sensor.bathroom_window": "on"},
        calls=(
            (
                "climate_set_hvac_mode",
                {"entity_id": ["climate.bathroom"], "hvac_mode": "off"},
            ),
            telling("The heating is off, a window is open at 18 degrees."),
        ),
        told="The heating is off, a window is open at 18 degrees.",
        left={"climate.bathroom": "off"},
    ),
    "The cat's bowl": Story(
        before={"sensor.cat_bowl": "60"},
        then={"sensor.cat_bowl": "4"},
        calls=(("feed_cat", {"portion": "small"}), telling("Milonga got a portion.")),
        told="Milonga got a portion.",
    ),
    "Unusual energy use": Story(
        before={
            "sensor.house_power": "1900",
            "zone.home": "2",
            "sensor.oven_power": "0",
            "sensor.iron_power": "1700",
            "sensor.boiler_power": "0",
        },
        then={"zone.home": "0"},
        calls=(telling("The iron is on, with 1700 W."),),
        told="The iron is on, with 1700 W.",
    ),
    "Forgotten lights": Story(
        before={"zone.home": "1"},
        then={"zone.home": "0"},
        calls=(
            ("light_turn_off", {"entity_id": ["light.kitchen", "light.reading_lamp"]}),
            telling("Kitchen and reading lamp were still on."),
        ),
        told="Kitchen and reading lamp were still on.",
        left={"light.kitchen": "off", "light.reading_lamp": "off"},
    ),
    "Medication": Story(
        before={"input_boolean.pills_taken": "on"},
        then={"input_boolean.pills_taken": "off"},
        calls=(telling("The morning pills are still to be taken."),),
        told="The morning pills are still to be taken.",
    ),
    "A stuck delivery": Story(
        before={"sensor.parcel": "delivered"},
        then={"sensor.parcel": "in_transit"},
        calls=(telling("The parcel has not moved for two days; call the carrier."),),
        told="The parcel has not moved for two days; call the carrier.",
    ),
    "A server that drops out": Story(
        before={"sensor.server_drops": "0", "binary_sensor.server": "on"},
        then={"sensor.server_drops": "5", "binary_sensor.server": "off"},
        calls=(
            (
                "switch_turn_off",
                {
                    "entity_id": ["switch.server_plug"],
                    "because": "It has dropped out five times.",
                },
            ),
        ),
        told="Server asks for your yes",
        left={"switch.server_plug": "on"},
        asked=True,
    ),
}


@callback
def async_track_fed(hass: HomeAssistant) -> None:
    """Fill the bowl when the feeder has run."""

    @callback
    def fill(_event: Event) -> None:
        hass.states.async_set("sensor.cat_bowl", "70")

    hass.bus.async_listen("fed", fill)


async def async_make_home(hass: HomeAssistant) -> None:
    """Set up what is acted on; what is only looked at are states."""
    await hass.config.async_set_time_zone("UTC")
    hass.states.async_set("sensor.bathroom_temperature", "18")
    async_track_fed(hass)
    for domain, config in _HOME.items():
        assert await async_setup_component(hass, domain, {domain: config})
        await hass.async_block_till_done()
    entities = er.async_get(hass)
    for room, light in (("Kitchen", "kitchen"), ("Living room", "reading_lamp")):
        area = ar.async_get(hass).async_create(room)
        entities.async_update_entity(f"light.{light}", area_id=area.id)
    for entity_id in ("light.kitchen", "light.reading_lamp", "switch.server_plug"):
        await hass.services.async_call(
            "homeassistant", "turn_on", {"entity_id": entity_id}, blocking=True
        )

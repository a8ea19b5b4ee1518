"""A small home of real entities: template devices, helpers, scripts, groups."""

from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    entity_registry as er,
    label_registry as lr,
)
from homeassistant.setup import async_setup_component

from custom_components.proactive_agent.models import HeartbeatOptions

from . import stubs  # noqa: F401

type Target = dict[str, str | list[str] | dict[str, list[str]]]


def _switchlike(name: str, helper: str) -> dict[str, object]:
    return {
        "name": name,
        "unique_id": name.lower().replace(" ", "_"),
        "turn_on": _set(helper, "on"),
        "turn_off": _set(helper, "off"),
    }


def _set(helper: str, state: str) -> dict[str, object]:
    return {
        "action": f"input_boolean.turn_{state}",
        "target": {"entity_id": f"input_boolean.{helper}"},
    }


def _is_on(helper: str) -> str:
    return f"{{{{ is_state('input_boolean.{helper}', 'on') }}}}"


def _cover(name: str, device_class: str) -> dict[str, object]:
    return {
        "name": name,
        "unique_id": name.lower(),
        "device_class": device_class,
        "state": "{{ states('input_boolean.flag') }}",
        "open_cover": _set("flag", "on"),
        "close_cover": _set("flag", "off"),
    }


TEMPLATE = [
    {
        "light": [
            {**_switchlike("Lamp", "lamp"), "state": _is_on("lamp")},
            {
                **_switchlike("Dimmer", "dimmer"),
                "state": _is_on("dimmer"),
                "level": "{{ states('input_number.level') | int }}",
                "set_level": {
                    "action": "input_number.set_value",
                    "target": {"entity_id": "input_number.level"},
                    "data": {"value": "{{ brightness }}"},
                },
            },
        ],
        "switch": [{**_switchlike("Plug", "plug"), "state": _is_on("plug")}],
        "lock": [
            {
                "name": "Front",
                "unique_id": "front",
                "state": "{{ states('input_text.lock') }}",
                "lock": [],
                "unlock": [],
                "open": [],
            }
        ],
        "cover": [_cover("Blind", "blind"), _cover("Garage", "garage")],
        "sensor": [
            {
                "name": "Outside",
                "unique_id": "outside",
                "state": "{{ 21.5 }}",
                "unit_of_measurement": "°C",
                "device_class": "temperature",
            }
        ],
    }
]

SCRIPTS = {
    "feed": {
        "alias": "Feed",
        "description": "Give the pet something to eat.",
        "fields": {
            "food": {
                "description": "What it gets",
                "required": True,
                "selector": {"select": {"options": ["meal", "snack"]}},
            },
            "portions": {"selector": {"number": {"min": 1, "max": 3}}},
        },
        "sequence": [
            {"event": "fed", "event_data": {"food": "{{ food }}"}},
            {"variables": {"answer": {"eaten": "{{ food }}"}}},
            {"stop": "done", "response_variable": "answer"},
        ],
    },
    "get_state": {"alias": "Trickster", "sequence": []},
    "light_turn_on": {"alias": "Copycat", "sequence": []},
    "point": {
        "alias": "Point",
        "fields": {
            "lamp": {"selector": {"entity": {"domain": ["light", "lock"]}}},
            "lamps": {"selector": {"entity": {"multiple": True}}},
            "note": {"description": "Anything"},
        },
        "sequence": [{"event": "pointed"}],
    },
    "aim": {
        "alias": "Aim",
        "fields": {"where": {"selector": {"target": {}}}},
        "sequence": [{"event": "aimed"}],
    },
    "rendered": {
        "alias": "Rendered",
        "fields": {"text": {"selector": {"template": {}}}},
        "sequence": [{"event": "rendered"}],
    },
    "run_it": {
        "alias": "Run it",
        "fields": {"what": {"selector": {"action": {}}}},
        "sequence": [{"event": "run"}],
    },
    "valve": {
        "alias": "Valve",
        "sequence": [
            {"action": "test.open_valve"},
            {"action": "test.wait"},
            {"action": "test.close_valve"},
        ],
    },
    "unchosen": {"alias": "Unchosen", "sequence": [{"event": "unchosen"}]},
}


async def async_make_home(hass: HomeAssistant) -> None:
    """Set everything up and put it into the area `kitchen`."""
    ar.async_get(hass).async_create("Kitchen")
    lr.async_get(hass).async_create("Careful")
    for domain, config in (
        ("homeassistant", {}),
        (
            "input_boolean",
            dict.fromkeys(("lamp", "dimmer", "plug", "flag")),
        ),
        ("input_number", {"level": {"min": 0, "max": 255, "initial": 0}}),
        ("input_text", {"lock": {"initial": "locked"}}),
        (
            "input_select",
            {"mood": {"options": ["calm", "wild"], "initial": "calm"}},
        ),
        ("input_button", {"bell": None}),
        (
            "group",
            {
                "downstairs": {"entities": ["light.lamp", "lock.front"]},
                "loop_a": {"entities": ["group.loop_b", "light.lamp"]},
                "loop_b": {"entities": ["group.loop_a", "switch.plug"]},
            },
        ),
        (
            "light",
            {
                "platform": "group",
                "name": "All lamps",
                "unique_id": "all_lamps",
                "entities": ["light.lamp", "light.dimmer"],
            },
        ),
        (
            "lock",
            {
                "platform": "group",
                "name": "All locks",
                "unique_id": "all_locks",
                "entities": ["lock.front"],
            },
        ),
        (
            "cover",
            {
                "platform": "group",
                "name": "All covers",
                "unique_id": "all_covers",
                "entities": ["cover.blind", "cover.garage"],
            },
        ),
        ("template", TEMPLATE),
        ("script", SCRIPTS),
        (
            "scene",
            [{"name": "Evening", "id": "evening", "entities": {"light.lamp": "on"}}],
        ),
    ):
        assert await async_setup_component(hass, domain, {domain: config})
    await hass.async_block_till_done()
    registry = er.async_get(hass)
    for entity_id in [*registry.entities]:
        registry.async_update_entity(entity_id, area_id="kitchen")


def options(
    *,
    look: Target | None = None,
    act: Target | None = None,
    ask: Target | None = None,
) -> HeartbeatOptions:
    """Return a heartbeat with these lists."""
    return HeartbeatOptions(
        title="Milonga",
        check_prompt="Look after Milonga.",
        look=look or {},
        act=act or {},
        ask=ask or {},
    )


def entities(*entity_ids: str) -> Target:
    """Return a target that names entities."""
    return {"entity_id": [*entity_ids]}

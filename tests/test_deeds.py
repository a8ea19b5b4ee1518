"""What was done, in the words of the activity page (A8)."""

from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
import pytest

from custom_components.proactive_agent.engine.records import ActionRecord, ActionStatus
from custom_components.proactive_agent.telling import deeds
from custom_components.proactive_agent.texts import Texts

pytestmark = pytest.mark.contract("A8")


def _done(name: str, *entity_ids: str) -> ActionRecord:
    return ActionRecord(
        action=name, entity_id=entity_ids, data={}, status=ActionStatus.DONE
    )


@pytest.fixture(autouse=True)
async def house(hass: HomeAssistant) -> None:
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, "climate", {})
    for entity_id, name in (
        ("light.lamp", "Lamp"),
        ("light.spot", "Spot"),
        ("script.feed", "Feed Milonga"),
        ("scene.night", "Night"),
        ("cover.blind", "Blind"),
        ("climate.bath", "Bath"),
        ("lock.front", "<b>Front</b> door"),
        ("todo.shopping", "Shopping"),
    ):
        hass.states.async_set(entity_id, "on", {"friendly_name": name})


@pytest.mark.parametrize(
    ("actions", "said"),
    [
        ([], ""),
        ([_done("light.turn_off", "light.lamp")], "turned off Lamp"),
        (
            [_done("light.turn_off", "light.lamp", "light.spot")],
            "turned off Lamp, Spot",
        ),
        (
            [
                _done("light.turn_off", "light.lamp"),
                _done("script.feed", "script.feed"),
                _done("light.turn_off", "light.spot"),
            ],
            "turned off Lamp, Spot and ran Feed Milonga",
        ),
        ([_done("scene.turn_on", "scene.night")], "activated Night"),
        ([_done("cover.open_cover", "cover.blind")], "opened Blind"),
        ([_done("cover.set_cover_position", "cover.blind")], "set Blind"),
        ([_done("climate.set_temperature", "climate.bath")], "set Bath"),
        ([_done("lock.unlock", "lock.front")], "unlocked Front door"),
        ([_done("todo.add_item", "todo.shopping")], "added something to Shopping"),
        ([_done("lock.made_up", "lock.gone")], "did this: lock.made_up (lock.gone)"),
        ([_done("climate.turn_on")], "did this: Turn on thermostat"),
        (
            [
                _done("light.turn_on", "light.lamp"),
                _done("cover.close_cover", "cover.blind"),
                _done("lock.lock", "lock.front"),
                _done("script.feed", "script.feed"),
            ],
            "turned on Lamp and closed Blind and locked Front door and 1 more",
        ),
    ],
)
async def test_what_was_done_is_said_by_its_names(
    hass: HomeAssistant, actions: list[ActionRecord], said: str
) -> None:
    texts = await Texts.async_load(hass, tuple(actions))

    assert deeds.in_words(texts, actions) == said


@pytest.mark.parametrize(
    "service",
    [
        *("close_cover", "close_valve", "create_event", "decrement", "increment"),
        *("lock", "media_pause", "media_play", "media_stop", "open", "pause"),
        *("press", "start", "stop_cover", "turn_off", "turn_on", "unlock"),
        *("select_option", "volume_set", "set_value", "return_to_base"),
    ],
)
async def test_no_deed_is_without_a_sentence_or_too_long(
    hass: HomeAssistant, service: str
) -> None:
    many = [
        _done(f"light.{service}", f"light.{'x' * 60}_{number}") for number in range(9)
    ]
    texts = await Texts.async_load(hass, tuple(many))

    said = deeds.in_words(texts, many)

    assert said
    assert len(said) <= 255

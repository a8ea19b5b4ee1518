"""An open freezer gets warmer and warmer, and its owner knows (S4, G4)."""

from datetime import timedelta

from homeassistant.core import HomeAssistant
import pytest

from custom_components.proactive_agent.engine.prompt import TOLD
from tests.support.heartbeats import Beat, Home, clock, home
from tests.support.llm_server import calls, llm_server, text

__all__ = ["clock", "home", "llm_server"]

DOOR, FREEZER = "binary_sensor.door", "sensor.freezer"
TEN_MINUTES = timedelta(minutes=10)
OPEN = {"condition": "state", "entity_id": DOOR, "state": "on"}
CELSIUS = {"unit_of_measurement": "°C", "device_class": "temperature"}
TELL = ("tell_owner", {"message": 'The "door" is open.'})


@pytest.fixture
async def beat(hass: HomeAssistant, home: Home) -> Beat:
    """Open the door, and add a heartbeat that looks at it."""
    hass.states.async_set(DOOR, "on")
    hass.states.async_set(FREEZER, "-16", CELSIUS)
    return await home.add_heartbeat(
        conditions=[OPEN],
        look={"entity_id": [DOOR, FREEZER]},
        interval={"minutes": 10},
    )


def opening(home: Home) -> str:
    """Return what the last run was asked first."""
    content: str = home.llm_server.chats[-1]["messages"][1]["content"]
    return content


async def tick(home: Home, freezer: float, *answers: object) -> bool:
    """Let one tick come at this temperature; says whether the model was called."""
    home.hass.states.async_set(FREEZER, str(freezer), CELSIUS)
    home.llm_server.play(*answers)
    before = len(home.llm_server.chats)
    await home.clock.tick(every=TEN_MINUTES)
    return len(home.llm_server.chats) > before


@pytest.mark.contract("S4", "R1")
async def test_the_next_run_knows_what_was_told(home: Home, beat: Beat) -> None:
    assert await tick(home, -16.0, calls(TELL), text("Told."))
    assert TOLD not in opening(home)
    assert await tick(home, -14.0, text("Known."))
    assert opening(home).endswith(f'{TOLD}\n- 10 min ago: "The \\"door\\" is open."')
    assert home.told == ['The "door" is open.']


@pytest.mark.contract("S4", "G4")
async def test_a_door_that_was_closed_is_news(home: Home, beat: Beat) -> None:
    assert await tick(home, -16.0, calls(TELL), text("Told."))
    home.hass.states.async_set(DOOR, "off")
    await home.settled()
    home.hass.states.async_set(DOOR, "on")
    assert await tick(home, -14.0, calls(TELL), text("Told."))
    assert TOLD not in opening(home)
    assert len(home.told) == 2


@pytest.mark.contract("S4")
async def test_what_was_told_long_ago_stands_nowhere(home: Home, beat: Beat) -> None:
    assert await tick(home, -16.0, calls(TELL), text("Told."))
    home.llm_server.play(text("Fine."))
    await home.clock.tick(36, every=TEN_MINUTES)
    assert TOLD not in opening(home)


@pytest.mark.contract("G4", "S4")
async def test_a_number_that_goes_on_moving_is_looked_at_and_told_once(
    home: Home, beat: Beat
) -> None:
    known = [text("Known.")] * 4
    assert await tick(home, -16.0, calls(TELL), text("Told."), *known)
    assert [await tick(home, -16.0 + number) for number in range(1, 5)] == [True] * 4
    assert len(home.told) == 1

"""The back-off while nothing changes, and what survives a restart (G4, C6)."""

from datetime import timedelta
from typing import Any

from homeassistant.const import EVENT_STATE_CHANGED
import pytest

from .support.heartbeats import HUNGRY, Beat, Home, clock, home
from .support.llm_server import Held, calls, llm_server, text
from .support.restarts import on_disk, restart

__all__ = ["clock", "home", "llm_server"]

pytestmark = pytest.mark.contract("G4")

DOOR = "binary_sensor.door"
COLD = "sensor.cold"
OPEN = {"condition": "state", "entity_id": DOOR, "state": "on"}
WARM = {"condition": "numeric_state", "entity_id": COLD, "above": -15}
CELSIUS = {"unit_of_measurement": "°C", "device_class": "temperature"}
SPEAKS = calls(("tell_owner", {"message": "Look."}))


def door(home: Home, state: str) -> None:
    home.hass.states.async_set(DOOR, state)


def cold(home: Home, state: str, **attributes: Any) -> None:
    home.hass.states.async_set(COLD, state, attributes or CELSIUS)


def chats(home: Home) -> int:
    return len(home.llm_server.chats)


@pytest.fixture
async def beat(home: Home) -> Beat:
    """A heartbeat that looks after a door, and has looked at it once."""
    home.llm_server.always = text("I see.")
    door(home, "on")
    cold(home, "-10.0")
    beat = await home.add_heartbeat(conditions=[OPEN], look={"entity_id": [COLD]})
    await home.clock.tick()
    assert chats(home) == 1
    return beat


@pytest.mark.parametrize("silence", ["unavailable", "unknown", None])
@pytest.mark.parametrize("entity_id", [DOOR, COLD])
async def test_going_silent_and_coming_back_is_no_change(
    home: Home, beat: Beat, silence: str | None, entity_id: str
) -> None:
    before = home.hass.states.get(entity_id)
    assert before is not None
    if silence is None:
        home.hass.states.async_remove(entity_id)
    else:
        home.hass.states.async_set(entity_id, silence)
    await home.clock.tick(3)
    home.hass.states.async_set(entity_id, before.state, before.attributes)
    await home.clock.tick(3)
    assert chats(home) == 1


async def test_coming_back_as_another_is_a_change(home: Home, beat: Beat) -> None:
    cold(home, "unavailable")
    await home.clock.tick()
    cold(home, "-5.0")
    await home.clock.tick()
    assert chats(home) == 2


async def test_the_last_word_counts_also_after_a_run_in_the_silence(
    home: Home, beat: Beat
) -> None:
    cold(home, "unavailable")
    await beat.wake()
    assert chats(home) == 2
    cold(home, "-10.1")
    await home.clock.tick(2)
    assert chats(home) == 2


async def test_a_first_word_is_a_change(home: Home) -> None:
    home.llm_server.always = text("I see.")
    door(home, "on")
    cold(home, "unavailable")
    await home.add_heartbeat(conditions=[OPEN], look={"entity_id": [COLD]})
    await home.clock.tick(3)
    assert chats(home) == 1
    cold(home, "-10.0")
    await home.clock.tick(3)
    assert chats(home) == 2


async def test_with_all_it_sees_silent_it_does_not_wake_at_each_tick(
    home: Home,
) -> None:
    home.llm_server.always = text("I see.")
    cold(home, "unavailable")
    await home.add_heartbeat(look={"entity_id": [COLD, "light.missing"]})
    await home.clock.tick(4)
    assert chats(home) == 1


async def test_a_door_that_was_closed_and_is_open_again_is_a_new_incident(
    home: Home, beat: Beat
) -> None:
    await home.clock.tick(2)
    door(home, "off")
    door(home, "on")
    await home.clock.tick()
    assert chats(home) == 2
    await home.clock.tick(3)
    assert chats(home) == 2


async def test_what_moves_during_a_run_is_news_after_it(home: Home, beat: Beat) -> None:
    def answer(_request: Any) -> Any:
        if chats(home) == 2:
            door(home, "off")
            door(home, "on")
        return text("I see.")

    home.llm_server.always = answer
    await beat.wake()
    await home.clock.tick()
    assert chats(home) == 3
    await home.clock.tick(2)
    assert chats(home) == 3


async def test_a_number_that_comes_back_is_no_new_incident(home: Home) -> None:
    home.llm_server.always = text("I see.")
    cold(home, "-10.0")
    await home.add_heartbeat(conditions=[WARM])
    await home.clock.tick()
    cold(home, "-18.0")
    cold(home, "-10.1")
    await home.clock.tick()
    assert chats(home) == 1


async def test_what_only_moves_where_it_looks_is_no_new_incident(home: Home) -> None:
    home.llm_server.always = text("I see.")
    door(home, "on")
    await home.add_heartbeat(look={"entity_id": [DOOR]})
    await home.clock.tick()
    door(home, "off")
    door(home, "on")
    await home.clock.tick()
    assert chats(home) == 1


@pytest.mark.parametrize(
    "values",
    [
        ("-15.0", "-14.9"),  # to and fro over the gate's own threshold
        ("-14.96", "-14.94"),  # at the border of two roundings
        ("-14.5", "-14.4"),
    ],
)
async def test_a_temperature_that_trembles_is_no_change(
    home: Home, values: tuple[str, str]
) -> None:
    home.llm_server.always = text("I see.")
    cold(home, values[1])
    await home.add_heartbeat(conditions=[WARM])
    await home.clock.tick()
    for _ in range(6):
        for value in values:
            cold(home, value)
            await home.clock.tick()
    assert chats(home) == 1
    cold(home, "-10.0")
    await home.clock.tick()
    assert chats(home) == 2


async def test_a_small_range_of_another_kind_is_seen(home: Home) -> None:
    home.llm_server.always = text("I see.")
    cold(home, "0.20", unit_of_measurement="bar")
    await home.add_heartbeat(look={"entity_id": [COLD]})
    await home.clock.tick()
    cold(home, "0.21", unit_of_measurement="bar")
    await home.clock.tick()
    assert chats(home) == 1
    cold(home, "0.31", unit_of_measurement="bar")
    await home.clock.tick()
    assert chats(home) == 2


@pytest.mark.contract("C6")
@pytest.mark.parametrize("way", ["order", "kill"])
async def test_a_restart_wakes_nothing_where_nothing_has_changed(
    home: Home, beat: Beat, hass_storage: dict[str, Any], way: str
) -> None:
    await home.clock.tick(every=timedelta(milliseconds=1))
    left = on_disk(home, hass_storage) if way == "kill" else None
    for _ in range(3):
        await restart(home, hass_storage, left=left, late=[DOOR, COLD])
        await home.clock.tick(every=timedelta(seconds=90))
        door(home, "unavailable")
        cold(home, "unknown")
        await home.clock.tick()
        door(home, "on")
        cold(home, "-10.1")
        await home.clock.tick(2)
        assert chats(home) == 1
    door(home, "off")
    door(home, "on")
    await home.clock.tick()
    assert chats(home) == 2


@pytest.mark.contract("C6")
async def test_what_an_entity_says_while_it_comes_up_has_not_happened(
    home: Home, beat: Beat
) -> None:
    await restart(home, late=[DOOR])
    await home.clock.tick(every=timedelta(seconds=20))
    door(home, "off")
    await home.clock.tick(every=timedelta(seconds=20))
    door(home, "on")
    await home.clock.tick(every=timedelta(seconds=60))
    await home.clock.tick(2)
    assert chats(home) == 1


@pytest.mark.contract("C6")
@pytest.mark.parametrize(
    ("says", "at", "wakes"),
    [
        pytest.param([], 12, 2, id="back since the start"),
        pytest.param([], 5, 1, id="perhaps only restored"),
        pytest.param([(3, "on")], 30, 2, id="back soon after it"),
        pytest.param([(3, "off"), (9, "on")], 15, 1, id="a default between"),
        pytest.param([(9, "on"), (12, "off"), (15, "on")], 35, 2, id="back in the end"),
        pytest.param([(2, "unavailable"), (20, "on")], 25, 1, id="back for a moment"),
    ],
)
async def test_a_door_that_moves_as_soon_as_it_is_back_is_a_new_incident(
    home: Home, beat: Beat, says: list[tuple[int, str]], at: int, wakes: int
) -> None:
    is_late = bool(says) and says[0][1] != "unavailable"
    await restart(home, late=[DOOR] if is_late else [])
    passed = 0
    for second, state in (*says, (at, "off"), (at + 2, "on")):
        await home.clock.tick(every=timedelta(seconds=second - passed))
        passed = second
        door(home, state)
    await home.settled()
    await home.clock.tick(every=timedelta(seconds=60))
    await home.clock.tick(2)
    assert chats(home) == wakes


@pytest.mark.contract("C6")
async def test_what_moved_before_a_process_was_killed_is_news_after_it(
    home: Home, beat: Beat, hass_storage: dict[str, Any]
) -> None:
    await home.clock.tick(every=timedelta(seconds=20))
    door(home, "off")
    await home.clock.tick(every=timedelta(milliseconds=1))
    left = on_disk(home, hass_storage)
    door(home, "on")
    await restart(home, hass_storage, left=left)
    await home.clock.tick()
    assert chats(home) == 2


@pytest.mark.contract("C6")
async def test_what_changed_while_it_was_off_is_seen_after_it(
    home: Home, beat: Beat
) -> None:
    await restart(home, late=[COLD])
    cold(home, "5.0")
    await home.clock.tick(every=timedelta(minutes=5))
    await home.clock.tick(2)
    assert chats(home) == 2


@pytest.mark.contract("C6")
async def test_what_moved_before_a_restart_is_news_after_it(
    home: Home, beat: Beat
) -> None:
    door(home, "off")
    door(home, "on")
    await restart(home)
    await home.clock.tick()
    assert chats(home) == 2


@pytest.mark.contract("C6")
@pytest.mark.parametrize(("closed_ticks", "wakes"), [(1, 1), (2, 2)])
async def test_how_long_the_gate_was_closed_survives_a_restart(
    home: Home, closed_ticks: int, wakes: int
) -> None:
    home.llm_server.always = text("I see.")
    cold(home, "-10.0")
    await home.add_heartbeat(conditions=[WARM], manners={"settle_for": {"minutes": 20}})
    await home.clock.tick()
    cold(home, "-18.0")
    await home.clock.tick(closed_ticks)
    home.clock.turn(timedelta(minutes=10))
    # What nobody could judge is not closed, however long it was.
    await restart(home, off_for=timedelta(hours=1))
    cold(home, "-10.0")
    await home.clock.tick(2)
    assert chats(home) == wakes


@pytest.mark.contract("C4")
async def test_a_gate_entity_that_moves_leaves_one_mark_for_all_its_moves(
    home: Home,
    beat: Beat,
    hass_storage: dict[str, Any],
    caplog: pytest.LogCaptureFixture,
) -> None:
    await home.clock.tick(every=timedelta(seconds=20))
    before = on_disk(home, hass_storage)
    writes: list[Any] = []
    events: list[Any] = []
    home.hass.bus.async_listen("*", events.append)
    caplog.clear()
    for _ in range(3):
        door(home, "off")
        await home.clock.tick(every=timedelta(seconds=20))
        door(home, "on")
        await home.settled()
        writes.append(on_disk(home, hass_storage))
    assert {event.event_type for event in events} == {EVENT_STATE_CHANGED}
    assert writes == [writes[0]] * 3
    before["data"]["heartbeats"][beat.id]["shown"]["has_moved"] = True
    before["data"]["saved"] = writes[0]["data"]["saved"]
    before["data"]["ended_runs"] = {}  # the log has them by then
    assert writes[0] == before
    assert not [one for one in caplog.records if "proactive_agent" in one.name]


async def test_it_listens_to_its_gate_while_there_is_something_to_compare(
    home: Home,
) -> None:
    def listening() -> int:
        return home.hass.bus.async_listeners().get(EVENT_STATE_CHANGED, 0)

    home.llm_server.always = text("I see.")
    door(home, "on")
    await home.add_heartbeat(conditions=[OPEN], counted=False)
    assert await home.hass.config_entries.async_unload(home.entry.entry_id)
    before = listening()
    assert await home.hass.config_entries.async_setup(home.entry.entry_id)
    await home.settled()
    idle = listening()
    await home.clock.tick()
    assert chats(home) == 1
    assert listening() > idle
    assert await home.hass.config_entries.async_unload(home.entry.entry_id)
    assert listening() == before


async def test_an_option_or_the_switch_makes_it_news(home: Home, beat: Beat) -> None:
    await beat.change(check_prompt="Look again.")
    await home.clock.tick(2)
    assert chats(home) == 2
    await beat.turn("off")
    await beat.turn("on")
    await home.clock.tick(2)
    assert chats(home) == 3


@pytest.mark.contract("S4")
async def test_a_new_incident_is_told_again(home: Home) -> None:
    home.llm_server.always = lambda request: (
        text("Told.") if request["messages"][-1]["role"] == "tool" else SPEAKS
    )
    door(home, "on")
    await home.add_heartbeat(conditions=[OPEN])
    await home.clock.tick(3)
    assert home.told == ["Look."]
    door(home, "off")
    door(home, "on")
    await home.clock.tick(3)
    assert home.told == ["Look.", "Look."]


@pytest.mark.contract("C6", "S4")
@pytest.mark.parametrize("way", ["order", "kill"])
async def test_what_was_said_is_not_said_again_after_a_restart(
    home: Home, hass_storage: dict[str, Any], way: str
) -> None:
    held = Held(text("Told."))
    home.llm_server.play(SPEAKS, held, SPEAKS, text("Told."))
    await home.set("hungry", on=True)
    beat = await home.add_heartbeat(conditions=[HUNGRY])
    home.clock.turn(timedelta(minutes=15))
    await held.reached.wait()
    await home.clock.tick_beside(every=timedelta(milliseconds=1))
    held.release.set()
    await home.settled()
    await home.clock.tick(every=timedelta(milliseconds=1))
    left = on_disk(home, hass_storage) if way == "kill" else None
    await restart(home, hass_storage, left=left)
    record = await beat.wake()
    assert record["message"] is None
    assert home.told == ["Look."]

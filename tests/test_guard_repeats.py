"""What did not help is not done again, and its owner hears of it once (A7)."""

from datetime import timedelta
from typing import Any

from homeassistant.const import EVENT_STATE_CHANGED
from homeassistant.core import HomeAssistant, ServiceCall, callback
from homeassistant.setup import async_setup_component
import pytest

from custom_components.proactive_agent.guard.past_actions import PastActions

from .support import stubs  # noqa: F401
from .support.heartbeats import FEED, Beat, Home, clock, home
from .support.llm_server import calls, text
from .support.restarts import restart

__all__ = ["clock", "home"]

pytestmark = pytest.mark.contract("A7")

HUNGER = "sensor.hunger"
MEAL = ("feed", {"food": "meal"})
DID_NOT_HELP = "It did not help, and was not repeated: Feed."


@pytest.fixture
async def beat(home: Home) -> Beat:
    """A heartbeat that sees how hungry the pet is and may feed it."""
    home.hass.states.async_set(HUNGER, "1.0")
    return await home.add_heartbeat(
        act=FEED, look={"entity_id": [HUNGER]}, interval={"days": 1}
    )


async def _wake(home: Home, beat: Beat, *answers: Any, **data: Any) -> dict[str, Any]:
    home.llm_server.play(*(answers or (calls(MEAL),)), text("Done."))
    record = await beat.wake(**data)
    await home.settled()
    assert home.llm_server.unplayed == 0
    return record


async def _fed(home: Home) -> int:
    await home.hass.async_block_till_done()
    return len(home.fired("fed"))


async def test_it_is_not_repeated_and_the_model_and_the_owner_are_told(
    home: Home, beat: Beat
) -> None:
    await _wake(home, beat)
    assert home.told == ["Done: Feed."]
    home.clock.turn(timedelta(hours=2))
    record = await _wake(home, beat)
    assert await _fed(home) == 1
    (call,) = record["calls"]
    assert call["error"]
    assert call["answer"] == (
        "It was done 2 h ago and nothing has changed since; not repeated."
    )
    assert record["actions"] == []
    assert record["outcome"] == "spoke"
    assert record["message"] == DID_NOT_HELP
    assert home.told == ["Done: Feed.", DID_NOT_HELP]


@pytest.mark.contract("S1")
async def test_the_owner_hears_of_it_once(home: Home, beat: Beat) -> None:
    for _ in range(3):
        await _wake(home, beat)
    record = await _wake(home, beat)
    assert await _fed(home) == 1
    assert home.told == ["Done: Feed.", DID_NOT_HELP]
    assert record["outcome"] == "nothing"
    assert record["message"] is None


@pytest.mark.contract("S1", "S2")
async def test_it_is_added_to_what_the_model_says(home: Home, beat: Beat) -> None:
    await _wake(home, beat)
    await _wake(home, beat, calls(MEAL, ("tell_owner", {"message": "Still hungry."})))
    assert home.told[-1] == f"Still hungry. {DID_NOT_HELP}"
    assert len(home.told) == 2


async def test_after_recheck_after_it_may_be_tried_again(
    home: Home, beat: Beat
) -> None:
    await _wake(home, beat)
    home.clock.turn(timedelta(hours=6))
    record = await _wake(home, beat)
    assert await _fed(home) == 2
    assert record["outcome"] == "acted"


async def test_with_another_recheck_after(home: Home, beat: Beat) -> None:
    await beat.change(manners={"recheck_after": {"minutes": 10}})
    await _wake(home, beat)
    home.clock.turn(timedelta(minutes=9))
    await _wake(home, beat)
    assert await _fed(home) == 1
    home.clock.turn(timedelta(minutes=1))
    await _wake(home, beat)
    assert await _fed(home) == 2


@pytest.mark.parametrize(
    ("states", "times"),
    [
        (["3.0"], 2),
        (["3.0", "1.0"], 2),
        (["1.1"], 1),
        (["unavailable", "1.0"], 1),
        (["unknown", "unavailable"], 1),
    ],
)
async def test_what_changed_since_is_reason_to_do_it_again(
    home: Home, beat: Beat, states: list[str], times: int
) -> None:
    await _wake(home, beat)
    for state in states:
        home.hass.states.async_set(HUNGER, state)
        await home.hass.async_block_till_done()
    await _wake(home, beat)
    assert await _fed(home) == times


async def test_what_changed_by_it_at_once_is_reason_to_do_it_again(
    home: Home, beat: Beat
) -> None:
    levels = iter(["2.0", "3.0", "4.0"])

    @callback
    def eat(_: Any) -> None:
        home.hass.states.async_set(HUNGER, next(levels))

    home.hass.bus.async_listen("fed", eat)
    for _ in range(3):
        await _wake(home, beat)
    assert await _fed(home) == 3
    assert home.told == ["Done: Feed."] * 3


async def test_another_action_is_no_repetition(home: Home, beat: Beat) -> None:
    await _wake(home, beat)
    record = await _wake(home, beat, calls(("feed", {"food": "snack"})))
    assert await _fed(home) == 2
    assert record["outcome"] == "acted"


async def test_in_one_run_the_model_is_told_but_the_owner_is_not(
    home: Home, beat: Beat
) -> None:
    record = await _wake(home, beat, calls(MEAL), calls(MEAL))
    assert await _fed(home) == 1
    assert [call["error"] for call in record["calls"]] == [False, True]
    assert home.told == ["Done: Feed."]


@pytest.mark.contract("A9")
async def test_a_dry_run_remembers_nothing_and_tells_nobody(
    home: Home, beat: Beat
) -> None:
    await _wake(home, beat, dry_run=True)
    record = await _wake(home, beat)
    assert record["outcome"] == "acted"
    record = await _wake(home, beat, dry_run=True)
    assert record["calls"][0]["error"]
    assert home.told == ["Done: Feed."]
    await _wake(home, beat)
    assert home.told == ["Done: Feed.", DID_NOT_HELP]


@pytest.mark.contract("C7", "F6")
@pytest.mark.parametrize("way", ["options", "switch"])
async def test_a_new_beginning_forgets(home: Home, beat: Beat, way: str) -> None:
    await _wake(home, beat)
    match way:
        case "options":
            await beat.change(check_prompt="Feed her again.")
        case "switch":
            await beat.turn("off")
            await beat.turn("on")
    await _wake(home, beat)
    assert await _fed(home) == 2


@pytest.mark.contract("C6")
@pytest.mark.parametrize("has_changed", [False, True])
async def test_a_restart_does_not_forget(
    home: Home, beat: Beat, has_changed: bool
) -> None:
    await _wake(home, beat)
    await restart(home, late=[HUNGER])
    home.hass.states.async_set(HUNGER, "3.0" if has_changed else "1.0")
    await _wake(home, beat)
    assert await _fed(home) == 1 + has_changed


@pytest.mark.contract("G4")
@pytest.mark.parametrize(("settle_for", "times"), [(1, 2), (24, 1)])
async def test_a_gate_that_was_closed_for_long_makes_it_news(
    home: Home, settle_for: int, times: int
) -> None:
    home.clock.freezer.move_to("2026-11-30 09:00:00+00:00")
    await home.hass.config.async_set_time_zone("UTC")
    await home.add_heartbeat(
        act=FEED,
        interval={"hours": 6},
        conditions=[{"condition": "time", "after": "08:00", "before": "20:00"}],
        manners={"recheck_after": {"days": 2}, "settle_for": {"hours": settle_for}},
    )
    home.llm_server.play(calls(MEAL), text("Done."), calls(MEAL), text("Done."))
    await home.clock.tick(4, every=timedelta(hours=6))
    assert home.llm_server.unplayed == 0
    assert await _fed(home) == times


@pytest.mark.contract("G4")
async def test_two_heartbeats_have_each_their_own_memory(
    home: Home, beat: Beat
) -> None:
    other = await home.add_heartbeat("Other", act=FEED, look={"entity_id": [HUNGER]})
    await _wake(home, beat)
    await _wake(home, other)
    assert await _fed(home) == 2


async def test_a_lamp_that_only_seems_to_follow_is_not_switched_on_for_ever(
    hass: HomeAssistant, home: Home
) -> None:
    switched: list[ServiceCall] = []

    @callback
    def turn_on(call: ServiceCall) -> None:
        switched.append(call)
        hass.states.async_set("switch.lamp", "on", {"assumed_state": True})

    hass.states.async_set("switch.lamp", "off", {"assumed_state": True})
    hass.states.async_set("sensor.light", "3")
    beat = await home.add_heartbeat(
        act={"entity_id": ["switch.lamp"]}, look={"entity_id": ["sensor.light"]}
    )
    hass.services.async_register("switch", "turn_on", turn_on)
    light = calls(("switch_turn_on", {"entity_id": ["switch.lamp"]}))
    await _wake(home, beat, light)
    await _wake(home, beat, light)
    assert len(switched) == 1
    hass.states.async_set("sensor.light", "300")
    await _wake(home, beat, light)
    assert len(switched) == 2


async def test_a_step_that_was_taken_may_be_followed_by_another(
    hass: HomeAssistant, home: Home
) -> None:
    hass.states.async_set("counter.meals", "1")
    steps: list[ServiceCall] = []

    @callback
    def increment(call: ServiceCall) -> None:
        steps.append(call)
        if len(steps) < 3:
            hass.states.async_set("counter.meals", str(1 + len(steps)))

    beat = await home.add_heartbeat(act={"entity_id": ["counter.meals"]})

    assert await async_setup_component(hass, "counter", {"counter": {}})
    await hass.async_block_till_done()
    hass.services.async_register("counter", "increment", increment)
    step = calls(("counter_increment", {"entity_id": ["counter.meals"]}))
    for _ in range(4):
        await _wake(home, beat, step)
    assert len(steps) == 3


@pytest.mark.contract("C4")
@pytest.mark.parametrize("end", ["change", "forget", "close"])
async def test_it_listens_only_while_there_is_something_to_remember(
    hass: HomeAssistant, end: str
) -> None:
    def listening() -> int:
        return hass.bus.async_listeners().get(EVENT_STATE_CHANGED, 0)

    hass.states.async_set(HUNGER, "1")
    before = listening()
    past = PastActions(hass)
    past.watch([HUNGER], timedelta(hours=6))
    assert listening() == before
    past.remember("feed", past.situation(), [])
    assert listening() == before + 1
    assert past.without_effect("feed") is not None
    match end:
        case "change":
            hass.states.async_set(HUNGER, "9")
            await hass.async_block_till_done()
            past.remember("play", {}, [])
        case "forget":
            past.forget()
        case "close":
            past.close()
            past.remember("feed", past.situation(), [])
    assert past.without_effect("feed") is None
    assert listening() == before

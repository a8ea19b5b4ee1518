"""The clock: when a tick comes, what it costs, what stays quiet (C1-C4, C9)."""

import asyncio
from datetime import timedelta
import gc
import logging
from typing import Any, Self

from homeassistant.const import EVENT_STATE_REPORTED
from homeassistant.core import CoreState, Event, HomeAssistant, callback
from homeassistant.helpers import trace
from homeassistant.helpers.event import async_track_state_change_event
from homeassistant.helpers.storage import Store
from homeassistant.setup import async_setup_component
import pytest

from custom_components.proactive_agent.const import (
    EVENT_ACTED,
    EVENT_HEARTBEAT_TICK,
    EVENT_PROMPT_LENGTH,
)
from custom_components.proactive_agent.gate.keeper import GateKeeper
from tests.support.heartbeats import (
    FEED,
    HUNGRY,
    INTERVAL,
    Beat,
    Home,
    clock,
    home,
)
from tests.support.llm_server import Held, Raw, calls, llm_server, text

__all__ = ["clock", "home", "llm_server"]

LONG = {"run_timeout": 1_000_000}


@pytest.mark.contract("C1")
async def test_the_first_tick_comes_after_one_interval(home: Home) -> None:
    home.llm_server.play(text("Fine."))
    beat = await home.add_heartbeat()
    assert beat.is_on()
    await home.clock.tick(every=INTERVAL * 0.9)
    assert await beat.ticks() == 0
    assert home.llm_server.requests == []
    await home.clock.tick(every=INTERVAL * 0.1)
    assert await beat.ticks() == 1
    assert len(home.llm_server.chats) == 1


@pytest.mark.contract("C1")
async def test_no_tick_before_home_assistant_has_started(home: Home) -> None:
    home.llm_server.play(text("Fine."))
    home.hass.set_state(CoreState.starting)
    beat = await home.add_heartbeat()
    await home.clock.tick(3)
    assert await beat.ticks() == 0
    home.hass.set_state(CoreState.running)
    home.hass.bus.async_fire("homeassistant_started")
    await home.settled()
    assert await beat.ticks() == 0
    await home.clock.tick()
    assert await beat.ticks() == 1
    assert len(home.llm_server.chats) == 1


@pytest.mark.contract("C1")
async def test_switched_on_while_home_assistant_starts_it_waits_too(
    home: Home,
) -> None:
    home.hass.set_state(CoreState.starting)
    beat = await home.add_heartbeat(conditions=[HUNGRY])
    await beat.turn("off")
    await beat.turn("on")
    await beat.change(interval={"minutes": 1})
    await home.clock.tick(3)
    assert await beat.ticks() == 0
    home.hass.set_state(CoreState.running)
    home.hass.bus.async_fire("homeassistant_started")
    await home.settled()
    await home.clock.tick(every=timedelta(minutes=1))
    assert await beat.ticks() == 1


@pytest.mark.contract("C1")
async def test_switched_on_the_first_tick_comes_after_one_interval(
    home: Home,
) -> None:
    beat = await home.add_heartbeat(conditions=[HUNGRY])
    await home.clock.tick(every=INTERVAL / 2)
    await beat.turn("off")
    await home.clock.tick(5)
    assert await beat.ticks() == 0
    await beat.turn("on")
    await home.clock.tick(every=INTERVAL * 0.75)
    assert await beat.ticks() == 0
    await home.clock.tick(every=INTERVAL * 0.25)
    assert await beat.ticks() == 1


@pytest.mark.contract("C2")
async def test_a_wake_announces_itself_before_the_model_is_asked(home: Home) -> None:
    asked: list[int] = []

    def answer(_: Any) -> Any:
        asked.append(len(home.fired("proactive_agent_heartbeat_tick")))
        return text("Fine.")

    home.llm_server.play(answer)
    beat = await home.add_heartbeat()
    await home.clock.tick()
    assert asked == [1]
    (event,) = home.fired("proactive_agent_heartbeat_tick")
    (run,) = await beat.runs()
    device = home.hass.states.get(beat.switch)
    assert device is not None
    assert event.pop("device_id")
    assert event == {
        "heartbeat": "Milonga",
        "entity_id": beat.switch,
        "check_prompt": "Check on Milonga.\nFeed her if she is hungry.",
        "run_id": run["run_id"],
        "cause": "tick",
        "because": "",
        "dry_run": False,
    }
    assert run["cause"] == "tick"


@pytest.mark.contract("R1", "S3")
async def test_a_prompt_of_any_length_is_asked_whole_and_fits_in_an_event(
    home: Home,
) -> None:
    prompt = "Look after the cat. " * 2_000
    home.llm_server.play(
        calls(("tell_owner", {"message": "Look."})), text("Told."), text("Fine.")
    )
    await home.add_heartbeat(check_prompt=prompt)
    await home.clock.tick()
    asked = home.llm_server.chats[0]["messages"][1]["content"]
    assert asked.startswith(prompt)
    (tick,), (acted,) = home.fired(EVENT_HEARTBEAT_TICK), home.fired(EVENT_ACTED)
    for event in (tick, acted):
        assert len(event["check_prompt"]) <= EVENT_PROMPT_LENGTH
        assert prompt.startswith(event["check_prompt"].removesuffix("…"))


@pytest.mark.contract("C2", "C3")
async def test_ticks_during_a_run_are_dropped_and_not_counted(home: Home) -> None:
    held = Held(text("Fine."))
    home.llm_server.play(held, text("Fine again."))
    beat = await home.add_heartbeat(
        interval={"seconds": 10}, fuses={**LONG, "max_ticks": 3}
    )
    step = timedelta(seconds=10)
    home.clock.turn(step)
    await held.reached.wait()
    assert beat.state("status") == "running"
    await home.clock.tick_beside(50, every=step)
    assert await beat.ticks() == 1
    assert len(home.llm_server.chats) == 1
    held.release.set()
    await home.settled()
    assert beat.state("status") == "asleep"
    assert len(await beat.runs()) == 1
    await home.set("lamp", on=True)
    await beat.change(look={"entity_id": ["input_boolean.lamp"]})
    await home.clock.tick(every=step)
    assert await beat.ticks() == 2
    assert len(home.llm_server.chats) == 2


@pytest.mark.contract("C3")
@pytest.mark.parametrize(
    "answer",
    [
        Raw(status=401, body={"error": {"message": "Incorrect API key"}}),
        Raw(status=400, body={"error": {"message": "no"}}),
        Raw(body="<html>"),
        calls(("no_such_tool", {})),
        calls(("tell_owner", {"wrong": 1})),
    ],
    ids=["auth", "bad_request", "html", "unknown_tool", "bad_arguments"],
)
async def test_the_lock_is_released_after_every_kind_of_end(
    home: Home, answer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    beat = await home.add_heartbeat(fuses={"max_turns": 1})
    home.llm_server.always = answer
    await home.clock.tick()
    assert beat.state("status") != "running"
    home.llm_server.always = text("Fine.")
    assert (await beat.wake())["outcome"] == "nothing"


@pytest.mark.contract("C3")
async def test_a_tick_does_not_overlap_a_run_by_hand(home: Home) -> None:
    held = Held(text("Fine."))
    home.llm_server.play(held)
    beat = await home.add_heartbeat(fuses=LONG, interval={"seconds": 10})
    by_hand = asyncio.create_task(beat.wake())
    await held.reached.wait()
    await home.clock.tick_beside(5, every=timedelta(seconds=10))
    assert await beat.ticks() == 0
    held.release.set()
    assert (await by_hand)["cause"] == "manual"
    assert len(home.llm_server.chats) == 1


class Witness:
    """Notes whatever leaves a trace: events, log records, disk writes."""

    def __init__(self, hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch) -> None:
        self.events: list[Event[Any]] = []
        self.records: list[logging.LogRecord] = []
        self.writes: list[str] = []
        self._handler = logging.Handler(logging.INFO)
        monkeypatch.setattr(self._handler, "emit", self.records.append)
        # Asyncio's debug mode complains of each jump of the clock.
        self._handler.addFilter(lambda record: record.name != "asyncio")
        write: Any = Store._async_handle_write_data

        async def noted(store: Store[Any], *args: object) -> None:
            self.writes.append(store.key)
            await write(store, *args)

        monkeypatch.setattr(Store, "_async_handle_write_data", noted)
        hass.bus.async_listen("*", self._note)
        # This one Home Assistant gives only to who asks with a filter.
        hass.bus.async_listen(
            EVENT_STATE_REPORTED, self._note, event_filter=_everything
        )

    @callback
    def _note(self, event: Event[Any]) -> None:
        self.events.append(event)

    def __enter__(self) -> Self:
        logging.getLogger().addHandler(self._handler)
        self.events.clear()
        self.records.clear()
        self.writes.clear()
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger().removeHandler(self._handler)


@pytest.fixture
def witness(hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch) -> Witness:
    return Witness(hass, monkeypatch)


@callback
def _everything(_: object) -> bool:
    return True


async def _past_first_saves(home: Home) -> None:
    """Let the saves that follow a creation be written."""
    await home.clock.tick(every=timedelta(minutes=1))


CLOSED_GATES = {
    "state": [HUNGRY],
    "nothing judged": [{"condition": "state", "entity_id": "light.no", "state": "on"}],
    "template": [
        {
            "condition": "template",
            "value_template": "{{ is_state('input_boolean.hungry', 'on') }}",
        }
    ],
    "broken": [{"condition": "no_such_thing.at_all"}],
    "nested": [
        {"condition": "or", "conditions": [HUNGRY, HUNGRY]},
        {"condition": "not", "conditions": [HUNGRY]},
    ],
}


@pytest.mark.contract("C4")
@pytest.mark.parametrize("conditions", CLOSED_GATES.values(), ids=CLOSED_GATES)
async def test_a_quiet_tick_leaves_nothing(
    home: Home, witness: Witness, conditions: list[Any]
) -> None:
    beat = await home.add_heartbeat(conditions=conditions, counted=False)
    # Of a gate that cannot be judged for an hour its owner hears once (S7).
    await home.clock.tick(6)
    await _past_first_saves(home)
    state = home.hass.states.get(beat.switch)
    with witness:
        await home.clock.tick(100)
    assert [event.event_type for event in witness.events] == []
    assert [record.getMessage() for record in witness.records] == []
    assert witness.writes == []
    assert home.llm_server.requests == []
    assert home.hass.states.get(beat.switch) is state
    assert beat.entry.runtime_data.heartbeats[beat.id].used.ticks == 106


@pytest.mark.contract("C4", "C6")
async def test_with_max_ticks_only_the_blocks_are_written(
    home: Home, witness: Witness
) -> None:
    await home.add_heartbeat(
        conditions=[HUNGRY], counted=False, fuses={"max_ticks": 1_000}
    )
    await _past_first_saves(home)
    with witness:
        await home.clock.tick(100)
        await home.clock.tick(every=timedelta(seconds=1))
    assert witness.events == []
    assert witness.records == []
    # A thousand ticks are reserved in twenty blocks of fifty.
    assert witness.writes == [f"proactive_agent.{home.entry.entry_id}"] * 2
    assert home.llm_server.requests == []


@pytest.mark.contract("C4", "G4")
async def test_a_tick_that_backs_off_leaves_nothing(
    home: Home, witness: Witness
) -> None:
    home.llm_server.play(text("Nothing to do."))
    await home.set("hungry", on=True)
    await home.add_heartbeat(conditions=[HUNGRY], counted=False)
    await home.clock.tick()
    await _past_first_saves(home)
    with witness:
        await home.clock.tick(20)
    assert witness.events == []
    assert witness.records == []
    assert witness.writes == []
    assert len(home.llm_server.chats) == 1


@pytest.mark.contract("C9")
async def test_switching_on_what_is_on_changes_nothing(
    home: Home, witness: Witness
) -> None:
    beat = await home.add_heartbeat(conditions=[HUNGRY], fuses={"max_ticks": 3})
    await home.clock.tick(1)
    await home.clock.tick(every=INTERVAL / 2)
    before = home.hass.states.get(beat.switch)
    with witness:
        await beat.turn("on")
    assert [event.event_type for event in witness.events] == ["call_service"]
    assert witness.writes == []
    assert home.hass.states.get(beat.switch) is before
    await home.clock.tick(every=INTERVAL / 2)
    assert await beat.ticks() == 2


@pytest.mark.contract("R7")
async def test_the_tick_survives_an_error_of_its_own(
    home: Home, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> bool:
        raise RuntimeError("gate on fire")

    home.llm_server.play(text("Fine."))
    beat = await home.add_heartbeat()
    with monkeypatch.context() as patch:
        patch.setattr("custom_components.proactive_agent.gate.Gate.judge", fail)
        await home.clock.tick()
    assert "gate on fire" in caplog.text
    assert home.llm_server.chats == []
    await home.clock.tick()
    assert len(home.llm_server.chats) == 1
    assert await beat.ticks() == 2
    caplog.clear()


async def _switched_on_by_an_automation(home: Home) -> Beat:
    beat = await home.add_heartbeat(
        conditions=[
            HUNGRY,
            {"condition": "template", "value_template": "{{ states('sun.sun') }}"},
        ],
        counted=False,
        interval={"seconds": 10},
    )
    await beat.turn("off")
    assert await async_setup_component(
        home.hass,
        "automation",
        {
            "automation": {
                "id": "leave",
                "alias": "Leave",
                "triggers": {"trigger": "event", "event_type": "left"},
                "actions": {
                    "action": "switch.turn_on",
                    "target": {"entity_id": beat.switch},
                },
            }
        },
    )
    home.hass.bus.async_fire("left")
    await home.settled()
    assert beat.is_on()
    return beat


@pytest.mark.contract("C4")
async def test_switched_on_by_an_automation_it_does_not_grow(
    home: Home, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    # Asyncio's debug mode complains of each jump of the clock, and pytest keeps that.
    caplog.set_level(logging.ERROR, logger="asyncio")
    await _switched_on_by_an_automation(home)
    heartbeat = next(iter(home.entry.runtime_data.heartbeats.values()))
    traced: list[object] = []
    judge = GateKeeper.judge

    def judged(keeper: GateKeeper) -> bool | None:
        traced.append(trace.trace_get(clear=False))
        return judge(keeper)

    monkeypatch.setattr(GateKeeper, "judge", judged)
    objects = {}
    for ticks in (20, 2_020):
        while heartbeat.used.ticks < ticks:
            home.clock.turn(timedelta(seconds=10))
            await asyncio.sleep(0)
        gc.collect()
        objects[ticks] = len(gc.get_objects())
    assert set(traced) == {None}
    assert objects[2_020] - objects[20] < 200


@pytest.mark.contract("C1", "C2")
async def test_switched_on_by_an_automation_it_wakes_and_acts_the_same(
    home: Home,
) -> None:
    beat = await _switched_on_by_an_automation(home)
    await beat.change(act=FEED, conditions=[HUNGRY])
    await home.settled()
    home.llm_server.play(calls(("feed", {"food": "meal"})), text("Fed."))
    await home.set("hungry", on=True)
    await home.clock.tick(every=timedelta(seconds=10))
    (run,) = await beat.runs()
    assert run["outcome"] == "acted"
    assert home.fired("fed") == [{"food": "meal"}]
    assert home.told == ["Done: Feed."]


@pytest.mark.contract("C3")
async def test_heartbeats_tick_and_run_beside_each_other(home: Home) -> None:
    held = Held(text("Fine."))
    home.llm_server.always = text("Quick.")
    beats = [await home.add_heartbeat(name, fuses=LONG) for name in ("One", "Two")]
    home.llm_server.play(held)
    ended = asyncio.Event()
    async_track_state_change_event(
        home.hass,
        [beat.entity_id("sensor", "last_outcome") for beat in beats],
        callback(lambda _: ended.set()),
    )
    home.clock.turn(INTERVAL)
    await held.reached.wait()
    await ended.wait()
    assert {beat.state("status") for beat in beats} == {"asleep", "running"}
    held.release.set()
    await home.settled()
    assert [len(await beat.runs()) for beat in beats] == [1, 1]

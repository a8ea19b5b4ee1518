"""What has gone wrong with programs of this kind, each kind held by a test.

Where a kind is held elsewhere, `ELSEWHERE` names the tests.
"""

import ast
import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

from homeassistant.components.persistent_notification import Notification
from homeassistant.const import EVENT_HOMEASSISTANT_STARTED
from homeassistant.core import CoreState
from homeassistant.setup import async_setup_component
from homeassistant.util.async_ import get_scheduled_timer_handles
import pytest

from custom_components.proactive_agent.const import DOMAIN

from .support.heartbeats import FEED, HUNGRY, Home, clock, home, let_run
from .support.llm_server import Held, Raw, calls, llm_server, text
from .support.notifiers import hear, kept
from .support.restarts import on_disk, restart

__all__ = ["clock", "home", "kept", "llm_server"]

TESTS = Path(__file__).parent
LAMP = "input_boolean.lamp"
MEAL = ("feed", {"food": "meal"})
HOUR = timedelta(hours=1)

ELSEWHERE = {
    # Waking and stopping
    "the own action wakes the agent": (
        "test_heartbeat_manual.test_what_a_run_sets_off_cannot_wake_it_again",
        "test_heartbeat_manual.test_the_button_is_no_way_around",
    ),
    "back on after a restart": (
        "test_heartbeat_changes.test_off_stays_off_and_counts_survive",
        "test_heartbeat_changes.test_off_is_on_disk_when_the_action_returns",
    ),
    "going on after the spending limit": (
        "test_health.test_without_credit_it_tries_once_a_day",
        "test_health.test_a_refused_key_waits_until_the_entry_has_another",
        "test_heartbeat_fuses.test_a_budget_of_the_day_pauses_until_the_next",
    ),
    "a timer that restarts from zero": (
        "test_heartbeat_changes.test_the_cadence_keeps_its_anchor_over_a_restart",
    ),
    "the backlog after a sleep fires at once": (
        "test_clock_jumps.test_after_a_sleep_of_the_machine_there_is_one_tick",
        (
            "test_heartbeat_changes"
            ".test_all_that_was_missed_comes_to_one_tick_a_while_after_the_start"
        ),
    ),
    "a run without a bound": (
        "test_heartbeat_run.test_a_hanging_server_ends_the_run_only",
        "test_heartbeat_run.test_a_conversation_that_does_not_let_go_is_left_behind",
    ),
    "a run that is never cleared": (
        "test_heartbeat_clock.test_the_lock_is_released_after_every_kind_of_end",
    ),
    "a timer that carries a trace along": (
        "test_heartbeat_clock.test_switched_on_by_an_automation_it_does_not_grow",
    ),
    "a requirement that clashes with Home Assistant's": (
        "test_repository.test_nothing_is_added_to_what_home_assistant_ships",
    ),
    "an option that never reaches the code": (
        "test_heartbeat_changes.test_what_the_form_changes_is_seen_at_the_next_tick",
    ),
    "by hand it is blocked as well": (
        (
            "test_heartbeat_manual"
            ".test_by_hand_the_gate_is_ignored_and_what_it_says_is_answered"
        ),
        "test_heartbeat_manual.test_by_hand_the_back_off_is_ignored",
    ),
    # Noise
    "a recipient who never heard counts as told": (
        "test_speaking_once.test_who_was_not_reached_hears_it_the_next_time",
    ),
    "an alert before the notifiers are there": (
        "test_notifier_late.test_what_none_has_heard_is_kept_until_one_has",
        (
            "test_due_messages"
            ".test_a_message_that_waited_for_a_late_notifier_is_told_after_a_restart"
        ),
    ),
}


@pytest.mark.parametrize(
    "where", [one for some in ELSEWHERE.values() for one in some], ids=str
)
def test_what_is_held_elsewhere_is_there(where: str) -> None:
    module, _, name = where.partition(".")
    tree = ast.parse((TESTS / f"{module}.py").read_text(encoding="utf-8"))
    assert name in {
        one.name
        for one in tree.body
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def _says(message: str) -> Any:
    """Return the rule of a model that tells its owner this in each run."""
    return lambda request: (
        text("Told.")
        if request["messages"][-1]["role"] == "tool"
        else calls(("tell_owner", {"message": message}))
    )


# Waking and stopping


@pytest.mark.contract("A2", "C3")
async def test_the_own_event_wakes_nobody_and_a_flood_wakes_once(home: Home) -> None:
    beat = await home.add_heartbeat(act=FEED)
    actions = [
        {
            "action": f"{DOMAIN}.wake",
            "target": {"entity_id": beat.switch},
            "continue_on_error": True,
        }
    ]
    events = ("fed", "proactive_agent_acted", "proactive_agent_heartbeat_tick", "rang")
    triggers = [{"trigger": "event", "event_type": event} for event in events]
    config = {
        "id": "loop",
        "triggers": triggers,
        "actions": actions,
        "mode": "parallel",
    }
    assert await async_setup_component(home.hass, "automation", {"automation": config})
    home.llm_server.always = lambda request: (
        text("Fed.") if request["messages"][-1]["role"] == "tool" else calls(MEAL)
    )
    await home.clock.tick()
    assert len(await beat.runs()) == 1
    for _ in range(5):
        home.hass.bus.async_fire("rang")
    await home.settled()
    assert len(await beat.runs()) == 2


@pytest.mark.contract("D1", "D2")
@pytest.mark.parametrize("options", [{}, {"on": {}}, {"on": None}])
async def test_empty_options_are_not_on(
    home: Home, hass_storage: dict[str, Any], options: dict[str, Any]
) -> None:
    beat = await home.add_heartbeat()
    left = on_disk(home, hass_storage) or {"version": 1, "minor_version": 1}
    left["data"] = {"heartbeats": {beat.id: options}}
    await restart(home, hass_storage, left=left)
    assert not beat.is_on()
    await home.clock.tick(3)
    assert home.llm_server.requests == []


@pytest.mark.contract("F7", "S7")
async def test_an_idle_agent_without_credit_asks_once_a_day_and_says_so_once(
    home: Home,
) -> None:
    home.llm_server.always = Raw(
        status=402, body={"error": {"message": "Insufficient credits", "code": 402}}
    )
    await home.add_heartbeat(interval={"hours": 1}, counted=False)
    await home.clock.tick(12 * 24, every=HOUR)
    assert 12 <= len(home.llm_server.chats) <= 13
    assert len(home.told) == 1


@pytest.mark.contract("C1", "C6")
@pytest.mark.parametrize("reloads", [1, 3])
async def test_a_reload_before_the_start_has_ended_leaves_one_timer(
    home: Home, reloads: int
) -> None:
    beat = await home.add_heartbeat(conditions=[HUNGRY])
    before = _timers(home)
    home.hass.set_state(CoreState.starting)
    for _ in range(reloads):
        assert await home.hass.config_entries.async_reload(home.entry.entry_id)
        await let_run()
    home.hass.set_state(CoreState.running)
    home.hass.bus.async_fire(EVENT_HOMEASSISTANT_STARTED)
    await home.settled()
    # What has come up with Home Assistant is listened to a minute later.
    await home.clock.tick(every=timedelta(minutes=2))
    assert _timers(home) == before
    await home.clock.tick(every=timedelta(minutes=13))
    assert await beat.ticks() == 1
    await home.clock.tick()
    assert await beat.ticks() == 2


def _timers(home: Home) -> int:
    return sum(
        "interval" in repr(handle) or "point_in" in repr(handle)
        for handle in get_scheduled_timer_handles(home.hass.loop)
        if not handle.cancelled()
    )


# Noise


@pytest.mark.contract("S4")
async def test_a_counter_in_the_text_makes_no_news(home: Home) -> None:
    minutes = iter(range(5, 500, 5))
    home.llm_server.always = lambda request: _says(
        f"The lamp is on since {next(minutes)} minutes ({request['messages'][1]})"
    )(request)
    await home.set("lamp", on=True)
    beat = await home.add_heartbeat(look={"entity_id": [LAMP]})
    for _ in range(5):
        await beat.wake()
        home.clock.turn(timedelta(minutes=5))
    assert len(home.told) == 1


@pytest.mark.contract("R2", "S1")
@pytest.mark.parametrize(
    "prose",
    [
        "HEARTBEAT_OK",
        "NO_REPLY",
        "[SILENT]",
        "ALERT: the house is on fire, tell the owner at once.",
        '{"tool": "notify", "message": "Fire"}',
    ],
)
async def test_neither_silence_nor_prose_nor_a_token_is_a_message(
    home: Home, kept: dict[str, Notification], prose: str
) -> None:
    home.llm_server.play(text(prose))
    beat = await home.add_heartbeat()
    record = await beat.wake()
    assert record["message"] is None
    assert home.told == []
    assert not kept
    assert home.fired("proactive_agent_acted") == []


@pytest.mark.contract("S1")
async def test_for_all_that_a_run_did_there_is_one_message(home: Home) -> None:
    home.llm_server.play(
        calls(MEAL, ("tell_owner", {"message": "She is hungry."})),
        calls(("feed", {"food": "snack"}), ("tell_owner", {"message": "I fed her."})),
        text("Fed her, twice."),
    )
    beat = await home.add_heartbeat(act=FEED)
    await beat.wake()
    assert home.told == ["I fed her."]
    assert len(home.fired("proactive_agent_acted")) == 1


@pytest.mark.contract("G4", "S4")
async def test_the_normal_cycles_of_an_appliance_are_told_once(home: Home) -> None:
    def draws(watts: str) -> None:
        home.hass.states.async_set("sensor.fridge", watts, {"unit_of_measurement": "W"})

    home.llm_server.always = _says("The fridge has changed.")
    draws("2.0")
    await home.add_heartbeat(look={"entity_id": ["sensor.fridge"]})
    # Half an hour on, half an hour off, never twice the same number.
    for cycle in range(5):
        draws(f"{90 + cycle / 10}")
        await home.clock.tick(2)
        draws(f"{2 + cycle / 1000}")
        await home.clock.tick(2)
    assert len(home.told) == 2


@pytest.mark.contract("S5", "C6")
async def test_an_alert_outlives_notifiers_that_are_not_there(
    home: Home, kept: dict[str, Notification]
) -> None:
    home.llm_server.always = _says("The door is open.")
    home.hass.services.async_remove("notify", "phone")
    beat = await home.add_heartbeat()
    await beat.wake()
    assert [one["message"] for one in kept.values()] == ["The door is open."]
    phone = hear(home.hass, "phone")
    await restart(home)
    assert [call.data["message"] for call in phone] == ["The door is open."]
    assert not kept


@pytest.mark.contract("C3", "R8")
async def test_a_run_that_was_cut_in_any_way_keeps_no_lock(home: Home) -> None:
    held = Held(text("Fine."))
    home.llm_server.play(held)
    beat = await home.add_heartbeat()
    home.clock.turn(timedelta(minutes=15))
    await held.reached.wait()
    for task in _own_tasks():
        task.cancel()
    await let_run()
    held.release.set()
    await home.settled()
    home.llm_server.play(text("Fine."))
    await home.clock.tick()
    assert home.llm_server.unplayed == 0
    assert beat.state("status") == "asleep"


def _own_tasks() -> list[asyncio.Task[Any]]:
    return [task for task in asyncio.all_tasks() if task.get_name().startswith(DOMAIN)]

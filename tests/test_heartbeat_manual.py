"""Woken by hand: what it ignores, what refuses it, what it answers (C8, A2, A9)."""

import asyncio
from typing import Any

from homeassistant.core import Context
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.setup import async_setup_component
import pytest

from tests.support.heartbeats import (
    FEED,
    HUNGRY,
    INTERVAL,
    Beat,
    HeldService,
    Home,
    clock,
    endpoint,
    home,
    subentry_of,
)
from tests.support.llm_server import Held, calls, llm_server, text

__all__ = ["clock", "home", "llm_server"]

MEAL = ("feed", {"food": "meal"})


@pytest.mark.contract("C8", "G3")
async def test_by_hand_the_gate_is_ignored_and_what_it_says_is_answered(
    home: Home,
) -> None:
    home.llm_server.play(calls(MEAL), text("Fed."))
    beat = await home.add_heartbeat(conditions=[HUNGRY], act=FEED)
    record = await beat.wake()
    assert (record["cause"], record["outcome"]) == ("manual", "acted")
    (verdict,) = record["gate"]
    assert verdict["result"] is False
    assert "input_boolean.hungry" in f"{verdict['condition']} {verdict['reason']}"
    assert await beat.ticks() == 0
    await home.set("hungry", on=True)
    home.llm_server.play(text("Fine."))
    assert (await beat.wake())["gate"][0]["result"] is True


@pytest.mark.contract("C8")
async def test_by_hand_the_back_off_is_ignored(home: Home) -> None:
    home.llm_server.play(text("Fine."), text("Still fine."))
    look = {"entity_id": ["input_boolean.lamp"]}
    beat = await home.add_heartbeat(look=look)
    await home.clock.tick(3)
    assert len(home.llm_server.chats) == 1
    await beat.check_now()
    await home.settled()
    assert len(home.llm_server.chats) == 2


@pytest.mark.contract("C8", "F5")
async def test_by_hand_it_counts_in_the_budget_of_the_day(home: Home) -> None:
    home.llm_server.always = text("Fine.")
    beat = await home.add_heartbeat(fuses={"max_wakes_per_day": 2, "max_ticks": 9})
    await beat.wake()
    await beat.wake()
    assert beat.state("status") == "paused"
    with pytest.raises(ServiceValidationError) as refused:
        await beat.wake()
    assert refused.value.translation_key == "budget_spent"
    await home.clock.tick(2)
    assert len(home.llm_server.chats) == 2
    assert await beat.ticks() == 2


@pytest.mark.contract("C8")
async def test_off_it_is_refused_and_a_dry_run_works(home: Home) -> None:
    beat = await home.add_heartbeat(act=FEED)
    await beat.turn("off")
    for waking in (beat.wake, beat.check_now):
        with pytest.raises(ServiceValidationError) as refused:
            await waking()
        assert refused.value.translation_key == "switched_off"
        assert refused.value.translation_domain == "proactive_agent"
        assert refused.value.translation_placeholders == {"heartbeat": "Milonga"}
    assert home.llm_server.requests == []
    home.llm_server.play(
        calls(MEAL, ("tell_owner", {"message": "Fed her."})), text("Done.")
    )
    record = await beat.wake(dry_run=True)
    assert record["dry_run"] is True
    assert record["stopped"] is False
    assert [action["status"] for action in record["actions"]] == ["not_done"]
    assert not beat.is_on()


@pytest.mark.contract("A9", "S3")
async def test_a_dry_run_does_nothing_and_says_nothing(home: Home) -> None:
    beat = await home.add_heartbeat(act=FEED, manners={"stop_after_acting": True})
    home.llm_server.play(
        calls(MEAL, ("tell_owner", {"message": "Fed her."})), text("Done.")
    )
    record = await beat.wake(dry_run=True)
    assert record["message"] is None
    assert home.fired("fed") == []
    assert home.told == []
    assert home.fired("proactive_agent_acted") == []
    assert beat.is_on()
    home.llm_server.play(text("Fine."))
    await home.clock.tick()
    assert len(home.llm_server.chats) == 3


@pytest.mark.contract("C8", "C3")
@pytest.mark.contract("A9")
async def test_a_dry_run_leaves_what_the_owner_sees_as_it_is(home: Home) -> None:
    say = ("tell_owner", {"message": "She is well."})
    home.llm_server.play(calls(MEAL, say), text("Done."))
    beat = await home.add_heartbeat(act=FEED)
    seen = [beat.state(key) for key in ("last_wake", "last_outcome")]
    activity = beat.state("activity", "event")
    record = await beat.wake(dry_run=True)
    assert [one["status"] for one in record["actions"]] == ["not_done"]
    assert (record["outcome"], record["message"]) == ("nothing", None)
    assert [beat.state(key) for key in ("last_wake", "last_outcome")] == seen
    assert beat.state("activity", "event") == activity


@pytest.mark.parametrize("dry_run", [False, True])
async def test_running_it_is_refused(home: Home, dry_run: bool) -> None:
    held = Held(text("Fine."))
    home.llm_server.play(held)
    beat = await home.add_heartbeat()
    first = asyncio.create_task(beat.wake(dry_run=dry_run))
    await held.reached.wait()
    with pytest.raises(ServiceValidationError) as refused:
        await beat.wake(dry_run=dry_run)
    assert refused.value.translation_key == "already_running"
    with pytest.raises(ServiceValidationError):
        await beat.check_now()
    held.release.set()
    assert (await first)["outcome"] == "nothing"
    assert len(home.llm_server.chats) == 1


@pytest.mark.contract("C3", "R8")
async def test_a_caller_that_gives_up_does_not_end_the_run(home: Home) -> None:
    held = Held(text("Fine."))
    home.llm_server.play(held)
    beat = await home.add_heartbeat()
    waking = asyncio.create_task(beat.wake())
    await held.reached.wait()
    waking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waking
    assert beat.state("status") == "running"
    held.release.set()
    await home.settled()
    assert (await beat.runs())[0]["outcome"] == "nothing"


@pytest.mark.contract("C5", "C8")
async def test_a_caller_hears_of_a_run_that_a_reload_has_ended(home: Home) -> None:
    held = Held(text("Fine."))
    home.llm_server.play(held)
    beat = await home.add_heartbeat()
    waking = asyncio.create_task(beat.wake())
    await held.reached.wait()
    assert await home.hass.config_entries.async_reload(home.entry.entry_id)
    record = await waking
    assert (record["outcome"], record["stopped"]) == ("stopped", False)
    held.release.set()
    await home.settled()
    assert beat.is_on()


@pytest.mark.contract("C5", "C8")
async def test_a_caller_gets_an_error_when_the_report_was_lost(home: Home) -> None:
    never = HeldService(home.hass, "notify", "never")
    home.llm_server.play(calls(MEAL), text("Fed."))
    beat = await home.add_heartbeat(act=FEED, notify=["notify.never"])
    waking = asyncio.create_task(beat.wake())
    await never.reached.wait()
    reload = asyncio.create_task(
        home.hass.config_entries.async_reload(home.entry.entry_id)
    )
    await home.clock.turn_until(reload.done)
    with pytest.raises(HomeAssistantError) as lost:
        await waking
    assert lost.value.translation_key == "run_lost"
    never.release.set()
    await home.settled()


async def _automation(home: Home, trigger: str, *actions: Any) -> None:
    assert await async_setup_component(
        home.hass,
        "automation",
        {
            "automation": {
                "id": trigger,
                "alias": trigger,
                "triggers": {"trigger": "event", "event_type": trigger},
                "actions": list(actions),
            }
        },
    )


def _wake(beat: Beat) -> dict[str, Any]:
    return {
        "action": "proactive_agent.wake",
        "target": {"entity_id": beat.switch},
        "response_variable": "record",
    }


@pytest.mark.contract("A2")
@pytest.mark.parametrize("deep", [1, 2])
async def test_what_a_run_sets_off_cannot_wake_it_again(
    home: Home, deep: int, caplog: pytest.LogCaptureFixture
) -> None:
    beat = await home.add_heartbeat(act=FEED)
    automations = [{"event": "level_1"}], [_wake(beat)]
    chain = automations if deep == 2 else ([_wake(beat)],)
    configs = [
        {
            "id": f"level_{level}",
            "alias": f"level_{level}",
            "triggers": {
                "trigger": "event",
                "event_type": "fed" if level == 0 else f"level_{level}",
            },
            "actions": actions,
        }
        for level, actions in enumerate(chain)
    ]
    assert await async_setup_component(home.hass, "automation", {"automation": configs})
    home.llm_server.play(calls(MEAL), text("Fed."))
    await home.clock.tick()
    assert home.fired("fed") == [{"food": "meal"}]
    assert len(home.llm_server.chats) == 2
    assert len(await beat.runs()) == 1
    assert caplog.text.count("cannot be woken by something that a run has set off") >= 1


@pytest.mark.contract("A2")
async def test_a_run_of_one_endpoint_cannot_wake_a_heartbeat_of_another(
    home: Home,
) -> None:
    beat = await home.add_heartbeat(act=FEED)
    other = endpoint(home.llm_server, subentry_of("Other"))
    other.add_to_hass(home.hass)
    assert await home.hass.config_entries.async_setup(other.entry_id)
    await home.settled()
    neighbour = Beat(hass=home.hass, entry=other, id=next(iter(other.subentries)))
    await neighbour.turn("off")
    await neighbour.turn("on")
    await _automation(home, "fed", _wake(neighbour))
    home.llm_server.play(calls(MEAL), text("Fed."))
    await beat.wake()
    await home.settled()
    assert len(home.llm_server.chats) == 2
    assert await neighbour.runs() == []


@pytest.mark.contract("A2")
async def test_an_automation_may_wake_it(home: Home) -> None:
    beat = await home.add_heartbeat()
    await _automation(home, "bell", _wake(beat), {"event": "rang"})
    home.llm_server.play(text("Fine."))
    home.hass.bus.async_fire("bell")
    await home.settled()
    (run,) = await beat.runs()
    assert run["cause"] == "manual"


@pytest.mark.contract("A2")
async def test_the_button_is_no_way_around(home: Home) -> None:
    beat = await home.add_heartbeat()
    home.llm_server.play(text("Fine."))
    await beat.wake()
    (tick,) = home.events
    with pytest.raises(ServiceValidationError) as refused:
        await beat.check_now(Context(parent_id=tick.context.id))
    assert refused.value.translation_key == "woken_by_own_run"


@pytest.mark.contract("C8")
async def test_before_its_conditions_are_ready_the_answer_says_so(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    never = asyncio.Event()

    async def slow(*_: Any) -> None:
        await never.wait()

    beat = await home.add_heartbeat(conditions=[HUNGRY])
    await home.set("hungry", on=True)
    monkeypatch.setattr("custom_components.proactive_agent.gate.Gate.async_build", slow)
    assert await home.hass.config_entries.async_reload(home.entry.entry_id)
    await home.clock.tick_beside(2, every=INTERVAL)
    assert home.llm_server.requests == []
    home.llm_server.play(text("Fine."))
    record = await beat.wake()
    assert record["gate"] == [
        {
            "condition": "all",
            "result": None,
            "reason": "The conditions are still being prepared.",
        }
    ]

"""A heartbeat that fails waits, and its owner hears of it once (F7, S7)."""

from datetime import timedelta
from typing import Any

from homeassistant.components import persistent_notification
from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import (
    EVENT_HOMEASSISTANT_STARTED,
    EVENT_SERVICE_REGISTERED,
    EVENT_STATE_CHANGED,
)
from homeassistant.core import CoreState
from homeassistant.helpers import issue_registry as ir
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import async_mock_service

from custom_components.proactive_agent.const import DOMAIN
from custom_components.proactive_agent.diagnostics import (
    async_get_config_entry_diagnostics,
)
from tests.support.heartbeats import HUNGRY, INTERVAL, Beat, Home, clock, home, let_run
from tests.support.llm_server import CLOSE, Raw, calls, llm_server, text
from tests.support.restarts import on_disk, restart
from tests.support.task_entity import ENTITY, Tasks, says, tasks
from tests.support.translated import issue_text

__all__ = ["clock", "home", "llm_server", "tasks"]

FINE = text("All is well.")
BAD = Raw(status=400, body={"error": {"message": "Something is odd"}})
REFUSED = Raw(status=401, body={"error": {"message": "Incorrect API key"}})
NO_CREDIT = Raw(status=402, body={"error": {"message": "Insufficient credits"}})
WORKS = "Works again: its last run went well."
PAUSED = "Paused until tomorrow: it has woken as often as it may in one day."
ENDED = "Works again: its pause is over."
JUDGES = "Works again: its conditions can be checked."
HOUR = timedelta(hours=1)
LATE = {"condition": "state", "entity_id": "light.late", "state": "on"}
MEAL = ("feed", {"food": "meal"})


def asked(home: Home) -> int:
    return len(home.llm_server.chats)


def issue_of(home: Home, beat: Beat) -> ir.IssueEntry | None:
    return ir.async_get(home.hass).async_get_issue(DOMAIN, f"failing_{beat.id}")


def attributes(home: Home, beat: Beat) -> dict[str, Any]:
    state = home.hass.states.get(beat.entity_id("sensor", "status"))
    assert state is not None
    return {key: state.attributes.get(key) for key in ("reason", "until")}


async def failing(home: Home, answer: Any = BAD, **data: Any) -> Beat:
    """A heartbeat whose runs have failed five times."""
    beat = await home.add_heartbeat(**data)
    home.llm_server.always = answer
    await home.clock.tick(5)
    assert asked(home) == 5
    return beat


async def gaps(home: Home, tries: int) -> list[int]:
    """Tick until so many were tried; return how many ticks each one took."""
    counted = []
    for _ in range(tries):
        before, ticks = asked(home), 0
        while asked(home) == before:
            await home.clock.tick()
            ticks += 1
        counted.append(ticks)
    return counted


@pytest.mark.contract("F7", "C4", "F1")
async def test_after_five_failures_it_waits_longer_and_longer(home: Home) -> None:
    beat = await failing(home, fuses={"max_ticks": 500})
    assert beat.state("status") == "paused"
    assert await gaps(home, 7) == [1, 2, 4, 8, 16, 24, 24]
    assert beat.is_on()
    assert await beat.ticks() == 5 + 79


@pytest.mark.contract("F7")
async def test_one_issue_says_what_failed_since_when_and_what_comes_next(
    home: Home,
) -> None:
    await home.hass.config.async_set_time_zone("Europe/Vienna")
    beat = await home.add_heartbeat()
    home.llm_server.always = BAD
    await home.clock.tick()
    since = dt_util.now()
    await home.clock.tick(3)
    assert issue_of(home, beat) is None
    await home.clock.tick()
    issue = issue_of(home, beat)
    assert issue is not None
    assert issue.is_fixable
    words = issue_text(issue)
    assert "Milonga" in words
    assert "The last 5 runs" in words
    assert "Something is odd" in words
    assert since.strftime("%H:%M") in words
    assert (dt_util.now() + INTERVAL).strftime("%H:%M") in words

    await home.clock.tick()
    again = issue_of(home, beat)
    assert again is not None
    assert (again.translation_placeholders or {})["count"] == "6"
    home.llm_server.always = FINE
    await gaps(home, 1)
    assert issue_of(home, beat) is None


@pytest.mark.contract("S7", "S4", "F7")
async def test_it_is_told_once_and_once_that_it_works_again(home: Home) -> None:
    beat = await failing(home)
    (notice,) = home.told
    assert notice.startswith("Waits until ")
    assert "its last 5 runs have failed" in notice
    assert "Something is odd" in notice
    await gaps(home, 5)
    assert home.told == [notice]
    home.llm_server.always = FINE
    await gaps(home, 1)
    assert home.told == [notice, WORKS]
    assert beat.state("status") == "asleep"
    await home.clock.tick(3)
    assert home.told == [notice, WORKS]
    # Another time it is another fault.
    home.llm_server.always = BAD
    await beat.change(check_prompt="Look again.")
    await gaps(home, 5)
    assert len(home.told) == 3


@pytest.mark.contract("F7", "F3")
@pytest.mark.parametrize("outcome", ["turn_limit", "action_limit"])
async def test_a_limit_counts_as_a_failure(home: Home, outcome: str) -> None:
    same = calls(("get_state", {"entity_id": "input_boolean.lamp"}))
    beat = await home.add_heartbeat(
        look={"entity_id": ["input_boolean.lamp"]},
        fuses={"max_turns": 2 if outcome == "turn_limit" else 9},
    )
    home.llm_server.always = same
    for number in range(5):
        await home.set("lamp", on=number % 2 == 0)
        await home.clock.tick()
        assert (await beat.runs())[0]["outcome"] == outcome
    assert beat.state("status") == "paused"
    assert attributes(home, beat)["reason"] == "failures"
    assert "The run was cut short" in home.told[0]


@pytest.mark.contract("F7", "S7", "C8")
async def test_a_good_run_by_hand_clears_it(home: Home) -> None:
    beat = await failing(home)
    before = attributes(home, beat)
    assert before["reason"] == "failures"
    # A failing one makes it wait no longer.
    assert (await beat.wake())["outcome"] == "error"
    assert attributes(home, beat) == before
    home.llm_server.always = FINE
    assert (await beat.wake(dry_run=True))["outcome"] == "nothing"
    assert beat.state("status") == "paused"
    assert len(home.told) == 1
    assert (await beat.wake())["outcome"] == "nothing"
    await home.settled()
    assert beat.state("status") == "asleep"
    assert home.told[1:] == [WORKS]
    assert issue_of(home, beat) is None


@pytest.mark.contract("S7", "A9")
async def test_dry_runs_tell_nothing_and_count_nothing(home: Home) -> None:
    beat = await home.add_heartbeat()
    home.llm_server.always = REFUSED
    for _ in range(6):
        await beat.wake(dry_run=True)
    await home.settled()
    assert home.told == []
    assert beat.state("status") == "asleep"


@pytest.mark.contract("F7", "S7", "C6")
@pytest.mark.parametrize("answer", [BAD, NO_CREDIT], ids=["failures", "quota"])
async def test_a_restart_neither_tells_again_nor_tries_earlier(
    home: Home, answer: Any
) -> None:
    beat = await home.add_heartbeat()
    home.llm_server.always = answer
    await home.clock.tick(20)
    told, tried, paused = home.told[:], asked(home), attributes(home, beat)
    assert len(told) == 1
    await home.reload()
    assert beat.state("status") == "paused"
    assert attributes(home, beat) == paused
    assert (issue_of(home, beat) is None) == (answer is NO_CREDIT)
    await home.clock.tick()
    assert asked(home) == tried
    home.llm_server.always = FINE
    await gaps(home, 1)
    assert home.told == [*told, WORKS]


@pytest.mark.contract("F7", "S7")
async def test_a_refused_key_waits_until_the_entry_has_another(home: Home) -> None:
    beat = await home.add_heartbeat()
    home.llm_server.always = REFUSED
    await home.clock.tick(400)
    assert asked(home) == 1
    assert beat.is_on()
    assert attributes(home, beat) == {"reason": "auth", "until": None}
    (notice,) = home.told
    assert "Enter a valid one" in notice
    (flow,) = home.hass.config_entries.flow.async_progress()
    assert flow["context"]["source"] == "reauth"

    # One that is refused as well: the same fault, which is known.
    await new_key(home, "worse")
    assert beat.state("status") == "asleep"
    await home.clock.tick(5)
    assert asked(home) == 2
    home.llm_server.always = FINE
    await new_key(home, "better")
    await home.clock.tick()
    assert asked(home) == 3
    assert home.told == [notice, WORKS]


async def new_key(home: Home, key: str) -> None:
    home.hass.config_entries.async_update_entry(
        home.entry, data={**home.entry.data, "api_key": key}
    )
    await home.hass.async_block_till_done()


@pytest.mark.contract("F7", "S7", "C6")
async def test_a_refused_key_is_tried_once_after_each_start(home: Home) -> None:
    await home.add_heartbeat()
    home.llm_server.always = REFUSED
    await home.clock.tick(9)
    for starts in range(1, 4):
        await home.reload()
        await home.clock.tick(9)
        assert asked(home) == 1 + starts
    assert len(home.told) == 1
    home.llm_server.always = FINE
    await home.reload()
    await home.clock.tick()
    assert home.told[1:] == [WORKS]


@pytest.mark.contract("F7")
async def test_a_key_of_somebody_else_is_tried_every_six_hours(
    home: Home, tasks: Tasks
) -> None:
    """Nobody tells when the owner has signed an AI Task entity in again."""
    home.hass.config_entries.async_update_entry(home.entry, data={"entity_id": ENTITY})
    beat = await home.add_heartbeat()
    tasks.always = RuntimeError("401 Unauthorized: invalid api key")
    await home.clock.tick(24)
    assert len(tasks.requests) == 1
    assert attributes(home, beat)["reason"] == "auth"
    await home.clock.tick(24)
    assert len(tasks.requests) == 2
    (notice,) = home.told
    assert "Sign it in again" in notice
    tasks.always = says("Fine.")
    await home.clock.tick()
    assert len(tasks.requests) == 3
    assert home.told == [notice, WORKS]


@pytest.mark.contract("F7", "S7")
async def test_without_credit_it_tries_once_a_day(home: Home) -> None:
    beat = await home.add_heartbeat()
    home.llm_server.always = NO_CREDIT
    await home.clock.tick()
    assert attributes(home, beat)["reason"] == "quota"
    assert await gaps(home, 3) == [96, 96, 96]
    (notice,) = home.told
    assert "tries once a day" in notice
    assert "Top it up" in notice
    home.llm_server.always = FINE
    assert await gaps(home, 1) == [96]
    assert home.told == [notice, WORKS]


@pytest.mark.contract("F7", "C7")
@pytest.mark.parametrize("what", ["options", "endpoint"])
async def test_what_was_changed_is_tried_at_the_next_tick(
    home: Home, what: str
) -> None:
    beat = await failing(home)
    await gaps(home, 4)
    other = await home.add_heartbeat("Other", conditions=[HUNGRY])
    if what == "options":
        await beat.change(check_prompt="Something else.")
    else:
        await new_key(home, "better")
    assert beat.state("status") == "asleep"
    assert other.state("status") == "asleep"
    assert await gaps(home, 1) == [1]
    # It has failed once more, and begins with a short wait.
    assert await gaps(home, 2) == [1, 2]
    assert len(home.told) == 1


@pytest.mark.contract("F7", "S7", "F6")
async def test_off_and_on_is_a_fresh_beginning(home: Home) -> None:
    beat = await failing(home)
    assert len(home.told) == 1
    await beat.turn("off")
    assert issue_of(home, beat) is None
    assert attributes(home, beat) == {"reason": "switched_off", "until": None}
    await home.clock.tick(3)
    await beat.turn("on")
    assert beat.state("status") == "asleep"
    home.llm_server.always = FINE
    assert await gaps(home, 1) == [1]
    assert len(home.told) == 1
    await beat.change(check_prompt="Again.")
    home.llm_server.always = BAD
    await gaps(home, 5)
    assert len(home.told) == 2


@pytest.mark.contract("F7", "C7")
@pytest.mark.parametrize("way", ["remove", "unload"])
async def test_the_issue_goes_with_the_heartbeat(home: Home, way: str) -> None:
    beat = await failing(home)
    assert issue_of(home, beat) is not None
    if way == "remove":
        await beat.remove()
    else:
        assert await home.hass.config_entries.async_unload(home.entry.entry_id)
    await home.settled()
    assert issue_of(home, beat) is None


@pytest.mark.contract("F7", "F5", "S7")
async def test_a_spent_budget_comes_first_and_both_have_to_be_over(
    home: Home,
) -> None:
    await home.hass.config.async_set_time_zone("UTC")
    beat = await home.add_heartbeat(fuses={"max_wakes_per_day": 5})
    home.llm_server.always = NO_CREDIT
    for _ in range(5):
        await beat.wake()
    await home.settled()
    assert attributes(home, beat)["reason"] == "max_wakes_per_day"
    midnight = dt_util.start_of_local_day() + timedelta(days=1)
    assert attributes(home, beat)["until"] == midnight.isoformat()
    await home.clock.tick(every=midnight - dt_util.now() + timedelta(seconds=1))
    assert beat.state("status") == "paused"
    assert attributes(home, beat)["reason"] == "quota"
    assert sum(one.startswith("Paused until tomorrow") for one in home.told) == 1
    assert len(home.told) == 2


async def tomorrow(home: Home) -> None:
    """Let time pass to the first moment of the next day."""
    midnight = dt_util.start_of_local_day() + timedelta(days=1)
    await home.clock.tick(every=midnight - dt_util.now() + timedelta(seconds=1))


async def spent(home: Home, *, wakes: int = 2, **data: Any) -> Beat:
    """A heartbeat that has used its wakes of today, and has said so."""
    await home.hass.config.async_set_time_zone("UTC")
    beat = await home.add_heartbeat(
        interval={"days": 900}, fuses={"max_wakes_per_day": wakes}, **data
    )
    await tomorrow(home)
    home.llm_server.always = FINE
    for _ in range(wakes):
        await beat.wake()
    await home.settled()
    assert home.told == [PAUSED]
    return beat


@pytest.mark.contract("S7", "F5")
@pytest.mark.parametrize("restarts", [False, True], ids=["on", "restarted"])
async def test_that_a_pause_is_over_is_told_with_the_first_good_run(
    home: Home, restarts: bool
) -> None:
    beat = await spent(home, wakes=4)
    if restarts:
        assert await home.hass.config_entries.async_unload(home.entry.entry_id)
    await tomorrow(home)
    if restarts:
        assert await home.hass.config_entries.async_setup(home.entry.entry_id)
        await home.settled()
    assert beat.state("status") == "asleep"
    await beat.wake(dry_run=True)
    assert home.told == [PAUSED], "nobody is woken at midnight, nor by a rehearsal"
    home.llm_server.always = BAD
    await beat.wake()
    assert home.told == [PAUSED], "that it fails is no sign that it works"
    home.llm_server.always = FINE
    await beat.wake()
    await home.settled()
    assert home.told == [PAUSED, ENDED]
    await beat.wake()
    await home.settled()
    assert home.told == [PAUSED, ENDED, PAUSED]


@pytest.mark.contract("S7", "F5")
async def test_a_run_that_spends_the_day_at_once_tells_only_of_the_new_pause(
    home: Home,
) -> None:
    beat = await spent(home, wakes=1)
    for days in (2, 3):
        await tomorrow(home)
        await beat.wake()
        await home.settled()
        assert home.told == [PAUSED] * days


@pytest.mark.contract("S7", "F5")
async def test_a_pause_that_nobody_was_told_of_ends_untold(home: Home) -> None:
    beat = await spent(home)
    await beat.turn("off")
    await tomorrow(home)
    await beat.turn("on")
    await beat.wake()
    await home.settled()
    assert home.told == [PAUSED]


@pytest.mark.contract("S7", "F5")
async def test_a_limit_below_what_was_used_is_a_pause_that_is_told_once(
    home: Home,
) -> None:
    beat = await home.add_heartbeat(
        interval={"days": 900}, fuses={"max_wakes_per_day": 9}
    )
    home.llm_server.always = FINE
    await beat.wake()
    for limit in (1, 2, 1):
        await beat.change(fuses={"max_wakes_per_day": limit})
        await home.settled()
        assert home.told == [PAUSED]


@pytest.mark.contract("S7", "F5", "F7")
async def test_a_pause_and_a_fault_that_end_together_are_one_message(
    home: Home,
) -> None:
    beat = await spent(home)
    home.llm_server.always = NO_CREDIT
    await tomorrow(home)
    await beat.wake()
    await home.settled()
    assert len(home.told) == 2
    home.llm_server.always = FINE
    await beat.change(fuses={"max_wakes_per_day": 3})
    await beat.wake()
    await home.settled()
    assert home.told[2:] == [WORKS]


@pytest.mark.contract("S7", "F5")
async def test_a_pause_that_a_crash_has_kept_back_is_told_after_the_start(
    home: Home, hass_storage: dict[str, Any]
) -> None:
    await spent(home)
    left = on_disk(home, hass_storage)
    (known,) = left["data"]["heartbeats"].values()
    assert known["told"] == ["budget"]
    await restart(home, hass_storage, left=left)
    assert home.told == [PAUSED]
    known["told"] = []
    await restart(home, hass_storage, left=left)
    assert home.told == [PAUSED, PAUSED]


@pytest.mark.contract("F7")
async def test_the_status_changes_when_a_wait_is_over(home: Home) -> None:
    """Also if the gate is closed by then: a quiet tick writes no state."""
    await home.set("hungry", on=True)
    beat = await failing(home, conditions=[HUNGRY])
    await home.set("hungry", on=False)
    assert beat.state("status") == "paused"
    await home.clock.tick()
    assert beat.state("status") == "asleep"


@pytest.mark.contract("F7", "G3")
async def test_diagnostics_say_why_it_is_paused(home: Home) -> None:
    beat = await failing(home)
    found = await async_get_config_entry_diagnostics(home.hass, home.entry)
    (described,) = found["heartbeats"]
    assert described["pause"] == attributes(home, beat)
    assert described["failing"]["failures"] == 5
    assert described["failing"]["kind"] == "bad_request"
    assert "Something is odd" not in str(described)


@pytest.mark.contract("S7", "F7", "S5")
async def test_without_a_target_the_notice_stands_in_home_assistant(
    home: Home,
) -> None:
    beat = await failing(home, notify=[])
    shown = persistent_notification._async_get_or_create_notifications(home.hass)
    (notice,) = shown.values()
    assert notice["message"].startswith("Waits until")
    home.llm_server.always = FINE
    await beat.wake()
    await home.settled()
    # The good news takes its place.
    (notice,) = shown.values()
    assert notice["message"] == WORKS


@pytest.mark.contract("F7", "R7")
async def test_errors_that_pass_count_like_others(home: Home) -> None:
    beat = await home.add_heartbeat()
    home.llm_server.always = CLOSE
    for _ in range(5):
        woken = home.hass.async_create_task(beat.wake())
        await home.clock.turn_until(woken.done)
        assert woken.result()["error"]["kind"] == "connection"
    await home.settled()
    assert beat.state("status") == "paused"
    assert len(home.told) == 1


@pytest.mark.contract("S7", "G2")
@pytest.mark.parametrize(
    "condition",
    [
        LATE,
        {"condition": "no.such"},
        {"condition": "template", "value_template": "{{ 1 / 0 }}"},
    ],
    ids=["missing", "invalid", "error"],
)
async def test_a_gate_that_cannot_be_judged_for_an_hour_is_told(
    home: Home, condition: Any
) -> None:
    beat = await home.add_heartbeat(conditions=[condition])
    await home.clock.tick(4)
    assert home.told == []
    await home.clock.tick()
    (notice,) = home.told
    assert notice.startswith("Stays asleep")
    await home.clock.tick(9)
    await home.reload()
    await home.clock.tick(9)
    assert home.told == [notice]
    await beat.change(conditions=[HUNGRY])
    await home.clock.tick()
    assert home.told == [notice, JUDGES]
    await home.clock.tick(9)
    assert len(home.told) == 2


@pytest.mark.contract("S7", "G2")
async def test_a_gate_that_is_silent_for_less_than_an_hour_is_not_told(
    home: Home,
) -> None:
    """Neither that it was, nor that it is no more."""
    home.hass.states.async_set("light.late", "unavailable")
    beat = await home.add_heartbeat(conditions=[LATE])
    for _ in range(5):
        await home.clock.tick(3)
        home.hass.states.async_set("light.late", "off")
        await home.clock.tick()
        home.hass.states.async_set("light.late", "unavailable")
    assert home.told == []
    # Between two ticks that are far apart it is looked at again after an hour.
    await beat.change(interval={"hours": 5})
    await home.clock.tick(every=5 * HOUR)
    home.hass.states.async_set("light.late", "off")
    await home.clock.tick(every=2 * HOUR)
    assert home.told == []
    home.hass.states.async_set("light.late", "unavailable")
    await home.clock.tick(every=3 * HOUR)
    await home.clock.tick(every=HOUR)
    assert len(home.told) == 1


@pytest.mark.contract("S7")
async def test_none_is_told_of_what_is_off(home: Home) -> None:
    beat = await home.add_heartbeat(conditions=[LATE])
    await home.clock.tick(3)
    await beat.turn("off")
    await home.clock.tick(9)
    assert home.told == []
    await beat.turn("on")
    await home.clock.tick(4)
    assert home.told == []
    await home.clock.tick()
    assert len(home.told) == 1


@pytest.mark.contract("S7", "R7")
@pytest.mark.parametrize(
    "broken",
    [
        "gate.gate.Gate.judge",
        "heartbeat.waker.Waker.plan",
        "heartbeat.situation.Situation.is_old_news",
    ],
)
async def test_a_tick_that_fails_inside_again_and_again_is_told(
    home: Home,
    broken: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*_: object, **__: object) -> bool:
        raise RuntimeError("on fire")

    beat = await home.add_heartbeat(look={"entity_id": ["input_boolean.lamp"]})
    home.llm_server.always = FINE
    with monkeypatch.context() as patch:
        patch.setattr(f"custom_components.proactive_agent.{broken}", fail)
        await home.clock.tick(9)
    assert len(home.told) == 1
    assert "The log of Home Assistant says more" in home.told[0]
    ours = [one for one in caplog.records if "A tick of Milonga failed" in one.message]
    assert [one.levelname for one in ours] == ["ERROR"] + ["DEBUG"] * 8
    assert await beat.ticks() == 9
    assert beat.state("status") == "asleep"
    await home.clock.tick()
    assert asked(home) == 1
    assert home.told[1:] == [JUDGES]
    caplog.clear()


@pytest.mark.contract("S7", "C6")
async def test_good_news_that_a_crash_has_swallowed_comes_after_the_start(
    home: Home, hass_storage: dict[str, Any]
) -> None:
    await failing(home)
    key = f"proactive_agent.{home.entry.entry_id}"
    await home.clock.tick(every=timedelta(seconds=30))
    assert await home.hass.config_entries.async_unload(home.entry.entry_id)
    (stored,) = hass_storage[key]["data"]["heartbeats"].values()
    assert stored["told"] == ["failures"]
    stored["breaker"] = None
    assert await home.hass.config_entries.async_setup(home.entry.entry_id)
    await home.settled()
    assert home.told[1:] == [WORKS]


@pytest.mark.contract("D1", "S7")
async def test_what_cannot_be_read_is_told_to_each_owner(
    home: Home, hass_storage: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    beat = await home.add_heartbeat()
    await home.add_heartbeat("Tango")
    assert await home.hass.config_entries.async_unload(home.entry.entry_id)
    hass_storage[f"proactive_agent.{home.entry.entry_id}"]["data"] = {"odd": 1}
    monkeypatch.setattr("pathlib.Path.replace", lambda *_: None)
    assert await home.hass.config_entries.async_setup(home.entry.entry_id)
    await home.settled()
    assert not beat.is_on()
    assert [one.split(":")[0] for one in home.told] == ["Switched off"] * 2
    assert {call.data["title"] for call in home.phone} == {"Milonga", "Tango"}
    await home.reload()
    assert len(home.told) == 2


@pytest.mark.contract("D1", "S7")
async def test_what_is_too_new_is_told_once_and_when_it_can_be_read(
    home: Home, hass_storage: dict[str, Any]
) -> None:
    await home.add_heartbeat(conditions=[HUNGRY])
    assert await home.hass.config_entries.async_unload(home.entry.entry_id)
    file = hass_storage[f"proactive_agent.{home.entry.entry_id}"]
    file["version"] = 9
    for _ in range(3):
        assert not await home.hass.config_entries.async_reload(home.entry.entry_id)
        await home.settled()
    assert home.entry.state is ConfigEntryState.SETUP_ERROR
    (notice,) = home.told
    assert "newer version" in notice
    issues = ir.async_get(home.hass)
    issue = issues.async_get_issue(DOMAIN, f"store_too_new_{home.entry.entry_id}")
    assert issue is not None
    assert issue.is_persistent
    file["version"] = 1
    await home.reload()
    assert home.told == [notice, "Works again: what it remembers can be read."]
    assert not issues.issues
    await home.reload()
    assert len(home.told) == 2


@pytest.mark.contract("S5", "S7", "D1")
@pytest.mark.parametrize("phone", ["is there", "comes late", "never comes"])
async def test_a_loss_is_told_to_who_is_late_and_then_nobody_is_listened_for(
    home: Home, hass_storage: dict[str, Any], phone: str
) -> None:
    hass = home.hass
    await home.add_heartbeat()
    assert await hass.config_entries.async_unload(home.entry.entry_id)
    hass_storage[f"proactive_agent.{home.entry.entry_id}"]["version"] = 9
    if phone != "is there":
        hass.services.async_remove("notify", "phone")
    hass.set_state(CoreState.starting)
    before = listeners(home)
    assert not await hass.config_entries.async_setup(home.entry.entry_id)
    await let_run()
    assert (listeners(home) == before) is (phone == "is there")
    if phone == "comes late":
        home.phone = async_mock_service(hass, "notify", "phone")
    elif phone == "never comes":
        hass.set_state(CoreState.running)
        hass.bus.async_fire(EVENT_HOMEASSISTANT_STARTED)
        before[str(EVENT_HOMEASSISTANT_STARTED)] = 0
        await home.clock.tick_beside(62, every=timedelta(seconds=1))
    await let_run()
    assert listeners(home) == before
    assert [call.data["title"] for call in home.phone] == (
        [] if phone == "never comes" else ["Milonga"]
    )
    shown = persistent_notification._async_get_or_create_notifications(hass)
    assert bool(shown) is (phone == "never comes")


def listeners(home: Home) -> dict[str, int]:
    """Count those that wait for a notifier or for the start."""
    counted = home.hass.bus.async_listeners()
    waits = (EVENT_HOMEASSISTANT_STARTED, EVENT_SERVICE_REGISTERED, EVENT_STATE_CHANGED)
    return {str(event_type): counted.get(event_type, 0) for event_type in waits}

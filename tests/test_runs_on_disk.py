"""The log of runs over restarts: in good order, killed, unreadable, and removed."""

from copy import deepcopy
from datetime import timedelta
import json
import logging
from pathlib import Path
from typing import Any

from homeassistant.config_entries import ConfigEntryState
from homeassistant.util import dt as dt_util
import pytest

from custom_components.proactive_agent.engine.run_log import MAX_RUNS
from custom_components.proactive_agent.store.runs import SAVE_DELAY

from .support.asking import Disk, disk, unlock
from .support.doors import FRONT, Door, door
from .support.heartbeats import (
    FEED,
    HUNGRY,
    INTERVAL,
    Beat,
    HeldService,
    Home,
    clock,
    home,
    let_run,
)
from .support.llm_server import Held, Raw, calls, llm_server, text
from .support.restarts import logs_on_disk, on_disk, restart

__all__ = ["clock", "disk", "door", "home", "llm_server"]

pytestmark = pytest.mark.contract("C6")

MEAL = calls(("feed", {"food": "meal"}))
VALVE = {"entity_id": ["script.valve", "script.feed"]}
LONG = 'Rain, \u00e4 lot of "it".\n' * 1_500
WORDY = calls(("forecast", {"days": 3}), content=LONG)
STOPPED = "Home Assistant was stopped during a run."


def key_of(beat: Beat) -> str:
    return f"proactive_agent.{beat.entry.entry_id}.runs.{beat.id}"


async def written(home: Home) -> None:
    """Let what is to be written soon come to the disk."""
    await home.clock.tick_beside(2, every=timedelta(seconds=SAVE_DELAY))
    await let_run()


async def a_story(home: Home) -> Beat:
    """Run three times: by a tick, by hand, and as a dry run."""
    home.llm_server.play(MEAL, text("Fed."), text("All is well."), text("Dry."))
    await home.set("hungry", on=True)
    beat = await home.add_heartbeat(act=FEED, conditions=[HUNGRY])
    await home.clock.tick()
    await beat.wake()
    await beat.wake(dry_run=True)
    return beat


@pytest.mark.parametrize("way", ["order", "kill"])
async def test_runs_and_sensors_are_as_they_were_before_a_restart(
    home: Home, hass_storage: dict[str, Any], way: str
) -> None:
    beat = await a_story(home)
    before = await beat.runs()
    assert [one["outcome"] for one in before] == ["nothing", "nothing", "acted"]
    sensors = beat.state("last_outcome"), beat.state("last_wake")
    assert sensors[0] == "nothing"
    await written(home)
    if way == "kill":
        left, logs = on_disk(home, hass_storage), logs_on_disk(home, hass_storage)
        await restart(home, hass_storage, left=left, logs=logs)
    else:
        await restart(home)
    assert await beat.runs() == before
    assert (beat.state("last_outcome"), beat.state("last_wake")) == sensors
    assert await beat.runs(limit=1) == before[:1]

    home.llm_server.play(text("Still well."))
    await beat.wake()
    assert [one["answer"] for one in await beat.runs(limit=2)] == [
        "Still well.",
        "Dry.",
    ]


async def test_a_run_is_written_soon_after_its_end_and_not_on_its_way(
    home: Home, hass_storage: dict[str, Any]
) -> None:
    held = Held(text("Fed."))
    home.llm_server.play(MEAL, held)
    beat = await home.add_heartbeat(act=FEED)
    home.clock.turn(INTERVAL)
    await held.reached.wait()
    assert key_of(beat) not in hass_storage
    held.release.set()
    await home.settled()
    await written(home)
    (run,) = hass_storage[key_of(beat)]["data"]["runs"]
    assert json.loads(run)["outcome"] == "acted"


async def test_a_disk_that_hangs_holds_up_neither_a_run_nor_the_next(
    home: Home, disk: Disk
) -> None:
    home.llm_server.always = text("All is well.")
    beat = await home.add_heartbeat()
    await beat.wake()
    disk.hold()
    home.clock.turn(timedelta(seconds=SAVE_DELAY))
    await disk.reached.wait()
    assert [one["outcome"] for one in await beat.runs()] == ["nothing"]
    disk.release()
    await home.settled()
    await beat.wake()
    assert len(await beat.runs()) == 2


@pytest.mark.contract("D1")
async def test_a_full_disk_costs_the_log_only(
    home: Home,
    disk: Disk,
    hass_storage: dict[str, Any],
    caplog: pytest.LogCaptureFixture,
) -> None:
    home.llm_server.always = text("All is well.")
    beat = await home.add_heartbeat()
    await beat.wake()
    disk.is_full = True
    await written(home)
    assert key_of(beat) not in hass_storage
    disk.is_full = False
    await beat.wake()
    await written(home)
    assert len(hass_storage[key_of(beat)]["data"]["runs"]) == 2
    assert beat.is_on()
    assert "full" in caplog.text


@pytest.mark.contract("P1")
async def test_an_answer_after_a_restart_is_written_into_the_run_that_asked(
    door: Door,
) -> None:
    home = door.home
    home.llm_server.play(calls(unlock()), text("Asked."))
    beat = door.beat
    await home.clock.tick()
    (before,) = await beat.runs()
    assert [one["status"] for one in before["actions"]] == ["waiting"]
    await restart(home)
    await home.hass.services.async_call(
        "button",
        "press",
        {"entity_id": beat.entity_id("button", "reject")},
        blocking=True,
    )
    await home.settled()
    (after,) = await beat.runs()
    assert [one["status"] for one in after["actions"]] == ["failed"]
    assert after["actions"][0]["answered_by"] is not None


async def killed_in_a_run(home: Home, storage: dict[str, Any]) -> None:
    left, logs = on_disk(home, storage), logs_on_disk(home, storage)
    await restart(home, storage, left=left, logs=logs)


@pytest.mark.contract("S5", "G3")
async def test_a_run_that_was_cut_off_by_a_crash_is_in_the_log_as_it_is_known(
    home: Home, hass_storage: dict[str, Any]
) -> None:
    valve = HeldService(home.hass, "test", "wait")
    home.llm_server.play(
        text("Well."), calls(("feed", {"food": "meal"}), ("valve", {}))
    )
    await home.set("hungry", on=True)
    beat = await home.add_heartbeat(act=VALVE, conditions=[HUNGRY])
    await beat.wake()
    await written(home)
    await home.set("hungry", on=False)
    await home.set("hungry", on=True)
    home.clock.turn(INTERVAL)
    await valve.reached.wait()
    started = dt_util.utcnow()
    await killed_in_a_run(home, hass_storage)

    run, before = await beat.runs()
    assert before["answer"] == "Well."
    assert (run["outcome"], run["stop_reason"]) == ("stopped", "cut_off")
    assert run["cause"] == "tick"
    assert run["started"] == started.isoformat()
    assert [one["result"] for one in run["gate"]] == [True]
    fed, opened = run["actions"]
    assert (fed["action"], fed["status"]) == ("script.feed", "done")
    assert (opened["action"], opened["status"]) == ("script.valve", "failed")
    assert opened["note"] == "Nobody saw how it ended."
    assert run["message"] == home.told[-1]
    assert run["message"].startswith(STOPPED)
    assert run["tokens"] == {"prompt": None, "completion": None}
    assert beat.state("last_outcome") == "stopped"
    assert beat.state("last_wake") == started.isoformat(timespec="seconds")
    valve.release.set()

    await written(home)
    await killed_in_a_run(home, hass_storage)
    assert await beat.runs() == [run, before]
    home.llm_server.play(text("Well again."))
    await beat.wake()
    await restart(home)
    assert [one["outcome"] for one in await beat.runs()] == [
        "nothing",
        "stopped",
        "nothing",
    ]


@pytest.mark.parametrize("has_log", [False, True])
async def test_a_crash_right_after_a_run_loses_nothing_of_its_record(
    home: Home, hass_storage: dict[str, Any], has_log: bool
) -> None:
    beat = await home.add_heartbeat(act=FEED)
    if has_log:
        home.llm_server.play(text("Well."))
        await beat.wake()
        await written(home)
    home.llm_server.play(MEAL, text("Fed."))
    await home.clock.tick()
    home.clock.turn(timedelta(milliseconds=100))
    await home.settled()
    before = await beat.runs()
    assert len(logs_on_disk(home, hass_storage)) == has_log
    for _ in range(2):
        await killed_in_a_run(home, hass_storage)
        assert await beat.runs() == before
    await written(home)
    assert len(hass_storage[key_of(beat)]["data"]["runs"]) == len(before)
    home.llm_server.play(text("Well again."))
    await beat.wake()
    await written(home)
    await restart(home)
    assert on_disk(home, hass_storage)["data"]["ended_runs"] == {}
    assert len(await beat.runs()) == len(before) + 1


@pytest.mark.parametrize("ended", ["no record", 7, "{}", "[]", None])
async def test_an_ended_run_that_cannot_be_read_is_left_out(
    home: Home, hass_storage: dict[str, Any], ended: Any
) -> None:
    home.llm_server.always = text("Well.")
    beat = await home.add_heartbeat()
    await beat.wake()
    await home.hass.config_entries.async_unload(home.entry.entry_id)
    left = on_disk(home, hass_storage)
    left["data"]["ended_runs"] = [] if ended is None else {beat.id: ended}
    await home.hass.config_entries.async_setup(home.entry.entry_id)
    await restart(home, hass_storage, left=left)
    assert beat.is_on()
    assert len(await beat.runs()) == 1


@pytest.mark.contract("R8")
async def test_an_action_that_outlived_its_run_and_home_assistant_stands_as_told(
    home: Home, hass_storage: dict[str, Any]
) -> None:
    valve = HeldService(home.hass, "test", "wait")
    home.llm_server.play(calls(("feed", {"food": "meal"}), ("valve", {})))
    beat = await home.add_heartbeat(act=VALVE)
    home.clock.turn(INTERVAL)
    await valve.reached.wait()
    home.clock.turn(timedelta(seconds=60))
    await let_run()
    await home.clock.turn_until(lambda: beat.state("last_outcome") == "timeout")
    await written(home)
    (before,) = await beat.runs()
    assert [one["status"] for one in before["actions"]] == ["done", "still_running"]
    await killed_in_a_run(home, hass_storage)
    assert "nobody saw how it ended: Valve" in home.told[-1]
    (run,) = await beat.runs()
    fed, opened = run["actions"]
    assert fed == before["actions"][0]
    assert (opened["status"], opened["note"]) == ("failed", "Nobody saw how it ended.")
    assert {**run, "actions": []} == {**before, "actions": []}
    valve.release.set()


async def test_a_crash_before_anything_was_done_leaves_a_record_and_no_message(
    home: Home, hass_storage: dict[str, Any]
) -> None:
    held = Held(text("Well."))
    home.llm_server.play(held)
    beat = await home.add_heartbeat()
    home.clock.turn(INTERVAL)
    await held.reached.wait()
    await killed_in_a_run(home, hass_storage)
    (run,) = await beat.runs()
    assert (run["outcome"], run["actions"], run["message"]) == ("stopped", [], None)
    assert home.told == []


@pytest.mark.contract("P1")
async def test_what_was_asked_for_before_a_crash_stands_in_its_record(
    door: Door, hass_storage: dict[str, Any]
) -> None:
    home, held = door.home, Held(text("Asked."))
    home.llm_server.play(calls(unlock()), held)
    home.clock.turn(INTERVAL)
    await held.reached.wait()
    await written(home)
    await killed_in_a_run(home, hass_storage)
    (run,) = await door.beat.runs()
    (asked,) = run["actions"]
    assert (asked["status"], asked["entity_id"]) == ("waiting", [FRONT])
    assert run["outcome"] == "stopped"


@pytest.mark.parametrize(
    ("way", "reason"),
    [
        ("off", "switched_off"),
        ("unload", "unloaded"),
        ("stop", "unloaded"),
        ("time", None),
    ],
)
async def test_a_record_says_what_has_stopped_its_run(
    home: Home, way: str, reason: str | None
) -> None:
    held = Held(text("Well."))
    home.llm_server.play(held)
    beat = await home.add_heartbeat()
    home.clock.turn(INTERVAL)
    await held.reached.wait()
    if way == "off":
        await beat.turn("off")
    elif way == "unload":
        await home.reload()
    elif way == "stop":
        await home.hass.async_stop(force=True)
    else:
        home.clock.turn(timedelta(seconds=60))
    await home.settled()
    heartbeat = home.entry.runtime_data.heartbeats[beat.id]
    (run,) = heartbeat.runs.log
    assert run.outcome == ("timeout" if way == "time" else "stopped")
    assert run.stop_reason == reason


@pytest.mark.contract("F2")
async def test_a_record_says_by_which_limit_the_heartbeat_went_off_with_its_run(
    home: Home,
) -> None:
    held = Held(text("Well."))
    home.llm_server.play(held)
    beat = await home.add_heartbeat(
        fuses={"max_duration": {"minutes": 16}, "run_timeout": 3_600}
    )
    home.clock.turn(INTERVAL)
    await held.reached.wait()
    home.clock.turn(timedelta(minutes=2))
    await let_run()
    held.release.set()
    await home.settled()
    (run,) = await beat.runs()
    assert (run["outcome"], run["stopped"]) == ("nothing", True)
    assert run["stop_reason"] == "max_duration"


async def test_a_dry_run_of_a_heartbeat_that_is_off_has_stopped_nothing(
    home: Home,
) -> None:
    home.llm_server.always = text("Well.")
    beat = await home.add_heartbeat(fuses={"max_ticks": 1})
    await home.clock.tick()
    assert not beat.is_on()
    (last,) = await beat.runs()
    assert last["stop_reason"] == "max_ticks"
    dry = await beat.wake(dry_run=True)
    assert (dry["stopped"], dry["stop_reason"]) == (False, None)


async def test_a_heartbeat_that_is_removed_takes_its_log_along(
    home: Home, hass_storage: dict[str, Any]
) -> None:
    home.llm_server.always = text("Well.")
    beat, other = await home.add_heartbeat(), await home.add_heartbeat("Rex")
    await beat.wake()
    await other.wake()
    await written(home)
    await beat.remove()
    await written(home)
    assert [*logs_on_disk(home, hass_storage)] == [key_of(other)]
    assert len(await other.runs()) == 1


async def test_a_log_of_another_heartbeat_is_no_log_of_ours(
    home: Home, hass_storage: dict[str, Any]
) -> None:
    home.llm_server.always = text("Well.")
    beat, other = await home.add_heartbeat(), await home.add_heartbeat("Rex")
    await beat.wake()
    assert await other.runs() == []


async def test_with_the_endpoint_its_logs_are_removed(
    home: Home, hass_storage: dict[str, Any]
) -> None:
    home.llm_server.always = text("Well.")
    beat = await home.add_heartbeat()
    await beat.wake()
    await home.hass.config_entries.async_remove(home.entry.entry_id)
    await written(home)
    assert not [key for key in hass_storage if home.entry.entry_id in key]


UNREADABLE: list[Any] = [
    {"runs": ["no record"]},
    {"runs": [json.dumps({"run_id": "01RUN"})]},
    {"runs": [7]},
    {"walks": []},
    ["no object"],
]


@pytest.mark.contract("D1")
@pytest.mark.parametrize("data", UNREADABLE)
async def test_a_log_that_cannot_be_read_is_a_lost_log_and_no_more(
    home: Home,
    hass_storage: dict[str, Any],
    caplog: pytest.LogCaptureFixture,
    data: Any,
) -> None:
    home.llm_server.always = text("Well.")
    beat = await home.add_heartbeat()
    await beat.wake()
    await home.hass.config_entries.async_unload(home.entry.entry_id)
    hass_storage[key_of(beat)]["data"] = data
    caplog.clear()
    assert await home.hass.config_entries.async_setup(home.entry.entry_id)
    await home.settled()
    assert beat.is_on()
    assert await beat.runs() == []
    assert beat.state("last_outcome") == "nothing"
    ours = [one for one in caplog.records if "log of runs" in one.getMessage()]
    assert [one.levelno for one in ours] == [logging.WARNING]
    await beat.wake()
    await written(home)
    assert len(hass_storage[key_of(beat)]["data"]["runs"]) == 1


@pytest.mark.contract("D1")
async def test_a_log_of_a_newer_version_is_left_alone(
    home: Home, hass_storage: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    home.llm_server.always = text("Well.")
    beat = await home.add_heartbeat()
    await beat.wake()
    await home.hass.config_entries.async_unload(home.entry.entry_id)
    hass_storage[key_of(beat)]["version"] = 2
    newer = deepcopy(hass_storage[key_of(beat)])
    assert await home.hass.config_entries.async_setup(home.entry.entry_id)
    await home.settled()
    assert home.entry.state is ConfigEntryState.LOADED
    await beat.wake()
    assert len(await beat.runs()) == 1
    await home.reload()
    assert hass_storage[key_of(beat)] == newer
    assert "is left alone" in caplog.text


async def test_no_key_stands_in_the_log(
    home: Home, hass_storage: dict[str, Any]
) -> None:
    secret = "sk-0123456789abcdef"
    home.hass.config_entries.async_update_entry(
        home.entry, data={**home.entry.data, "api_key": secret}
    )
    refusal = Raw(status=401, body={"error": {"message": f"Wrong key {secret}"}})
    home.llm_server.always = refusal
    beat = await home.add_heartbeat()
    run = await beat.wake()
    assert run["error"]["kind"] == "auth"
    await written(home)
    kept = json.dumps(hass_storage[key_of(beat)])
    assert "auth" in kept
    assert secret not in kept


class TestOnARealDisk:
    """Where Home Assistant's own files lie."""

    @pytest.fixture
    def hass_config_dir(self, tmp_path: Path) -> str:
        """A folder of its own for each test."""
        return str(tmp_path)

    @pytest.fixture
    def hass_storage(self) -> dict[str, Any]:
        """The real disk in the place of Home Assistant's mocked one."""
        return {}

    async def test_fifty_runs_with_large_answers_stay_under_a_megabyte(
        self, home: Home, tmp_path: Path
    ) -> None:
        home.llm_server.always = lambda request: (
            text(LONG) if request["messages"][-1]["role"] == "tool" else WORDY
        )
        beat = await home.add_heartbeat(
            fuses={"max_wakes_per_day": 0, "max_tokens_per_day": 0}
        )
        for _ in range(MAX_RUNS + 2):
            await beat.wake()
        await home.hass.config_entries.async_unload(home.entry.entry_id)
        (file,) = (tmp_path / ".storage").glob("*.runs.*")
        assert 800_000 < file.stat().st_size < 1_000_000
        assert file.stat().st_mode & 0o077 == 0
        assert await home.hass.config_entries.async_setup(home.entry.entry_id)
        runs = await beat.runs(limit=50)
        assert len(runs) == MAX_RUNS
        assert runs[0]["answer"] == LONG
        assert {one["answer"][:100] for one in runs} == {LONG[:100]}
        assert {*runs[-1]["shortened"]} == {"answer", "each_turn"}

    async def test_what_was_left_behind_is_deleted(
        self, home: Home, tmp_path: Path
    ) -> None:
        folder = tmp_path / ".storage"
        folder.mkdir(exist_ok=True)
        mine = f"proactive_agent.{home.entry.entry_id}.runs."
        gone = folder / f"{mine}01GONE"
        aside = folder / f"{mine}01GONE.unreadable.2026-11-30"
        others = folder / "proactive_agent.01OTHER.runs.01GONE"
        for path in (gone, aside, others):
            path.write_text("{}")
        home.llm_server.always = text("Well.")
        beat = await home.add_heartbeat()
        assert [path.exists() for path in (gone, aside, others)] == [False] * 2 + [True]
        await beat.wake()
        await home.reload()
        assert len(await beat.runs()) == 1
        assert await home.hass.config_entries.async_remove(home.entry.entry_id)
        assert not [*folder.glob(f"{mine}*")]
        assert others.exists()

    @pytest.mark.contract("D1")
    async def test_what_cannot_be_read_is_kept_aside(
        self, home: Home, tmp_path: Path
    ) -> None:
        home.llm_server.always = text("Well.")
        beat = await home.add_heartbeat()
        await beat.wake()
        await home.hass.config_entries.async_unload(home.entry.entry_id)
        file = tmp_path / ".storage" / key_of(beat)
        spoilt = file.read_text().replace("run_id", "walk_id")
        file.write_text(spoilt)
        assert await home.hass.config_entries.async_setup(home.entry.entry_id)
        assert beat.is_on()
        (aside,) = file.parent.glob(f"{file.name}.unreadable.*")
        assert aside.read_text() == spoilt

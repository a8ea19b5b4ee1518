from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
import json
from pathlib import Path
from typing import Any

from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ConfigEntryError
from homeassistant.helpers import issue_registry as ir
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import (
    async_fire_time_changed,
    mock_storage,
)

from custom_components.proactive_agent.engine.backoff import Shown
from custom_components.proactive_agent.engine.due import Due
from custom_components.proactive_agent.engine.fuses import Used
from custom_components.proactive_agent.engine.records import Outcome
from custom_components.proactive_agent.engine.repeats import PastAction
from custom_components.proactive_agent.engine.wire.shape import USUAL, Shape
from custom_components.proactive_agent.models import Fuses
from custom_components.proactive_agent.store.memory import Memory
from custom_components.proactive_agent.store.meter import TOKENS_AHEAD
from custom_components.proactive_agent.store.shapes import MAX_REMEMBERED
from custom_components.proactive_agent.store.store import (
    SAVE_DELAY,
    SAVE_SHORTLY,
    HeartbeatState,
    HeartbeatStore,
)

ENTRY_ID = "01ENTRY"
KEY = f"proactive_agent.{ENTRY_ID}"
BEAT = "01BEAT"
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
USED = Used(
    ticks=3,
    deadline=datetime(2026, 11, 30, 22, 0, 0, 5, tzinfo=UTC),
    day=date(2026, 11, 30),
    wakes=2,
    tokens=1_500,
)
STATE = HeartbeatState(on=True, used=USED, tokens_total=9_000)
RAW: dict[str, Any] = {
    "on": True,
    "ticks": 3,
    "deadline": "2026-11-30T22:00:00.000005+00:00",
    "day": "2026-11-30",
    "wakes": 2,
    "tokens": 1500,
    "tokens_total": 9000,
    "anchor": None,
    "approvals": [],
    "leaving": None,
    "heard": [],
    "breaker": {
        "failures": 0,
        "since": None,
        "kind": None,
        "reason": "",
        "fault": None,
        "until": None,
    },
    "told": [],
    "shown": None,
    "past": {},
    "due": [],
    "streak": {"days": 0, "last": None, "reason": None, "left": False},
}


@pytest.fixture(name="hass_config_dir")
def hass_config_dir_fixture(tmp_path: Path) -> str:
    """A folder of its own for each test."""
    return str(tmp_path)


@pytest.fixture(name="hass_storage")
def hass_storage_fixture() -> dict[str, Any]:
    """The real disk in the place of Home Assistant's mocked one."""
    return {}


@pytest.fixture(name="disk")
def disk_fixture(hass: HomeAssistant, tmp_path: Path) -> Disk:
    """The file of the endpoint, on a real disk."""
    (tmp_path / ".storage").mkdir(exist_ok=True)
    return Disk(tmp_path / ".storage" / KEY)


class Disk:
    """The file of an endpoint, and what lies beside it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, content: bytes) -> None:
        self.path.write_bytes(content)

    def write_json(self, content: Any) -> None:
        self.write(json.dumps(content).encode())

    def write_beats(self, **heartbeats: Any) -> None:
        self.write_json(envelope({"heartbeats": heartbeats}))

    def read(self) -> bytes | None:
        return self.path.read_bytes() if self.path.exists() else None

    def read_json(self) -> Any:
        return json.loads(self.path.read_bytes())

    def stat(self) -> tuple[int, int]:
        stat = self.path.stat()
        return stat.st_mtime_ns, stat.st_mode & 0o777

    def make_folder(self, inside: str = "") -> None:
        (self.path / inside).mkdir(parents=True)

    def remove(self) -> None:
        self.path.unlink()

    @property
    def beats(self) -> dict[str, Any]:
        heartbeats: dict[str, Any] = self.read_json()["data"]["heartbeats"]
        return heartbeats

    @property
    def kept_aside(self) -> list[Path]:
        return [*self.path.parent.glob(f"{KEY}.*")]

    @property
    def contents_aside(self) -> list[bytes]:
        return [one.read_bytes() for one in self.kept_aside]


def envelope(data: Any, *, version: Any = 1, minor_version: int = 1) -> Any:
    return {
        "version": version,
        "minor_version": minor_version,
        "key": KEY,
        "data": data,
    }


async def load(hass: HomeAssistant) -> HeartbeatStore:
    store = HeartbeatStore(hass, ENTRY_ID)
    assert await store.async_load()
    return store


def beat(store: HeartbeatStore, **fuses: Any) -> Memory:
    return Memory(store, BEAT, Fuses(**fuses), now=NOON)


async def settle(hass: HomeAssistant) -> None:
    """Let a write that is due come to the disk."""
    async_fire_time_changed(hass)
    await hass.async_block_till_done()


@pytest.mark.contract("D1", "D2")
async def test_no_file_yet_is_new(hass: HomeAssistant, disk: Disk) -> None:
    store = await load(hass)

    assert store.get(BEAT) is None
    assert disk.read() is None


@pytest.mark.contract("C6")
@pytest.mark.parametrize(
    "state",
    [
        STATE,
        HeartbeatState(on=True),
        HeartbeatState(on=False, used=Used(ticks=6, wakes=1, day=date(2026, 2, 28))),
        HeartbeatState(
            on=True,
            shown=Shown(states={"light.lamp": "on"}, at=NOON, outcome=Outcome.SPOKE),
            past={"feed": PastAction(at=NOON, states={"light.lamp": "on"})},
            due=(Due(id="01RUN", run_id="01RUN", at=NOON),),
        ),
    ],
)
async def test_a_state_comes_back_as_it_was(
    hass: HomeAssistant, disk: Disk, state: HeartbeatState
) -> None:
    store = await load(hass)
    store.put(BEAT, state)
    store.put("other", HeartbeatState(on=False))
    await store.async_save()

    again = await load(hass)

    assert again.get(BEAT) == state
    assert again.get("other") == HeartbeatState(on=False)
    assert again.get("new") is None


@pytest.mark.contract("C6")
async def test_this_is_what_stands_on_the_disk(hass: HomeAssistant, disk: Disk) -> None:
    store = await load(hass)
    store.put(BEAT, STATE)
    await store.async_save()

    written = disk.read_json()
    saved = dt_util.parse_datetime(written["data"].pop("saved"))
    assert saved is not None
    assert saved <= dt_util.utcnow()
    assert written == {
        "version": 1,
        "minor_version": 1,
        "key": KEY,
        "data": {
            "heartbeats": {BEAT: RAW},
            "shapes": [],
            "open_runs": {},
            "ended_runs": {},
        },
    }
    assert disk.stat()[1] == 0o600


async def test_what_a_server_refused_is_known_after_a_restart(
    hass: HomeAssistant, disk: Disk
) -> None:
    store = await load(hass)
    store.shapes.put("http://ai", "m", Shape(dropped=frozenset({"temperature"})))
    for number in range(MAX_REMEMBERED):
        store.shapes.put("http://ai", f"m{number}", Shape(streamed=True))
    await store.async_save()

    again = (await load(hass)).shapes
    assert again.get("http://ai", "m") == USUAL
    assert again.get("http://ai", "m0") == Shape(streamed=True)
    assert again.get("http://elsewhere", "m0") == USUAL


@pytest.mark.parametrize("saved", [7, "noon", "2026-01-01T12:00:00", None])
async def test_a_moment_that_makes_no_sense_is_none(
    hass: HomeAssistant, disk: Disk, saved: Any
) -> None:
    disk.write_json(envelope({"heartbeats": {BEAT: RAW}, "saved": saved}))
    store = await load(hass)
    assert store.get(BEAT) == STATE
    assert store.last_saved is None


@pytest.mark.parametrize("rubbish", ["text", [1], [{"url": 1}], {"url": "x"}])
async def test_a_shape_that_makes_no_sense_costs_nothing_else(
    hass: HomeAssistant, disk: Disk, rubbish: Any
) -> None:
    disk.write_json(envelope({"heartbeats": {BEAT: RAW}, "shapes": rubbish}))
    store = await load(hass)
    assert store.get(BEAT) == STATE
    assert store.shapes.as_list() == []


RUBBISH: dict[str, Callable[[], Any]] = {
    "a list": list,
    "a text": lambda: "rubbish",
    "a number": lambda: 5,
    "null": lambda: None,
    "an empty object": dict,
    "no version": lambda: {"data": {"heartbeats": {}}},
    "no data": lambda: {"version": 1, "minor_version": 1, "key": KEY},
    "a version in words": lambda: envelope({"heartbeats": {}}, version="one"),
    "an older version": lambda: envelope({"heartbeats": {}}, version=0),
    "empty data": lambda: envelope(None),
    "no heartbeats": lambda: envelope({}),
    "a list of heartbeats": lambda: envelope({"heartbeats": [BEAT]}),
    "a heartbeat in words": lambda: envelope({"heartbeats": {BEAT: "on"}}),
    "a missing key": lambda: envelope({"heartbeats": {BEAT: {"on": True}}}),
    "on in words": lambda: beats(on="off"),
    "on in numbers": lambda: beats(on=0),
    "ticks in words": lambda: beats(ticks="3"),
    "fewer ticks than none": lambda: beats(ticks=-3),
    "half a tick": lambda: beats(ticks=0.5),
    "no wakes": lambda: beats(wakes=None),
    "tokens in a list": lambda: beats(tokens=[1]),
    "a total below zero": lambda: beats(tokens_total=-1),
    "a deadline in words": lambda: beats(deadline="tomorrow"),
    "a deadline without a zone": lambda: beats(deadline="2026-11-30T22:00:00"),
    "a deadline in numbers": lambda: beats(deadline=5),
    "a day in words": lambda: beats(day="monday"),
    "nothing shown": lambda: beats(shown={}),
    "a past in a list": lambda: beats(past=["feed"]),
    "a message in words": lambda: beats(due=["Fed."]),
}


def beats(**changed: Any) -> Any:
    return envelope({"heartbeats": {"sane": RAW, BEAT: {**RAW, **changed}}})


@pytest.mark.contract("D1", "D2")
@pytest.mark.parametrize("make", RUBBISH.values(), ids=RUBBISH)
async def test_a_file_that_makes_no_sense_is_kept_aside_and_all_are_off(
    hass: HomeAssistant, disk: Disk, make: Callable[[], Any]
) -> None:
    disk.write_json(make())
    content = disk.read()
    store = HeartbeatStore(hass, ENTRY_ID)

    assert not await store.async_load()

    assert disk.contents_aside == [content]
    assert store.get(BEAT) == HeartbeatState(on=False)
    assert store.get("sane") == HeartbeatState(on=False)


@pytest.mark.contract("D1", "D2")
@pytest.mark.parametrize(
    "content",
    [b"", b"\x00\x00\x00", b'{"version": 1, "data": {"heart', b"\xff\xfe"],
    ids=["empty", "zeros", "cut off", "no text"],
)
async def test_a_file_that_is_no_json_is_kept_aside_and_all_are_off(
    hass: HomeAssistant, disk: Disk, content: bytes
) -> None:
    disk.write(content)
    store = HeartbeatStore(hass, ENTRY_ID)

    assert not await store.async_load()

    assert disk.contents_aside == [content]
    assert disk.read() is None
    assert store.get(BEAT) == HeartbeatState(on=False)


@pytest.mark.contract("D1")
async def test_a_file_that_cannot_be_opened_is_kept_aside(
    hass: HomeAssistant, disk: Disk
) -> None:
    disk.make_folder()
    store = HeartbeatStore(hass, ENTRY_ID)

    assert not await store.async_load()

    assert disk.read() is None
    assert len(disk.kept_aside) == 1
    assert store.get(BEAT) == HeartbeatState(on=False)


@pytest.mark.contract("D1")
async def test_what_cannot_even_be_kept_aside_stops_nobody(
    hass: HomeAssistant,
    disk: Disk,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def refuse(_self: Path, _target: Path) -> Path:
        raise PermissionError(13, "Read-only")

    disk.write_json(envelope(None))
    monkeypatch.setattr(Path, "replace", refuse)
    store = HeartbeatStore(hass, ENTRY_ID)

    assert not await store.async_load()

    assert store.get(BEAT) == HeartbeatState(on=False)
    assert "could not be kept aside" in caplog.text


@pytest.mark.contract("D1", "D2")
async def test_a_loss_is_remembered_over_the_next_restart(
    hass: HomeAssistant, disk: Disk
) -> None:
    disk.write(b"{")
    store = HeartbeatStore(hass, ENTRY_ID)
    assert not await store.async_load()
    state = beat(store, max_ticks=6)
    await store.async_begin_anew()

    assert not state.is_on
    assert not Memory(await load(hass), BEAT, Fuses(), now=NOON).is_on


@pytest.mark.contract("D2")
async def test_who_is_created_after_a_loss_is_new(
    hass: HomeAssistant, disk: Disk
) -> None:
    disk.write(b"{")
    store = HeartbeatStore(hass, ENTRY_ID)
    assert not await store.async_load()
    await store.async_begin_anew()

    assert store.get("newborn") is None
    assert Memory(store, "newborn", Fuses(), now=NOON).is_on


@pytest.mark.contract("D1")
@pytest.mark.parametrize(("version", "minor"), [(2, 1), (7, 3), (1, 2)])
async def test_a_newer_file_is_left_alone_byte_for_byte(
    hass: HomeAssistant,
    disk: Disk,
    issue_registry: ir.IssueRegistry,
    version: int,
    minor: int,
) -> None:
    disk.write_json(envelope({"hearts": [1]}, version=version, minor_version=minor))
    content = disk.read()
    before = disk.stat()

    with pytest.raises(ConfigEntryError) as refused:
        await HeartbeatStore(hass, ENTRY_ID).async_load()
    await settle(hass)

    assert refused.value.translation_key == "store_too_new"
    assert disk.read() == content
    assert disk.stat() == before
    assert disk.kept_aside == []
    assert not issue_registry.issues


@pytest.mark.contract("C6", "F1")
@pytest.mark.parametrize("max_ticks", [1, 6, 19, 20, 100, 1_000])
async def test_a_crash_after_any_tick_gives_none_back(
    hass: HomeAssistant, disk: Disk, max_ticks: int
) -> None:
    state = beat(await load(hass), max_ticks=max_ticks)
    await settle(hass)
    block = max(1, max_ticks // 20)

    for ticks in range(1, min(max_ticks, 200) + 1):
        state.meter.count_tick()

        # What a killed process leaves, before the loop has gone on.
        left = disk.beats[BEAT]["ticks"]
        assert ticks <= left <= min(max_ticks, ticks + block)
        await settle(hass)
        assert state.meter.used.ticks == ticks
        assert disk.beats[BEAT]["ticks"] <= max_ticks


@pytest.mark.contract("C6", "F1")
async def test_crash_after_crash_the_fuse_still_blows_in_time(
    hass: HomeAssistant, disk: Disk
) -> None:
    ticks = 0
    while not (state := beat(await load(hass), max_ticks=40)).meter.ticks_spent:
        await settle(hass)
        state.meter.count_tick()
        ticks += 1

    assert 10 <= ticks <= 40


@pytest.mark.contract("C6")
async def test_an_orderly_end_loses_no_tick(hass: HomeAssistant, disk: Disk) -> None:
    store = await load(hass)
    state = beat(store, max_ticks=100)
    for _ in range(7):
        state.meter.count_tick()
    await store.async_save(exact=True)

    assert disk.beats[BEAT]["ticks"] == 7
    again = beat(await load(hass), max_ticks=100)
    assert again.meter.used.ticks == 7


@pytest.mark.contract("C6", "F2")
async def test_the_time_of_a_new_heartbeat_is_on_disk_at_once(
    hass: HomeAssistant, disk: Disk
) -> None:
    state = beat(await load(hass), max_duration=timedelta(hours=1))
    await settle(hass)

    assert state.meter.used.deadline is not None
    assert disk.beats[BEAT]["deadline"] == state.meter.used.deadline.isoformat()


@pytest.mark.contract("C6")
async def test_the_first_tick_after_a_restart_is_on_disk_before_it_comes(
    hass: HomeAssistant, disk: Disk
) -> None:
    disk.write_beats(**{BEAT: RAW})

    state = beat(await load(hass), max_ticks=6)
    await settle(hass)

    assert state.meter.used.ticks == 3
    assert disk.beats[BEAT]["ticks"] == 4


@pytest.mark.contract("C4", "C6")
async def test_a_tick_within_a_block_writes_nothing(
    hass: HomeAssistant, disk: Disk
) -> None:
    state = beat(await load(hass), max_ticks=100)
    await settle(hass)
    disk.remove()

    for _ in range(4):
        state.meter.count_tick()
        await settle(hass)
    assert disk.read() is None

    state.meter.count_tick()
    await settle(hass)
    assert disk.beats[BEAT]["ticks"] == 10


@pytest.mark.contract("C4")
async def test_without_a_limit_ticks_are_never_written(
    hass: HomeAssistant, disk: Disk
) -> None:
    disk.write_beats(**{BEAT: RAW})
    state = beat(await load(hass))
    disk.remove()

    for _ in range(50):
        state.meter.count_tick()
        await settle(hass)

    assert state.meter.used.ticks == 53
    assert disk.read() is None


@pytest.mark.contract("C6", "F6")
async def test_switching_on_gives_fresh_ticks_on_disk_too(
    hass: HomeAssistant, disk: Disk
) -> None:
    disk.write_beats(**{BEAT: {**RAW, "on": False, "ticks": 6}})
    state = beat(await load(hass), max_ticks=6, max_duration=timedelta(hours=1))
    assert not state.is_on

    state.switch_on(NOON)
    await state.async_save()

    assert disk.beats[BEAT] == {
        **RAW,
        "ticks": 1,
        "deadline": "2026-11-30T13:00:00+00:00",
    }
    assert state.meter.used.ticks == 0


@pytest.mark.contract("C6")
async def test_a_heartbeat_that_is_off_reserves_nothing(
    hass: HomeAssistant, disk: Disk
) -> None:
    disk.write_beats(**{BEAT: {**RAW, "on": False}})
    content = disk.read()

    beat(await load(hass), max_ticks=6)
    await settle(hass)

    assert disk.read() == content


@pytest.mark.contract("C6")
async def test_a_write_that_is_due_is_not_pushed_back(
    hass: HomeAssistant, disk: Disk, freezer: FrozenDateTimeFactory
) -> None:
    store = await load(hass)
    store.put(BEAT, HeartbeatState(on=False))
    store.save_soon()
    for _ in range(SAVE_DELAY - 1):
        freezer.tick(1)
        await settle(hass)
        store.save_soon()
    assert disk.read() is None

    store.put(BEAT, STATE)
    freezer.tick(1)
    await settle(hass)

    assert disk.beats == {BEAT: RAW}


@pytest.mark.contract("C6")
async def test_an_urgent_write_comes_before_one_that_has_time(
    hass: HomeAssistant, disk: Disk, freezer: FrozenDateTimeFactory
) -> None:
    store = await load(hass)
    store.put(BEAT, STATE)
    store.save_soon()
    store.save_soon(0)
    store.save_soon()
    await settle(hass)
    assert disk.beats == {BEAT: RAW}

    # And after it the next one is scheduled again.
    store.put(BEAT, HeartbeatState(on=False))
    store.save_soon()
    freezer.tick(SAVE_DELAY)
    await settle(hass)
    assert disk.beats[BEAT]["on"] is False


@pytest.mark.contract("D1")
async def test_a_disk_that_cannot_be_written_stops_nobody(
    hass: HomeAssistant, disk: Disk, caplog: pytest.LogCaptureFixture
) -> None:
    store = await load(hass)
    disk.make_folder("in the way")
    state = beat(store, max_ticks=6)

    state.meter.count_tick()
    await settle(hass)
    await state.async_save()

    assert state.meter.used.ticks == 1
    assert "Saving file failed" in caplog.text


async def test_who_was_removed_is_forgotten(
    hass: HomeAssistant, disk: Disk, freezer: FrozenDateTimeFactory
) -> None:
    disk.write_beats(**{BEAT: RAW, "other": RAW})
    store = await load(hass)

    store.forget(BEAT)
    store.forget("unknown")
    freezer.tick(SAVE_DELAY)
    await settle(hass)

    assert store.get(BEAT) is None
    assert disk.beats == {"other": RAW}

    # What is still under way for it does not bring it back.
    store.update(BEAT, STATE)
    await store.async_save()
    assert disk.beats == {"other": RAW}


async def test_heartbeats_that_were_removed_unseen_are_forgotten(
    hass: HomeAssistant, disk: Disk
) -> None:
    disk.write_beats(**{BEAT: RAW, "other": RAW})
    store = await load(hass)

    store.keep_only({BEAT: None, "new": None})
    await store.async_save()

    assert disk.beats == {BEAT: RAW}


@pytest.mark.contract("C6")
async def test_tokens_are_written_down_while_a_run_goes_on(
    hass: HomeAssistant, disk: Disk, freezer: FrozenDateTimeFactory
) -> None:
    store = await load(hass)
    state = beat(store)
    await state.async_save()

    state.meter.charge_tokens(1_200)
    freezer.tick(SAVE_DELAY)
    await settle(hass)

    assert disk.beats[BEAT]["tokens"] == 1_200


@pytest.mark.contract("F5", "C6")
async def test_a_wake_holds_the_tokens_of_its_first_request_on_disk(
    hass: HomeAssistant, disk: Disk, freezer: FrozenDateTimeFactory
) -> None:
    state = beat(await load(hass))
    assert await state.meter.charge_wake()
    assert disk.beats[BEAT]["wakes"] == 1
    assert disk.beats[BEAT]["tokens"] == TOKENS_AHEAD
    assert state.meter.used.tokens == 0

    # It was there before, and soon it is exact.
    state.meter.charge_tokens(1_200)
    freezer.tick(SAVE_SHORTLY)
    await settle(hass)
    assert disk.beats[BEAT]["tokens"] == 1_200

    # From then on nothing is held any more.
    state.meter.charge_tokens(1_300)
    await settle(hass)
    assert disk.beats[BEAT]["tokens"] == 2_500


@pytest.mark.contract("F5", "C6")
async def test_more_tokens_than_are_held_are_written_at_once(
    hass: HomeAssistant, disk: Disk
) -> None:
    state = beat(await load(hass))
    assert await state.meter.charge_wake()
    state.meter.charge_tokens(TOKENS_AHEAD + 1)
    await settle(hass)
    assert disk.beats[BEAT]["tokens"] == TOKENS_AHEAD + 1


@pytest.mark.contract("F5")
async def test_no_more_tokens_are_held_than_the_day_has_left(
    hass: HomeAssistant, disk: Disk
) -> None:
    state = beat(await load(hass), max_tokens_per_day=2_000)
    state.meter.charge_tokens(1_500)
    assert await state.meter.charge_wake()
    assert disk.beats[BEAT]["tokens"] == 2_000
    assert state.meter.tokens_left == 500
    assert state.meter.pause_reason is None

    state.meter.charge_tokens(900)
    assert await state.meter.charge_wake()
    assert disk.beats[BEAT]["tokens"] == 2_400


@pytest.mark.contract("C6")
async def test_what_is_held_and_not_used_is_given_back_in_good_order(
    hass: HomeAssistant, disk: Disk
) -> None:
    store = await load(hass)
    state = beat(store)
    assert await state.meter.charge_wake()
    state.meter.charge_tokens(300)
    await store.async_close()
    assert disk.beats[BEAT]["tokens"] == 300
    assert not await state.meter.charge_wake()


@pytest.mark.contract("C6")
async def test_what_one_holds_is_not_anothers(hass: HomeAssistant, disk: Disk) -> None:
    store = await load(hass)
    other = Memory(store, "other", Fuses(), now=NOON)
    assert await beat(store).meter.charge_wake()
    other.meter.charge_tokens(40)
    await settle(hass)
    assert disk.beats["other"]["tokens"] == 40


@pytest.mark.contract("C6")
async def test_after_the_last_write_nothing_is_written(
    hass: HomeAssistant, disk: Disk, freezer: FrozenDateTimeFactory
) -> None:
    store = await load(hass)
    state = beat(store, max_ticks=6)
    state.meter.count_tick()
    await store.async_close()
    assert disk.beats[BEAT]["ticks"] == 1
    disk.remove()

    state.meter.count_tick()
    state.meter.charge_tokens(1)
    freezer.tick(SAVE_DELAY)
    await settle(hass)

    assert disk.read() is None


async def test_with_the_endpoint_its_file_goes(hass: HomeAssistant, disk: Disk) -> None:
    disk.write_beats(**{BEAT: RAW})

    await HeartbeatStore(hass, ENTRY_ID).async_remove()
    assert disk.read() is None

    await HeartbeatStore(hass, ENTRY_ID).async_remove()


async def test_the_mocked_storage_of_other_tests_holds_the_same(
    hass: HomeAssistant,
) -> None:
    with mock_storage({KEY: beats()}) as stored:
        store = await load(hass)
        assert store.get(BEAT) == STATE

        stored[KEY] = envelope({"heartbeats": "rubbish"})
        broken = HeartbeatStore(hass, ENTRY_ID)
        assert not await broken.async_load()
        await broken.async_begin_anew()

        assert stored[KEY]["data"]["heartbeats"] == {}

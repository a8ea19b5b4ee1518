"""The budgets of the day: charged before, settled after, by the local day (F5)."""

from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from homeassistant.util import dt as dt_util
import pytest

from custom_components.proactive_agent.const import EVENT_HEARTBEAT_TICK
from tests.support.asking import Disk, disk
from tests.support.heartbeats import Beat, Home, clock, home, let_run
from tests.support.llm_server import Held, calls, llm_server, text

__all__ = ["clock", "disk", "home", "llm_server"]

VIENNA = "Europe/Vienna"
LONG = {"run_timeout": 100_000}
SECOND = timedelta(seconds=1)


def used(home: Home, beat: Beat) -> Any:
    return home.entry.runtime_data.heartbeats[beat.id].used


def on_disk(home: Home, beat: Beat, hass_storage: dict[str, Any]) -> dict[str, Any]:
    stored = hass_storage[f"proactive_agent.{home.entry.entry_id}"]["data"]
    state: dict[str, Any] = stored["heartbeats"][beat.id]
    return state


async def until(home: Home, *when: int) -> None:
    """Let time pass until it is this moment in Vienna."""
    moment = datetime(*when, tzinfo=ZoneInfo(VIENNA))  # type: ignore[arg-type,misc]
    home.clock.turn(dt_util.as_utc(moment) - dt_util.utcnow())
    await home.settled()


@pytest.mark.contract("F5", "C6")
async def test_a_kill_in_the_middle_of_a_request_gives_nothing_back(
    home: Home, hass_storage: dict[str, Any]
) -> None:
    """What is charged is on disk while the model still thinks."""
    held = Held(text("Fine."))
    home.llm_server.play(held)
    beat = await home.add_heartbeat(fuses=LONG)
    woken = home.hass.async_create_task(beat.wake())
    await held.reached.wait()
    await home.clock.tick_beside(every=SECOND)
    charged = on_disk(home, beat, hass_storage)
    assert charged["wakes"] == 1
    assert charged["tokens"] > 100
    assert charged["tokens"] == used(home, beat).tokens
    held.release.set()
    await woken
    assert used(home, beat).tokens == 28
    await home.clock.tick(every=11 * SECOND)
    assert on_disk(home, beat, hass_storage)["tokens"] == 28


@pytest.mark.contract("F5", "C6")
async def test_what_a_request_may_use_is_on_disk_when_it_comes_in(
    home: Home, hass_storage: dict[str, Any]
) -> None:
    noted: list[tuple[int, int, int]] = []

    def answer(_request: Any) -> Any:
        left = on_disk(home, beat, hass_storage)
        noted.append((left["wakes"], left["tokens"], used(home, beat).tokens))
        return text("Fine.")

    home.llm_server.always = answer
    beat = await home.add_heartbeat()
    await beat.wake()
    ((wakes, tokens, needed),) = noted
    assert wakes == 1
    assert tokens >= needed > 100


@pytest.mark.contract("F5", "C6")
async def test_so_is_what_the_request_after_an_action_may_use(
    home: Home, hass_storage: dict[str, Any]
) -> None:
    """It goes with the write before the action, and costs none of its own."""
    noted: list[tuple[int, int]] = []

    def answer(request: Any) -> Any:
        left = on_disk(home, beat, hass_storage)
        noted.append((left["tokens"], used(home, beat).tokens))
        has_acted = request["messages"][-1]["role"] == "tool"
        return text("Fine.") if has_acted else calls(("feed", {"food": "meal"}))

    home.llm_server.always = answer
    beat = await home.add_heartbeat(act={"entity_id": ["script.feed"]})
    await beat.wake()
    assert len(noted) == 2
    assert all(tokens >= needed > 100 for tokens, needed in noted)


@pytest.mark.contract("F5", "C2", "D1")
@pytest.mark.parametrize("takes_it", [True, False], ids=["slow", "full"])
async def test_while_the_disk_has_not_taken_the_wake_nobody_is_called_or_told(
    home: Home, disk: Disk, takes_it: bool
) -> None:
    home.llm_server.always = text("Fine.")
    beat = await home.add_heartbeat(fuses=LONG)
    disk.hold()
    woken = home.hass.async_create_task(beat.wake())
    await disk.reached.wait()
    await let_run()
    assert not woken.done()
    assert home.llm_server.chats == []
    assert home.fired(EVENT_HEARTBEAT_TICK) == []
    disk.is_full = not takes_it
    disk.release()
    outcome = (await woken)["outcome"]
    assert outcome == ("nothing" if takes_it else "error")
    assert len(home.llm_server.chats) == takes_it
    assert len(home.fired(EVENT_HEARTBEAT_TICK)) == takes_it
    assert used(home, beat).wakes == takes_it


@pytest.mark.contract("F5", "C6", "D1")
async def test_without_a_budget_no_wake_waits_for_the_disk(
    home: Home, disk: Disk, hass_storage: dict[str, Any]
) -> None:
    held = Held(text("Fine."))
    home.llm_server.play(held)
    fuses = {"max_wakes_per_day": 0, "max_tokens_per_day": 0}
    beat = await home.add_heartbeat(fuses=fuses)
    disk.hold()
    home.clock.turn(timedelta(minutes=15))
    await held.reached.wait()
    disk.release()
    held.release.set()
    await home.settled()
    assert (await beat.runs())[0]["outcome"] == "nothing"
    # It is counted all the same, for who sets a limit later.
    assert on_disk(home, beat, hass_storage)["wakes"] == 1


@pytest.mark.contract("F5")
@pytest.mark.parametrize("says", [True, False], ids=["told", "estimated"])
async def test_tokens_are_the_servers_or_marked_as_an_estimate(
    home: Home, says: bool
) -> None:
    answer = text("Fine.")
    if not says:
        del answer["usage"]
    home.llm_server.play(answer)
    beat = await home.add_heartbeat()
    run = await beat.wake()
    assert run["tokens_estimated"] is not says
    total = run["tokens"]["prompt"] + run["tokens"]["completion"]
    assert (total == 28) is says
    assert used(home, beat).tokens == total
    assert beat.state("tokens_used") == str(total)


@pytest.mark.contract("F5", "F3")
async def test_what_was_asked_and_never_answered_stays_charged(home: Home) -> None:
    home.llm_server.play(Held(text("Late.")))
    beat = await home.add_heartbeat()
    woken = home.hass.async_create_task(beat.wake())
    await home.clock.turn_until(woken.done)
    assert woken.result()["outcome"] == "timeout"
    assert used(home, beat).tokens > 100


@pytest.mark.contract("F5")
async def test_midnight_in_the_middle_of_a_run(home: Home) -> None:
    """Each part is charged to its own day; the new day is a fresh one."""
    await home.hass.config.async_set_time_zone(VIENNA)
    await until(home, 2026, 12, 10, 23, 59, 0)
    held = Held(text("Fine."))
    home.llm_server.play(held)
    beat = await home.add_heartbeat(
        fuses={**LONG, "max_wakes_per_day": 1, "max_tokens_per_day": 1_000}
    )
    woken = home.hass.async_create_task(beat.wake())
    await held.reached.wait()
    yesterday = used(home, beat)
    await home.clock.tick_beside(every=timedelta(minutes=2))
    held.release.set()
    await woken
    await home.settled()
    today = used(home, beat)
    assert (yesterday.wakes, today.wakes) == (1, 0)
    assert today.day - yesterday.day == timedelta(days=1)
    # Less was used than was charged: that gives the new day nothing.
    assert today.tokens == 0
    assert beat.state("status") == "asleep"
    assert home.told == []
    home.llm_server.play(text("Fine."))
    assert (await beat.wake())["outcome"] == "nothing"


@pytest.mark.contract("F5")
@pytest.mark.parametrize(
    ("day", "hours"),
    [((2027, 3, 28), 23), ((2027, 10, 31), 25), ((2027, 5, 5), 24)],
    ids=["23 hours", "25 hours", "24 hours"],
)
async def test_a_day_is_as_long_as_it_is_here(
    home: Home, day: tuple[int, int, int], hours: int
) -> None:
    await home.hass.config.async_set_time_zone(VIENNA)
    beat = await home.add_heartbeat(
        interval={"days": 900}, fuses={"max_wakes_per_day": 1}
    )
    await until(home, *day, 0, 0, 1)
    home.llm_server.always = text("Fine.")
    assert (await beat.wake())["outcome"] == "nothing"
    await home.settled()
    assert beat.state("status") == "paused"
    await home.clock.tick(every=timedelta(hours=hours) - 2 * SECOND)
    assert dt_util.now().strftime("%H:%M:%S") == "23:59:59"
    assert beat.state("status") == "paused"
    await home.clock.tick(every=2 * SECOND)
    assert beat.state("status") == "asleep"
    assert (await beat.wake())["outcome"] == "nothing"


@pytest.mark.contract("F5", "C6")
async def test_the_end_of_a_pause_is_seen_after_a_restart_too(home: Home) -> None:
    await home.hass.config.async_set_time_zone(VIENNA)
    beat = await home.add_heartbeat(
        interval={"days": 900}, fuses={"max_wakes_per_day": 1}
    )
    await until(home, 2026, 12, 10, 20, 0, 0)
    home.llm_server.always = text("Fine.")
    await beat.wake()
    await home.reload()
    assert beat.state("status") == "paused"
    assert len(home.told) == 1
    await until(home, 2026, 12, 11, 0, 0, 1)
    assert beat.state("status") == "asleep"


@pytest.mark.contract("F5", "C7")
async def test_a_wider_budget_ends_the_pause_at_once(home: Home) -> None:
    beat = await home.add_heartbeat(fuses={"max_wakes_per_day": 1})
    home.llm_server.always = text("Fine.")
    await beat.wake()
    await home.settled()
    assert beat.state("status") == "paused"
    await beat.change(fuses={"max_wakes_per_day": 2})
    assert beat.state("status") == "asleep"

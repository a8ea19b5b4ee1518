"""Left on for a month: nothing lost, nothing repeated, nothing wasted.

Thirty days, a tick a minute, five heartbeats: 216,000 ticks on Home Assistant's own
timers, in simulated time. What happens is written down in `support/soak/month.py`.
"""

import asyncio
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
import logging
from pathlib import Path
from typing import Any, Final

import pytest

from .support.llm_server import LlmServer, llm_server
from .support.soak.agenda import Agenda
from .support.soak.hours import Hours
from .support.soak.household import Household
from .support.soak.incidents import MINUTE, Incident, Incidents
from .support.soak.jobs import JOBS, MAX_WAKES_PER_DAY
from .support.soak.ledger import Ledger, Message
from .support.soak.life import End, Life
from .support.soak.month import DAY, DAYS, Month
from .support.soak.moody import Mood, MoodyModel
from .support.soak.traces import Memory

__all__ = ["llm_server"]

SEED: Final = 6
# The summer time ends on its sixteenth day.
BEGINNING: Final = datetime(2026, 10, 10, tzinfo=UTC)
INCIDENTS: Final = {"Door": 4, "Leak": 2, "Bath": 2, "Freezer": 2, "Washer": 2}
RESTARTS: Final = 20
# What is no news of a run: the outage, its end, the budget of the restless day, and
# the first good run after that.
NOTICES: Final = (
    ("Leak", "Waits until "),
    ("Leak", "Works again"),
    ("Bath", "Paused until tomorrow"),
    ("Bath", "Works again"),
)
RESTLESS_DAY: Final = ("Bath", "2026-10-25")
# The last day but the last of the restarts is over by then.
LAST_LIFE: Final = 27


@dataclass(frozen=True, slots=True, kw_only=True)
class Lived:
    """The month, when it is over."""

    household: Household
    ledger: Ledger
    model: MoodyModel
    incidents: Incidents
    month: Month
    memory: dict[int, Memory]
    errors: list[dict[str, Any]]


async def live(llm_server: LlmServer, folder: Path) -> Lived:
    loop = asyncio.get_running_loop()
    # Where each timer notes who has set it, a month takes an hour.
    loop.set_debug(False)
    errors: list[dict[str, Any]] = []
    loop.set_exception_handler(lambda _loop, context: errors.append(context))
    with Hours.from_(BEGINNING) as hours:
        household = Household(Agenda(hours))
        model = MoodyModel(llm_server, SEED)
        incidents = Incidents(household, SEED)
        ledger = Ledger(
            now=lambda: hours.now, on_wake=model.woken, on_message=incidents.told
        )
        life = Life(folder, llm_server.url, hours, household, ledger)
        month = Month(hours, household, ledger, life, model, incidents, SEED)
        await month.start()
        memory = {}
        try:
            for day in (2, LAST_LIFE, DAYS):
                await month.live_until(day)
                memory[day] = Memory.now()
        finally:
            if life.hass is not None:
                await month.end(End.UNLOADED)
    return Lived(
        household=household,
        ledger=ledger,
        model=model,
        incidents=incidents,
        month=month,
        memory=memory,
        errors=errors,
    )


@pytest.mark.timeout(300)
@pytest.mark.contract("C6")
@pytest.mark.contract("G4")
@pytest.mark.contract("S1")
@pytest.mark.contract("S3")
@pytest.mark.contract("F5")
@pytest.mark.contract("F7")
@pytest.mark.contract("S7")
@pytest.mark.contract("A7")
async def test_a_month(
    llm_server: LlmServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    # Each record keeps what it is about, also a Home Assistant that has ended.
    caplog.set_level(logging.WARNING)
    lived = await live(llm_server, tmp_path)

    assert set(Mood) <= set(lived.model.moods), "not all of it has happened"
    assert Counter(one.title for one in lived.incidents.all) == INCIDENTS
    each_incident_is_seen_to_and_told_once(lived)
    nobody_is_woken_in_vain(lived)
    the_budgets_hold(lived)
    each_tick_comes(lived)
    nothing_is_left(lived)
    memory_stays(lived.memory)
    assert not lived.errors
    assert not complaints(caplog)


def each_incident_is_seen_to_and_told_once(lived: Lived) -> None:
    deeds, messages = [*lived.household.deeds], [*lived.ledger.messages]
    for incident in lived.incidents.all:
        assert incident.ended is not None, incident
        done = [one for one in deeds if is_in(incident, *one)]
        told = [one for one in messages if is_of(incident, one)]
        assert len(done) == incident.deeds, (incident, done)
        news = [one for one in told if not is_notice(one)]
        assert len(news) == incident.messages, (incident, told)
        deeds = [one for one in deeds if one not in done]
        messages = [one for one in messages if one not in news]
    assert not deeds
    assert [(one.title, one.text[:5]) for one in messages] == [
        (title, text[:5]) for title, text in NOTICES
    ]
    assert len({*lived.ledger.acted}) == len(lived.ledger.acted)
    assert len(lived.ledger.acted) == len(lived.ledger.messages) - len(NOTICES)
    assert not lived.ledger.stopped


def nobody_is_woken_in_vain(lived: Lived) -> None:
    assert lived.ledger.groundless(lived.household) == []


def the_budgets_hold(lived: Lived) -> None:
    by_day = lived.ledger.wakes_by_day()
    assert max(by_day.values()) == by_day[RESTLESS_DAY] == MAX_WAKES_PER_DAY


def each_tick_comes(lived: Lived) -> None:
    expected = 0
    for seconds, ticks in lived.month.ticks:
        minutes = int(seconds // MINUTE)
        # One for all that was missed; those that fall into a run are dropped.
        assert all(minutes - 5 <= one <= minutes + 2 for one in ticks), ticks
        expected += minutes * len(JOBS)
    assert expected > 0.99 * len(JOBS) * DAYS * DAY / MINUTE


def nothing_is_left(lived: Lived) -> None:
    month = lived.month
    assert len(month.left) == RESTARTS + 1
    assert len({*month.left}) == 1, month.left
    assert month.left[0].timers == 0
    # The first has opened what all that come after it share.
    held = month.held[1:]
    for has_woken in (False, True):
        alike = [traces for woken, traces in held if woken is has_woken]
        assert len(alike) > 1
        assert len({*alike}) == 1, alike
    assert month.reloads
    assert all(before == after for before, after in month.reloads), month.reloads


def memory_stays(memory: dict[int, Memory]) -> None:
    """Hold what is allocated through all restarts, and the process through the last.

    The lives that share one process leave holes in its memory.
    """
    first, *_, last = memory.values()
    assert abs(last.objects - first.objects) <= 0.02 * first.objects
    assert abs(last.blocks - first.blocks) <= 0.02 * first.blocks
    settled = memory[LAST_LIFE]
    assert abs(last.blocks - settled.blocks) <= 0.001 * settled.blocks
    assert abs(last.pages - settled.pages) <= 0.02 * settled.pages


def complaints(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return what was logged as an error, but for what the home is without."""
    return [
        record.getMessage()
        for record in caplog.records
        if record.levelno >= logging.ERROR and "img_util" not in record.name
    ]


def is_in(incident: Incident, at: float, what: str) -> bool:
    (job,) = (one for one in JOBS if one.title == incident.title)
    assert incident.ended is not None
    return what == job.deed and incident.begun <= at <= incident.ended + MINUTE


def is_of(incident: Incident, message: Message) -> bool:
    assert incident.ended is not None
    is_then = incident.begun <= message.at <= incident.ended + MINUTE
    return is_then and message.title == incident.title


def is_notice(message: Message) -> bool:
    return any(
        message.title == title and message.text.startswith(text)
        for title, text in NOTICES
    )

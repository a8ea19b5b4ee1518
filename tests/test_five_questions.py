"""Of any past run one can see, from the product alone, the answers to five questions.

Why did it wake? What did it see? What did it do? What did it cost? Why did it stop?
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from homeassistant.components.logbook.helpers import async_determine_event_types
from homeassistant.components.logbook.models import async_event_to_row
from homeassistant.components.logbook.processor import EventProcessor
from homeassistant.components.recorder import Recorder, get_instance
from homeassistant.components.recorder.db_schema import (
    EventData,
    Events,
    EventTypes,
    StateAttributes,
    States,
    StatesMeta,
)
from homeassistant.components.recorder.util import session_scope
from homeassistant.const import EVENT_STATE_CHANGED
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.components.recorder.common import (
    async_wait_recording_done,
)

from custom_components.proactive_agent.const import DOMAIN, EVENT_HEARTBEAT_TICK
from custom_components.proactive_agent.diagnostics import async_get_device_diagnostics
from custom_components.proactive_agent.engine.records import Outcome

from .support.heartbeats import FEED, HUNGRY, INTERVAL, LAMP, Beat, Home, clock, home
from .support.llm_server import USAGE, Held, Raw, calls, llm_server, text

__all__ = ["clock", "home", "llm_server"]

pytestmark = pytest.mark.contract("G3")

MEAL = calls(("feed", {"food": "meal"}), content="She is hungry.")
SNACK = calls(("feed", {"food": "snack"}))
LAMP_ON = calls(("input_boolean_turn_on", {"entity_id": "input_boolean.lamp"}))
TELLS = calls(("tell_owner", {"message": "Milonga is hungry."}))
LOOKS = calls(("get_state", {"entity_id": "input_boolean.hungry"}))
HUNGRY_ONE: Final = {"entity_id": ["input_boolean.hungry"]}


@dataclass(frozen=True, kw_only=True)
class Story:
    """One run, and what has to be found of it afterwards.

    `answers` are what the model says; if it hangs at the last, `ends` what comes then.
    `did` are its actions, `used` its calls, `page` the last line of the activity page.
    """

    answers: tuple[Any, ...]
    did: tuple[tuple[str, str], ...] = ()
    used: tuple[str, ...] = ()
    turns: int = 1
    unanswered: int = 0
    message: str | None = None
    error: str | None = None
    stop_reason: str | None = None
    page: str
    fuses: Mapping[str, Any] = field(default_factory=dict)
    ends: Callable[[Home, Beat], Any] | None = None


def _time_passes(home: Home, _beat: Beat) -> None:
    home.clock.turn(timedelta(seconds=60))


async def _goes_off(_home: Home, beat: Beat) -> None:
    await beat.turn("off")


FED = ("script.feed", "done")
STORIES: Final[Mapping[Outcome, Story]] = {
    Outcome.ACTED: Story(
        answers=(MEAL, TELLS, text("Fed.")),
        did=(FED,),
        used=("feed", "tell_owner"),
        turns=3,
        message="Milonga is hungry.",
        page="told you: “Milonga is hungry.”",
    ),
    Outcome.WAITING: Story(
        answers=(LAMP_ON, text("Asked.")),
        did=(("input_boolean.turn_on", "waiting"),),
        used=("input_boolean_turn_on",),
        turns=2,
        page="asked whether it may do this",
    ),
    Outcome.SPOKE: Story(
        answers=(TELLS, text("Told.")),
        used=("tell_owner",),
        turns=2,
        message="Milonga is hungry.",
        page="“Milonga is hungry.”",
    ),
    Outcome.NOTHING: Story(answers=(text("All is well."),), page="woke"),
    Outcome.TIMEOUT: Story(
        answers=(MEAL, Held(text("Fed."))),
        did=(FED,),
        used=("feed",),
        turns=2,
        unanswered=1,
        message="Done: Feed.",
        page="failed. It took too long.",
        ends=_time_passes,
    ),
    Outcome.TURN_LIMIT: Story(
        answers=(LOOKS, LOOKS),
        used=("get_state", "get_state"),
        turns=2,
        fuses={"max_turns": 2},
        page="turn",
    ),
    Outcome.ACTION_LIMIT: Story(
        answers=(MEAL, SNACK),
        did=(FED,),
        used=("feed", "feed"),
        turns=2,
        message="Done: Feed.",
        fuses={"max_actions": 1},
        page="action",
    ),
    Outcome.TOKEN_LIMIT: Story(
        answers=(LOOKS,),
        used=("get_state",),
        fuses={"max_tokens_per_day": 20},
        page="token",
    ),
    Outcome.STOPPED: Story(
        answers=(MEAL, Held(text("Fed."))),
        did=(FED,),
        used=("feed",),
        turns=2,
        unanswered=1,
        message="Done: Feed.",
        stop_reason="switched_off",
        page="Done: Feed.",
        ends=_goes_off,
    ),
    Outcome.ERROR: Story(
        answers=(Raw(status=401, body={"error": {"message": "No such key"}}),),
        error="auth",
        unanswered=1,
        page="key",
    ),
}


def test_there_is_a_story_for_each_outcome() -> None:
    assert {*STORIES} == {*Outcome}


@pytest.fixture
def mock_recorder_before_hass(async_test_recorder: Any) -> None:
    """The activity page reads the recorder, which starts before everything else."""


@pytest.fixture
async def events(recorder_mock: Recorder, home: Home, hass: HomeAssistant) -> list[Any]:
    """Collect what the activity page would be made of."""
    assert await async_setup_component(hass, "logbook", {})
    await hass.async_block_till_done()
    collected: list[Any] = []

    @callback
    def collect(event: Event[Any]) -> None:
        collected.append(event)

    hass.bus.async_listen("*", collect)
    return collected


def page(hass: HomeAssistant, events: list[Any]) -> list[str]:
    """Return our lines of the activity page, oldest first."""
    types = (EVENT_STATE_CHANGED, *async_determine_event_types(hass, None, None))
    rows = (async_event_to_row(one) for one in events if one.event_type in types)
    return [
        f"{entry['name']} {entry['message']}"
        for entry in EventProcessor(hass, types).humanify(rows, None)
        if entry.get("domain") == DOMAIN
    ]


async def told(home: Home, story: Story) -> Beat:
    """Let the story happen, and Home Assistant forget all but what it keeps."""
    home.llm_server.play(*story.answers)
    beat = await home.add_heartbeat(
        conditions=[HUNGRY],
        look=HUNGRY_ONE,
        act=FEED,
        ask=LAMP,
        fuses=dict(story.fuses),
    )
    await home.set("hungry", on=True)
    if story.ends is None:
        await home.clock.tick()
    else:
        home.clock.turn(INTERVAL)
        await story.answers[-1].reached.wait()
        if (ending := story.ends(home, beat)) is not None:
            await ending
        await home.settled()
    return beat


@pytest.mark.parametrize("outcome", [*Outcome])
async def test_five_questions(events: list[Any], home: Home, outcome: Outcome) -> None:
    story = STORIES[outcome]
    beat = await told(home, story)
    lines = page(home.hass, events)
    tokens_used = beat.state("tokens_used")
    await home.reload()
    (run,) = await beat.runs()

    # Why did it wake?
    assert run["cause"] == "tick"
    assert run["gate"] == [
        {
            "condition": "state input_boolean.hungry is on",
            "result": True,
            "reason": "input_boolean.hungry is on",
        }
    ]
    assert lines[0].startswith("Milonga woke")
    assert "hungry" in lines[0]
    assert beat.state("last_wake")[:19] == run["started"][:19]

    # What did it see?
    seen = "\n".join(run["seen"])
    assert '- input_boolean.hungry "hungry": on' in seen
    assert "- script.feed" in seen
    assert "- input_boolean.lamp" in seen
    chat = home.llm_server.chats[0]["messages"][1]["content"]
    assert seen in chat

    # What did it do?
    assert [(one["action"], one["status"]) for one in run["actions"]] == [*story.did]
    assert [one["tool"] for one in run["calls"]] == [*story.used]
    assert all(one["answer"] for one in run["calls"])
    if story.message is None:
        assert run["message"] is None
    else:
        assert story.message in run["message"]
        assert home.told[0] == run["message"]

    # What did it cost?
    answered = story.turns - story.unanswered
    assert run["turns"] == story.turns
    assert [one["turn"] for one in run["each_turn"]] == [*range(1, story.turns + 1)]
    spent = [one["tokens"] for one in run["each_turn"]][:answered]
    assert spent == [
        {"prompt": USAGE["prompt_tokens"], "completion": USAGE["completion_tokens"]}
    ] * len(spent)
    assert run["tokens"]["prompt"] >= answered * USAGE["prompt_tokens"]
    assert int(tokens_used) >= answered * USAGE["total_tokens"]
    seconds = sum(one["seconds"] for one in (*run["each_turn"], *run["calls"]))
    assert 0 <= seconds <= run["seconds"] + 0.01

    # Why did it stop?
    assert run["outcome"] == outcome
    assert beat.state("last_outcome") == outcome
    assert (run["error"] and run["error"]["kind"]) == story.error
    assert run["stop_reason"] == story.stop_reason
    assert story.page in lines[-1]

    # And whoever helps can see it too, without what was said.
    (described,) = (await diagnosed(home, beat))["heartbeats"]
    (handed_on,) = described["runs"]
    assert handed_on["outcome"] == outcome
    assert handed_on["gate"][0]["result"] is True
    assert [one["status"] for one in handed_on["actions"]] == [
        status for _, status in story.did
    ]
    assert handed_on["tokens"] == run["tokens"]
    assert handed_on["stop_reason"] == story.stop_reason
    assert "Milonga is hungry" not in str(handed_on)
    assert '"hungry"' not in str(handed_on)


async def diagnosed(home: Home, beat: Beat) -> dict[str, Any]:
    device = dr.async_get(home.hass).async_get_device_by_identifier(
        (DOMAIN, beat.id), home.entry.entry_id
    )
    assert device is not None
    return await async_get_device_diagnostics(home.hass, home.entry, device)


@dataclass(frozen=True, kw_only=True)
class Row:
    """What the recorder keeps: of an entity or an event, with how many characters."""

    name: str
    size: int


def _kept(hass: HomeAssistant, names: set[str]) -> list[Row]:
    with session_scope(hass=hass, read_only=True) as session:
        states = (
            session.query(StatesMeta.entity_id, StateAttributes.shared_attrs)
            .select_from(States)
            .join(StatesMeta, States.metadata_id == StatesMeta.metadata_id)
            .outerjoin(
                StateAttributes, States.attributes_id == StateAttributes.attributes_id
            )
        )
        fired = (
            session.query(EventTypes.event_type, EventData.shared_data)
            .select_from(Events)
            .join(EventTypes, Events.event_type_id == EventTypes.event_type_id)
            .outerjoin(EventData, Events.data_id == EventData.data_id)
        )
        return [
            Row(name=name, size=len(kept or ""))
            for name, kept in (*states, *fired)
            if name in names or name.startswith(DOMAIN)
        ]


async def recorded(home: Home, beat: Beat) -> list[Row]:
    """Ask the recorder for every row that is ours."""
    await async_wait_recording_done(home.hass)
    registry = er.async_get(home.hass)
    ours = {
        entry.entity_id
        for entry in er.async_entries_for_config_entry(registry, home.entry.entry_id)
    }
    return await get_instance(home.hass).async_add_executor_job(_kept, home.hass, ours)


@pytest.mark.parametrize("asks", [False, True], ids=["acts", "asks, too"])
async def test_a_run_leaves_few_and_small_rows_in_the_recorder(
    recorder_mock: Recorder, home: Home, *, asks: bool
) -> None:
    """A run on many grounds, which calls much and tells of it at length."""
    feeds = [("feed", {"food": food}) for food in ("meal", "snack")]
    tells = ("tell_owner", {"message": "Fed. " * 200})
    answers = [calls(*feeds, tells, content="x" * 9_000), text("y" * 9_000)]
    if asks:
        answers.insert(1, LAMP_ON)
    home.llm_server.play(*answers)
    beat = await home.add_heartbeat(
        counted=False, conditions=[HUNGRY] * 10, look=HUNGRY_ONE, act=FEED, ask=LAMP
    )
    await home.set("hungry", on=True)
    before = await recorded(home, beat)
    await home.clock.tick()
    (run,) = await beat.runs()
    done = ["done", "done"]
    assert [one["status"] for one in run["actions"]] == done + ["waiting"] * asks

    rows = await recorded(home, beat)
    new = sorted(one.name for one in rows)
    for one in before:
        new.remove(one.name)
    assert EVENT_HEARTBEAT_TICK in new
    # A question has three of its own: its event, its activity and its sensor.
    assert len(new) - 3 * asks < 10
    assert max(one.size for one in rows) < 4_096

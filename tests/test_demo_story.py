"""The demo's counting: what was seen from outside, sorted to the ticks."""

import io
from typing import Any

import pytest

from demo_house.flows import fill_in
from demo_house.house import HAPPY, HUNGER
from demo_house.ledger import ACTED, WOKEN, Ledger
from demo_house.narrator import Narrator
from demo_house.story import LASTS, START
from demo_house.verdict import TICKS, Figures, complaints

RUN = {"id": "run"}
MESSAGE = "Milonga has had a meal."


class Day:
    """A day told to a ledger and a narrator, reading by reading."""

    def __init__(self) -> None:
        self.ledger = Ledger(requests=1, tokens=100)
        self.output = io.StringIO()
        self._narrator = Narrator(self.output)
        self._requests, self._tokens = 1, 100

    def heart(self, entity_id: str, level: float) -> None:
        data = {"entity_id": entity_id, "new_state": {"state": str(level)}}
        self.event("state_changed", data)

    def event(self, kind: str, data: Any, context: Any = None) -> None:
        self.ledger.saw_event(
            {"event_type": kind, "data": data, "context": context or {"id": "other"}}
        )

    def call(self, action: str, context: Any = None, **service_data: Any) -> None:
        domain, service = action.split(".")
        data = {"domain": domain, "service": service, "service_data": service_data}
        self.event("call_service", data, context)

    def wake(self) -> None:
        self.event(WOKEN, {}, RUN)

    def care(self, *, requests: int = 4) -> None:
        self.call("script.feed", RUN, food="meal")
        self.call("input_number.set_value", RUN, entity_id=[HUNGER], value=4)
        self.heart(HUNGER, 4)
        self._requests += requests
        self._tokens += 50 * requests

    def end(self) -> None:
        self.call("notify.phone", RUN, message=MESSAGE)
        deed = {"action": "script.feed", "status": "done"}
        self.event(ACTED, {"message": MESSAGE, "actions": [deed]}, RUN)
        self.ledger.saw_notification(MESSAGE)

    def read(self, ticks_used: int) -> None:
        self.ledger.read(
            ticks_used=ticks_used, requests=self._requests, tokens=self._tokens
        )
        self._narrator.follow(self.ledger)

    @property
    def figures(self) -> Figures:
        return Figures.of(self.ledger)

    @property
    def lines(self) -> list[str]:
        return [line.strip() for line in self.output.getvalue().splitlines()]


@pytest.fixture
def day() -> Day:
    day = Day()
    day.heart(HUNGER, 3)
    day.heart(HAPPY, 4)
    day.read(0)
    return day


def quiet(day: Day, number: int) -> None:
    day.read(number)
    day.read(number)


def the_story(day: Day) -> None:
    quiet(day, 1)
    day.heart(HUNGER, 2)
    quiet(day, 2)
    quiet(day, 3)
    day.heart(HUNGER, 1)
    day.wake()
    day.care()
    day.end()
    quiet(day, 4)
    quiet(day, 5)


def test_the_story_has_nothing_to_complain_about(day: Day) -> None:
    the_story(day)
    assert day.figures == Figures(
        ticks=5,
        quiet=4,
        wakes=1,
        requests=4,
        quiet_requests=0,
        actions=["script.feed"],
        message=MESSAGE,
        events={WOKEN: 1, ACTED: 1},
        notifications=1,
    )
    assert complaints(day.figures, day.ledger) == []


def test_each_tick_is_narrated_once(day: Day) -> None:
    the_story(day)
    assert day.lines == [
        "tick 1 · quiet · hunger 3, happy 4 · 0 tokens",
        "tick 2 · quiet · hunger 2, happy 4 · 0 tokens",
        "tick 3 · quiet · hunger 2, happy 4 · 0 tokens",
        "tick 4 · awake · hunger 1, happy 4",
        "does script.feed",
        f"tells its owner: {MESSAGE}",
        "asleep again · 4 requests, 200 tokens",
        "tick 5 · quiet · hunger 4, happy 4 · 0 tokens",
    ]


def test_a_wake_that_shows_late_is_not_called_quiet(day: Day) -> None:
    day.read(1)
    day.wake()
    day.read(1)
    assert day.lines == ["tick 1 · awake · hunger 3, happy 4"]


def test_a_run_over_several_readings_belongs_to_its_tick(day: Day) -> None:
    day.wake()
    day.read(1)
    day.care(requests=2)
    day.read(1)
    day.end()
    day.read(2)
    assert day.figures.requests == 2
    assert day.figures.quiet_requests == 0
    assert [tick.message for tick in day.ledger.counted] == [MESSAGE, None]


def test_a_request_of_a_quiet_tick_is_seen(day: Day) -> None:
    quiet(day, 1)
    day.care(requests=1)
    day.read(1)
    assert day.figures.quiet_requests == 1
    assert "quiet_requests should be 0, but was 1" in complaints(
        day.figures, day.ledger
    )


def test_only_what_the_run_itself_called_is_its_deed(day: Day) -> None:
    day.wake()
    day.call("light.turn_on", entity_id=["light.call_light"])
    day.care()
    day.call("light.turn_off", RUN, entity_id=["light.call_light"])
    day.call("input_boolean.turn_off", RUN, entity_id="input_boolean.call_light")
    day.end()
    day.read(1)
    assert day.figures.actions == ["script.feed", "light.turn_off"]


def test_a_deed_that_is_only_claimed_is_complained_about(day: Day) -> None:
    day.wake()
    day.end()
    day.read(1)
    assert "it claims what was never called: ['script.feed']" in complaints(
        day.figures, day.ledger
    )


def test_a_wake_by_hand_is_narrated_without_a_tick(day: Day) -> None:
    day.wake()
    day.read(0)
    quiet(day, 1)
    day.wake()
    day.read(1)
    assert day.lines == [
        "by hand · awake · hunger 3, happy 4",
        "tick 1 · quiet · hunger 3, happy 4 · 0 tokens",
        "by hand · awake · hunger 3, happy 4",
    ]


def test_counting_starts_again_when_the_heartbeat_does(day: Day) -> None:
    quiet(day, 7)
    day.read(0)
    quiet(day, 1)
    assert day.lines == [
        "tick 7 · quiet · hunger 3, happy 4 · 0 tokens",
        "tick 1 · quiet · hunger 3, happy 4 · 0 tokens",
    ]


@pytest.mark.parametrize("missing", ["wake", "care", "end"])
def test_a_story_without_its_turning_point_is_complained_about(
    day: Day, missing: str
) -> None:
    parts = {"wake": day.wake, "care": day.care, "end": day.end}
    for name, part in parts.items():
        if name != missing:
            part()
    for number in range(1, TICKS + 1):
        quiet(day, number)
    assert complaints(day.figures, day.ledger)


def test_a_pet_left_in_need_is_complained_about(day: Day) -> None:
    the_story(day)
    day.heart(HAPPY, 1)
    assert complaints(day.figures, day.ledger) == [
        "Milonga is still in need: hunger 4, happy 1"
    ]


def test_no_heart_falls_near_a_tick_and_only_the_fourth_is_low() -> None:
    falls = {gauge: LASTS[f"{gauge}_every"] for gauge in START}

    def level(gauge: str, when: float) -> float:
        return START[gauge] - when // falls[gauge]

    low = [
        tick
        for tick in range(1, TICKS)
        if min(level(gauge, tick) for gauge in START) <= 1
    ]
    assert low == [TICKS - 1]
    assert level(HAPPY, TICKS) > 1
    for every in falls.values():
        times = [every * count for count in range(1, TICKS)]
        assert all(abs(time - round(time)) >= 0.25 for time in times if time < TICKS)


def test_a_form_is_filled_in_by_its_names() -> None:
    schema: list[dict[str, Any]] = [
        {"name": "name"},
        {"name": "model"},
        {
            "name": "fuses",
            "type": "expandable",
            "schema": [{"name": "max_turns"}, {"name": "max_ticks"}],
        },
    ]
    answers = {"name": "Milonga", "url": "http://x", "fuses": {"max_turns": 3, "x": 1}}
    assert fill_in(schema, answers) == {"name": "Milonga", "fuses": {"max_turns": 3}}

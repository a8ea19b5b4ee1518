"""The measurements: their figures, their home and the server that both sides ask."""

from collections import Counter
import json
from typing import Any

import pytest

from bench_house.bench_home.plan import ROOMS, plan
from bench_house.figures import Run, compared, headline
from bench_house.scripted_server import LIGHT, MOVES, chunks, completion, message

OURS = "light_turn_off"
CORES = "intent__HassTurnOff"


def request(*tools: str, answered: bool = False) -> dict[str, Any]:
    messages = [{"role": "user", "content": "turn off the kitchen light"}]
    if answered:
        messages.append({"role": "tool", "content": "{}"})
    offered = [{"type": "function", "function": {"name": name}} for name in tools]
    return {"messages": messages, "tools": offered}


def runs(*milliseconds: float, first_bytes: int) -> list[Run]:
    return [Run(seconds=ms / 1000, first_bytes=first_bytes) for ms in milliseconds]


# The figures


def test_the_figures_are_medians_and_shares_of_core() -> None:
    ours = runs(4, 5, 900, first_bytes=3_000)
    core = runs(20, 1, 25, first_bytes=12_000)
    assert compared(ours, core) == {
        "ours_ms": 5,
        "core_ms": 20,
        "time_ratio_to_core": 0.25,
        "ours_bytes": 3_000,
        "core_bytes": 12_000,
        "bytes_ratio_to_core": 0.25,
    }


def test_one_size_stands_on_top_of_all() -> None:
    figures = {20: {"ours_ms": 1}, 100: {"ours_ms": 2}}
    assert headline(figures, 100) == {
        "ours_ms": 2,
        "by_entities": {"20": {"ours_ms": 1}, "100": {"ours_ms": 2}},
    }


# The home


@pytest.mark.parametrize("size", [20, 100, 400])
def test_a_home_has_its_size_and_no_name_twice(size: int) -> None:
    things = plan(size)
    assert len({thing.name for thing in things}) == len(things) == size
    assert LIGHT in {thing.name for thing in things}


@pytest.mark.parametrize("size", [20, 100, 400])
def test_a_home_is_a_mix_spread_over_its_rooms(size: int) -> None:
    things = plan(size)
    domains = Counter(thing.domain for thing in things)
    assert {"light", "switch", "sensor", "cover", "climate", "media_player"} <= {
        *domains
    }
    assert max(domains.values()) <= size / 2
    rooms = Counter(thing.room for thing in things)
    assert set(rooms) <= set(ROOMS)
    assert len(set(rooms.values())) == 1


# The scripted server


@pytest.mark.parametrize("name", [OURS, CORES])
def test_each_side_is_called_by_the_tool_it_offers(name: str) -> None:
    (call,) = message(request("get_state", name))["tool_calls"]
    assert call["function"]["name"] == name
    assert json.loads(call["function"]["arguments"]) == MOVES[name]


def test_a_dialog_that_tries_a_tool_has_it_called() -> None:
    (call,) = message(request("report_ready"))["tool_calls"]
    assert call["function"]["name"] == "report_ready"


def test_after_a_tool_has_answered_it_is_done() -> None:
    assert "tool_calls" not in message(request(OURS, answered=True))


@pytest.mark.parametrize("answered", [False, True])
def test_a_stream_says_the_same_as_one_piece(*, answered: bool) -> None:
    answer = message(request(OURS, answered=answered))
    (whole,) = completion(answer)["choices"]
    (first,), (last,) = (chunk["choices"] for chunk in chunks(answer))
    said = first["delta"]
    for call in said.get("tool_calls", ()):
        del call["index"]
    assert said == whole["message"]
    assert last["finish_reason"] == whole["finish_reason"]

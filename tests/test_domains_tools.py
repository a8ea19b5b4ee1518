"""What the model is shown of each domain, kept in files that people read.

`tests/fixtures/domains` holds the states and the tools that a request has for one
entity alone. `pytest --snapshot-update` writes them anew: read what has changed as the
model will, word for word.
"""

from itertools import chain
import json
from pathlib import Path
import re
from typing import Any, Final

import pytest

from tests.support.heartbeats import Home, clock
from tests.support.house import house
from tests.support.house.cases import CASES, READINGS
from tests.support.json_schema import faults
from tests.support.llm_server import llm_server, text

__all__ = ["clock", "house", "llm_server"]

KEPT: Final = Path(__file__).parent / "fixtures" / "domains"
ACTORS: Final = sorted({case.entity_id for case in CASES})
SOURCES: Final = sorted({reading.entity_id for reading in READINGS})
EVERYWHERE: Final = {"get_state", "tell_owner"}
FILES: Final = {
    **{f"{entity_id}.json": ("act", entity_id) for entity_id in ACTORS},
    **{f"look.{entity_id}.json": ("look", entity_id) for entity_id in SOURCES},
}


async def shown(house: Home, list_name: str, entity_ids: list[str]) -> dict[str, Any]:
    """Return what a request holds for the entities of a list, but for the job."""
    house.llm_server.play(text("Fine."))
    data: dict[str, Any] = {list_name: {"entity_id": entity_ids}}
    beat = await house.add_heartbeat(counted=False, **data)
    await beat.wake()
    await beat.remove()
    request = house.llm_server.chats[-1]
    _, may, states = request["messages"][1]["content"].partition("You may ")
    return {
        "states": f"{may}{states}".splitlines(),
        "tools": [tool["function"] for tool in request["tools"]],
    }


def written(request: dict[str, Any]) -> str:
    return f"{json.dumps(request, indent=2, ensure_ascii=False)}\n"


@pytest.mark.contract("R1")
@pytest.mark.timeout(120)
async def test_every_entity_is_shown_as_it_was_read_and_found_good(
    house: Home, subtests: pytest.Subtests, pytestconfig: pytest.Config
) -> None:
    for name, (list_name, entity_id) in FILES.items():
        request = await shown(house, list_name, [entity_id])
        names = {tool["name"] for tool in request["tools"]}
        request["tools"] = [
            tool for tool in request["tools"] if tool["name"] not in EVERYWHERE
        ]
        if pytestconfig.option.update_snapshots:
            (KEPT / name).write_text(written(request), encoding="utf-8")
        with subtests.test(name):
            assert names > EVERYWHERE
            assert written(request) == (KEPT / name).read_text(encoding="utf-8")


@pytest.mark.contract("R1")
async def test_the_whole_house_fits_into_one_request_and_does_not_change(
    house: Home,
) -> None:
    request = await shown(house, "act", ACTORS)
    tools = {tool["name"]: tool["parameters"] for tool in request["tools"]}
    assert len(tools) == len(request["tools"]) <= 128
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in tools)
    assert [*chain(*map(faults, tools.values()))] == []
    can_be_acted_on = {
        entity_id
        for name, schema in tools.items()
        if name not in EVERYWHERE
        if "entity_id" in schema["properties"]
        for entity_id in schema["properties"]["entity_id"]["items"]["enum"]
    }
    assert can_be_acted_on | {"script.feed"} == {*ACTORS}
    assert [line.split()[1] for line in request["states"][1:]] == ACTORS
    assert written(await shown(house, "act", ACTORS)) == written(request)


def test_nothing_is_kept_that_is_not_shown() -> None:
    assert {path.name for path in KEPT.iterdir()} == {*FILES}

"""What its owner hears of repeated actions, on an entity of each kind (A7, S2)."""

from typing import Any

from homeassistant.core import HomeAssistant, ServiceCall, callback
import pytest

from tests.support.heartbeats import Beat, Home, clock
from tests.support.house import house
from tests.support.house.cases import CASES, Call, Case
from tests.support.llm_server import calls, llm_server, text

__all__ = ["clock", "house", "llm_server"]

pytestmark = pytest.mark.contract("A7", "S2")

# Their states say when they were used, not what came of it.
SHOW_NOTHING = {"button", "input_button", "scene", "script"}
NOT_SEEN_TO_BE_SO = [case for case in CASES if not case.shows]
DID_NOT_HELP = "It did not help, and was not repeated: "


async def _wake(house: Home, beat: Beat, call: Call) -> list[dict[str, Any]]:
    house.llm_server.play(calls(call), text("Done."))
    answered: list[dict[str, Any]] = (await beat.wake())["calls"]
    await house.settled()
    return answered


async def _beat(house: Home, *entity_ids: str) -> Beat:
    return await house.add_heartbeat(
        counted=False,
        act={"entity_id": [*entity_ids]},
        manners={"ask_before_risky": False},
    )


@pytest.mark.parametrize("case", NOT_SEEN_TO_BE_SO, ids=lambda case: case.name)
async def test_the_owner_hears_only_of_what_showed_no_effect(
    house: Home, case: Case
) -> None:
    beat = await _beat(house, case.entity_id)
    (first,) = await _wake(house, beat, case.call())
    assert not first["error"]
    for _ in range(2):
        (again,) = await _wake(house, beat, case.call())
        if case.action == "increment":
            # A step that was taken is an effect: there is no reason not to go on.
            assert not again["error"]
        else:
            assert "nothing has changed since; not repeated" in again["answer"]
    told = [one for one in house.told if one.startswith(DID_NOT_HELP)]
    assert len(told) == (case.domain in SHOW_NOTHING)


def _let_clean(hass: HomeAssistant, after: str, **attributes: Any) -> None:
    @callback
    def clean_spot(_: ServiceCall) -> None:
        hass.states.async_set("vacuum.other", after, attributes)

    hass.services.async_register("vacuum", "clean_spot", clean_spot)


@pytest.mark.parametrize(
    ("before", "after", "attributes", "is_told"),
    [
        ("docked", "docked", {}, True),
        ("docked", "cleaning", {}, False),
        ("docked", "docked", {"spot": 1}, False),
        ("docked", "docked", {"last_triggered": "now", "current": 1}, True),
        ("docked", "unavailable", {}, True),
        ("unknown", "docked", {}, False),
    ],
)
async def test_an_effect_is_another_state_or_attribute(
    house: Home,
    before: str,
    after: str,
    attributes: dict[str, Any],
    is_told: bool,
) -> None:
    house.hass.states.async_set("vacuum.other", before, {"supported_features": 1024})
    beat = await _beat(house, "vacuum.other")
    _let_clean(house.hass, after, supported_features=1024, **attributes)
    spot = "vacuum_clean_spot", {"entity_id": ["vacuum.other"]}
    await _wake(house, beat, spot)
    house.hass.states.async_set(
        "vacuum.other",
        after if after != "unavailable" else before,
        {"supported_features": 1024, **attributes},
    )
    await _wake(house, beat, spot)
    assert any(one.startswith(DID_NOT_HELP) for one in house.told) is is_told

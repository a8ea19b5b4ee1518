"""What a home can be like that no form of ours has prepared."""

from datetime import timedelta
from unittest.mock import patch

from homeassistant.helpers.storage import Store
from homeassistant.util.file import WriteError
import pytest
from pytest_homeassistant_custom_component.common import async_mock_service

from tests.support import stubs  # noqa: F401
from tests.support.heartbeats import Home, clock, home
from tests.support.llm_server import calls, llm_server, text

__all__ = ["clock", "home", "llm_server"]

INTERVAL = timedelta(minutes=15)


@pytest.mark.parametrize("ending", ["", "/", "/v1/", "/v1/chat/completions"])
async def test_an_entry_made_without_the_form_reaches_its_server(
    home: Home, ending: str
) -> None:
    url = home.entry.data["url"].removesuffix("/v1") + ending
    home.hass.config_entries.async_update_entry(
        home.entry, data={**home.entry.data, "url": url}
    )
    beat = await home.add_heartbeat()
    home.llm_server.play(text("All is well."))
    assert (await beat.wake())["outcome"] == "nothing"
    assert [one.path for one in home.llm_server.requests] == ["/v1/chat/completions"]


@pytest.mark.contract("C1")
async def test_the_gate_is_there_as_soon_as_set_up_has_ended(home: Home) -> None:
    await home.add_heartbeat()
    assert await home.hass.config_entries.async_reload(home.entry.entry_id)
    home.llm_server.play(text("All is well."))
    home.clock.turn(INTERVAL)
    await home.settled()
    assert len(home.llm_server.chats) == 1


@pytest.mark.contract("C1")
async def test_an_interval_of_nothing_still_lets_time_pass(home: Home) -> None:
    beat = await home.add_heartbeat(
        interval={"seconds": 0}, conditions=["{{ false }}"], fuses={"max_ticks": 2}
    )
    await home.clock.tick(every=timedelta(seconds=0.4))
    assert await beat.ticks() == 0
    await home.clock.tick(every=timedelta(seconds=1))
    assert await beat.ticks() == 1


@pytest.mark.contract("A7", "S2")
async def test_what_did_not_help_has_the_name_it_had_when_it_was_done(
    home: Home,
) -> None:
    home.hass.states.async_set("fan.attic", "off", {"supported_features": 32})
    async_mock_service(home.hass, "fan", "turn_on")
    beat = await home.add_heartbeat(act={"entity_id": "fan.attic"})
    for _ in range(2):
        home.llm_server.play(
            calls(("fan_turn_on", {"entity_id": "fan.attic"})), text("Done.")
        )
        await beat.wake()
    assert home.told == [
        "Called, but not seen to take effect yet: Turn on fan (attic).",
        "It did not help, and was not repeated: Turn on fan (attic).",
    ]


@pytest.mark.contract("D1", "F5")
async def test_a_wake_that_cannot_be_written_down_calls_no_model(home: Home) -> None:
    beat = await home.add_heartbeat(fuses={"max_wakes_per_day": 1})
    with patch.object(Store, "_async_write_data", side_effect=WriteError("full")):
        await home.clock.tick()
        await beat.turn("off")
        await beat.turn("on")
    assert home.llm_server.requests == []
    (run,) = await beat.runs()
    assert run["outcome"] == "error"
    assert "could not be written down" in run["error"]["message"]
    assert beat.is_on()

    home.llm_server.play(text("All is well."))
    await home.clock.tick()
    assert len(home.llm_server.chats) == 1

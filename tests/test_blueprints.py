"""The blueprints, as the automations that are made of them."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
import re
import shutil
from typing import Any

from homeassistant.core import HomeAssistant, ServiceCall
from homeassistant.helpers import device_registry as dr
from homeassistant.setup import async_setup_component
from homeassistant.util.yaml import parse_yaml
import pytest
from pytest_homeassistant_custom_component.common import async_mock_service
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from tests.support import stubs  # noqa: F401
from tests.support.heartbeats import FEED, Home, clock, home
from tests.support.llm_server import calls, llm_server, text

__all__ = ["clock", "home", "llm_server"]

FOLDER = Path(__file__).parents[1] / "docs" / "blueprints"
NAMES = sorted(path.name for path in FOLDER.glob("*.yaml"))
WEEK = timedelta(days=7)
MEAL = ("feed", {"food": "meal"})
PHONE = {
    "app_id": "io.example.app",
    "app_name": "App",
    "app_version": "1.0",
    "device_id": "second",
    "device_name": "Second",
    "manufacturer": "Nobody",
    "model": "One",
    "os_name": "Android",
    "os_version": "16",
    "supports_encryption": False,
    "app_data": {"push_token": "token", "push_url": "http://127.0.0.1:9/push"},
}


@pytest.fixture
def config_dir(hass: HomeAssistant, tmp_path: Path) -> Path:
    """Have the blueprints where an import puts them."""
    hass.config.config_dir = str(tmp_path)
    shutil.copytree(FOLDER, tmp_path / "blueprints" / "automation" / "proactive_agent")
    return tmp_path


async def automate(hass: HomeAssistant, name: str, inputs: Mapping[str, Any]) -> None:
    used = {"path": f"proactive_agent/{name}", "input": dict(inputs)}
    config = {"alias": name, "use_blueprint": used}
    assert await async_setup_component(hass, "automation", {"automation": [config]})
    await hass.async_block_till_done()
    (automation,) = hass.states.async_all("automation")
    assert automation.state == "on"


@pytest.mark.parametrize("name", NAMES)
def test_it_can_be_imported_from_where_it_says(name: str) -> None:
    data = parse_yaml((FOLDER / name).read_text(encoding="utf-8"))
    assert isinstance(data, dict)
    about = data["blueprint"]
    assert about["source_url"].endswith(f"/blob/main/docs/blueprints/{name}")
    assert about["homeassistant"]["min_version"] == "2026.10.0"
    assert all(one["name"] and one["selector"] for one in about["input"].values())


def test_the_page_leads_to_each() -> None:
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    imported = re.findall(r"blueprint_url=[^)]*%2F(\w+\.yaml)", page)
    assert sorted(imported) == NAMES


async def test_on_while_nobody_is_home(home: Home, config_dir: Path) -> None:
    hass = home.hass
    hass.states.async_set("zone.home", "2")
    beat = await home.add_heartbeat()
    await beat.turn("off")
    await automate(hass, "nobody_home.yaml", {"heartbeats": [beat.switch]})

    hass.states.async_set("zone.home", "0")
    await home.clock.tick(every=timedelta(minutes=9))
    assert not beat.is_on()
    await home.clock.tick(every=timedelta(minutes=2))
    assert beat.is_on()
    hass.states.async_set("zone.home", "1")
    await home.settled()
    assert not beat.is_on()


async def test_a_digest_once_a_week(home: Home, config_dir: Path) -> None:
    await home.hass.config.async_set_time_zone("UTC")
    home.clock.freezer.move_to("2026-12-05 17:00:00+00:00")
    beat = await home.add_heartbeat(act=FEED)
    quiet = await home.add_heartbeat("Quiet")
    told = async_mock_service(home.hass, "test", "tell")
    await automate(
        home.hass,
        "weekly_digest.yaml",
        {
            "heartbeats": [beat.switch, quiet.switch],
            "tell": [{"action": "test.tell", "data": {"message": "{{ digest }}"}}],
        },
    )
    await quiet.turn("off")
    await beat.turn("off")
    await beat.turn("on")
    for answers in (
        [calls(MEAL), text("Fed.")],
        [calls(("tell_owner", {"message": "Look."})), text("Told.")],
        [text("Nothing.")],
    ):
        home.llm_server.play(*answers)
        await beat.wake()
    await beat.turn("off")

    await home.clock.tick(every=timedelta(hours=1, minutes=1))
    assert told == []
    await home.clock.tick(every=timedelta(days=1))
    tokens = 5 * 28
    (digest,) = (call.data["message"] for call in told)
    assert digest == (
        f"Milonga: woke 3 times, acted 1 times, told you 2 times, {tokens} tokens."
        " Quiet: woke 0 times, acted 0 times, told you 0 times, 0 tokens."
    )
    await home.clock.tick(every=WEEK)
    assert "Milonga: woke 0 times" in told[-1].data["message"]
    await home.hass.services.async_call(
        "automation", "turn_off", {"entity_id": "all"}, blocking=True
    )


@pytest.fixture
async def second_phone(
    home: Home, config_dir: Path, hass_client: ClientSessionGenerator
) -> list[ServiceCall]:
    """Sign in with a second phone."""
    for domain in ("notify", "mobile_app"):
        assert await async_setup_component(home.hass, domain, {})
    client = await hass_client()
    answer = await client.post("/api/mobile_app/registrations", json=PHONE)
    assert answer.status == 201
    await home.settled()
    phone: list[ServiceCall] = async_mock_service(
        home.hass, "notify", "mobile_app_second"
    )
    return phone


@pytest.mark.contract("P1", "P2", "A2", "P6")
@pytest.mark.parametrize("answer", ["YES", "NO"])
async def test_a_second_phone_is_asked_and_can_answer(
    home: Home, second_phone: list[ServiceCall], answer: str
) -> None:
    hass = home.hass
    beat = await home.add_heartbeat(ask=FEED)
    (device,) = (
        device for device in dr.async_get(hass).devices if device.name == "Second"
    )
    await automate(
        hass,
        "second_phone.yaml",
        {"heartbeats": [beat.switch], "phone": device.id},
    )
    home.llm_server.play(calls(MEAL), text("Asked."))
    await home.clock.tick()
    (question,) = second_phone
    assert question.data["title"] == "Milonga"
    assert "asks for your yes" in question.data["message"]
    assert not home.fired("fed")

    (button,) = (
        one["action"]
        for one in question.data["data"]["actions"]
        if f"_{answer}_" in one["action"]
    )
    hass.bus.async_fire("mobile_app_notification_action", {"action": "OTHER"})
    hass.bus.async_fire("mobile_app_notification_action", {"action": button})
    await home.settled()
    await home.settled()
    (run,) = await beat.runs()
    assert [one["status"] for one in run["actions"]] == [
        "done" if answer == "YES" else "failed"
    ]
    assert len(home.fired("fed")) == (answer == "YES")
    cleared = second_phone[-1].data
    assert cleared["message"] == "clear_notification"
    assert cleared["data"]["tag"] == question.data["data"]["tag"]

    hass.bus.async_fire("mobile_app_notification_action", {"action": button})
    await home.settled()
    assert len(home.fired("fed")) == (answer == "YES")

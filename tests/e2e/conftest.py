"""One Home Assistant and one browser for every walk; each walk leaves them as new.

If a walk fails, a screenshot and Home Assistant's log are kept; where, is printed.
"""

from collections.abc import AsyncIterator, Generator
from pathlib import Path
import re
import shutil
import tempfile
from typing import Final

from playwright.async_api import Browser, Page
import pytest
import pytest_asyncio

from demo_house.house import HAPPY, HUNGER
from demo_house.model_server import ModelServer
from demo_house.running import House, running_house
from demo_house.stand_in import stand_in
from tests.support.llm_server import LlmServer

from .backend import Backend
from .browser import open_page, running_browser

FAILED: Final = pytest.StashKey[bool]()
# It says of every custom integration that nobody has tested it.
HARMLESS: Final = "We found a custom integration"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note for the fixtures whether the walk failed."""
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    return report


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def model() -> AsyncIterator[ModelServer]:
    async with stand_in() as server:
        yield server


@pytest_asyncio.fixture(loop_scope="session")
async def slow_model() -> AsyncIterator[LlmServer]:
    """Serve a model that answers when it is told to."""
    server = LlmServer()
    await server.start()
    yield server
    await server.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def house() -> AsyncIterator[House]:
    async with running_house() as running:
        yield running


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with running_browser() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def backend(house: House) -> AsyncIterator[Backend]:
    """Look behind the pages; afterwards the house is as it was."""
    behind = Backend(house)
    yield behind
    for entry_id in await behind.entry_ids():
        await behind.delete_entry(entry_id)
    await house.socket.command(
        "call_service", domain="persistent_notification", service="dismiss_all"
    )
    for gauge in (HUNGER, HAPPY):
        await house.socket.act("input_number.set_value", gauge, value=4)


@pytest_asyncio.fixture(loop_scope="session")
async def page(
    request: pytest.FixtureRequest, browser: Browser, house: House, backend: Backend
) -> AsyncIterator[Page]:
    """A window of its own, logged in."""
    async with open_page(browser, house) as opened:
        yield opened
        if request.node.stash.get(FAILED, False):
            folder = Path(tempfile.mkdtemp(prefix="proactive-agent-e2e-"))
            await opened.screenshot(path=folder / "page.png")
            shutil.copy(_log(house), folder / "home-assistant.log")
            print(f"What was seen: {folder}")  # noqa: T201


@pytest.fixture
def foreseen() -> list[str]:
    """Let a walk add what Home Assistant will rightly complain of."""
    return []


@pytest.fixture(autouse=True)
def quiet_log(house: House, foreseen: list[str]) -> Generator[None]:
    """Let no walk make Home Assistant complain about the integration."""
    before = len(_log(house).read_text())
    yield
    said = _log(house).read_text()[before:]
    complaints = re.findall(r"^.* (?:WARNING|ERROR|CRITICAL) .*$", said, re.MULTILINE)
    assert "Traceback" not in said, said
    assert not [
        one
        for one in complaints
        if "proactive_agent" in one
        and not any(known in one for known in (HARMLESS, *foreseen))
    ]


def _log(house: House) -> Path:
    return house.config_dir / "demo.log"

"""One home for all of these tests: it is killed often, and always runs between them."""

from collections.abc import AsyncIterator, Generator
from pathlib import Path
import re
import shutil
import tempfile
from typing import Final

import pytest
import pytest_asyncio

from tests.support.llm_server import LlmServer

from .house import KilledHouse, killed_house
from .mind import Mind
from .phone import Phone
from .points import DOORS
from .witness import Witness, running_witness

# It says of every custom integration that nobody has tested it.
HARMLESS: Final = "We found a custom integration"


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def witness() -> AsyncIterator[Witness]:
    async with running_witness() as running:
        yield running


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def mind() -> AsyncIterator[Mind]:
    server = LlmServer()
    await server.start()
    yield Mind(server)
    await server.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def house(witness: Witness) -> AsyncIterator[KilledHouse]:
    async with killed_house(DOORS, witness.url) as running:
        yield running


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def phone(house: KilledHouse, witness: Witness) -> Phone:
    """A phone that is sent its notifications where the witness sees them."""
    pushed = {"push_token": "token", "push_url": f"{witness.url}/push"}
    return await Phone.register(house.api, "Pocket", pushed)


@pytest.fixture(scope="session", autouse=True)
def quiet_log(house: KilledHouse) -> Generator[None]:
    """Let no test make Home Assistant complain about the integration."""
    yield
    said = (house.folder / "demo.log").read_text()
    complaints = re.findall(r"^.* (?:WARNING|ERROR|CRITICAL) .*$", said, re.MULTILINE)
    about_us = [one for one in complaints if "proactive_agent" in one]
    if "Traceback" in said or any(HARMLESS not in one for one in about_us):
        kept = Path(tempfile.mkdtemp(prefix="proactive-agent-kill-")) / "log"
        shutil.copy(house.folder / "demo.log", kept)
        pytest.fail(f"Home Assistant complained, see {kept}: {about_us}")

"""`scripts/bench wake`: one job, done by our heartbeat and by core's Assist agent.

Both live in the same Home Assistant, are set up by their own dialogs, ask the same
scripted server, and are called by their own actions, in turns.
"""

import argparse
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
import time
from typing import Any, Final

from homeassistant.components.homeassistant.exposed_entities import (
    async_expose_entity,
)
from homeassistant.const import STATE_OFF, STATE_ON, Platform
from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
)

from .bench_home.config_flow import DOMAIN as HOME_DOMAIN, SIZE
from .bench_home.plan import plan
from .dialogs import add_entry, add_heartbeat, remove_entry
from .errors import BenchError
from .figures import Run, compared, headline
from .narrator import say
from .running import running_hass
from .scripted_server import LIGHT_ID
from .server_process import ScriptedServer

OURS: Final = "proactive_agent"
CORE: Final = "llama_cpp"
JOB: Final = "turn off the kitchen light"
SIZES: Final = (20, 100, 400)
HEADLINE: Final = 100
REQUESTS: Final = 2  # the call, and the word that it is done
WARM_UP: Final = 5

type Agent = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Where everything takes place."""

    hass: HomeAssistant
    server: ScriptedServer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what can be asked for."""
    parser.add_argument(
        "--runs",
        type=int,
        default=40,
        metavar="N",
        help="measured runs of each agent in each home (default: 40)",
    )


async def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures; raises `BenchError`."""
    async with ScriptedServer.running() as server:
        say("Starting Home Assistant ...")
        async with running_hass() as hass:
            stage = Stage(hass=hass, server=server)
            by_entities = {
                size: await _measure_home(stage, size, options.runs) for size in SIZES
            }
    return headline(by_entities, HEADLINE)


async def _measure_home(stage: Stage, size: int, runs: int) -> dict[str, Any]:
    async with furnished(stage.hass, size):
        ours = await _our_agent(stage)
        core = await _core_agent(stage)
        samples: dict[Agent, list[Run]] = {ours: [], core: []}
        for number in range(WARM_UP + runs):
            for agent, kept in samples.items():
                run = await _one_run(stage, agent)
                if number >= WARM_UP:
                    kept.append(run)
        figures = compared(samples[ours], samples[core])
        for domain in (OURS, CORE):
            for entry in stage.hass.config_entries.async_entries(domain):
                await remove_entry(stage.hass, entry)
    say(f"{size} entities: {figures}")
    return figures


async def _one_run(stage: Stage, agent: Agent) -> Run:
    """Measure one run; what it asks of the server is taken off its time."""
    hass = stage.hass
    await _act(hass, "light.turn_on", entity_id=LIGHT_ID)
    await hass.async_block_till_done()
    if not hass.states.is_state(LIGHT_ID, STATE_ON):
        raise BenchError(f"{LIGHT_ID} does not go on")
    await stage.server.take_log()
    begun = time.perf_counter()
    answer = await agent()
    seconds = time.perf_counter() - begun
    if not hass.states.is_state(LIGHT_ID, STATE_OFF):
        raise BenchError(f"{LIGHT_ID} was not switched off: {answer}")
    served = await stage.server.take_log()
    if served.requests != REQUESTS:
        raise BenchError(f"{served.requests} requests instead of {REQUESTS}: {answer}")
    return Run(seconds=seconds - served.seconds, first_bytes=served.first_bytes)


async def _our_agent(stage: Stage) -> Agent:
    """Give a heartbeat the one room it needs, as its owner would."""
    hass = stage.hass
    answers = {"url": stage.server.url, "model": stage.server.model}
    endpoint = await add_entry(hass, OURS, answers, choice="server")
    kitchen = ar.async_get(hass).async_get_or_create("Kitchen")
    await add_heartbeat(
        hass,
        endpoint,
        {
            "name": "Lights out",
            "check_prompt": JOB,
            "interval": {"hours": 24},
            "act": {"area_id": [kitchen.id]},
            # A day here has more wakes than any other. (With a limit of the day, a wake
            # waits for the disk once more before the model is asked.)
            "fuses": {"max_wakes_per_day": 0, "max_tokens_per_day": 0},
        },
    )
    await hass.async_block_till_done()
    switch = _entity_of(hass, OURS, Platform.SWITCH)
    return lambda: _ask(hass, f"{OURS}.wake", entity_id=switch)


async def _core_agent(stage: Stage) -> Agent:
    """Set up core's agent as its dialog suggests it: with the Assist API."""
    hass = stage.hass
    answers = {"base_url": stage.server.url, "chat_model": stage.server.model}
    await add_entry(hass, CORE, answers)
    await hass.async_block_till_done()
    agent = _entity_of(hass, CORE, Platform.CONVERSATION)
    return lambda: _ask(
        hass, "conversation.process", text=JOB, agent_id=agent, language="en"
    )


@asynccontextmanager
async def furnished(hass: HomeAssistant, size: int) -> AsyncIterator[None]:
    """Put up a home, each thing in its room and exposed to Assist."""
    say(f"Putting up {size} entities ...")
    result = await add_entry(hass, HOME_DOMAIN, {SIZE: size})
    await hass.async_block_till_done()
    entry = result["result"]
    areas, devices = ar.async_get(hass), dr.async_get(hass)
    rooms = {thing.name: thing.room for thing in plan(size)}
    for device in dr.async_entries_for_config_entry(devices, entry.entry_id):
        area = areas.async_get_or_create(rooms[device.name or ""])
        devices.async_update_device(device.id, area_id=area.id)
    found = er.async_entries_for_config_entry(er.async_get(hass), entry.entry_id)
    for one in found:
        async_expose_entity(hass, "conversation", one.entity_id, should_expose=True)
    await hass.async_block_till_done()
    if len(found) != size or hass.states.get(LIGHT_ID) is None:
        raise BenchError(f"{len(found)} entities were put up instead of {size}")
    yield
    await remove_entry(hass, entry)


def _entity_of(hass: HomeAssistant, platform: str, domain: str) -> str:
    found = [
        entry.entity_id
        for entry in er.async_get(hass).entities.values()
        if entry.platform == platform and entry.domain == domain
    ]
    if len(found) != 1:
        raise BenchError(f"{platform} has {found} instead of one {domain}")
    return found[0]


async def _ask(hass: HomeAssistant, action: str, **data: Any) -> object:
    domain, service = action.split(".")
    return await hass.services.async_call(
        domain, service, data, blocking=True, return_response=True
    )


async def _act(hass: HomeAssistant, action: str, **data: Any) -> None:
    domain, service = action.split(".")
    await hass.services.async_call(domain, service, data, blocking=True)

"""`scripts/demo`: tell the story of Milonga on a real Home Assistant."""

import argparse
import asyncio
from contextlib import AbstractAsyncContextManager
from pathlib import Path
import signal
import sys

from homeassistant.const import __version__ as ha_version

from .agent import Agent, add_agent, count_ticks
from .errors import DemoError
from .model_server import ModelServer
from .narrator import Narrator
from .proxy import counted
from .running import PASSWORD, USER, House, running_house
from .stand_in import stand_in
from .story import Story
from .verdict import Figures, complaints

STAND_IN_INTERVAL = 4
# A real model needs longer than a stand-in to make up its mind.
REAL_INTERVAL = 15


def parse(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="scripts/demo",
        description="Run a real Home Assistant with a pocket pet that an agent "
        "looks after. It needs no key and no internet once it is set up.",
    )
    parser.add_argument(
        "--headless",
        action="store_true",
        help="tell the story, print its figures as one line of JSON, and end",
    )
    parser.add_argument(
        "--pace",
        type=int,
        metavar="SECONDS",
        help="one interval of the heartbeat, at least 4 "
        f"(default: {STAND_IN_INTERVAL}, with a real model {REAL_INTERVAL})",
    )
    parser.add_argument(
        "--config", type=Path, metavar="DIR", help="keep Home Assistant's folder there"
    )
    parser.add_argument("--port", type=int, help="Home Assistant's port")
    parser.add_argument(
        "--llm-url", metavar="URL", help="a real OpenAI-compatible server instead"
    )
    parser.add_argument("--llm-model", metavar="NAME", help="the model on it")
    parser.add_argument("--llm-key", metavar="KEY", default="", help="its API key")
    options = parser.parse_args(arguments)
    if bool(options.llm_url) != bool(options.llm_model):
        parser.error("--llm-url and --llm-model go together")
    if options.pace is None:
        options.pace = REAL_INTERVAL if options.llm_url else STAND_IN_INTERVAL
    if options.pace < STAND_IN_INTERVAL:
        parser.error(f"--pace is at least {STAND_IN_INTERVAL}")
    return options


def _model(options: argparse.Namespace) -> AbstractAsyncContextManager[ModelServer]:
    """Return the stand-in, or the real model behind a proxy that counts."""
    if options.llm_url:
        return counted(options.llm_url, options.llm_model, options.llm_key)
    return stand_in()


async def run(options: argparse.Namespace) -> int:
    """Run the demo; returns the exit status."""
    narrator = Narrator(sys.stderr if options.headless else sys.stdout)
    async with (
        _model(options) as model,
        running_house(options.config, port=options.port, say=narrator.say) as house,
    ):
        narrator.say(f"Home Assistant {ha_version} runs. Adding the agent ...")
        agent = await add_agent(house, model, interval=options.pace)
        reloads_at = await count_ticks(house, agent)
        if not options.headless:
            _invite(narrator, house, agent)
        story = Story(
            house,
            agent,
            model,
            narrator,
            interval=options.pace,
            reloads_at=reloads_at,
        )
        ledger = await story.tell()
        figures = Figures.of(ledger)
        wrong = complaints(figures, ledger)
        if options.headless:
            if wrong:
                raise DemoError("the story went otherwise: " + "; ".join(wrong))
            print(figures.as_json())
            return 0
        narrator.sum_up(figures)
        for complaint in wrong:
            narrator.say(f"That was not as planned: {complaint}")
        _invite(narrator, house, agent)
        narrator.say("Life goes on, in slower time, until Ctrl-C.")
        await story.go_on()
        narrator.say("Home Assistant has ended, and the demo with it.")
    return 0


def _invite(narrator: Narrator, house: House, agent: Agent) -> None:
    narrator.say(f"Log in as {USER} with the password {PASSWORD}:")
    narrator.say(f"  the pet        {house.url}/milonga-home")
    narrator.say(
        f"  its heartbeat  {house.url}/config/devices/device/{agent.device_id}"
    )


async def _until_signalled(options: argparse.Namespace) -> int:
    loop = asyncio.get_running_loop()
    running = asyncio.ensure_future(run(options))
    received: list[int] = []

    def end(number: int) -> None:
        # Once is enough: a second Ctrl-C must not break the shutdown of the children.
        if not received:
            print("Ending Home Assistant ...", file=sys.stderr)
            running.cancel()
        received.append(number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, end, number)
    try:
        return await running
    except asyncio.CancelledError:
        if not received:
            raise
        return 128 + received[0] if options.headless else 0


def main() -> int:
    """Run the command line."""
    try:
        return asyncio.run(_until_signalled(parse(sys.argv[1:])))
    except DemoError as error:
        print(f"Error: {error}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())

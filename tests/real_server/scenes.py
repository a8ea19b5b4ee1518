"""What is to be seen with a real server; each scene returns it in a line."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from demo_house.errors import DemoError
from demo_house.flows import DOMAIN
from demo_house.house import HAPPY, HUNGER, IN_ITS_HANDS
from demo_house.running import House

from .house import PUSHED, heartbeat_on
from .llama import MODEL, TOOLS_TEMPLATE, Installed, llama

# With the tools in the prompt, and room for it.
USUAL: Final = ("--chat-template-file", str(TOOLS_TEMPLATE), "--ctx-size", "4096")
LOGGER: Final = "custom_components.proactive_agent"
# Enough to make a request that cannot be taken for a short one.
HELPERS: Final = (
    HAPPY,
    HUNGER,
    "automation.milonga_calls",
    "input_boolean.time_passes",
    "input_number.happy_every",
    "input_number.hunger_every",
    *IN_ITS_HANDS,
)
KEY: Final = "sk-of-the-walk"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Where the scenes are played."""

    house: House
    llama: Installed

    def answers(self, **others: Any) -> dict[str, Any]:
        """Return what an owner enters for this server."""
        return {
            "url": self.llama.origin,
            "model": MODEL,
            "extra_body": {**PUSHED},
            **others,
        }


async def setting_up(stage: Stage) -> str:
    """The dialogs find the server by its bare address, and try its model."""
    async with (
        llama(stage.llama, *USUAL),
        heartbeat_on(stage.house, stage.answers()) as heartbeat,
    ):
        title = heartbeat.title
    assert title.startswith(MODEL), title
    return f"the entry is called {title!r}"


async def a_run(stage: Stage) -> str:
    """A run by hand: a structured call comes back, and the light goes off."""
    async with (
        llama(stage.llama, *USUAL),
        heartbeat_on(stage.house, stage.answers()) as heartbeat,
    ):
        record = await heartbeat.wake()
        assert record["error"] is None, record
        assert any(one["status"] == "done" for one in record["actions"]), record
        assert not await heartbeat.is_light_on()
    tokens = record["tokens"]
    assert tokens["prompt"] > 0, record
    assert tokens["completion"] > 0, record
    return _told(record)


async def loading(stage: Stage) -> str:
    """A run that finds the model still loading waits for it."""
    async with AsyncExitStack() as stack:
        async with llama(stage.llama, *USUAL):
            heartbeat = await stack.enter_async_context(
                heartbeat_on(stage.house, stage.answers())
            )
        async with (
            _logged(stage.house) as log,
            llama(stage.llama, *USUAL, ready_at=503),
        ):
            record = await heartbeat.wake()
    assert "503" in log(), f"it was not loading any more: {log()}"
    assert record["error"] is None, record
    return _told(record)


async def overflow(stage: Stage) -> str:
    """A context that is too small is said to be so, with what to do."""
    async with (
        llama(stage.llama, *USUAL[:2], "--ctx-size", "512"),
        heartbeat_on(stage.house, stage.answers()) as heartbeat,
    ):
        record = await heartbeat.wake()
    assert record["error"] is not None, record
    assert record["error"]["kind"] == "context_length", record["error"]
    return _told(record)


async def another_model(stage: Stage) -> str:
    """A model that is not there: llama.cpp answers with the one it has."""
    return await _tried(stage, USUAL, model="gpt-4o")


async def wrong_path(stage: Stage) -> str:
    """An address below which there is nothing is refused in the dialog."""
    return await _refused(stage, USUAL, url=f"{stage.llama.origin}/nothing/here")


async def no_key(stage: Stage) -> str:
    """A server that wants a key refuses to go on without it."""
    return await _refused(stage, (*USUAL, "--api-key", KEY))


async def with_key(stage: Stage) -> str:
    """With the key the same server is taken."""
    return await _tried(stage, (*USUAL, "--api-key", KEY), api_key=KEY)


async def without_jinja(stage: Stage) -> str:
    """A server that was told to handle no tools is refused in the dialog."""
    return await _refused(stage, ("--no-jinja", "--ctx-size", "4096"))


async def own_template(stage: Stage) -> str:
    """A template without tools drops them silently: the figures give it away."""
    async with (
        llama(stage.llama, "--ctx-size", "4096"),
        heartbeat_on(stage.house, stage.answers(), *HELPERS) as heartbeat,
    ):
        record = await heartbeat.wake()
        listed = await stage.house.socket.command("repairs/list_issues")
        issues = [one for one in listed["issues"] if one["domain"] == DOMAIN]
    found = [one["translation_key"] for one in issues]
    assert found == ["context_truncated"], (issues, _told(record))
    placeholders = issues[0]["translation_placeholders"]
    return f"{_told(record)}; the repair says {placeholders}"


async def nobody_there(stage: Stage) -> str:
    """Nobody listens at the address."""
    try:
        async with heartbeat_on(stage.house, stage.answers()):
            raise AssertionError("it was taken")
    except DemoError as err:
        return str(err)


@asynccontextmanager
async def _logged(house: House) -> AsyncIterator[Callable[[], str]]:
    """Have the integration log what it exchanges; gives what it has logged since."""
    level = "/api/services/logger/set_level"
    await house.api.post(level, {LOGGER: "debug"})
    begun = len(house.process.log())
    yield lambda: house.process.log()[begun:]
    await house.api.post(level, {LOGGER: "info"})


async def _tried(stage: Stage, options: tuple[str, ...], **answers: Any) -> str:
    async with (
        llama(stage.llama, *options),
        heartbeat_on(stage.house, stage.answers(**answers)) as heartbeat,
    ):
        return f"taken: {heartbeat.title!r}"


async def _refused(stage: Stage, options: tuple[str, ...], **answers: Any) -> str:
    async with llama(stage.llama, *options):
        try:
            async with heartbeat_on(stage.house, stage.answers(**answers)):
                raise AssertionError("it was taken")
        except DemoError as err:
            return str(err)


def _told(record: Mapping[str, Any]) -> str:
    error = record["error"]
    return "; ".join(
        (
            f"{record['outcome']} in {record['turns']} turns, {record['seconds']} s",
            f"tokens {record['tokens']['prompt']} + {record['tokens']['completion']}",
            f"calls {[call['tool'] for call in record['calls']]}",
            f"error {error['kind']}: {error['message']}" if error else "no error",
        )
    )


SCENES: Final[tuple[Callable[[Stage], Awaitable[str]], ...]] = (
    setting_up,
    a_run,
    loading,
    overflow,
    another_model,
    wrong_path,
    no_key,
    with_key,
    without_jinja,
    own_template,
    nobody_there,
)

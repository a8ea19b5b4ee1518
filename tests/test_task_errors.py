"""What an AI Task entity fails with, in words that say what to do (R7)."""

import asyncio
from typing import Any

from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import entity_registry as er
import pytest

from custom_components.proactive_agent.engine.errors import Advice, ErrorKind
from custom_components.proactive_agent.task.errors import to_model_error
from tests.support.heartbeats import FEED, Home, clock, home
from tests.support.llm_server import llm_server
from tests.support.task_entity import ENTITY, Tasks, says, tasks, wants

__all__ = ["clock", "home", "llm_server", "tasks"]


class AuthenticationError(Exception):
    """Named as clients name it."""


class APIConnectionError(Exception):
    """Named as clients name it."""


class APITimeoutError(Exception):
    """Named as clients name it."""


class LLMAuthenticationError(Exception):
    """Named as clients name it."""


class LLMServiceError(Exception):
    """Named as clients name it."""


class StatusError(Exception):
    """An answer that a client could not use."""

    def __init__(self, status: int, message: str, name: str = "status_code") -> None:
        super().__init__(message)
        setattr(self, name, status)


def told(message: str, cause: Exception | None = None) -> Exception:
    """Make an error as an integration raises it."""
    err = HomeAssistantError(message)
    err.__cause__ = cause
    return err


OPENAI = "Error talking to OpenAI"
GOOGLE = "Sorry, I had a problem getting a response from Google Generative AI."
FOUND = [
    # OpenAI and Open Router: the client's error behind a sentence that says nothing
    (
        told(OPENAI, StatusError(401, "Error code: 401 - Incorrect API key provided")),
        (ErrorKind.AUTH, Advice.TASK_AUTH),
    ),
    (
        told(
            "Rate limited or insufficient funds",
            StatusError(429, "Error code: 429 - Rate limit reached for requests"),
        ),
        (ErrorKind.RATE_LIMIT, Advice.RATE_LIMIT),
    ),
    (
        told(
            "Rate limited or insufficient funds",
            StatusError(429, "Error code: 429 - {'code': 'insufficient_quota'}"),
        ),
        (ErrorKind.QUOTA, Advice.QUOTA),
    ),
    (
        told("Insufficient funds for OpenAI", Exception("insufficient_quota")),
        (ErrorKind.QUOTA, Advice.QUOTA),
    ),
    (
        told(OPENAI, StatusError(400, "context_length_exceeded")),
        (ErrorKind.CONTEXT_LENGTH, Advice.CONTEXT_LENGTH),
    ),
    (
        told(OPENAI, StatusError(400, "Invalid value: 'x'")),
        (ErrorKind.BAD_REQUEST, Advice.TASK_FAILED),
    ),
    (
        told(OPENAI, StatusError(400, "Unsupported parameter: 'temperature'")),
        (ErrorKind.UNSUPPORTED_PARAMETER, Advice.TASK_FAILED),
    ),
    (
        told(OPENAI, StatusError(500, "The server had an error")),
        (ErrorKind.OVERLOADED, Advice.OVERLOADED),
    ),
    (
        told(OPENAI, APIConnectionError("Connection error.")),
        (ErrorKind.CONNECTION, Advice.TASK_FAILED),
    ),
    (
        told(OPENAI, APITimeoutError("Request timed out.")),
        (ErrorKind.TIMEOUT, Advice.TIMEOUT),
    ),
    (
        told("OpenAI response incomplete: content filter triggered"),
        (ErrorKind.INVALID_RESPONSE, Advice.FILTERED),
    ),
    (
        told("OpenAI response incomplete: max output tokens reached"),
        (ErrorKind.INVALID_RESPONSE, Advice.TASK_FAILED),
    ),
    # Anthropic: with the client's words in the sentence
    (
        told(
            "Authentication error with Anthropic API: invalid x-api-key.",
            StatusError(401, "Error code: 401 - invalid x-api-key"),
        ),
        (ErrorKind.AUTH, Advice.TASK_AUTH),
    ),
    (
        told("Anthropic API error: Overloaded.", StatusError(529, "overloaded_error")),
        (ErrorKind.OVERLOADED, Advice.OVERLOADED),
    ),
    (
        told(
            "Anthropic API error: Your credit balance is too low.",
            StatusError(400, "Your credit balance is too low to access the API"),
        ),
        (ErrorKind.QUOTA, Advice.QUOTA),
    ),
    (
        told("Claude reached the context window limit before completing the response."),
        (ErrorKind.CONTEXT_LENGTH, Advice.CONTEXT_LENGTH),
    ),
    (
        told("Potential policy violation detected."),
        (ErrorKind.INVALID_RESPONSE, Advice.FILTERED),
    ),
    # Google: `code` is the status
    (
        told(GOOGLE, StatusError(400, "400 API key not valid.", "code")),
        (ErrorKind.AUTH, Advice.TASK_AUTH),
    ),
    (
        told(GOOGLE, StatusError(503, "503 The model is overloaded.", "code")),
        (ErrorKind.OVERLOADED, Advice.OVERLOADED),
    ),
    (
        told(GOOGLE, StatusError(404, "404 models/x is not found for API v1", "code")),
        (ErrorKind.MODEL_NOT_FOUND, Advice.TASK_MODEL),
    ),
    # Ollama: some of the client's errors come as they are
    (
        StatusError(404, "model 'llama9' not found"),
        (ErrorKind.MODEL_NOT_FOUND, Advice.TASK_MODEL),
    ),
    (
        StatusError(400, "registry.ollama.ai/library/gemma does not support tools"),
        (ErrorKind.UNSUPPORTED_PARAMETER, Advice.NO_TOOLS),
    ),
    (
        ConnectionError("Failed to connect to Ollama."),
        (ErrorKind.CONNECTION, Advice.TASK_FAILED),
    ),
    # Home Assistant Cloud: only the name of the cause tells
    (
        told("Cloud LLM authentication failed", LLMAuthenticationError("no")),
        (ErrorKind.AUTH, Advice.TASK_AUTH),
    ),
    (
        told("Cloud LLM is rate limited"),
        (ErrorKind.RATE_LIMIT, Advice.RATE_LIMIT),
    ),
    (
        told("Error talking to Cloud LLM", LLMServiceError()),
        (ErrorKind.INVALID_RESPONSE, Advice.TASK_FAILED),
    ),
    # Home Assistant itself
    (
        told("AI Task entity ai_task.thinker not found"),
        (ErrorKind.CONNECTION, Advice.TASK_FAILED),
    ),
    (
        told("Last content in chat log is not an AssistantContent"),
        (ErrorKind.INVALID_RESPONSE, Advice.TASK_FAILED),
    ),
    (RuntimeError(), (ErrorKind.INVALID_RESPONSE, Advice.TASK_FAILED)),
]


@pytest.mark.contract("R7")
@pytest.mark.parametrize(("err", "expected"), FOUND, ids=[str(e) for e, _ in FOUND])
def test_each_kind_is_known_by_what_integrations_raise(
    err: Exception, expected: tuple[ErrorKind, Advice]
) -> None:
    error = to_model_error(err, ENTITY)
    assert (error.kind, error.advice) == expected
    assert error.placeholders["entity"] == ENTITY


def test_what_was_said_is_told_without_keys() -> None:
    cause = StatusError(401, "Incorrect API key provided: sk-abcdefghijkl0123")
    error = to_model_error(told(OPENAI, cause), ENTITY)
    assert error.said == f"{OPENAI}: Incorrect API key provided: ***"


@pytest.mark.contract("R7")
def test_an_error_that_is_its_own_cause_is_told_once() -> None:
    inner, outer = told("The server is down."), told("It did not work.")
    inner.__cause__, outer.__cause__ = outer, inner
    assert to_model_error(outer, ENTITY).said == "It did not work.: The server is down."
    inner.__cause__ = inner
    assert to_model_error(inner, ENTITY).said == "The server is down."


@pytest.mark.contract("R7")
async def test_an_error_ends_the_run_and_the_next_one_works(
    home: Home, tasks: Tasks
) -> None:
    beat = await home.add_heartbeat(act=FEED)
    overloaded = told("It is too much.", StatusError(503, "overloaded"))
    tasks.play(wants(("feed", {"food": "meal"})), overloaded, says("Fine."))
    await home.clock.tick()
    (run,) = await beat.runs()
    assert (run["outcome"], run["turns"]) == ("error", 2)
    assert run["error"]["kind"] == "overloaded"
    assert run["error"]["message"] == (
        "The server is overloaded or has failed. Try again later."
        " The server said: It is too much.: overloaded"
    )
    assert home.told == ["Done: Feed. The run was cut short: the model failed."]
    await home.clock.tick()
    assert (await beat.runs())[0]["answer"] == "Fine."


@pytest.mark.contract("F7")
async def test_a_refused_key_is_its_own_integrations_business(
    home: Home, tasks: Tasks
) -> None:
    beat = await home.add_heartbeat()
    tasks.play(told("No.", StatusError(401, "invalid key")))
    await home.clock.tick()
    (run,) = await beat.runs()
    assert run["error"]["kind"] == "auth"
    assert run["error"]["message"].startswith(f"{ENTITY} was refused by its provider.")
    assert home.hass.config_entries.flow.async_progress() == []


def remove(home: Home) -> None:
    er.async_get(home.hass).async_remove(ENTITY)


def make_unavailable(home: Home) -> None:
    home.hass.states.async_set(ENTITY, "unavailable", {"supported_features": 1})


def make_unfit(home: Home) -> None:
    home.hass.states.async_set(ENTITY, "unknown", {"supported_features": 4})


@pytest.mark.contract("R7", "F5")
@pytest.mark.parametrize(
    ("spoil", "kind", "sentence"),
    [
        (remove, "connection", "is not there"),
        (make_unavailable, "connection", "is unavailable"),
        (make_unfit, "unsupported_parameter", "cannot generate data"),
    ],
)
async def test_an_entity_that_cannot_think_costs_no_wake(
    home: Home, tasks: Tasks, spoil: Any, kind: str, sentence: str
) -> None:
    beat = await home.add_heartbeat(fuses={"max_wakes_per_day": 1})
    spoil(home)
    await home.clock.tick()
    (run,) = await beat.runs()
    assert (run["outcome"], run["error"]["kind"]) == ("error", kind)
    assert f"{ENTITY} {sentence}" in run["error"]["message"]
    assert tasks.requests == []
    assert beat.state("status") == "asleep"
    assert home.fired("proactive_agent_heartbeat_tick") == []


@pytest.mark.contract("R7")
async def test_without_the_base_component_there_is_no_such_entity(home: Home) -> None:
    home.hass.config_entries.async_update_entry(home.entry, data={"entity_id": ENTITY})
    home.hass.states.async_set(ENTITY, "unknown", {"supported_features": 1})
    beat = await home.add_heartbeat()
    await home.clock.tick()
    (run,) = await beat.runs()
    assert run["error"]["kind"] == "connection"
    assert "is not there" in run["error"]["message"]


async def test_a_task_that_somebody_else_cancels_is_an_error(
    home: Home, tasks: Tasks
) -> None:
    def cancel(_: Any) -> Any:
        raise asyncio.CancelledError

    beat = await home.add_heartbeat()
    tasks.play(cancel)
    await home.clock.tick()
    (run,) = await beat.runs()
    assert (run["outcome"], run["error"]["kind"]) == ("error", "connection")

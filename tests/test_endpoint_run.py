"""The line to the model in whole runs: what goes back, what is remembered and told."""

from base64 import b64encode
import json
import logging
from typing import Any
from urllib.parse import quote as percent

from homeassistant.core import HomeAssistant
import pytest

from custom_components.proactive_agent.diagnostics import (
    async_get_config_entry_diagnostics,
)
from tests.support.asking import until
from tests.support.heartbeats import FEED, Clock, Home, clock, home, let_run
from tests.support.llm_server import (
    MODEL,
    USAGE,
    Held,
    Raw,
    calls,
    completion,
    llm_server,
    text,
)

__all__ = ["Clock", "clock", "home", "llm_server"]

# It is asked again only after the time for one run is over.
LOADING = Raw(
    status=503,
    headers={"Retry-After": "10"},
    body={"error": {"message": "Loading model"}},
)
BRIEF = {"run_timeout": 9}
KEY = "Owner/Key+42=secret"


def _change(hass: HomeAssistant, home: Home, **data: Any) -> None:
    hass.config_entries.async_update_entry(home.entry, data={**home.entry.data, **data})


def _thoughtful() -> dict[str, Any]:
    answer = calls(("feed", {"food": "meal"}))
    message = answer["choices"][0]["message"]
    message["reasoning_content"] = "She is hungry."
    message["tool_calls"][0]["extra_content"] = {"signature": "s"}
    return answer


@pytest.mark.contract("R1", "C7")
async def test_what_only_a_server_knows_goes_back_to_it_alone(
    hass: HomeAssistant, home: Home
) -> None:
    beat = await home.add_heartbeat(act=FEED)
    held = Held(text("Fed."))
    home.llm_server.play(_thoughtful(), held, text("Fine."))
    run = hass.async_create_task(beat.wake())
    await held.reached.wait()
    # Another model from here on, but not for the run that is in flight.
    _change(hass, home, model="another")
    held.release.set()
    await run
    first, second = home.llm_server.chats
    assert (first["model"], second["model"]) == (MODEL, MODEL)
    (echoed,) = [one for one in second["messages"] if one["role"] == "assistant"]
    assert echoed["reasoning_content"] == "She is hungry."
    assert echoed["tool_calls"][0]["extra_content"] == {"signature": "s"}
    await home.settled()
    await beat.wake()
    third = home.llm_server.chats[2]
    assert third["model"] == "another"
    assert [one["role"] for one in third["messages"]] == ["system", "user"]
    assert "She is hungry." not in json.dumps(third["messages"])
    assert "signature" not in json.dumps(third["messages"])


async def test_a_refused_option_is_not_sent_again_after_a_restart(
    hass: HomeAssistant, home: Home
) -> None:
    _change(hass, home, extra_body={"temperature": 0.2, "seed": 1})
    beat = await home.add_heartbeat()
    message = "Unsupported parameter: 'temperature' is not supported with this model."
    home.llm_server.play(
        Raw(status=400, body={"error": {"message": message, "param": "model"}}),
        text("Fine."),
        text("Fine."),
    )
    run = await beat.wake()
    assert run["outcome"] == "nothing"
    await home.reload()
    await beat.wake()
    sent = [(one.get("temperature"), one["seed"]) for one in home.llm_server.chats]
    assert sent == [(0.2, 1), (None, 1), (None, 1)]


@pytest.mark.contract("R7")
async def test_what_one_long_request_has_left_is_no_limit_for_the_next(
    hass: HomeAssistant, home: Home
) -> None:
    _change(hass, home, extra_body={"max_tokens": 2000, "seed": 1})
    beat = await home.add_heartbeat()
    full = (
        "This model's maximum context length is 4096 tokens. However, you requested"
        " 6060 tokens (4060 in the messages, 2000 in the completion)."
    )
    refused = "Unsupported parameter: 'seed' is not supported with this model."
    home.llm_server.play(
        Raw(status=400, body={"error": {"message": refused}}),
        Raw(status=400, body={"error": {"message": full}}),
        text("Fine."),
        text("Fine."),
    )
    await beat.wake()
    await beat.wake()
    sent = [(one["max_tokens"], one.get("seed")) for one in home.llm_server.chats]
    assert sent == [(2000, 1), (2000, None), (36, None), (2000, None)]


@pytest.mark.contract("F5")
async def test_answers_that_came_to_nothing_are_counted(home: Home) -> None:
    beat = await home.add_heartbeat(fuses={"run_timeout": 3600})
    home.llm_server.play(text(""), {"choices": [], "usage": USAGE}, text("Fine."))
    run = home.hass.async_create_task(beat.wake())
    await home.clock.turn_until(run.done)
    assert (await run)["tokens"] == {"prompt": 60, "completion": 24}
    assert (await run)["tokens_estimated"] is False
    assert beat.state("tokens_used") == "84"


@pytest.mark.contract("F5", "R7")
async def test_an_error_that_has_used_nothing_costs_nothing(home: Home) -> None:
    beat = await home.add_heartbeat()
    home.llm_server.play(Raw(status=400, body={"error": {"message": "no"}}))
    run = await beat.wake()
    assert run["error"]["kind"] == "bad_request"
    assert run["tokens"] == {"prompt": 0, "completion": 0}
    assert beat.state("tokens_used") == "0"


@pytest.mark.contract("F5", "R7")
async def test_an_error_that_was_paid_for_is_counted(home: Home) -> None:
    beat = await home.add_heartbeat(fuses={"run_timeout": 3600})
    home.llm_server.play(text(""), text(""), text(""))
    run = home.hass.async_create_task(beat.wake())
    await home.clock.turn_until(run.done)
    assert (await run)["error"]["kind"] == "invalid_response"
    assert (await run)["tokens"] == {"prompt": 60, "completion": 24}
    assert beat.state("tokens_used") == "84"


async def until_it_waits(home: Home, requests: int) -> None:
    """Let no time pass until so many requests have had their answer."""
    await until(lambda: len(home.llm_server.chats) == requests)
    for _ in range(10):
        await let_run()


@pytest.mark.contract("F3", "S2")
@pytest.mark.parametrize("acts", [False, True], ids=["at first", "after acting"])
async def test_a_model_that_loads_too_long_is_said_to_load(
    home: Home, acts: bool
) -> None:
    beat = await home.add_heartbeat(act=FEED, fuses=BRIEF)
    home.llm_server.play(*[calls(("feed", {"food": "meal"}))] * acts)
    home.llm_server.always = LOADING
    run = home.hass.async_create_task(beat.wake())
    await until_it_waits(home, 1 + acts)
    await home.clock.turn_until(run.done)
    record = await run
    assert record["outcome"] == "timeout"
    assert record["error"] == {
        "kind": "loading",
        "message": "The model was still being loaded when the time for one run was"
        " over. Allow a run more time, or keep the model loaded."
        " The server said: 503: Loading model",
    }
    said = "The run was cut short: the model was still being loaded."
    assert home.told == [f"Done: Feed. {said}"] * acts


@pytest.mark.contract("F3", "S7", "F7")
async def test_its_owner_is_told_that_it_loads(home: Home) -> None:
    beat = await home.add_heartbeat(fuses=BRIEF)
    home.llm_server.always = LOADING
    for number in range(5):
        run = home.hass.async_create_task(beat.wake())
        await until_it_waits(home, number + 1)
        await home.clock.turn_until(run.done)
    await home.settled()
    (notice,) = home.told
    assert "the model was still being loaded when the time" in notice.lower()


@pytest.mark.contract("F3")
async def test_what_it_says_in_the_end_is_no_reason_for_what_it_said_before(
    home: Home,
) -> None:
    beat = await home.add_heartbeat()
    held = Held(text("Too late."))
    home.llm_server.play(LOADING, held)
    run = home.hass.async_create_task(beat.wake())
    await until_it_waits(home, 1)
    await home.clock.turn_until(run.done)
    record = await run
    held.release.set()
    assert (record["outcome"], record["error"]) == ("timeout", None)


@pytest.mark.contract("F3", "F6")
async def test_who_switches_off_while_it_loads_is_not_told_of_an_error(
    home: Home,
) -> None:
    beat = await home.add_heartbeat()
    home.llm_server.always = LOADING
    run = home.hass.async_create_task(beat.wake())
    await until_it_waits(home, 1)
    await beat.turn("off")
    record = await run
    assert (record["outcome"], record["error"]) == ("stopped", None)


@pytest.mark.contract("F3")
async def test_what_else_was_waited_for_is_said_too(home: Home) -> None:
    beat = await home.add_heartbeat(fuses={"run_timeout": 20})
    home.llm_server.always = Raw(
        status=429, headers={"Retry-After": "50"}, body={"error": {"message": "slow"}}
    )
    run = home.hass.async_create_task(beat.wake())
    await until_it_waits(home, 1)
    await home.clock.turn_until(run.done)
    assert ((await run)["outcome"], (await run)["error"]["kind"]) == (
        "timeout",
        "rate_limit",
    )


@pytest.mark.contract("R7")
@pytest.mark.parametrize(
    ("limit", "answer", "said"),
    [
        (
            20,
            completion({"role": "assistant", "reasoning": "Well"}, finish="length"),
            (
                "The model used up its answer before saying anything, as max_tokens in"
                " the extra options lets it have only 20 tokens. Allow it more tokens"
                " there, or take it out."
            ),
        ),
        (
            99_000,
            Raw(
                status=400,
                body={"error": {"message": "maximum context length is 8192 tokens"}},
            ),
            (
                "The request itself fits, but max_tokens in the extra options asks for"
                " an answer of 99000 tokens, and the model takes 8192 tokens in all."
                " Lower it, or take it out. The server said: 400: maximum context"
                " length is 8192 tokens"
            ),
        ),
        (
            3,
            Raw(status=400, body={"error": {"message": "max_tokens: 3 is odd"}}),
            (
                "The server does not accept the option max_tokens. Take it out of the"
                " extra options. The server said: 400: max_tokens: 3 is odd"
            ),
        ),
    ],
    ids=["too low", "too high", "odd"],
)
async def test_the_owners_own_limit_is_named_where_it_is_the_cause(
    hass: HomeAssistant, home: Home, limit: int, answer: Any, said: str
) -> None:
    _change(hass, home, extra_body={"max_tokens": limit})
    beat = await home.add_heartbeat(fuses={"run_timeout": 3600})
    home.llm_server.always = answer
    run = hass.async_create_task(beat.wake())
    await home.clock.turn_until(run.done)
    assert (await run)["error"]["message"] == said


@pytest.mark.contract("R7")
async def test_the_record_says_what_to_do(home: Home) -> None:
    beat = await home.add_heartbeat()
    home.llm_server.models = ["llama3.2", "qwen3"]
    home.llm_server.play(
        Raw(status=404, body={"error": {"message": f"model '{MODEL}' not found"}})
    )
    run = await beat.wake()
    assert run["error"] == {
        "kind": "model_not_found",
        "message": f"Model {MODEL} is not there. The server has: llama3.2, qwen3."
        f" The server said: 404: model '{MODEL}' not found",
    }


@pytest.mark.contract("R7")
async def test_an_address_without_its_version(hass: HomeAssistant, home: Home) -> None:
    _change(hass, home, url=home.llm_server.url.replace("/v1", "/api"))
    beat = await home.add_heartbeat()
    run = await beat.wake()
    assert run["error"] == {
        "kind": "not_openai_api",
        "message": "The server answers, but not at this address. Add /v1 to the"
        " address. The server said: 404: Not Found",
    }


async def test_a_server_that_always_streams(home: Home) -> None:
    beat = await home.add_heartbeat(act=FEED)
    call = {"index": 0, "id": "a", "function": {"name": "feed", "arguments": ""}}
    more = {"index": 0, "function": {"arguments": '{"food": "meal"}'}}
    home.llm_server.play(
        _stream({"tool_calls": [call]}, {"tool_calls": [more]}),
        _stream({"content": "I have "}, {"content": "fed her."}),
    )
    run = await beat.wake()
    assert run["outcome"] == "acted"
    assert run["answer"] == "I have fed her."
    assert [one["action"] for one in run["actions"]] == ["script.feed"]


def _stream(*deltas: dict[str, Any]) -> Raw:
    chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    lines = [*map(json.dumps, chunks), "[DONE]"]
    body = "".join(f"data: {line}\n\n" for line in lines)
    return Raw(headers={"Content-Type": "text/event-stream"}, body=body)


@pytest.mark.parametrize(
    "echo",
    [
        KEY,
        f"Bearer {KEY}",
        percent(KEY, safe=""),
        f"Basic {b64encode(f'user:{KEY}'.encode()).decode()}",
        b64encode(KEY.encode()).decode(),
        f"{KEY[:4]}****{KEY[-4:]}",
        f"{KEY[:5]}...{KEY[-6:]}",
        KEY.replace("/", "\\/"),
    ],
)
async def test_the_key_is_told_to_nobody(
    hass: HomeAssistant, home: Home, caplog: pytest.LogCaptureFixture, echo: str
) -> None:
    caplog.set_level(logging.DEBUG, "custom_components.proactive_agent")
    _change(hass, home, api_key=KEY)
    beat = await home.add_heartbeat()
    said = f"Incorrect API key provided: {echo}. See https://box/?key={echo}"
    home.llm_server.play(
        Raw(
            status=400,
            headers={"Location": f"http://box/{percent(echo)}"},
            body={"error": {"message": said, "param": echo, "code": echo}},
        )
    )
    run = await beat.wake()
    assert run["outcome"] == "error"
    told = [
        json.dumps(run),
        json.dumps(await async_get_config_entry_diagnostics(hass, home.entry)),
        json.dumps([dict(event.data) for event in home.events], default=str),
        *(
            record.getMessage()
            for record in caplog.records
            if "proactive" in record.name
        ),
        *(f"{one.state} {one.attributes}" for one in hass.states.async_all()),
        *home.told,
    ]
    for words in told:
        for part in (KEY, echo, KEY[:5], KEY[-6:]):
            assert part not in words

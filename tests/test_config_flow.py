"""The dialogs of an endpoint, walked as the frontend walks them."""

import asyncio
from collections.abc import Mapping
import re
from typing import Any

from aiohttp import ClientConnectorCertificateError
from aiohttp.client_reqrep import ConnectionKey
from homeassistant.components import ai_task
from homeassistant.config_entries import (
    SOURCE_USER,
    ConfigEntry,
    ConfigEntryState,
    ConfigFlowResult,
)
from homeassistant.core import HomeAssistant, callback
from homeassistant.data_entry_flow import (
    EVENT_DATA_ENTRY_FLOW_PROGRESSED,
    FlowResultType,
)
from homeassistant.exceptions import HomeAssistantError
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.test_util.aiohttp import AiohttpClientMocker
from yarl import URL

from custom_components.proactive_agent.const import DOMAIN
from custom_components.proactive_agent.endpoint.retry import RetryPolicy
from custom_components.proactive_agent.flows import (
    ai_task as flow_ai_task,
    waiting as flow_waiting,
)
from tests.support.llm_server import (
    CLOSE,
    MODEL,
    Held,
    LlmServer,
    Raw,
    calls,
    llm_server as llm_server,  # noqa: PLC0414 - a fixture
)
from tests.support.task_entity import (
    ENTITY,
    Tasks,
    ThinkingEntity,
    add_ai_task,
    says,
    wants,
)
from tests.support.translated import (
    assert_form_is_translated,
    assert_menu_is_translated,
    error_text,
    progress_text,
    result_text,
)

READY = calls(("report_ready", {}))
UNREACHABLE = "http://127.0.0.1:9/v1"
HTML = Raw(
    headers={"Content-Type": "text/html"},
    body="<!DOCTYPE html><html><body>A router</body></html>",
)


def refusal(status: int, message: str, **more: Any) -> Raw:
    return Raw(status=status, body={"error": {"message": message, **more}})


WRONG_KEY = refusal(401, "Incorrect API key provided", code="invalid_api_key")
TOO_SLOW = refusal(408, "Request Timeout")
NO_SUCH_MODEL = refusal(404, "The model `x` does not exist", code="model_not_found")


async def choose(hass: HomeAssistant, option: str) -> ConfigFlowResult:
    """Begin, and choose from the menu that comes first."""
    menu = await hass.config_entries.flow.async_init(
        DOMAIN, context={"source": SOURCE_USER}
    )
    assert menu["step_id"] == "user"
    assert_menu_is_translated("config", menu)
    return await fill_in(hass, menu, {"next_step_id": option})


async def open_dialog(hass: HomeAssistant) -> ConfigFlowResult:
    form = await choose(hass, "server")
    assert form["step_id"] == "server"
    return form


async def fill_in(
    hass: HomeAssistant, form: ConfigFlowResult, answers: Mapping[str, Any]
) -> ConfigFlowResult:
    """Answer a form and check that whatever is shown next is in words."""
    result = await hass.config_entries.flow.async_configure(
        form["flow_id"], dict(answers)
    )
    if result["type"] is FlowResultType.FORM:
        assert_form_is_translated("config", result)
    elif result["type"] is FlowResultType.SHOW_PROGRESS:
        assert progress_text("config", result)
        return result
    elif not result.get("translation_domain"):
        assert result_text("config", result)
    await hass.async_block_till_done()
    return result


async def at_model(
    hass: HomeAssistant, server: LlmServer, **more: Any
) -> ConfigFlowResult:
    form = await open_dialog(hass)
    form = await fill_in(hass, form, {"url": server.url, **more})
    assert form["type"] is FlowResultType.FORM
    assert form["step_id"] == "model"
    return form


def suggested(form: ConfigFlowResult) -> dict[str, Any]:
    """Return what stands in the fields of a form."""
    assert form["data_schema"] is not None
    return {
        str(marker): marker.description["suggested_value"]
        for marker in form["data_schema"].schema
        if marker.description
    }


def selector_of(form: ConfigFlowResult, field: str) -> Any:
    assert form["data_schema"] is not None
    return form["data_schema"].schema[field]


def endpoint(hass: HomeAssistant, url: str, **more: Any) -> MockConfigEntry:
    data = {
        "url": url,
        "api_key": "sk-old",
        "model": MODEL,
        "verify_ssl": True,
        "extra_body": {},
    }
    host = URL(url).host
    entry = MockConfigEntry(
        domain=DOMAIN, title=more.pop("title", f"{MODEL} ({host})"), data=data | more
    )
    entry.add_to_hass(hass)
    return entry


async def set_up(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()


def only_entry(hass: HomeAssistant) -> ConfigEntry:
    (entry,) = hass.config_entries.async_entries(DOMAIN)
    return entry


class TestCreate:
    async def test_leads_through_server_and_model_into_the_first_heartbeat(
        self, hass: HomeAssistant, llm_server: LlmServer
    ) -> None:
        llm_server.models = ["qwen3:8b", "llama3.2"]
        llm_server.play(READY)

        form = await at_model(
            hass, llm_server, url=f" {llm_server.url}/chat/completions ", api_key="sk "
        )
        assert selector_of(form, "model").config["options"] == ["qwen3:8b", "llama3.2"]
        result = await fill_in(
            hass, form, {"model": " qwen3:8b", "extra_body": {"temperature": 0.2}}
        )

        assert result["type"] is FlowResultType.CREATE_ENTRY
        entry = only_entry(hass)
        assert entry.title == "qwen3:8b (127.0.0.1)"
        assert entry.data == {
            "url": llm_server.url,
            "api_key": "sk",
            "model": "qwen3:8b",
            "verify_ssl": True,
            "extra_body": {"temperature": 0.2},
        }
        kind, flow_id = result["next_flow"]
        assert kind == "config_subentries_flow"
        following = hass.config_entries.subentries.async_get(flow_id)
        assert following["handler"] == (entry.entry_id, "heartbeat")
        assert following["step_id"] == "user"

        (probe,) = llm_server.chats
        assert probe["model"] == "qwen3:8b"
        assert probe["temperature"] == 0.2
        assert len(probe["tools"]) == 1
        assert {r.headers["Authorization"] for r in llm_server.requests} == {
            "Bearer sk"
        }

    async def test_the_only_model_is_filled_in(
        self, hass: HomeAssistant, llm_server: LlmServer
    ) -> None:
        form = await at_model(hass, llm_server)
        assert suggested(form) == {"model": MODEL}

    async def test_a_form_that_is_opened_again_is_the_same(
        self, hass: HomeAssistant, llm_server: LlmServer
    ) -> None:
        form = await at_model(hass, llm_server)
        again = await hass.config_entries.flow.async_configure(form["flow_id"])
        assert again["step_id"] == "model"
        assert suggested(again) == {"model": MODEL}

    async def test_the_same_model_on_the_same_server_is_refused(
        self, hass: HomeAssistant, llm_server: LlmServer
    ) -> None:
        endpoint(hass, llm_server.url)
        form = await at_model(hass, llm_server)
        result = await fill_in(hass, form, {"model": MODEL})
        assert result["type"] is FlowResultType.ABORT
        assert result["reason"] == "already_configured"
        assert llm_server.chats == []

    async def test_two_dialogs_at_once_make_one_endpoint(
        self, hass: HomeAssistant, llm_server: LlmServer
    ) -> None:
        forms = [await at_model(hass, llm_server) for _ in range(2)]
        held = [Held(READY), Held(READY)]
        llm_server.play(*held)
        dialogs = [
            hass.async_create_task(
                hass.config_entries.flow.async_configure(
                    form["flow_id"], {"model": MODEL}
                )
            )
            for form in forms
        ]
        for one in held:
            await one.reached.wait()
        for one in held:
            one.release.set()
        results = await asyncio.gather(*dialogs)
        await hass.async_block_till_done()
        ends = [one.get("reason", one["type"]) for one in results]
        assert sorted(ends) == ["already_configured", "create_entry"]
        assert only_entry(hass).data["model"] == MODEL

    async def test_the_address_below_is_tried_once(
        self, hass: HomeAssistant, aioclient_mock: AiohttpClientMocker
    ) -> None:
        aioclient_mock.get("http://llm.test/api/models", status=404)
        aioclient_mock.post("http://llm.test/api/chat/completions", status=404)
        aioclient_mock.get(
            "http://llm.test/api/v1/models", json={"data": [{"id": "deep"}]}
        )
        aioclient_mock.post("http://llm.test/api/v1/chat/completions", json=READY)
        form = await open_dialog(hass)
        form = await fill_in(hass, form, {"url": "llm.test/api"})
        assert form["step_id"] == "model"
        await fill_in(hass, form, {"model": "deep"})
        assert only_entry(hass).data["url"] == "http://llm.test/api/v1"

    async def test_a_certificate_may_be_left_unchecked(
        self, hass: HomeAssistant, llm_server: LlmServer
    ) -> None:
        llm_server.play(READY)
        form = await at_model(hass, llm_server, verify_ssl=False)
        await fill_in(hass, form, {"model": MODEL})
        assert only_entry(hass).data["verify_ssl"] is False

    @pytest.mark.parametrize(
        "answer",
        [
            refusal(404, "Not Found"),
            refusal(405, "Method Not Allowed"),
            refusal(402, "Insufficient credits"),
            refusal(400, "no such thing"),
        ],
    )
    async def test_a_server_without_a_list_takes_a_typed_model(
        self, hass: HomeAssistant, llm_server: LlmServer, answer: Raw
    ) -> None:
        llm_server.models_answer = answer
        llm_server.always = lambda request: READY if request["model"] else NO_SUCH_MODEL
        form = await at_model(hass, llm_server)
        assert suggested(form) == {}
        assert selector_of(form, "model").selector_type == "text"
        result = await fill_in(hass, form, {"model": "typed"})
        assert result["type"] is FlowResultType.CREATE_ENTRY


class TestServerErrors:
    @pytest.mark.parametrize(
        "text", ["", "  ", "ftp://llm.test", "http://", "sk-1 23", "http://me:pw@h/v1"]
    )
    async def test_what_is_no_address(
        self, hass: HomeAssistant, llm_server: LlmServer, text: str
    ) -> None:
        form = await open_dialog(hass)
        form = await fill_in(hass, form, {"url": text, "api_key": "sk-1"})
        assert form["errors"] == {"url": "invalid_url"}
        assert suggested(form) == {"url": text, "api_key": "sk-1", "verify_ssl": True}
        await self.recovers(hass, llm_server, form)

    async def test_an_address_that_nobody_answers(
        self, hass: HomeAssistant, llm_server: LlmServer
    ) -> None:
        form = await open_dialog(hass)
        form = await fill_in(hass, form, {"url": UNREACHABLE})
        assert form["errors"] == {"url": "cannot_connect"}
        assert suggested(form)["url"] == UNREACHABLE
        assert re.search("reached", error_text("config", form, "url"))
        await self.recovers(hass, llm_server, form)

    async def test_https_where_there_is_none(
        self, hass: HomeAssistant, llm_server: LlmServer
    ) -> None:
        form = await open_dialog(hass)
        url = llm_server.url.replace("http:", "https:")
        form = await fill_in(hass, form, {"url": url})
        assert form["errors"] == {"url": "cannot_connect"}
        words = error_text("config", form, "url")
        assert "does not speak https" in words
        assert "the address with http" in words
        await self.recovers(hass, llm_server, form)

    async def test_a_certificate_of_ones_own_is_a_matter_of_the_switch(
        self, hass: HomeAssistant, aioclient_mock: AiohttpClientMocker
    ) -> None:
        place = ConnectionKey("box.test", 443, True, True, None, None, None)
        own = ClientConnectorCertificateError(place, ValueError("self-signed"))
        aioclient_mock.get("https://box.test/v1/models", exc=own)
        form = await open_dialog(hass)
        form = await fill_in(hass, form, {"url": "https://box.test"})
        assert form["errors"] == {"verify_ssl": "cannot_connect"}
        words = error_text("config", form, "verify_ssl")
        assert "switch certificate verification off" in words

    async def test_a_server_that_takes_too_long(
        self, hass: HomeAssistant, llm_server: LlmServer
    ) -> None:
        llm_server.models_answer = TOO_SLOW
        form = await open_dialog(hass)
        form = await fill_in(hass, form, {"url": llm_server.url})
        assert form["errors"] == {"url": "timeout_connect"}
        await self.recovers(hass, llm_server, form)

    async def test_an_address_that_answers_with_a_page(
        self, hass: HomeAssistant, llm_server: LlmServer
    ) -> None:
        llm_server.models_answer = HTML
        llm_server.always = Raw(status=405, headers=HTML.headers, body=HTML.body)
        form = await open_dialog(hass)
        form = await fill_in(hass, form, {"url": llm_server.url})
        assert form["errors"] == {"url": "not_openai_api"}
        assert "A web page answers" in error_text("config", form, "url")
        await self.recovers(hass, llm_server, form)

    async def test_an_address_with_no_api_there_or_below(
        self, hass: HomeAssistant, llm_server: LlmServer
    ) -> None:
        elsewhere = str(URL(llm_server.url).with_path("/shop"))
        form = await open_dialog(hass)
        form = await fill_in(hass, form, {"url": elsewhere})
        assert form["errors"] == {"url": "not_openai_api"}
        assert suggested(form)["url"] == elsewhere
        assert "often ends in /v1" in error_text("config", form, "url")
        asked = [request.path for request in llm_server.requests]
        assert asked == [
            "/shop/models",
            "/shop/chat/completions",
            "/shop/v1/models",
            "/shop/v1/chat/completions",
        ]
        await self.recovers(hass, llm_server, form)

    async def test_the_address_below_wants_a_key(
        self, hass: HomeAssistant, aioclient_mock: AiohttpClientMocker
    ) -> None:
        aioclient_mock.get("http://llm.test/api/models", status=404)
        aioclient_mock.post("http://llm.test/api/chat/completions", status=404)
        aioclient_mock.get("http://llm.test/api/v1/models", status=401)
        aioclient_mock.post("http://llm.test/api/v1/chat/completions", status=401)
        form = await open_dialog(hass)
        form = await fill_in(hass, form, {"url": "http://llm.test/api"})
        assert form["errors"] == {"api_key": "invalid_auth"}

    @pytest.mark.parametrize("status", [401, 403])
    async def test_a_key_that_is_good_for_chats_alone(
        self, hass: HomeAssistant, llm_server: LlmServer, status: int
    ) -> None:
        llm_server.models_answer = refusal(status, "Missing scopes: api.model.read")
        llm_server.always = READY
        form = await open_dialog(hass)
        form = await fill_in(hass, form, {"url": llm_server.url, "api_key": "sk-chat"})
        assert form["step_id"] == "model"
        result = await fill_in(hass, form, {"model": MODEL})
        assert result["type"] is FlowResultType.CREATE_ENTRY

    @pytest.mark.parametrize("at_the_list", [True, False])
    async def test_a_wrong_key(
        self, hass: HomeAssistant, llm_server: LlmServer, *, at_the_list: bool
    ) -> None:
        llm_server.models_answer = WRONG_KEY if at_the_list else refusal(404, "no")
        llm_server.always = WRONG_KEY
        form = await open_dialog(hass)
        form = await fill_in(hass, form, {"url": llm_server.url, "api_key": "sk-no"})
        assert form["errors"] == {"api_key": "invalid_auth"}
        assert suggested(form)["api_key"] == "sk-no"
        assert "Incorrect API key" in error_text("config", form, "api_key")
        await self.recovers(hass, llm_server, form)

    async def recovers(
        self, hass: HomeAssistant, server: LlmServer, form: ConfigFlowResult
    ) -> None:
        server.models_answer = None
        server.always = READY
        form = await fill_in(hass, form, {"url": server.url})
        assert form["step_id"] == "model"
        assert not form["errors"]
        result = await fill_in(hass, form, {"model": MODEL})
        assert result["type"] is FlowResultType.CREATE_ENTRY


class TestModelErrors:
    @pytest.mark.parametrize(
        ("answer", "options", "errors", "words"),
        [
            (NO_SUCH_MODEL, {}, {"model": "model_not_found"}, f"big, {MODEL}"),
            (
                refusal(400, "registry/x does not support tools"),
                {},
                {"model": "no_tools"},
                "does not support tools",
            ),
            (
                refusal(400, "Unsupported parameter: 'top_k'"),
                {"top_k": 3},
                {"extra_body": "options_refused"},
                "top_k",
            ),
            (
                refusal(400, "temperature must be small"),
                {"temperature": 9},
                {"extra_body": "options_refused"},
                "temperature must be small",
            ),
            (refusal(400, "no idea"), {}, {"base": "model_error"}, "no idea"),
            (
                refusal(402, "Insufficient credits"),
                {},
                {"base": "model_error"},
                "Insufficient credits",
            ),
            (CLOSE, {}, {"base": "cannot_connect"}, "reached"),
            (TOO_SLOW, {}, {"base": "timeout_connect"}, "too long"),
        ],
    )
    async def test_the_small_request_fails(
        self,
        hass: HomeAssistant,
        llm_server: LlmServer,
        answer: Any,
        options: dict[str, Any],
        errors: dict[str, str],
        words: str,
    ) -> None:
        llm_server.models = ["big", MODEL]
        llm_server.always = answer
        form = await at_model(hass, llm_server)
        filled = {"model": "typed"} | ({"extra_body": options} if options else {})
        form = await fill_in(hass, form, filled)
        assert form["step_id"] == "model"
        assert form["errors"] == errors
        assert suggested(form) == filled
        assert words in error_text("config", form, next(iter(errors)))
        await self.recovers(hass, llm_server, form)

    @pytest.mark.parametrize(
        ("answer", "errors"),
        [
            (WRONG_KEY, {"api_key": "invalid_auth"}),
            (refusal(404, "Not Found"), {"url": "not_openai_api"}),
        ],
    )
    async def test_what_is_wrong_with_the_server_leads_back_to_it(
        self,
        hass: HomeAssistant,
        llm_server: LlmServer,
        answer: Raw,
        errors: dict[str, str],
    ) -> None:
        llm_server.always = answer
        form = await at_model(hass, llm_server, api_key="sk-1")
        form = await fill_in(
            hass, form, {"model": "typed", "extra_body": {"temperature": 0}}
        )
        assert form["step_id"] == "server"
        assert form["errors"] == errors
        assert suggested(form)["api_key"] == "sk-1"

        form = await fill_in(hass, form, {"url": llm_server.url, "api_key": "sk-2"})
        assert suggested(form) == {"model": "typed", "extra_body": {"temperature": 0}}
        await self.recovers(hass, llm_server, form)

    @pytest.mark.parametrize(
        ("options", "error"),
        [
            ("temperature", "options_no_object"),
            (["temperature"], "options_no_object"),
            ({"stream": True}, "options_reserved"),
            ({"temperature": 0, "tools": []}, "options_reserved"),
        ],
    )
    async def test_options_that_cannot_be_sent(
        self, hass: HomeAssistant, llm_server: LlmServer, options: Any, error: str
    ) -> None:
        form = await at_model(hass, llm_server)
        form = await fill_in(hass, form, {"model": "m", "extra_body": options})
        assert form["errors"] == {"extra_body": error}
        assert suggested(form) == {"model": "m", "extra_body": options}
        assert llm_server.chats == []
        await self.recovers(hass, llm_server, form)

    async def test_no_model(self, hass: HomeAssistant, llm_server: LlmServer) -> None:
        form = await at_model(hass, llm_server)
        form = await fill_in(hass, form, {"model": " "})
        assert form["errors"] == {"model": "model_required"}
        await self.recovers(hass, llm_server, form)

    async def recovers(
        self, hass: HomeAssistant, server: LlmServer, form: ConfigFlowResult
    ) -> None:
        server.always = READY
        result = await fill_in(hass, form, {"model": MODEL})
        assert result["type"] is FlowResultType.CREATE_ENTRY
        assert only_entry(hass).data["extra_body"] == {}


class TestAiTask:
    """What Home Assistant already has, as the model of an endpoint."""

    @pytest.fixture(autouse=True)
    async def tasks(self, hass: HomeAssistant) -> Tasks:
        assert await async_setup_component(hass, "homeassistant", {})
        await add_ai_task(hass)
        tasks = Tasks()
        await hass.data[ai_task.DATA_COMPONENT].async_add_entities(
            [ThinkingEntity(tasks)]
        )
        return tasks

    async def test_leads_into_the_first_heartbeat(
        self, hass: HomeAssistant, tasks: Tasks
    ) -> None:
        tasks.play(wants(("report_ready", {})), says("Ready."))
        form = await choose(hass, "ai_task")
        assert form["step_id"] == "ai_task"
        assert selector_of(form, "entity_id").config["filter"] == [
            {"domain": ["ai_task"], "supported_features": [1]}
        ]
        result = await fill_in(hass, form, {"entity_id": ENTITY})

        assert result["type"] is FlowResultType.CREATE_ENTRY
        entry = only_entry(hass)
        assert entry.title == "Thinker"
        assert entry.data == {"entity_id": ENTITY}
        assert entry.state is ConfigEntryState.LOADED
        first, second = tasks.requests
        assert list(first.tools) == ["report_ready"]
        assert not second.results[0].error

        _, flow_id = result["next_flow"]
        manager = hass.config_entries.subentries
        heartbeat = await manager.async_configure(flow_id)
        assert_form_is_translated(
            "config_subentries.heartbeat", heartbeat, absent={"model"}
        )
        created = await manager.async_configure(
            flow_id, {"name": "Milonga", "check_prompt": "Look after her."}
        )
        assert created["type"] is FlowResultType.CREATE_ENTRY
        (subentry,) = entry.subentries.values()
        assert "model" not in subentry.data

    async def test_one_that_calls_on_and_on_can_call(
        self, hass: HomeAssistant, tasks: Tasks
    ) -> None:
        tasks.always = wants(("report_ready", {}))
        form = await choose(hass, "ai_task")
        result = await fill_in(hass, form, {"entity_id": ENTITY})
        assert result["type"] is FlowResultType.CREATE_ENTRY

    async def test_none_at_all_says_what_to_do(self, hass: HomeAssistant) -> None:
        # One that only paints is of no use.
        hass.states.async_set(ENTITY, "unknown", {"supported_features": 4})
        result = await choose(hass, "ai_task")
        assert result["type"] is FlowResultType.ABORT
        assert result["reason"] == "no_ai_task"
        assert "Set up an AI service first" in result_text("config", result)

    async def test_the_same_entity_twice(self, hass: HomeAssistant) -> None:
        self.endpoint(hass, ENTITY)
        form = await choose(hass, "ai_task")
        result = await fill_in(hass, form, {"entity_id": ENTITY})
        assert result["reason"] == "already_configured"

    @pytest.mark.parametrize(
        ("entity_id", "words"),
        [
            ("ai_task.gone", "is not there"),
            ("ai_task.painter", "cannot generate data"),
            ("ai_task.offline", "is unavailable"),
            ("light.kitchen", "is not there"),
        ],
    )
    async def test_one_that_cannot_be_it(
        self, hass: HomeAssistant, tasks: Tasks, entity_id: str, words: str
    ) -> None:
        hass.states.async_set("ai_task.painter", "unknown", {"supported_features": 4})
        hass.states.async_set(
            "ai_task.offline", "unavailable", {"supported_features": 1}
        )
        form = await choose(hass, "ai_task")
        form = await fill_in(hass, form, {"entity_id": entity_id})
        assert form["step_id"] == "ai_task"
        assert form["errors"] == {"entity_id": "task_refused"}
        assert words in error_text("config", form, "entity_id")
        assert suggested(form) == {"entity_id": entity_id}

        tasks.play(says("Ready."))
        result = await fill_in(hass, form, {"entity_id": ENTITY})
        assert result["type"] is FlowResultType.CREATE_ENTRY

    async def test_one_that_cannot_call_tools(
        self, hass: HomeAssistant, tasks: Tasks
    ) -> None:
        tasks.play(HomeAssistantError("Error: registry/x does not support tools"))
        form = await choose(hass, "ai_task")
        form = await fill_in(hass, form, {"entity_id": ENTITY})
        assert "does not support tools" in error_text("config", form, "entity_id")
        assert hass.config_entries.async_entries(DOMAIN) == []

    async def test_one_that_never_answers(
        self, hass: HomeAssistant, tasks: Tasks, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(flow_ai_task, "PROBE", RetryPolicy(seconds=0.05, tries={}))
        tasks.play(Held(says("Too late.")))
        form = await choose(hass, "ai_task")
        form = await fill_in(hass, form, {"entity_id": ENTITY})
        assert "too long" in error_text("config", form, "entity_id")

    async def test_another_entity(self, hass: HomeAssistant, tasks: Tasks) -> None:
        hass.states.async_set("ai_task.old", "unknown", {"friendly_name": "Old"})
        entry = self.endpoint(hass, "ai_task.old", title="Old")
        await set_up(hass, entry)
        tasks.play(says("Ready."))
        form = await entry.start_reconfigure_flow(hass)
        assert form["step_id"] == "ai_task"
        assert_form_is_translated("config", form)
        assert suggested(form) == {"entity_id": "ai_task.old"}
        result = await fill_in(hass, form, {"entity_id": ENTITY})
        assert result["reason"] == "reconfigure_successful"
        assert entry.data == {"entity_id": ENTITY}
        assert entry.title == "Thinker"

    @pytest.mark.parametrize("named", ["ai_task.old", "The clever one"])
    async def test_a_name_is_kept_if_the_owner_gave_it(
        self, hass: HomeAssistant, tasks: Tasks, named: str
    ) -> None:
        entry = self.endpoint(hass, "ai_task.old", title=named)
        tasks.play(says("Ready."))
        form = await entry.start_reconfigure_flow(hass)
        await fill_in(hass, form, {"entity_id": ENTITY})
        is_own = named == "The clever one"
        assert entry.title == (named if is_own else "Thinker")

    def endpoint(
        self, hass: HomeAssistant, entity_id: str, title: str = "Thinker"
    ) -> MockConfigEntry:
        entry = MockConfigEntry(
            domain=DOMAIN, title=title, data={"entity_id": entity_id}
        )
        entry.add_to_hass(hass)
        return entry


class TestWaiting:
    """A server may take minutes; a dialog that shows nothing looks dead."""

    @pytest.fixture(autouse=True)
    def impatient(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(flow_waiting, "MOMENT", 0)

    async def test_a_model_that_loads_is_waited_for_in_the_open(
        self, hass: HomeAssistant, llm_server: LlmServer
    ) -> None:
        loading = Held(READY)
        llm_server.play(loading)
        form = await self.at_model(hass, llm_server)
        waiting = await fill_in(hass, form, {"model": "qwen3:8b"})
        assert waiting["type"] is FlowResultType.SHOW_PROGRESS
        assert "qwen3:8b" in progress_text("config", waiting)
        await loading.reached.wait()
        # A browser that is opened again in between learns nothing else.
        again = await hass.config_entries.flow.async_configure(form["flow_id"])
        assert again["type"] is FlowResultType.SHOW_PROGRESS
        assert len(llm_server.chats) == 1
        loading.release.set()
        result = await self.after(hass, waiting)
        assert result["type"] is FlowResultType.CREATE_ENTRY
        assert only_entry(hass).data["model"] == "qwen3:8b"

    async def test_what_comes_of_it_may_be_an_error(
        self, hass: HomeAssistant, llm_server: LlmServer
    ) -> None:
        llm_server.always = NO_SUCH_MODEL
        form = await self.at_model(hass, llm_server)
        waiting = await fill_in(hass, form, {"model": "typed"})
        form = await self.after(hass, waiting)
        assert form["step_id"] == "model"
        assert form["errors"] == {"model": "model_not_found"}
        assert suggested(form) == {"model": "typed"}

        llm_server.always = READY
        waiting = await fill_in(hass, form, {"model": MODEL})
        result = await self.after(hass, waiting)
        assert result["type"] is FlowResultType.CREATE_ENTRY

    async def test_a_server_that_is_slow_to_list_its_models(
        self, hass: HomeAssistant, llm_server: LlmServer
    ) -> None:
        llm_server.models_answer = slow = Held(WRONG_KEY)
        llm_server.always = WRONG_KEY
        form = await open_dialog(hass)
        waiting = await fill_in(hass, form, {"url": llm_server.url})
        assert progress_text("config", waiting)
        await slow.reached.wait()
        slow.release.set()
        form = await self.after(hass, waiting)
        assert form["step_id"] == "server"
        assert form["errors"] == {"api_key": "invalid_auth"}
        assert suggested(form)["url"] == llm_server.url

    async def test_a_new_key_is_tried_in_the_open(
        self, hass: HomeAssistant, llm_server: LlmServer
    ) -> None:
        entry = endpoint(hass, llm_server.url)
        llm_server.play(READY)
        form = await entry.start_reauth_flow(hass)
        waiting = await fill_in(hass, form, {"api_key": "sk-new"})
        assert MODEL in progress_text("config", waiting)
        result = await self.after(hass, waiting)
        assert result["reason"] == "reauth_successful"
        assert entry.data["api_key"] == "sk-new"

    async def test_a_closed_dialog_asks_no_longer(
        self, hass: HomeAssistant, llm_server: LlmServer
    ) -> None:
        loading = Held(READY)
        llm_server.play(loading)
        form = await self.at_model(hass, llm_server)
        await fill_in(hass, form, {"model": MODEL})
        await loading.reached.wait()
        assert self.attempts()
        hass.config_entries.flow.async_abort(form["flow_id"])
        await asyncio.sleep(0)
        assert not self.attempts()
        assert hass.config_entries.async_entries(DOMAIN) == []

    def attempts(self) -> list[str]:
        names = [task.get_name() for task in asyncio.all_tasks()]
        return [name for name in names if name.startswith("proactive_agent flow")]

    async def at_model(
        self, hass: HomeAssistant, server: LlmServer
    ) -> ConfigFlowResult:
        form = await open_dialog(hass)
        waiting = await fill_in(hass, form, {"url": server.url})
        return await self.after(hass, waiting)

    async def after(
        self, hass: HomeAssistant, waiting: ConfigFlowResult
    ) -> ConfigFlowResult:
        """Fetch what comes next once the frontend is told to, as it does."""
        assert waiting["type"] is FlowResultType.SHOW_PROGRESS
        told = asyncio.Event()
        hass.bus.async_listen_once(
            EVENT_DATA_ENTRY_FLOW_PROGRESSED, callback(lambda _: told.set())
        )
        await hass.async_block_till_done(wait_background_tasks=True)
        await told.wait()
        result = await hass.config_entries.flow.async_configure(waiting["flow_id"])
        await hass.async_block_till_done()
        return result


class TestReconfigure:
    async def test_another_server_and_another_model(
        self, hass: HomeAssistant, llm_server: LlmServer
    ) -> None:
        entry = endpoint(hass, "http://old.test/v1", extra_body={"seed": 1})
        await set_up(hass, entry)
        llm_server.models = ["new"]
        llm_server.play(READY)

        form = await entry.start_reconfigure_flow(hass)
        assert_form_is_translated("config", form)
        assert form["step_id"] == "reconfigure"
        assert suggested(form) == {
            "url": "http://old.test/v1",
            "api_key": "sk-old",
            "verify_ssl": True,
        }
        form = await fill_in(hass, form, {"url": llm_server.url})
        assert suggested(form) == {"model": MODEL, "extra_body": {"seed": 1}}
        result = await fill_in(hass, form, {"model": "new"})

        assert result["type"] is FlowResultType.ABORT
        assert result["reason"] == "reconfigure_successful"
        assert entry.title == "new (127.0.0.1)"
        assert entry.data == {
            "url": llm_server.url,
            "api_key": "",
            "model": "new",
            "verify_ssl": True,
            "extra_body": {},
        }
        assert entry.state is ConfigEntryState.LOADED

    async def test_a_name_of_the_owners_own_is_kept(
        self, hass: HomeAssistant, llm_server: LlmServer
    ) -> None:
        entry = endpoint(hass, llm_server.url, title="The one in the cellar")
        await set_up(hass, entry)
        await self.reconfigure(hass, entry, llm_server, model="new")
        assert entry.data["model"] == "new"
        assert entry.title == "The one in the cellar"

    async def test_nothing_changed_disturbs_nothing(
        self, hass: HomeAssistant, llm_server: LlmServer
    ) -> None:
        entry = endpoint(hass, llm_server.url)
        await set_up(hass, entry)
        runtime = entry.runtime_data
        await self.reconfigure(hass, entry, llm_server)
        assert entry.runtime_data is runtime

    async def test_an_endpoint_that_failed_is_set_up_again(
        self, hass: HomeAssistant, llm_server: LlmServer
    ) -> None:
        entry = endpoint(hass, llm_server.url)
        entry.mock_state(hass, ConfigEntryState.SETUP_ERROR)
        await self.reconfigure(hass, entry, llm_server)
        assert entry.state is ConfigEntryState.LOADED

    async def test_an_error_stands_on_the_same_form(
        self, hass: HomeAssistant, llm_server: LlmServer
    ) -> None:
        entry = endpoint(hass, llm_server.url)
        form = await entry.start_reconfigure_flow(hass)
        form = await fill_in(hass, form, {"url": UNREACHABLE})
        assert form["step_id"] == "reconfigure"
        assert form["errors"] == {"url": "cannot_connect"}
        assert entry.data["url"] == llm_server.url

    async def test_another_endpoint_has_that_model(
        self, hass: HomeAssistant, llm_server: LlmServer
    ) -> None:
        endpoint(hass, llm_server.url, model="taken")
        entry = endpoint(hass, llm_server.url)
        result = await self.reconfigure(hass, entry, llm_server, model="taken")
        assert result["reason"] == "already_configured"
        assert entry.data["model"] == MODEL

    async def reconfigure(
        self,
        hass: HomeAssistant,
        entry: MockConfigEntry,
        server: LlmServer,
        model: str = MODEL,
    ) -> ConfigFlowResult:
        server.always = READY
        form = await entry.start_reconfigure_flow(hass)
        form = await fill_in(hass, form, {"url": server.url, "api_key": "sk-old"})
        return await fill_in(hass, form, {"model": model})


class TestReauth:
    async def test_another_key(
        self, hass: HomeAssistant, llm_server: LlmServer
    ) -> None:
        entry = endpoint(hass, llm_server.url)
        await set_up(hass, entry)
        llm_server.play(READY)
        form = await entry.start_reauth_flow(hass)
        assert_form_is_translated("config", form)
        assert form["step_id"] == "reauth_confirm"

        result = await fill_in(hass, form, {"api_key": " sk-new"})
        assert result["reason"] == "reauth_successful"
        assert entry.data["api_key"] == "sk-new"
        assert llm_server.requests[-1].headers["Authorization"] == "Bearer sk-new"
        assert entry.state is ConfigEntryState.LOADED

    @pytest.mark.parametrize(
        ("answer", "errors"),
        [
            (WRONG_KEY, {"api_key": "invalid_auth"}),
            (CLOSE, {"base": "cannot_connect"}),
            (NO_SUCH_MODEL, {"base": "model_not_found"}),
            (refusal(402, "Insufficient credits"), {"base": "model_error"}),
        ],
    )
    async def test_a_key_that_does_not_help(
        self,
        hass: HomeAssistant,
        llm_server: LlmServer,
        answer: Any,
        errors: dict[str, str],
    ) -> None:
        entry = endpoint(hass, llm_server.url)
        llm_server.play(answer)
        llm_server.always = READY
        form = await entry.start_reauth_flow(hass)
        form = await fill_in(hass, form, {"api_key": "sk-no"})
        assert form["step_id"] == "reauth_confirm"
        assert form["errors"] == errors
        assert suggested(form) == {"api_key": "sk-no"}
        assert entry.data["api_key"] == "sk-old"

        result = await fill_in(hass, form, {})
        assert result["reason"] == "reauth_successful"
        assert entry.data["api_key"] == ""

    async def test_the_same_key_again_is_tried_again(
        self, hass: HomeAssistant, llm_server: LlmServer
    ) -> None:
        entry = endpoint(hass, llm_server.url)
        await set_up(hass, entry)
        runtime = entry.runtime_data
        llm_server.play(READY)
        form = await entry.start_reauth_flow(hass)
        await fill_in(hass, form, {"api_key": "sk-old"})
        assert entry.state is ConfigEntryState.LOADED
        assert entry.runtime_data is not runtime

"""The dialogs of a heartbeat, walked as the frontend walks them."""

from collections.abc import Mapping
from copy import deepcopy
from http import HTTPStatus
import json
from typing import Any

from homeassistant.config_entries import (
    SOURCE_RECONFIGURE,
    SOURCE_USER,
    ConfigSubentry,
    ConfigSubentryData,
    SubentryFlowResult,
)
from homeassistant.core import HomeAssistant, ServiceCall
from homeassistant.data_entry_flow import FlowResultType, section
from homeassistant.helpers.json import json_dumps
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.proactive_agent.const import DOMAIN, SUBENTRY_HEARTBEAT
from custom_components.proactive_agent.flows import (
    server as flow_server,
    waiting as flow_waiting,
)
from custom_components.proactive_agent.identity import switch_of
from custom_components.proactive_agent.models import HeartbeatOptions
from tests.support.llm_server import (
    CLOSE,
    MODEL,
    Held,
    LlmServer,
    Raw,
    calls,
    llm_server as llm_server,  # noqa: PLC0414 - a fixture
)
from tests.support.translated import (
    assert_form_is_translated,
    error_text,
    progress_text,
    result_text,
)

PATH = f"config_subentries.{SUBENTRY_HEARTBEAT}"

MILONGA: Mapping[str, Any] = {
    "check_prompt": (
        "Check on Milonga. Take care of whatever is low, "
        "then tell her owner in one line."
    ),
    "interval": {"hours": 2, "minutes": 0, "seconds": 0},
    "conditions": [
        {
            "condition": "numeric_state",
            "entity_id": "input_number.hunger",
            "below": 1.5,
        }
    ],
    "look": {"entity_id": ["input_number.hunger", "input_number.happy"]},
    "act": {"entity_id": ["script.feed", "script.play"]},
    "ask": {"label_id": ["careful"]},
    "notify": ["notify.kitchen_display", "notify.mobile_app_owner"],
    "fuses": {
        "max_ticks": 6,
        "max_duration": {"hours": 10},
        "run_timeout": 60,
        "max_turns": 8,
        "max_actions": 10,
        "max_wakes_per_day": 48,
        "max_tokens_per_day": 200000,
    },
    "manners": {
        "may_stop": False,
        "stop_after_acting": False,
        "ask_before_risky": True,
        "recheck_after": {"hours": 6},
        "settle_for": {"minutes": 30},
        "approval_timeout": {"hours": 1},
    },
}
LEAST: Mapping[str, Any] = {"name": "Milonga", "check_prompt": "Look after her."}


@pytest.fixture
async def entry(hass: HomeAssistant, llm_server: LlmServer) -> MockConfigEntry:
    """An endpoint that is set up, and the pet's house around it."""
    hass.states.async_set("input_number.hunger", "3")
    entry = MockConfigEntry(
        domain=DOMAIN,
        title="Pet",
        data={
            "url": llm_server.url,
            "api_key": "",
            "model": MODEL,
            "verify_ssl": True,
            "extra_body": {},
        },
        subentries_data=[
            ConfigSubentryData(
                data={"check_prompt": "Look."},
                subentry_type=SUBENTRY_HEARTBEAT,
                title="The Other",
                unique_id=None,
            )
        ],
    )
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    return entry


async def open_dialog(
    hass: HomeAssistant, entry: MockConfigEntry, change: ConfigSubentry | None = None
) -> SubentryFlowResult:
    context: dict[str, str] = {"source": SOURCE_USER}
    if change:
        context = {"source": SOURCE_RECONFIGURE, "subentry_id": change.subentry_id}
    form = await hass.config_entries.subentries.async_init(
        (entry.entry_id, SUBENTRY_HEARTBEAT),
        context=context,  # type: ignore[arg-type] # as the frontend's request gives it
    )
    assert_form_is_translated(PATH, form)
    return form


async def fill_in(
    hass: HomeAssistant, form: SubentryFlowResult, answers: Mapping[str, Any]
) -> SubentryFlowResult:
    """Answer a form and check that whatever is shown next is in words."""
    result = await hass.config_entries.subentries.async_configure(
        form["flow_id"], deepcopy(dict(answers))
    )
    if result["type"] is FlowResultType.FORM:
        assert_form_is_translated(PATH, result)
    elif result["type"] is FlowResultType.SHOW_PROGRESS:
        assert progress_text(PATH, result)
    elif not result.get("translation_domain"):
        assert result_text(PATH, result)
    await hass.async_block_till_done()
    return result


async def create(
    hass: HomeAssistant, entry: MockConfigEntry, answers: Mapping[str, Any]
) -> ConfigSubentry:
    form = await open_dialog(hass, entry)
    result = await fill_in(hass, form, {**LEAST, **answers})
    assert result["type"] is FlowResultType.CREATE_ENTRY
    return newest(entry)


def newest(entry: MockConfigEntry) -> ConfigSubentry:
    subentries: list[ConfigSubentry] = list(entry.subentries.values())
    return subentries[-1]


def suggested(schema: Mapping[Any, Any]) -> dict[str, Any]:
    """Return what stands in the fields of a form."""
    filled: dict[str, Any] = {}
    for marker, field in schema.items():
        if isinstance(field, section):
            filled[str(marker)] = suggested(field.schema.schema)
        elif marker.description:
            filled[str(marker)] = marker.description["suggested_value"]
    return filled


def in_form(form: SubentryFlowResult) -> dict[str, Any]:
    assert form["data_schema"] is not None
    return suggested(form["data_schema"].schema)


def field_of(form: SubentryFlowResult, name: str) -> Any:
    assert form["data_schema"] is not None
    return form["data_schema"].schema[name]


class TestCreate:
    async def test_it_is_stored_as_it_was_entered(
        self, hass: HomeAssistant, entry: MockConfigEntry
    ) -> None:
        form = await open_dialog(hass, entry)
        entered = deepcopy(dict(MILONGA)) | {"name": " Milonga "}
        for key in ("max_ticks", "run_timeout", "max_turns"):
            entered["fuses"][key] = float(entered["fuses"][key])
        result = await fill_in(hass, form, entered)

        assert result["type"] is FlowResultType.CREATE_ENTRY
        subentry = newest(entry)
        assert subentry.title == "Milonga"
        assert json.dumps(dict(subentry.data)) == json.dumps(MILONGA)

    @pytest.mark.contract("D2")
    async def test_it_beats_at_once(
        self, hass: HomeAssistant, entry: MockConfigEntry
    ) -> None:
        subentry = await create(hass, entry, {})
        state = hass.states.get(switch_of(hass, subentry.subentry_id) or "")
        assert state is not None
        assert state.state == "on"

    async def test_what_is_left_alone_is_stored_as_shown(
        self, hass: HomeAssistant, entry: MockConfigEntry
    ) -> None:
        subentry = await create(hass, entry, {})
        fuses = dict(MILONGA["fuses"]) | {"max_ticks": 0}
        del fuses["max_duration"]
        assert subentry.data == {
            "check_prompt": "Look after her.",
            "interval": {"minutes": 15},
            "conditions": [],
            "look": {},
            "act": {},
            "ask": {},
            "notify": [],
            "fuses": fuses,
            "manners": MILONGA["manners"],
        }
        left_alone = ConfigSubentry(
            data={"check_prompt": "Look after her."},  # type: ignore[arg-type]
            subentry_type=SUBENTRY_HEARTBEAT,
            title="Milonga",
            unique_id=None,
        )
        assert HeartbeatOptions.from_subentry(
            subentry
        ) == HeartbeatOptions.from_subentry(left_alone)

    async def test_a_part_of_a_section_is_filled_up(
        self, hass: HomeAssistant, entry: MockConfigEntry
    ) -> None:
        subentry = await create(hass, entry, {"fuses": {"max_ticks": 3}})
        assert subentry.data["fuses"]["max_ticks"] == 3
        assert subentry.data["fuses"]["max_turns"] == 8

    @pytest.mark.parametrize("off", [{}, None])
    async def test_an_emptied_limit_is_off(
        self, hass: HomeAssistant, entry: MockConfigEntry, off: Any
    ) -> None:
        subentry = await create(hass, entry, {"fuses": {"max_duration": off}})
        assert "max_duration" not in subentry.data["fuses"]

    async def test_a_limit_of_zero_is_off(
        self, hass: HomeAssistant, entry: MockConfigEntry
    ) -> None:
        none = {"hours": 0, "minutes": 0, "seconds": 0}
        subentry = await create(hass, entry, {"fuses": {"max_duration": none}})
        assert subentry.data["fuses"]["max_duration"] == none
        assert HeartbeatOptions.from_subentry(subentry).fuses.max_duration is None

    async def test_conditions_are_stored_as_json(
        self, hass: HomeAssistant, entry: MockConfigEntry
    ) -> None:
        """Home Assistant's own selector returns time spans, times and templates."""
        hass.states.async_set("binary_sensor.door", "on")
        conditions = [
            {
                "condition": "state",
                "entity_id": "binary_sensor.door",
                "state": "on",
                "for": {"minutes": 5},
            },
            {"condition": "time", "after": "08:00:00", "before": "21:30:00"},
            {"or": [{"condition": "template", "value_template": "{{ true }}"}]},
            "{{ is_state('binary_sensor.door', 'on') }}",
        ]
        subentry = await create(hass, entry, {"conditions": conditions})
        assert subentry.data["conditions"] == conditions
        assert json.loads(json_dumps(subentry.as_dict()["data"])) == subentry.data

    async def test_a_single_condition_is_a_list_of_one(
        self, hass: HomeAssistant, entry: MockConfigEntry
    ) -> None:
        template = "{{ true }}"
        subentry = await create(hass, entry, {"conditions": template})
        assert subentry.data["conditions"] == [template]

    async def test_numbers_stay_whole_and_halves_stay_halves(
        self, hass: HomeAssistant, entry: MockConfigEntry
    ) -> None:
        subentry = await create(
            hass, entry, {"interval": {"hours": 1.0, "minutes": 0.5, "seconds": "7"}}
        )
        assert json.dumps(subentry.data["interval"]) == (
            '{"hours": 1, "minutes": 0.5, "seconds": 7}'
        )

    async def test_targets_are_lists(
        self, hass: HomeAssistant, entry: MockConfigEntry
    ) -> None:
        subentry = await create(
            hass, entry, {"look": {"entity_id": "light.a"}, "act": None}
        )
        assert subentry.data["look"] == {"entity_id": ["light.a"]}
        assert subentry.data["act"] == {}


class TestForm:
    async def test_the_frontend_gets_it_with_all_defaults(
        self,
        hass: HomeAssistant,
        entry: MockConfigEntry,
        hass_client: ClientSessionGenerator,
    ) -> None:
        assert await async_setup_component(hass, "config", {})
        client = await hass_client()
        response = await client.post(
            "/api/config/config_entries/subentries/flow",
            json={"handler": [entry.entry_id, SUBENTRY_HEARTBEAT]},
        )
        assert response.status == HTTPStatus.OK
        form = await response.json()
        fields = {field["name"]: field for field in form["data_schema"]}
        assert fields["interval"]["default"] == {"minutes": 15}
        assert {name for name, field in fields.items() if field.get("required")} == {
            "name",
            "check_prompt",
            "interval",
        }
        for name in ("fuses", "manners"):
            # A default of the section's own would hide those of its fields.
            assert "default" not in fields[name]
            defaults = {f["name"]: f.get("default") for f in fields[name]["schema"]}
            shown = dict(MILONGA[name])
            if name == "fuses":
                shown |= {"max_ticks": 0, "max_duration": None}
            assert defaults == shown

        response = await client.post(
            f"/api/config/config_entries/subentries/flow/{form['flow_id']}",
            json={**LEAST, "interval": {"seconds": -1}},
        )
        assert response.status == HTTPStatus.OK
        assert (await response.json())["errors"] == {"interval": "interval_too_short"}

    async def test_it_offers_whom_to_tell(
        self, hass: HomeAssistant, entry: MockConfigEntry
    ) -> None:
        async def send(call: ServiceCall) -> None:
            """Be there."""

        for action in ("notify", "send_message", "persistent_notification"):
            hass.services.async_register("notify", action, send)
        hass.services.async_register("notify", "mobile_app_owner", send)
        hass.services.async_register("notify", "kitchen", send)
        hass.states.async_set(
            "notify.kitchen", "", {"friendly_name": "Kitchen display"}
        )
        form = await open_dialog(hass, entry)
        assert field_of(form, "notify").config["options"] == [
            {"value": "notify.kitchen", "label": "Kitchen display (notify.kitchen)"},
            {
                "value": "notify.mobile_app_owner",
                "label": "Mobile app owner (notify.mobile_app_owner)",
            },
        ]

    async def test_sections_are_folded_until_something_is_wrong_inside(
        self, hass: HomeAssistant, entry: MockConfigEntry
    ) -> None:
        form = await open_dialog(hass, entry)
        assert field_of(form, "fuses").options == {"collapsed": True}
        assert field_of(form, "manners").options == {"collapsed": True}
        form = await fill_in(hass, form, {**LEAST, "fuses": {"max_turns": 0}})
        assert field_of(form, "fuses").options == {"collapsed": False}
        assert field_of(form, "manners").options == {"collapsed": True}


TRIGGER = {"condition": "trigger", "id": "door"}
NEVER = {"condition": "template", "value_template": "{{ false }}"}


class TestErrors:
    @pytest.mark.parametrize(
        ("entered", "errors"),
        [
            ({"name": ""}, {"name": "name_required"}),
            ({"name": "  "}, {"name": "name_required"}),
            ({"name": "the OTHER"}, {"name": "name_taken"}),
            ({"check_prompt": ""}, {"check_prompt": "prompt_required"}),
            ({"check_prompt": " \n"}, {"check_prompt": "prompt_required"}),
            ({"interval": {"minutes": -5}}, {"interval": "interval_too_short"}),
            ({"interval": {"seconds": 0}}, {"interval": "interval_too_short"}),
            ({"interval": {"seconds": 0.9}}, {"interval": "interval_too_short"}),
            ({"interval": {}}, {"interval": "interval_too_short"}),
            ({"interval": "soon"}, {"interval": "interval_too_short"}),
            ({"interval": {"hours": "nan"}}, {"interval": "interval_too_short"}),
            ({"interval": {"days": 367}}, {"interval": "interval_too_long"}),
            ({"interval": {"days": 1e300}}, {"interval": "interval_too_long"}),
            ({"interval": {"days": -1e300}}, {"interval": "interval_too_short"}),
            (
                {"interval": {"hours": 2}, "fuses": {"max_duration": {"hours": 1}}},
                {"interval": "interval_longer_than_duration"},
            ),
            ({"conditions": [TRIGGER]}, {"conditions": "trigger_condition"}),
            (
                {"conditions": [{"condition": "trigger"}]},
                {"conditions": "trigger_condition"},
            ),
            (
                {
                    "conditions": [
                        NEVER,
                        {"condition": "not", "conditions": [{"or": [NEVER, TRIGGER]}]},
                    ]
                },
                {"conditions": "trigger_condition"},
            ),
            ({"conditions": [{"condition": "nonsense"}]}, "invalid_condition"),
            ({"conditions": [{"condition": "sun.nonsense"}]}, "invalid_condition"),
            ({"conditions": [7]}, "invalid_condition"),
            ({"conditions": [{"condition": "state"}]}, "invalid_condition"),
            (
                {"conditions": [{"condition": "template", "value_template": "{{ a"}]},
                "invalid_condition",
            ),
            (
                {
                    "conditions": [
                        {
                            "condition": "device",
                            "device_id": "gone",
                            "domain": "light",
                            "type": "is_on",
                        }
                    ]
                },
                "invalid_condition",
            ),
            ({"look": {"entity_id": "{{ x }}"}}, {"look": "invalid_target"}),
            ({"act": {"area_id": ["{{ x }}"]}}, {"act": "invalid_target"}),
            (
                {"act": {"area_id": ["hall"], "exclude": {"area_id": ["{{ x }}"]}}},
                {"act": "invalid_target"},
            ),
            ({"ask": {"entity_id": "all"}}, {"ask": "invalid_target"}),
            ({"ask": {"somewhere": ["x"]}}, {"ask": "invalid_target"}),
            ({"ask": "kitchen"}, {"ask": "invalid_target"}),
            ({"notify": ["my phone"]}, {"notify": "invalid_notify"}),
            ({"notify": ["light.turn_on"]}, {"notify": "invalid_notify"}),
            ({"notify": ["notify.send_message"]}, {"notify": "invalid_notify"}),
        ],
    )
    async def test_each_stands_on_its_field(
        self,
        hass: HomeAssistant,
        entry: MockConfigEntry,
        entered: Mapping[str, Any],
        errors: dict[str, str] | str,
    ) -> None:
        if isinstance(errors, str):
            errors = {"conditions": errors}
        form = await open_dialog(hass, entry)
        form = await fill_in(hass, form, {**LEAST, **entered})
        assert form["step_id"] == "user"
        assert form["errors"] == errors
        kept = in_form(form)
        assert {key: kept[key] for key in entered if key != "fuses"} == {
            key: value for key, value in entered.items() if key != "fuses"
        }
        result = await fill_in(hass, form, {**MILONGA, "name": "Milonga"})
        assert result["type"] is FlowResultType.CREATE_ENTRY
        assert newest(entry).data == MILONGA

    @pytest.mark.parametrize(
        ("section_key", "field", "value"),
        [
            ("fuses", "max_ticks", -1),
            ("fuses", "max_ticks", 1.5),
            ("fuses", "max_ticks", "many"),
            ("fuses", "max_ticks", None),
            ("fuses", "max_ticks", float("inf")),
            ("fuses", "max_duration", {"hours": -1}),
            ("fuses", "max_duration", {"days": 400}),
            ("fuses", "max_duration", "long"),
            ("fuses", "run_timeout", 0),
            ("fuses", "run_timeout", 86_401),
            ("fuses", "max_turns", 0),
            ("fuses", "max_actions", 0),
            ("fuses", "max_wakes_per_day", -1),
            ("fuses", "max_tokens_per_day", 1e12),
            ("manners", "recheck_after", {"seconds": -1}),
            ("manners", "settle_for", {"days": 1e300}),
            ("manners", "approval_timeout", {}),
        ],
    )
    async def test_one_inside_a_section_stands_above_it(
        self,
        hass: HomeAssistant,
        entry: MockConfigEntry,
        section_key: str,
        field: str,
        value: Any,
    ) -> None:
        """The frontend shows no error inside a section."""
        form = await open_dialog(hass, entry)
        form = await fill_in(hass, form, {**LEAST, section_key: {field: value}})
        assert form["errors"] == {section_key: f"invalid_{field}"}
        assert in_form(form)[section_key][field] == value
        result = await fill_in(hass, form, LEAST)
        assert result["type"] is FlowResultType.CREATE_ENTRY

    async def test_all_that_is_wrong_is_said_at_once(
        self, hass: HomeAssistant, entry: MockConfigEntry
    ) -> None:
        form = await open_dialog(hass, entry)
        form = await fill_in(
            hass,
            form,
            {
                "name": " ",
                "check_prompt": " ",
                "interval": {"seconds": 0},
                "conditions": [{"condition": "state"}],
                "manners": {"recheck_after": {"hours": -1}},
            },
        )
        assert form["errors"] == {
            "name": "name_required",
            "check_prompt": "prompt_required",
            "interval": "interval_too_short",
            "conditions": "invalid_condition",
            "manners": "invalid_recheck_after",
        }

    async def test_the_reason_for_a_refused_condition_is_given(
        self, hass: HomeAssistant, entry: MockConfigEntry
    ) -> None:
        form = await open_dialog(hass, entry)
        form = await fill_in(
            hass, form, {**LEAST, "conditions": [{"condition": "sun.nonsense"}]}
        )
        assert "sun.nonsense" in error_text(PATH, form, "conditions")


class TestMissingEntities:
    CONDITIONS = (
        {
            "condition": "or",
            "conditions": [
                {"condition": "state", "entity_id": "light.gone", "state": "on"},
                {
                    "condition": "numeric_state",
                    "entity_id": "input_number.hunger",
                    "below": 1,
                },
            ],
        },
        {"condition": "template", "value_template": "{{ is_state('sun.gone', 'x') }}"},
    )

    async def test_a_new_heartbeat_is_created_and_says_so(
        self, hass: HomeAssistant, entry: MockConfigEntry
    ) -> None:
        form = await open_dialog(hass, entry)
        result = await fill_in(
            hass, form, {**LEAST, "conditions": list(self.CONDITIONS)}
        )
        assert result["type"] is FlowResultType.CREATE_ENTRY
        assert "light.gone, sun.gone" in result_text(PATH, result)
        assert newest(entry).data["conditions"] == list(self.CONDITIONS)

    async def test_a_changed_one_is_saved_and_says_so(
        self, hass: HomeAssistant, entry: MockConfigEntry
    ) -> None:
        subentry = await create(hass, entry, {})
        form = await open_dialog(hass, entry, change=subentry)
        result = await fill_in(
            hass, form, {**LEAST, "conditions": list(self.CONDITIONS)}
        )
        assert result["reason"] == "saved_missing_entities"
        assert "light.gone, sun.gone" in result_text(PATH, result)
        assert newest(entry).data["conditions"] == list(self.CONDITIONS)

    async def test_no_warning_without_need(
        self, hass: HomeAssistant, entry: MockConfigEntry
    ) -> None:
        form = await open_dialog(hass, entry)
        result = await fill_in(
            hass, form, {**LEAST, "conditions": MILONGA["conditions"]}
        )
        assert "does not exist" not in result_text(PATH, result)
        assert "first tick" in result_text(PATH, result)


READY = calls(("report_ready", {}))
NO_TOOLS = Raw(
    status=400, body={"error": {"message": "registry/x does not support tools"}}
)
NO_SUCH_MODEL = Raw(
    status=404,
    body={"error": {"message": "model 'x' not found", "code": "model_not_found"}},
)


class TestAnotherModel:
    async def test_it_is_chosen_from_what_the_server_has(
        self, hass: HomeAssistant, entry: MockConfigEntry, llm_server: LlmServer
    ) -> None:
        llm_server.models = [MODEL, "large"]
        llm_server.play(READY)
        form = await open_dialog(hass, entry)
        assert field_of(form, "model").config["options"] == [MODEL, "large"]
        result = await fill_in(hass, form, {**LEAST, "model": " large "})
        assert result["type"] is FlowResultType.CREATE_ENTRY
        assert newest(entry).data["model"] == "large"
        assert HeartbeatOptions.from_subentry(newest(entry)).model == "large"
        (probe,) = llm_server.chats
        assert probe["model"] == "large"
        assert probe["tools"]

    @pytest.mark.parametrize("empty", ["", " ", None])
    async def test_left_empty_it_is_the_endpoints_own(
        self,
        hass: HomeAssistant,
        entry: MockConfigEntry,
        llm_server: LlmServer,
        empty: Any,
    ) -> None:
        llm_server.models_answer = Raw(status=404)
        given = {} if empty is None else {"model": empty}
        subentry = await create(hass, entry, given)
        assert "model" not in subentry.data
        assert HeartbeatOptions.from_subentry(subentry).model is None
        assert llm_server.chats == []

    async def test_the_list_is_not_waited_for_longer_than_a_glance(
        self,
        hass: HomeAssistant,
        entry: MockConfigEntry,
        llm_server: LlmServer,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        assert flow_server.MODELS_TIMEOUT <= 3
        monkeypatch.setattr(flow_server, "MODELS_TIMEOUT", 0.05)
        llm_server.models_answer = Held({})
        form = await open_dialog(hass, entry)
        assert field_of(form, "model").selector_type == "text"
        # It is not waited for again at each mistake.
        form = await fill_in(hass, form, {**LEAST, "name": " "})
        assert field_of(form, "model").selector_type == "text"
        assert len(llm_server.requests) == 1

    @pytest.mark.parametrize(
        ("answer", "words"),
        [
            (NO_SUCH_MODEL, f"The server has: {MODEL}, large"),
            (NO_TOOLS, "cannot call tools"),
        ],
    )
    async def test_one_that_cannot_do_it_is_refused(
        self,
        hass: HomeAssistant,
        entry: MockConfigEntry,
        llm_server: LlmServer,
        answer: Raw,
        words: str,
    ) -> None:
        llm_server.models = [MODEL, "large"]
        llm_server.always = answer
        form = await open_dialog(hass, entry)
        entered = {**LEAST, "model": "x"}
        form = await fill_in(hass, form, entered)
        assert form["step_id"] == "user"
        assert form["errors"] == {"model": "model_refused"}
        assert words in error_text(PATH, form, "model")
        assert {key: in_form(form)[key] for key in entered} == entered

        result = await fill_in(hass, form, LEAST)
        assert result["type"] is FlowResultType.CREATE_ENTRY

    @pytest.mark.parametrize("answer", [CLOSE, Raw(status=401), Raw(status=402)])
    async def test_a_server_that_is_of_no_help_now_is_no_hindrance(
        self,
        hass: HomeAssistant,
        entry: MockConfigEntry,
        llm_server: LlmServer,
        answer: Any,
    ) -> None:
        llm_server.models_answer = answer
        llm_server.always = answer
        subentry = await create(hass, entry, {"model": "large"})
        assert subentry.data["model"] == "large"

    async def test_only_what_is_changed_is_tried(
        self, hass: HomeAssistant, entry: MockConfigEntry, llm_server: LlmServer
    ) -> None:
        llm_server.play(READY)
        subentry = await create(hass, entry, {"model": "large"})
        form = await open_dialog(hass, entry, change=subentry)
        assert in_form(form)["model"] == "large"
        changed = {**in_form(form), "check_prompt": "Look well."}
        result = await fill_in(hass, form, changed)
        assert result["reason"] == "reconfigure_successful"
        assert newest(entry).data["check_prompt"] == "Look well."
        assert len(llm_server.chats) == 1

        llm_server.play(NO_TOOLS)
        form = await open_dialog(hass, entry, change=subentry)
        form = await fill_in(hass, form, {**in_form(form), "model": "small"})
        assert form["step_id"] == "reconfigure"
        assert form["errors"] == {"model": "model_refused"}
        assert newest(entry).data["model"] == "large"

        result = await fill_in(hass, form, {**in_form(form), "model": ""})
        assert result["reason"] == "reconfigure_successful"
        assert "model" not in newest(entry).data

    async def test_one_that_loads_is_waited_for_in_the_open(
        self,
        hass: HomeAssistant,
        entry: MockConfigEntry,
        llm_server: LlmServer,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(flow_waiting, "MOMENT", 0)
        loading = Held(READY)
        llm_server.play(loading)
        form = await open_dialog(hass, entry)
        waiting = await fill_in(hass, form, {**LEAST, "model": "large"})
        assert waiting["type"] is FlowResultType.SHOW_PROGRESS
        assert "large" in progress_text(PATH, waiting)
        await loading.reached.wait()
        loading.release.set()
        await hass.async_block_till_done(wait_background_tasks=True)
        result = await hass.config_entries.subentries.async_configure(form["flow_id"])
        assert result["type"] is FlowResultType.CREATE_ENTRY
        assert newest(entry).data["model"] == "large"


class TestReconfigure:
    async def test_the_form_is_filled_in(
        self, hass: HomeAssistant, entry: MockConfigEntry
    ) -> None:
        subentry = await create(hass, entry, {**MILONGA, "name": "Milonga"})
        form = await open_dialog(hass, entry, change=subentry)
        assert form["step_id"] == "reconfigure"
        assert in_form(form) == {"name": "Milonga", **MILONGA}

    async def test_saved_as_it_is_nothing_changes(
        self, hass: HomeAssistant, entry: MockConfigEntry
    ) -> None:
        subentry = await create(hass, entry, {**MILONGA, "name": "Milonga"})
        form = await open_dialog(hass, entry, change=subentry)
        result = await fill_in(hass, form, in_form(form))
        assert result["type"] is FlowResultType.ABORT
        assert result["reason"] == "reconfigure_successful"
        assert newest(entry).data == MILONGA

    async def test_title_and_options_are_changed(
        self, hass: HomeAssistant, entry: MockConfigEntry
    ) -> None:
        subentry = await create(hass, entry, {**MILONGA, "name": "Milonga"})
        form = await open_dialog(hass, entry, change=subentry)
        await fill_in(hass, form, {**LEAST, "name": "Tango", "interval": {"hours": 1}})
        assert len(entry.subentries) == 2
        changed = newest(entry)
        assert changed.subentry_id == subentry.subentry_id
        assert changed.title == "Tango"
        assert changed.data["interval"] == {"hours": 1}
        assert changed.data["conditions"] == []
        assert "max_duration" not in changed.data["fuses"]

    async def test_an_error_leaves_everything_as_it_was(
        self, hass: HomeAssistant, entry: MockConfigEntry
    ) -> None:
        subentry = await create(hass, entry, {**MILONGA, "name": "Milonga"})
        form = await open_dialog(hass, entry, change=subentry)
        form = await fill_in(hass, form, {**LEAST, "name": "The Other"})
        assert form["step_id"] == "reconfigure"
        assert form["errors"] == {"name": "name_taken"}
        assert newest(entry).data == MILONGA
        result = await fill_in(hass, form, LEAST)
        assert result["reason"] == "reconfigure_successful"

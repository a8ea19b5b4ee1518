"""The dialogs of what has to be mended, asked for as the page asks."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Any
from unittest.mock import patch

from aiohttp.test_utils import TestClient
from homeassistant.auth.models import RefreshToken
from homeassistant.config_entries import SOURCE_RECONFIGURE
from homeassistant.helpers import issue_registry as ir
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import MockUser
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.proactive_agent.const import DOMAIN
from custom_components.proactive_agent.engine.errors import ErrorKind
from tests.support.heartbeats import HUNGRY, Beat, Home, clock, home
from tests.support.llm_server import Held, Raw, calls, llm_server, text
from tests.support.restarts import restart
from tests.support.task_entity import ENTITY, Tasks, says, tasks
from tests.support.translated import TEXTS

__all__ = ["clock", "home", "llm_server", "tasks"]

FINE = text("All is well.")
NO_MODEL = Raw(
    status=404, body={"error": {"message": "no model", "code": "model_not_found"}}
)
BAD = Raw(status=400, body={"error": {"message": "Something is odd"}})
GONE = {"condition": "state", "entity_id": "light.gone", "state": "on"}
WAYS = ["try_again", "change_endpoint", "change_heartbeat"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """The repairs page: what is on it, and the dialog of one issue."""

    home: Home
    client: TestClient[Any, Any]
    token: RefreshToken

    @property
    def issues(self) -> dict[str, ir.IssueEntry]:
        """What is on the page, by its translation key."""
        registry = ir.async_get(self.home.hass)
        return {
            str(one.translation_key): one
            for one in registry.issues.values()
            if one.domain == DOMAIN and one.active
        }

    async def open(self, key: str) -> dict[str, Any]:
        """Press an issue; every text of its dialog is there."""
        issue_id = self.issues[key].issue_id
        asked = {"handler": DOMAIN, "issue_id": issue_id}
        return self._read(key, await self._post("/api/repairs/issues/fix", asked))

    async def press(self, step: Mapping[str, Any], **entered: Any) -> dict[str, Any]:
        """Choose from a menu, or submit a form."""
        path = f"/api/repairs/issues/fix/{step['flow_id']}"
        return self._read(step["key"], await self._post(path, entered))

    async def choose(self, key: str, way: str) -> dict[str, Any]:
        """Press an issue, then one of the ways that it offers."""
        return await self.press(await self.open(key), next_step_id=way)

    async def look_again(self, step: Mapping[str, Any]) -> dict[str, Any]:
        """Ask what has become of what is waited for."""
        path = f"/api/repairs/issues/fix/{step['flow_id']}"
        response = await self.client.get(path, headers=self._headers())
        assert response.status == HTTPStatus.OK
        return self._read(step["key"], await response.json())

    async def close(self, step: Mapping[str, Any]) -> None:
        """Close the dialog."""
        path = f"/api/repairs/issues/fix/{step['flow_id']}"
        response = await self.client.delete(path, headers=self._headers())
        assert response.status == HTTPStatus.OK

    def _headers(self) -> dict[str, str]:
        # A token is good for half an hour, and time moves here.
        access = self.home.hass.auth.async_create_access_token(self.token)
        return {"Authorization": f"Bearer {access}"}

    async def _post(self, path: str, data: Mapping[str, Any]) -> dict[str, Any]:
        response = await self.client.post(path, json=data, headers=self._headers())
        assert response.status == HTTPStatus.OK, await response.text()
        answer: dict[str, Any] = await response.json()
        return answer

    def _read(self, key: str, step: dict[str, Any]) -> dict[str, Any]:
        return {**step, "key": key, "words": _words(key, step)}


def _words(key: str, step: Mapping[str, Any]) -> str:
    """Return what is read at a step; each of its texts has to be there."""
    texts = TEXTS["issues"][key]["fix_flow"]
    filled = step.get("description_placeholders") or {}
    match step["type"]:
        case "menu":
            own = texts["step"][step["step_id"]]
            assert [*own["menu_options"]] == step["menu_options"]
            assert [*own["menu_option_descriptions"]] == step["menu_options"]
            said = own["description"]
        case "form":
            own = texts["step"][step["step_id"]]
            fields = {one["name"] for one in step["data_schema"]}
            assert own.get("data", {}).keys() == fields
            assert own.get("data_description", {}).keys() == fields
            errors = (step["errors"] or {}).values()
            said = " ".join(
                [own["description"], *(texts["error"][one] for one in errors)]
            )
        case "progress":
            said = texts["progress"][step["progress_action"]]
        case "create_entry":
            said = texts["create_entry"]["default"]
        case _:
            said = texts["abort"][step["reason"]]
    return str(said.format(**filled))


@pytest.fixture
async def desk(
    home: Home, hass_client_no_auth: ClientSessionGenerator, hass_admin_user: MockUser
) -> Desk:
    """Set the page up for somebody who may mend things."""
    assert await async_setup_component(home.hass, "repairs", {})
    token = await home.hass.auth.async_create_refresh_token(
        hass_admin_user, "https://example.com/"
    )
    return Desk(home=home, client=await hass_client_no_auth(), token=token)


async def fails(home: Home, beat: Beat, answer: Any) -> None:
    home.llm_server.always = answer
    assert (await beat.wake())["outcome"] == "error"


async def fails_again_and_again(home: Home, answer: Any = BAD) -> None:
    home.llm_server.always = answer
    await home.clock.tick(5)


def subentry_flows(home: Home) -> list[Any]:
    return home.hass.config_entries.subentries.async_progress()


class TestTryingAgain:
    """What the model is to blame for: a dry run says whether it is mended."""

    async def test_that_works_is_the_end_of_it(self, home: Home, desk: Desk) -> None:
        beat = await home.add_heartbeat(act={"entity_id": ["script.feed"]})
        await fails(home, beat, NO_MODEL)
        menu = await desk.open("model_not_found")
        assert menu["menu_options"] == WAYS
        assert beat.subentry.title in menu["words"]
        home.llm_server.always = None
        home.llm_server.play(calls(("feed", {"food": "meal"})), FINE)
        done = await desk.press(menu, next_step_id="try_again")
        assert done["type"] == "create_entry"
        assert desk.issues == {}
        assert home.fired("fed") == []
        assert (await beat.runs())[0]["dry_run"]

    async def test_that_fails_says_so_and_leaves_it(
        self, home: Home, desk: Desk
    ) -> None:
        beat = await home.add_heartbeat()
        await fails(home, beat, NO_MODEL)
        ended = await desk.choose("model_not_found", "try_again")
        assert ended["reason"] == "still_there"
        assert "has failed again" in ended["words"]
        assert "does not have the model test-model" in ended["words"]
        assert [*desk.issues] == ["model_not_found"]

    async def test_works_of_one_that_is_off(self, home: Home, desk: Desk) -> None:
        beat = await home.add_heartbeat()
        await fails(home, beat, NO_MODEL)
        await beat.turn("off")
        home.llm_server.always = FINE
        done = await desk.choose("model_not_found", "try_again")
        assert done["type"] == "create_entry"
        assert not beat.is_on()
        assert desk.issues == {}

    async def test_while_it_runs_is_refused(self, home: Home, desk: Desk) -> None:
        beat = await home.add_heartbeat()
        await fails(home, beat, NO_MODEL)
        held = Held(FINE)
        home.llm_server.always = held
        woken = home.hass.async_create_task(beat.wake())
        await held.reached.wait()
        ended = await desk.choose("model_not_found", "try_again")
        assert ended["reason"] == "refused"
        assert "already running" in ended["words"]
        held.release.set()
        await woken

    async def test_takes_its_time(self, home: Home, desk: Desk) -> None:
        beat = await home.add_heartbeat()
        await fails(home, beat, NO_MODEL)
        home.llm_server.always = held = Held(FINE)
        menu = await desk.open("model_not_found")
        pressed = home.hass.async_create_task(
            desk.press(menu, next_step_id="try_again")
        )
        await held.reached.wait()
        await home.clock.turn_until(pressed.done)
        shown = pressed.result()
        assert shown["type"] == "progress"
        held.release.set()
        await home.settled()
        assert (await desk.look_again(shown))["type"] == "create_entry"
        assert desk.issues == {}

    async def test_goes_on_if_nobody_waits_for_it(self, home: Home, desk: Desk) -> None:
        beat = await home.add_heartbeat()
        await fails(home, beat, NO_MODEL)
        home.llm_server.always = held = Held(FINE)
        menu = await desk.open("model_not_found")
        pressed = home.hass.async_create_task(
            desk.press(menu, next_step_id="try_again")
        )
        await held.reached.wait()
        await home.clock.turn_until(pressed.done)
        await desk.close(pressed.result())
        held.release.set()
        await home.settled()
        assert (await beat.runs())[0]["outcome"] == "nothing"
        assert desk.issues == {}

    async def test_that_is_cut_off_says_so(self, home: Home, desk: Desk) -> None:
        beat = await home.add_heartbeat()
        await fails(home, beat, NO_MODEL)
        home.llm_server.always = held = Held(FINE)
        menu = await desk.open("model_not_found")
        pressed = home.hass.async_create_task(
            desk.press(menu, next_step_id="try_again")
        )
        await held.reached.wait()
        await beat.turn("off")
        ended = await pressed
        assert ended["reason"] == "still_there"
        assert TEXTS["selector"]["message"]["options"]["cut_stopped"] in ended["words"]

    async def test_of_what_is_cut_off_says_how_much(
        self, home: Home, desk: Desk
    ) -> None:
        await home.add_heartbeat(check_prompt="Look. " * 2_000)
        usage = {"prompt_tokens": 1_026, "completion_tokens": 5}
        home.llm_server.always = {**FINE, "usage": usage}
        await home.clock.tick()
        ended = await desk.choose("context_truncated", "try_again")
        assert ended["reason"] == "still_there"
        assert "read only 1026 of them" in ended["words"]
        home.llm_server.always = {**FINE, "usage": {**usage, "prompt_tokens": 3_900}}
        done = await desk.choose("context_truncated", "try_again")
        assert done["type"] == "create_entry"
        assert desk.issues == {}

    async def test_of_a_spent_budget_is_refused(self, home: Home, desk: Desk) -> None:
        beat = await home.add_heartbeat(fuses={"max_wakes_per_day": 1})
        await fails(home, beat, NO_MODEL)
        ended = await desk.choose("model_not_found", "try_again")
        assert ended["reason"] == "refused"
        assert "spent its budget" in ended["words"]


async def test_an_entity_that_is_refused_can_be_tried_again_or_replaced(
    home: Home, tasks: Tasks, desk: Desk
) -> None:
    beat = await home.add_heartbeat()
    refused = RuntimeError("401 Unauthorized: invalid api key")
    tasks.play(refused, refused, says("Fine."))
    await beat.wake()
    assert (await desk.choose("auth", "try_again"))["reason"] == "still_there"
    await desk.choose("auth", "change_endpoint")
    (flow,) = home.hass.config_entries.flow.async_progress()
    assert flow["step_id"] == "ai_task"
    assert (await desk.choose("auth", "try_again"))["type"] == "create_entry"
    assert desk.issues == {}


@pytest.mark.parametrize("key", sorted({*ErrorKind} & {*TEXTS["issues"]}))
def test_each_kind_of_error_that_is_a_repair_has_all_its_texts(key: str) -> None:
    texts = TEXTS["issues"][key]["fix_flow"]
    assert [*texts["step"]["init"]["menu_options"]] == WAYS
    assert {*texts["abort"]} == {
        "change_endpoint",
        "change_heartbeat",
        "gone",
        "refused",
        "still_there",
    }
    assert texts["create_entry"]["default"]
    assert texts["progress"]["trying"]


@pytest.mark.contract("F7")
class TestFailingAgainAndAgain:
    """Only a real run ends it, and what fails by hand makes no wait longer."""

    async def test_it_works_again(self, home: Home, desk: Desk) -> None:
        beat = await home.add_heartbeat()
        await fails_again_and_again(home)
        assert beat.state("status") == "paused"
        menu = await desk.open("failing")
        assert "Something is odd" in menu["words"]
        home.llm_server.always = FINE
        done = await desk.press(menu, next_step_id="try_again")
        assert done["type"] == "create_entry"
        assert "works again" in done["words"]
        assert "failing" not in desk.issues
        assert beat.state("status") == "asleep"
        assert not (await beat.runs())[0]["dry_run"]

    async def test_it_still_fails(self, home: Home, desk: Desk) -> None:
        beat = await home.add_heartbeat()
        await fails_again_and_again(home)
        waits = home.hass.states.get(beat.entity_id("sensor", "status"))
        assert waits is not None
        ended = await desk.choose("failing", "try_again")
        await home.settled()
        assert ended["reason"] == "still_there"
        assert "Something is odd" in ended["words"]
        assert "failing" in desk.issues
        now = home.hass.states.get(beat.entity_id("sensor", "status"))
        assert now is not None
        assert now.attributes["until"] == waits.attributes["until"]

    async def test_it_was_cut_short(self, home: Home, desk: Desk) -> None:
        beat = await home.add_heartbeat(fuses={"max_turns": 1})
        await fails_again_and_again(
            home, calls(("get_state", {"entity_id": "light.none"}))
        )
        assert beat.state("last_outcome") == "turn_limit"
        ended = await desk.choose("failing", "try_again")
        assert ended["reason"] == "still_there"
        cut = TEXTS["selector"]["message"]["options"]["cut_turn_limit"]
        assert cut in ended["words"]


class TestLeadingOn:
    """To the dialog in which it can be mended; the issue stays until it is."""

    @pytest.mark.contract("G2")
    async def test_from_a_missing_entity_to_its_heartbeat(
        self, home: Home, desk: Desk
    ) -> None:
        beat = await home.add_heartbeat(conditions=[GONE])
        form = await desk.open("missing_entity")
        assert (form["type"], form["step_id"]) == ("form", "confirm")
        assert "light.gone" in form["words"]
        led = await desk.press(form)
        assert led["type"] == "abort"
        assert led["result"]["entry_id"] == home.entry.entry_id
        (flow,) = subentry_flows(home)
        assert led["next_flow"] == ["config_subentries_flow", flow["flow_id"]]
        assert flow["context"]["source"] == SOURCE_RECONFIGURE
        assert flow["context"]["subentry_id"] == beat.id
        assert [*desk.issues] == ["missing_entity"]

        entered = {"name": "Milonga", **beat.subentry.data, "conditions": []}
        await home.hass.config_entries.subentries.async_configure(
            flow["flow_id"], entered
        )
        await home.settled()
        assert desk.issues == {}

    async def test_from_a_condition_that_cannot_be_used(
        self, home: Home, desk: Desk
    ) -> None:
        await home.add_heartbeat(conditions=[{"condition": "no_such"}])
        led = await desk.press(await desk.open("invalid_conditions"))
        (flow,) = subentry_flows(home)
        assert led["next_flow"] == ["config_subentries_flow", flow["flow_id"]]

    @pytest.mark.contract("R7")
    @pytest.mark.usefixtures("tasks")
    @pytest.mark.parametrize("is_another_there", [True, False])
    async def test_from_an_ai_task_entity_that_is_gone_to_another(
        self, home: Home, desk: Desk, is_another_there: bool
    ) -> None:
        await home.add_heartbeat()
        state = home.hass.states.get(ENTITY)
        assert state is not None
        home.hass.states.async_remove(ENTITY)
        if is_another_there:
            home.hass.states.async_set("ai_task.other", "unknown", state.attributes)
        await home.clock.tick(every=timedelta(seconds=31))
        form = await desk.open("missing_ai_task")
        assert ENTITY in form["words"]
        led = await desk.press(form)
        flows = home.hass.config_entries.flow.async_progress()
        if not is_another_there:
            assert (led["reason"], flows) == ("no_ai_task", [])
            return
        assert led["next_flow"] == ["config_flow", flows[0]["flow_id"]]
        assert flows[0]["context"]["source"] == SOURCE_RECONFIGURE
        assert flows[0]["step_id"] == "ai_task"

    async def test_from_the_model_to_its_dialog(self, home: Home, desk: Desk) -> None:
        beat = await home.add_heartbeat()
        await fails(home, beat, NO_MODEL)
        led = await desk.choose("model_not_found", "change_endpoint")
        (flow,) = home.hass.config_entries.flow.async_progress()
        assert led["next_flow"] == ["config_flow", flow["flow_id"]]
        assert flow["context"]["source"] == SOURCE_RECONFIGURE
        assert flow["context"]["entry_id"] == home.entry.entry_id
        assert [*desk.issues] == ["model_not_found"]

    async def test_from_the_model_to_the_heartbeat(
        self, home: Home, desk: Desk
    ) -> None:
        beat = await home.add_heartbeat()
        await fails(home, beat, NO_MODEL)
        await desk.choose("model_not_found", "change_heartbeat")
        (flow,) = subentry_flows(home)
        assert flow["context"]["subentry_id"] == beat.id


@pytest.mark.parametrize("way", WAYS)
async def test_what_has_gone_meanwhile_is_not_mended(
    home: Home, desk: Desk, way: str
) -> None:
    beat = await home.add_heartbeat()
    await fails(home, beat, NO_MODEL)
    menu = await desk.open("model_not_found")
    assert await home.hass.config_entries.async_unload(home.entry.entry_id)
    ended = await desk.press(menu, next_step_id=way)
    assert ended["reason"] == "gone"
    assert subentry_flows(home) == []


async def test_a_heartbeat_that_was_removed_is_not_mended(
    home: Home, desk: Desk
) -> None:
    beat = await home.add_heartbeat()
    await fails(home, beat, NO_MODEL)
    menu = await desk.open("model_not_found")
    await beat.remove()
    ended = await desk.press(menu, next_step_id="try_again")
    assert ended["reason"] == "gone"


@pytest.mark.contract("D1")
async def test_after_a_loss_its_owner_chooses_what_is_on_again(
    home: Home, desk: Desk, hass_storage: dict[str, Any]
) -> None:
    one = await home.add_heartbeat("One")
    other = await home.add_heartbeat("Other")
    assert await home.hass.config_entries.async_unload(home.entry.entry_id)
    hass_storage[f"{DOMAIN}.{home.entry.entry_id}"]["data"] = {"heartbeats": 5}
    with patch("pathlib.Path.exists", return_value=True):
        assert await home.hass.config_entries.async_setup(home.entry.entry_id)
    await home.settled()
    assert not one.is_on()
    form = await desk.open("store_unreadable")
    (field,) = form["data_schema"]
    offered = field["selector"]["select"]["options"]
    assert [one["label"] for one in offered] == ["One", "Other"]
    assert (form["type"], form["step_id"]) == ("form", "choose")
    done = await desk.press(form, heartbeats=[other.id])
    assert done["type"] == "create_entry"
    assert (one.is_on(), other.is_on()) == (False, True)
    assert desk.issues == {}


class TestWhatIsMissing:
    """Entities that a heartbeat may use, and that are not there."""

    async def test_is_told_at_once_and_taken_out(self, home: Home, desk: Desk) -> None:
        beat = await home.add_heartbeat(
            look={"entity_id": ["light.gone", "input_boolean.lamp"]},
            act={"entity_id": ["light.gone", "script.feed"], "area_id": ["kitchen"]},
            ask={"entity_id": ["lock.gone"]},
        )
        menu = await desk.open("missing_target")
        assert menu["menu_options"] == ["change_heartbeat", "take_out"]
        assert "light.gone, lock.gone" in menu["words"]
        done = await desk.press(menu, next_step_id="take_out")
        await home.settled()
        assert done["type"] == "create_entry"
        assert desk.issues == {}
        data = home.entry.subentries[beat.id].data
        assert data["look"] == {"entity_id": ["input_boolean.lamp"]}
        assert data["act"] == {"entity_id": ["script.feed"], "area_id": ["kitchen"]}
        assert data["ask"] == {"entity_id": []}
        assert "check_prompt" in data

    async def test_leads_to_the_heartbeat(self, home: Home, desk: Desk) -> None:
        beat = await home.add_heartbeat(look={"entity_id": ["light.gone"]})
        led = await desk.choose("missing_target", "change_heartbeat")
        (flow,) = subentry_flows(home)
        assert led["next_flow"] == ["config_subentries_flow", flow["flow_id"]]
        await beat.change(look={"entity_id": ["input_boolean.lamp"]})
        assert desk.issues == {}

    async def test_is_over_once_it_is_there(self, home: Home, desk: Desk) -> None:
        await home.add_heartbeat(look={"entity_id": ["light.gone"]})
        assert [*desk.issues] == ["missing_target"]
        home.hass.states.async_set("light.gone", "on")
        await home.settled()
        assert desk.issues == {}

    async def test_a_reload_is_not_taken_for_it(self, home: Home, desk: Desk) -> None:
        home.hass.states.async_set("light.desk", "on")
        await home.add_heartbeat(look={"entity_id": ["light.desk"]})
        home.hass.states.async_remove("light.desk")
        await home.settled()
        assert desk.issues == {}
        home.hass.states.async_set("light.desk", "off")
        await home.clock.tick(every=timedelta(minutes=1))
        assert desk.issues == {}
        home.hass.states.async_remove("light.desk")
        await home.clock.tick(every=timedelta(minutes=1))
        assert [*desk.issues] == ["missing_target"]

    async def test_follows_a_name(self, home: Home, desk: Desk) -> None:
        beat = await home.add_heartbeat(look={"entity_id": ["light.gone"]})
        await beat.change(title="Rumba")
        assert "Rumba" in (await desk.open("missing_target"))["words"]

    async def test_an_area_names_nobody(self, home: Home, desk: Desk) -> None:
        await home.add_heartbeat(
            look={"area_id": ["nowhere"]}, act={"entity_id": "all"}, ask={}
        )
        assert desk.issues == {}

    async def test_goes_with_its_heartbeat(self, home: Home, desk: Desk) -> None:
        beat = await home.add_heartbeat(look={"entity_id": ["light.gone"]})
        menu = await desk.open("missing_target")
        await beat.remove()
        assert desk.issues == {}
        ended = await desk.press(menu, next_step_id="take_out")
        assert ended["reason"] == "gone"

    async def test_comes_back_after_a_restart(
        self, home: Home, desk: Desk, hass_storage: dict[str, Any]
    ) -> None:
        await home.add_heartbeat(look={"entity_id": ["light.gone"]})
        await restart(home, hass_storage)
        assert [*desk.issues] == ["missing_target"]
        assert not desk.issues["missing_target"].is_persistent


NOON = "2026-12-01 12:00:00+00:00"


async def spend_day_after_day(home: Home, days: int = 3) -> None:
    """Wake by hand once a day, which is as often as it may."""
    home.llm_server.always = FINE
    for _ in range(days):
        await home.hass.services.async_call(
            DOMAIN, "wake", {"entity_id": "switch.milonga_heartbeat"}, blocking=True
        )
        await home.clock.tick(every=timedelta(days=1))


@pytest.mark.contract("F5")
class TestBudgets:
    """One that is spent three days in a row: its owner raises it or leaves it."""

    async def one(self, home: Home, **fuses: int) -> Beat:
        """Add a heartbeat that wakes only by hand."""
        home.clock.freezer.move_to(NOON)
        never = {**HUNGRY, "state": "never"}
        return await home.add_heartbeat(
            conditions=[never], interval={"days": 1}, fuses=fuses
        )

    async def test_two_days_are_nothing(self, home: Home, desk: Desk) -> None:
        await self.one(home, max_wakes_per_day=1)
        await spend_day_after_day(home, 2)
        assert desk.issues == {}

    async def test_a_day_between_makes_them_none(self, home: Home, desk: Desk) -> None:
        await self.one(home, max_wakes_per_day=1)
        await spend_day_after_day(home, 2)
        await home.clock.tick(every=timedelta(days=1))
        await spend_day_after_day(home, 2)
        assert desk.issues == {}

    async def test_is_raised(self, home: Home, desk: Desk) -> None:
        beat = await self.one(home, max_wakes_per_day=1, max_turns=5)
        await spend_day_after_day(home)
        menu = await desk.open("budget_wakes")
        assert menu["menu_options"] == ["raise_limit", "leave_it", "change_heartbeat"]
        assert "For 3 days in a row Milonga" in menu["words"]
        form = await desk.press(menu, next_step_id="raise_limit")
        assert form["data_schema"][0]["default"] == 2
        for wrong in (1, 0, 1.5, 2_000_000_000):
            form = await desk.press(form, limit=wrong)
            assert form["errors"] == {"limit": "limit_not_higher"}
        assert "above 1" in form["words"]
        done = await desk.press(form, limit=4)
        await home.settled()
        assert done["type"] == "create_entry"
        fuses = home.entry.subentries[beat.id].data["fuses"]
        assert fuses == {"max_wakes_per_day": 4, "max_turns": 5}
        assert desk.issues == {}
        await spend_day_after_day(home)
        assert desk.issues == {}

    async def test_of_tokens_goes_on_at_once(self, home: Home, desk: Desk) -> None:
        beat = await self.one(home, max_tokens_per_day=20)
        await spend_day_after_day(home, 2)
        home.llm_server.always = FINE
        await beat.wake()
        assert beat.state("status") == "paused"
        menu = await desk.open("budget_tokens")
        form = await desk.press(menu, next_step_id="raise_limit")
        assert form["data_schema"][0]["default"] == 40
        await desk.press(form, limit=100_000)
        await home.settled()
        assert beat.state("status") == "asleep"
        assert home.entry.subentries[beat.id].data["fuses"] == {
            "max_tokens_per_day": 100_000
        }

    async def test_is_left_as_it_is(
        self, home: Home, desk: Desk, hass_storage: dict[str, Any]
    ) -> None:
        beat = await self.one(home, max_wakes_per_day=1)
        await spend_day_after_day(home)
        done = await desk.choose("budget_wakes", "leave_it")
        assert done["type"] == "create_entry"
        await spend_day_after_day(home)
        await restart(home, hass_storage)
        await spend_day_after_day(home)
        assert desk.issues == {}
        await beat.change(fuses={"max_wakes_per_day": 2})
        await beat.change(fuses={"max_wakes_per_day": 1})
        await spend_day_after_day(home)
        assert [*desk.issues] == ["budget_wakes"]

    async def test_is_there_after_a_restart(
        self, home: Home, desk: Desk, hass_storage: dict[str, Any]
    ) -> None:
        await self.one(home, max_wakes_per_day=1)
        await spend_day_after_day(home)
        await restart(home, hass_storage)
        assert [*desk.issues] == ["budget_wakes"]

    async def test_is_over_after_a_day_without(self, home: Home, desk: Desk) -> None:
        await home.hass.config.async_set_time_zone("Europe/Vienna")
        await self.one(home, max_wakes_per_day=1)
        await spend_day_after_day(home)
        assert [*desk.issues] == ["budget_wakes"]
        await home.clock.tick(every=timedelta(hours=10))
        assert [*desk.issues] == ["budget_wakes"]
        await home.clock.tick(every=timedelta(hours=2))
        assert desk.issues == {}

    async def test_one_that_is_off_has_none(self, home: Home, desk: Desk) -> None:
        beat = await self.one(home, max_wakes_per_day=1)
        await spend_day_after_day(home)
        await beat.turn("off")
        assert desk.issues == {}
        await beat.turn("on")
        assert [*desk.issues] == ["budget_wakes"]

    async def test_leads_to_the_heartbeat(self, home: Home, desk: Desk) -> None:
        beat = await self.one(home, max_wakes_per_day=1)
        await spend_day_after_day(home)
        await desk.choose("budget_wakes", "change_heartbeat")
        (flow,) = subentry_flows(home)
        assert flow["context"]["subentry_id"] == beat.id

    @pytest.mark.parametrize("way", ["raise_limit", "leave_it"])
    async def test_of_what_has_gone(self, home: Home, desk: Desk, way: str) -> None:
        beat = await self.one(home, max_wakes_per_day=1)
        await spend_day_after_day(home)
        menu = await desk.open("budget_wakes")
        await beat.remove()
        ended = await desk.press(menu, next_step_id=way)
        assert ended["reason"] == "gone"

    async def test_of_a_limit_that_has_gone(self, home: Home, desk: Desk) -> None:
        beat = await self.one(home, max_wakes_per_day=1)
        await spend_day_after_day(home)
        menu = await desk.open("budget_wakes")
        await beat.change(fuses={"max_wakes_per_day": 0})
        assert desk.issues == {}
        ended = await desk.press(menu, next_step_id="raise_limit")
        assert ended["reason"] == "gone"

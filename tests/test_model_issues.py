"""Repair issues about what thinks: there while the owner has to mend something."""

import logging
from typing import Any

from homeassistant.helpers import issue_registry as ir
import pytest

from custom_components.proactive_agent.const import DOMAIN
from tests.support.heartbeats import Beat, Home, clock, home
from tests.support.llm_server import MODEL, Held, Raw, llm_server, text
from tests.support.task_entity import ENTITY, Tasks, says, tasks
from tests.support.translated import issue_text

__all__ = ["clock", "home", "llm_server", "tasks"]

FINE = text("All is well.")


def refusal(status: int, message: str, **more: Any) -> Raw:
    return Raw(status=status, body={"error": {"message": message, **more}})


NO_MODEL = refusal(404, "model 'x' not found", code="model_not_found")
NO_CREDIT = refusal(402, "Insufficient credits")
TOO_LONG = refusal(400, "too long", code="context_length_exceeded")
NO_API = Raw(status=404, headers={"Content-Type": "text/html"}, body="<html></html>")
NO_TOOLS = refusal(400, "registry/x does not support tools")
BUSY = refusal(429, "Rate limit reached")
BAD = refusal(400, "messages: something is wrong with them")


def issues(home: Home) -> list[ir.IssueEntry]:
    registry = ir.async_get(home.hass)
    return [one for one in registry.issues.values() if one.domain == DOMAIN]


def kinds(home: Home) -> list[str]:
    return sorted(str(one.translation_key) for one in issues(home))


def words(issue: ir.IssueEntry) -> str:
    """Fill in what the owner reads."""
    assert issue.is_fixable
    return issue_text(issue)


async def fails(home: Home, beat: Beat, answer: Any) -> dict[str, Any]:
    home.llm_server.always = answer
    run = await beat.wake()
    assert run["outcome"] == "error"
    return run


async def fails_in_the_end(home: Home, beat: Beat, answer: Any) -> None:
    """Fail although it was tried again, for which time has to go on."""
    home.llm_server.always = answer
    woken = home.hass.async_create_task(beat.wake())
    await home.clock.turn_until(woken.done)
    assert woken.result()["outcome"] == "error"


async def works(home: Home, beat: Beat) -> None:
    home.llm_server.always = FINE
    assert (await beat.wake())["error"] is None


@pytest.mark.contract("R7")
@pytest.mark.parametrize(
    ("answer", "kind", "said"),
    [
        (NO_MODEL, "model_not_found", "Model test-model is not there. The server has"),
        (NO_CREDIT, "quota", "Top it up"),
        (TOO_LONG, "context_length", "see fewer entities"),
        (NO_API, "not_openai_api", "Check the address"),
        (NO_TOOLS, "unsupported_parameter", "cannot call tools"),
        (BAD, "bad_request", "something is wrong with them"),
    ],
)
async def test_what_only_the_owner_can_mend_is_a_repair_until_it_is(
    home: Home, answer: Raw, kind: str, said: str
) -> None:
    home.llm_server.models = ["large"]
    beat = await home.add_heartbeat()
    await fails(home, beat, answer)
    (issue,) = issues(home)
    assert issue.translation_key == kind
    assert issue.severity is ir.IssueSeverity.ERROR
    assert said in words(issue)
    assert beat.subentry.title in words(issue)
    assert home.entry.title in words(issue)

    await fails(home, beat, answer)
    assert [one.issue_id for one in issues(home)] == [issue.issue_id]

    await works(home, beat)
    assert issues(home) == []


async def test_a_refused_key_has_a_dialog_of_its_own(home: Home) -> None:
    beat = await home.add_heartbeat()
    await fails(home, beat, refusal(401, "no"))
    assert issues(home) == []


async def test_an_error_that_passes_is_none_and_leaves_what_stands(
    home: Home,
) -> None:
    beat = await home.add_heartbeat()
    await fails_in_the_end(home, beat, BUSY)
    assert issues(home) == []
    await fails(home, beat, NO_MODEL)
    await fails_in_the_end(home, beat, BUSY)
    assert kinds(home) == ["model_not_found"]


async def test_a_run_that_is_cut_short_says_nothing(home: Home) -> None:
    beat = await home.add_heartbeat()
    await fails(home, beat, NO_MODEL)
    home.llm_server.always = held = Held(FINE)
    woken = home.hass.async_create_task(beat.wake())
    await held.reached.wait()
    await beat.turn("off")
    assert (await woken)["outcome"] == "stopped"
    assert kinds(home) == ["model_not_found"]


async def test_a_dry_run_counts(home: Home) -> None:
    """It asks the real model: what it learns is as true as ever."""
    beat = await home.add_heartbeat()
    home.llm_server.always = NO_MODEL
    await beat.wake(dry_run=True)
    assert kinds(home) == ["model_not_found"]
    home.llm_server.always = FINE
    await beat.wake(dry_run=True)
    assert issues(home) == []


async def test_a_heartbeat_with_another_model_says_nothing_of_this_one(
    home: Home,
) -> None:
    def answer(request: Any) -> Any:
        return NO_MODEL if request["model"] in missing else FINE

    one = await home.add_heartbeat()
    other = await home.add_heartbeat(title="Tango", model="large")
    home.llm_server.always = answer
    missing = {MODEL, "large"}
    await one.wake()
    await other.wake()
    assert kinds(home) == ["model_not_found"] * 2
    missing = {MODEL}
    await other.wake()
    (issue,) = issues(home)
    assert one.subentry.title in words(issue)
    missing = set()
    await one.wake()
    assert issues(home) == []


async def test_the_account_is_everybodys_and_a_long_request_its_own(
    home: Home,
) -> None:
    one = await home.add_heartbeat()
    other = await home.add_heartbeat(title="Tango", model="large")
    await fails(home, one, NO_CREDIT)
    await fails(home, one, TOO_LONG)
    await fails(home, other, TOO_LONG)
    assert kinds(home) == ["context_length", "context_length", "quota"]
    await works(home, other)
    (issue,) = issues(home)
    assert issue.translation_key == "context_length"
    assert one.subentry.title in words(issue)


class TestChanges:
    async def test_of_the_endpoint(self, home: Home) -> None:
        beat = await home.add_heartbeat()
        await fails(home, beat, NO_MODEL)
        await fails(home, beat, NO_CREDIT)
        self.update(home, model="large")
        await home.hass.async_block_till_done()
        assert issues(home) == []

    async def test_in_the_middle_of_a_run(self, home: Home) -> None:
        def answer(_request: Any) -> Raw:
            home.clock.freezer.tick(1)
            self.update(home, model="large")
            return NO_MODEL

        beat = await home.add_heartbeat()
        await fails(home, beat, answer)
        assert issues(home) == []

    async def test_of_something_else(self, home: Home) -> None:
        one = await home.add_heartbeat()
        other = await home.add_heartbeat(title="Tango")
        await fails(home, one, NO_MODEL)
        await fails(home, one, TOO_LONG)
        await other.change(title="Rumba", check_prompt="Look.")
        assert kinds(home) == ["context_length", "model_not_found"]

    async def test_of_the_heartbeat(self, home: Home) -> None:
        one = await home.add_heartbeat()
        other = await home.add_heartbeat(title="Tango")
        await fails(home, one, TOO_LONG)
        await fails(home, one, NO_MODEL)
        await one.change(look={}, model="large")
        # The other still has the model that is missing.
        assert kinds(home) == ["model_not_found"]
        await other.change(model="large")
        assert issues(home) == []

    async def test_a_heartbeat_is_removed(self, home: Home) -> None:
        beat = await home.add_heartbeat()
        await fails(home, beat, TOO_LONG)
        await fails(home, beat, NO_MODEL)
        await beat.remove()
        assert issues(home) == []

    async def test_the_endpoint_is_unloaded(self, home: Home) -> None:
        beat = await home.add_heartbeat()
        await fails(home, beat, NO_CREDIT)
        assert await home.hass.config_entries.async_unload(home.entry.entry_id)
        assert issues(home) == []

    def update(self, home: Home, **data: Any) -> None:
        home.hass.config_entries.async_update_entry(
            home.entry, data={**home.entry.data, **data}
        )


class TestTruncation:
    LONG = "Look. " * 2_000

    def read(self, tokens: int) -> dict[str, Any]:
        usage = {"prompt_tokens": tokens, "completion_tokens": 5}
        return {**FINE, "usage": usage}

    async def test_what_is_cut_off_is_said_once(
        self, home: Home, caplog: pytest.LogCaptureFixture
    ) -> None:
        beat = await home.add_heartbeat(check_prompt=self.LONG)
        home.llm_server.always = self.read(1_026)
        for _ in range(2):
            run = await beat.wake()
            assert run["outcome"] == "nothing"
            assert run["warning"] == "context_truncated"
        (issue,) = issues(home)
        assert issue.severity is ir.IssueSeverity.WARNING
        assert "OLLAMA_CONTEXT_LENGTH" in words(issue)
        assert "1026" in words(issue)
        logged = [
            record
            for record in caplog.records
            if record.levelno == logging.WARNING and "tokens" in record.getMessage()
        ]
        assert len(logged) == 1

        home.llm_server.always = self.read(3_900)
        run = await beat.wake()
        assert run["warning"] is None
        assert issues(home) == []

    async def test_a_good_run_of_a_shorter_request_does_not_mend_it(
        self, home: Home
    ) -> None:
        beat = await home.add_heartbeat(check_prompt=self.LONG)
        short = await home.add_heartbeat(title="Tango")
        home.llm_server.always = self.read(1_026)
        await beat.wake()
        home.llm_server.always = self.read(400)
        assert (await short.wake())["warning"] is None
        assert kinds(home) == ["context_truncated"]

    async def test_another_model_reads_for_itself(self, home: Home) -> None:
        beat = await home.add_heartbeat(check_prompt=self.LONG)
        home.llm_server.always = self.read(1_026)
        await beat.wake()
        await beat.change(model="large")
        assert issues(home) == []
        home.llm_server.always = self.read(3_900)
        assert (await beat.wake())["warning"] is None

    async def test_nothing_is_said_of_what_is_read(self, home: Home) -> None:
        beat = await home.add_heartbeat(check_prompt=self.LONG)
        home.llm_server.always = self.read(3_900)
        assert (await beat.wake())["warning"] is None
        assert issues(home) == []


class TestAiTask:
    async def test_its_key_is_not_ours_to_ask_for(
        self, home: Home, tasks: Tasks
    ) -> None:
        beat = await home.add_heartbeat()
        tasks.play(RuntimeError("401 Unauthorized: invalid api key"), says("Fine."))
        run = await beat.wake()
        assert run["error"]["kind"] == "auth"
        (issue,) = issues(home)
        assert issue.translation_key == "auth"
        assert ENTITY in words(issue)
        assert home.hass.config_entries.flow.async_progress() == []
        await beat.wake()
        assert issues(home) == []

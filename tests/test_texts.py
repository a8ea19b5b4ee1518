from string import Formatter

from homeassistant.core import HomeAssistant
from homeassistant.helpers.translation import async_get_translations
from homeassistant.setup import async_setup_component
import pytest

from custom_components.proactive_agent.const import DOMAIN
from custom_components.proactive_agent.engine.breaker import Fault
from custom_components.proactive_agent.engine.errors import (
    Advice,
    CutReason,
    ErrorKind,
    ModelError,
)
from custom_components.proactive_agent.engine.fuses import PauseReason, StopReason
from custom_components.proactive_agent.engine.records import (
    NOT_ENDED,
    ActionRecord,
    ActionStatus,
)
from custom_components.proactive_agent.engine.report import (
    Ending,
    Phrases,
    owner_message,
    settled_message,
)
from custom_components.proactive_agent.texts import (
    Texts,
    async_error_text,
    cached_error_text,
    cached_sentence,
)

PREFIX = f"component.{DOMAIN}.selector.message.options."
# What an error can name, beside its advice.
ERROR_NEEDS = {
    Advice.CONNECTION: {"detail"},
    Advice.CONTEXT_LIMIT: {"limit"},
    Advice.INTERNAL: {"detail"},
    Advice.MODEL_NOT_FOUND: {"model"},
    Advice.MODEL_NOT_LISTED: {"model", "models"},
    Advice.MUST_WAIT: {"seconds"},
    Advice.NO_CHOICES: {"keys"},
    Advice.OWN_LIMIT_HIGH: {"option", "tokens", "limit"},
    Advice.OWN_LIMIT_LOW: {"option", "tokens"},
    Advice.REDIRECTED: {"target"},
    Advice.REFUSED_OPTION: {"option"},
    **{advice: {"entity"} for advice in Advice if advice.startswith("task_")},
}
ERROR_WORDS = {"said", *(word for words in ERROR_NEEDS.values() for word in words)}


def action(
    name: str, *entity_id: str, status: ActionStatus = ActionStatus.DONE
) -> ActionRecord:
    return ActionRecord(action=name, entity_id=entity_id, data={}, status=status)


@pytest.fixture(name="home", autouse=True)
async def home_fixture(hass: HomeAssistant) -> None:
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(
        hass,
        "script",
        {"script": {"feed": {"alias": "Feed Milonga", "sequence": []}}},
    )
    assert await async_setup_component(hass, "light", {})
    hass.states.async_set("light.lamp", "on", {"friendly_name": "The lamp"})
    hass.states.async_set("light.bare", "on")
    await hass.async_block_till_done()


@pytest.mark.contract("S2")
@pytest.mark.parametrize(
    ("one", "name"),
    [
        (action("script.feed", "script.feed"), "Feed Milonga"),
        (action("scene.turn_on", "scene.gone"), "scene.gone"),
        (action("light.turn_on", "light.lamp"), "Turn on light (The lamp)"),
        (
            action("light.turn_on", "light.lamp", "light.bare"),
            "Turn on light (The lamp, bare)",
        ),
        (action("light.turn_on"), "Turn on light"),
        (action("light.made_up", "light.gone"), "light.made_up (light.gone)"),
        (action("nowhere.act"), "nowhere.act"),
        (action("script.feed"), "script.feed"),
    ],
    ids=lambda one: one if isinstance(one, str) else None,
)
async def test_an_action_is_named_as_a_person_would(
    hass: HomeAssistant, one: ActionRecord, name: str
) -> None:
    texts = await Texts.async_load(hass, (one,))

    assert texts.name_of(one) == name


@pytest.mark.contract("S2")
async def test_names_follow_the_homes_language(hass: HomeAssistant) -> None:
    hass.config.language = "de"
    one = action("light.turn_on", "light.lamp")
    texts = await Texts.async_load(hass, (one,))

    german = await async_get_translations(hass, "de", "services", {"light"})

    name = german["component.light.services.turn_on.name"]
    assert texts.name_of(one) == f"{name} (The lamp)"
    assert texts.say("done", actions="x") == "Erledigt: x."


async def test_a_language_that_we_do_not_speak_is_english(hass: HomeAssistant) -> None:
    hass.config.language = "is"
    texts = await Texts.async_load(hass)

    assert texts.say("done", actions="x") == "Done: x."


async def test_a_name_with_braces_is_no_placeholder(hass: HomeAssistant) -> None:
    texts = await Texts.async_load(hass)

    assert texts.say("done", actions="{actions} {x!r}") == "Done: {actions} {x!r}."


@pytest.mark.contract("S2", "F8", "S7")
async def test_there_is_a_sentence_for_all_that_can_happen(
    hass: HomeAssistant,
) -> None:
    texts = await Texts.async_load(hass)

    def needs(key: str, *placeholders: str) -> None:
        words = {one: f"<{one}>" for one in placeholders}
        sentence = texts.say(key, **words)
        assert all(word in sentence for word in words.values())

    for key in ("done", "not_done", "waiting", "still_running"):
        needs(key, "actions")
    for key in ("settled_done", "settled_failed", "settled_unended", "unhelpful"):
        needs(key, "actions")
    for key in (*CutReason, "error", "loading"):
        needs(f"cut_{key}")
    for reason in StopReason:
        for key in (f"stopped_{reason}", f"logbook_stopped_{reason}"):
            needs(key, *(["detail"] if reason == "agent" else []))
    for pause in PauseReason:
        needs(f"paused_{pause}")


@pytest.mark.contract("F7", "S7", "D1")
async def test_there_is_a_sentence_for_each_fault(hass: HomeAssistant) -> None:
    texts = await Texts.async_load(hass)
    for fault in {*Fault} - {Fault.BUDGET}:
        also = ["time", "count"] if fault is Fault.FAILURES else []
        words = {one: f"<{one}>" for one in ("reason", *also)}
        sentence = texts.say(f"fault_{fault}", **words)
        assert all(word in sentence for word in words.values())
    for key in (
        "fault_inside",
        "recovered_runs",
        "recovered_gate",
        "recovered_budget",
        "store_unreadable",
        "store_too_new",
        "store_read",
    ):
        assert texts.say(key)


async def test_sentences_ask_for_nothing_that_is_not_given(
    hass: HomeAssistant,
) -> None:
    sentences = await async_get_translations(hass, "en", "selector", {DOMAIN})
    sentences_of_ours = {
        key.removeprefix(PREFIX): text
        for key, text in sentences.items()
        if key.startswith(PREFIX)
    }

    asked = {
        name
        for text in sentences_of_ours.values()
        for _, name, *_ in Formatter().parse(text)
        if name
    }

    about_requests = {"because", "count", "heartbeat", "request", "time", "who"}
    ours = {"actions", "detail", "did", "message", "reason", "things"}
    about_conditions = {"above", "attribute", "below", "name", "seen", "state", "value"}
    lists = {"one", "other"}
    assert asked == ours | about_requests | about_conditions | lists | ERROR_WORDS


def test_each_kind_of_error_has_advice_of_its_own() -> None:
    for kind in ErrorKind:
        assert ModelError(kind).advice.value == kind.value


@pytest.mark.contract("R7")
@pytest.mark.parametrize("advice", Advice)
async def test_an_error_says_what_to_do(hass: HomeAssistant, advice: Advice) -> None:
    words = {word: f"<{word} {{}}>" for word in ERROR_NEEDS.get(advice, ())}
    error = ModelError(
        ErrorKind.BAD_REQUEST, advice=advice, placeholders=words, said="400: {no}"
    )

    told = await async_error_text(hass, error)

    first, *then, last = told.split(". ")
    assert then or advice is Advice.MODEL_NOT_LISTED
    assert all(word in told for word in words.values())
    assert first
    assert last.endswith("The server said: 400: {no}")
    assert "?" not in told
    assert cached_error_text(hass, error) == told


async def test_an_error_of_which_little_is_known(hass: HomeAssistant) -> None:
    error = ModelError(ErrorKind.MODEL_NOT_FOUND)

    told = await async_error_text(hass, error)

    assert told == "The server does not have the model ?. Choose one that it has."


async def test_an_error_before_the_sentences_are_there(hass: HomeAssistant) -> None:
    hass.config.language = "nobody has loaded this"
    error = ModelError(
        ErrorKind.OVERLOADED,
        advice=Advice.MUST_WAIT,
        placeholders={"seconds": "7"},
        said="503: no",
    )

    assert (
        cached_error_text(hass, error) == "overloaded (must_wait): seconds 7: 503: no"
    )


@pytest.mark.contract("S2", "S6")
async def test_the_whole_report_fits_in_the_sentences_there_are(
    hass: HomeAssistant,
) -> None:
    actions = tuple(
        action("light.turn_on", f"light.a_rather_long_name_{n}", status=status)
        for n in range(9)
        for status in ActionStatus
    )
    texts = await Texts.async_load(hass, actions)
    phrases = Phrases(say=texts.say, name_of=texts.name_of)

    for cut in CutReason:
        ending = Ending(actions=actions, said="word " * 99, cut=cut)
        message = owner_message(ending, phrases)
        assert message is not None
        assert len(message) <= 255
        assert message.endswith(texts.say(f"cut_{cut}"))
        assert "Waiting for your yes: Turn on" in message


async def test_a_sentence_is_there_at_once(hass: HomeAssistant) -> None:
    await Texts.async_load(hass)

    sentence = cached_sentence(hass, "logbook_spoke", message="Fed {her}.")

    assert sentence == "told you: “Fed {her}.”"
    assert cached_sentence(hass, "no_such_sentence") == "no_such_sentence"


@pytest.mark.contract("R8", "S2")
@pytest.mark.parametrize(
    ("status", "error", "told"),
    [
        (ActionStatus.DONE, None, "What was still running has ended: x."),
        (ActionStatus.FAILED, "Broken", "What was still running has failed: x."),
        (
            ActionStatus.FAILED,
            NOT_ENDED,
            "It has not ended within 10 minutes and may still be running: x.",
        ),
    ],
)
async def test_what_became_of_an_action_is_told_as_far_as_it_was_seen(
    hass: HomeAssistant, status: ActionStatus, error: str | None, told: str
) -> None:
    texts = await Texts.async_load(hass)
    phrases = Phrases(say=texts.say, name_of=lambda _: "x")
    one = ActionRecord(
        action="script.feed", entity_id=(), data={}, status=status, error=error
    )

    assert settled_message(one, phrases) == told


@pytest.mark.contract("S2")
async def test_what_may_still_run_is_not_told_as_not_done(hass: HomeAssistant) -> None:
    texts = await Texts.async_load(hass)
    phrases = Phrases(say=texts.say, name_of=lambda _: "x")
    one = ActionRecord(
        action="script.feed",
        entity_id=(),
        data={},
        status=ActionStatus.FAILED,
        error=NOT_ENDED,
    )

    message = owner_message(Ending(actions=(one,), said="Hm."), phrases)

    assert message == "Hm. Still running: x."

from string import Formatter

from homeassistant.core import HomeAssistant
from homeassistant.helpers.translation import async_get_translations
from homeassistant.setup import async_setup_component
import pytest

from custom_components.proactive_agent.const import DOMAIN
from custom_components.proactive_agent.engine.errors import CutReason
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
from custom_components.proactive_agent.texts import Texts, cached_sentence

PREFIX = f"component.{DOMAIN}.selector.message.options."


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
    # A language that we do not speak: in English rather than not at all.
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
    for key in (*CutReason, "error"):
        needs(f"cut_{key}")
    for reason in StopReason:
        for key in (f"stopped_{reason}", f"logbook_stopped_{reason}"):
            needs(key, *(["detail"] if reason == "agent" else []))
    for pause in PauseReason:
        needs(f"paused_{pause}")


async def test_sentences_ask_for_nothing_that_is_not_given(
    hass: HomeAssistant,
) -> None:
    sentences = await async_get_translations(hass, "en", "selector", {DOMAIN})
    ours = {
        key.removeprefix(PREFIX): text
        for key, text in sentences.items()
        if key.startswith(PREFIX)
    }

    asked = {
        name
        for text in ours.values()
        for _, name, *_ in Formatter().parse(text)
        if name
    }

    assert asked == {"actions", "detail", "message"}


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

    sentence = cached_sentence(hass, "logbook_acted", message="Fed {her}.")

    assert sentence == "reported: Fed {her}."
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

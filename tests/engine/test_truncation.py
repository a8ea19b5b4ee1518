import pytest

from custom_components.proactive_agent.engine.chat_mind import ChatMind
from custom_components.proactive_agent.engine.errors import ErrorKind, ModelError
from custom_components.proactive_agent.engine.journal import Journal
from custom_components.proactive_agent.engine.ports import Allowance
from custom_components.proactive_agent.engine.records import Reply, ToolAnswer, Usage
from custom_components.proactive_agent.engine.truncation import Reading, Window
from tests.support.scripted import ScriptedModel, ScriptedTools, call, says, wants

FREE = Allowance(remaining=lambda: None, charge=lambda _: None, check=lambda: None)


@pytest.mark.parametrize(
    ("expected", "reported", "is_cut_off"),
    [
        # Ollama 0.32 and later at its 4,096: the half of it, and two or three more.
        (3_300, 2_050, True),
        (3_300, 2_051, True),
        (40_000, 16_386, True),
        # Before, all of it.
        (5_300, 4_096, True),
        (20_000, 4_096, True),
        # Any other way to lose more than half.
        (5_000, 2_300, True),
        # An estimate is off by this much either way.
        (5_000, 2_600, False),
        (3_300, 2_700, False),
        (2_500, 2_049, False),
        (3_300, 3_900, False),
        # Of Chinese, a character is a token, and the estimate makes four of one.
        (2_000, 7_000, False),
        (2_000, 512, True),
        # A short request fits anywhere.
        (1_400, 300, False),
        # No context is that small: whoever reports this means something else.
        (8_000, 0, False),
        (8_000, 1, False),
        (8_000, 255, False),
    ],
)
def test_a_report_far_below_what_was_sent_tells_of_a_cut(
    expected: int, reported: int, *, is_cut_off: bool
) -> None:
    assert Reading(expected=expected, reported=reported).is_cut_off is is_cut_off


def test_a_cut_is_mended_when_more_is_read() -> None:
    window = Window()
    cut = Reading(expected=9_000, reported=2_050)
    assert window.note(cut) is True
    assert window.note(cut) is True
    # A shorter request fits, and says nothing of the long one.
    assert window.note(Reading(expected=1_900, reported=2_000)) is None
    assert window.note(Reading(expected=9_000, reported=9_500)) is False
    assert window.note(Reading(expected=9_000, reported=9_500)) is None


def test_a_server_that_leaves_out_what_it_has_read_before_cuts_nothing_off() -> None:
    window = Window()
    assert window.note(Reading(expected=5_000, reported=5_400)) is None
    assert window.note(Reading(expected=5_000, reported=600)) is None


async def reading_of(*steps: Reply | Exception) -> Reading | None:
    journal = Journal()
    tools = ScriptedTools({"look": ToolAnswer(content="It is fine.")})
    mind = ChatMind(ScriptedModel(*steps))
    opening = ({"role": "user", "content": "x" * 8_000},)
    await mind.converse(tools, opening, max_turns=3, allowance=FREE, journal=journal)
    return journal.first


async def test_only_the_first_request_is_compared() -> None:
    first = Usage(prompt=1_900, completion=5)
    later = Usage(prompt=20, completion=5)
    reading = await reading_of(wants(call("a", "look"), usage=first), says("", later))
    assert reading is not None
    assert 2_000 < reading.expected < 2_100
    assert reading.reported == 1_900

    assert await reading_of(wants(call("a", "look")), says("", later)) is None


async def test_an_estimate_is_not_compared_with_itself() -> None:
    total_only = Usage(prompt=100, completion=0, estimated=True)
    assert await reading_of(says("Fine.", total_only)) is None


async def test_what_was_read_stands_also_if_the_run_fails_later() -> None:
    journal = Journal()
    tools = ScriptedTools({"look": ToolAnswer(content="It is fine.")})
    usage = Usage(prompt=1_900, completion=5)
    model = ScriptedModel(
        wants(call("a", "look"), usage=usage), ModelError(ErrorKind.OVERLOADED)
    )
    opening = ({"role": "user", "content": "x" * 8_000},)
    with pytest.raises(ModelError):
        await ChatMind(model).converse(
            tools, opening, max_turns=3, allowance=FREE, journal=journal
        )
    assert journal.first is not None
    assert journal.first.reported == 1_900

"""What is due is written down as it is, and told as it was (S5, C6)."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
import json
from typing import Any

import pytest

from custom_components.proactive_agent.engine.due import (
    MAX_DUE,
    WORDS_LAST,
    Due,
    with_due,
    without_due,
)
from custom_components.proactive_agent.engine.plain_text import MAX_LENGTH
from custom_components.proactive_agent.engine.records import (
    NOT_ENDED,
    ActionRecord,
    ActionStatus,
)
from custom_components.proactive_agent.engine.report import Phrases, interrupted_message

pytestmark = pytest.mark.contract("S5")

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
DUE = Due(id="01RUN", run_id="01RUN", at=NOON)
SENTENCES = {
    "interrupted": "Stopped.",
    "done_before": "Done: {actions}.",
    "cut_off": "Begun: {actions}.",
    "not_done": "Not done: {actions}.",
}
PHRASES = Phrases(
    say=lambda key, **placeholders: SENTENCES[key].format(**placeholders),
    name_of=lambda action: action.action,
)


def action(
    name: str = "script.feed",
    status: ActionStatus = ActionStatus.DONE,
    **changes: Any,
) -> ActionRecord:
    return replace(
        ActionRecord(
            action=name,
            entity_id=("script.feed",),
            data={"food": "meal", "times": [1, 2]},
            status=status,
        ),
        **changes,
    )


def test_what_is_due_is_due_once() -> None:
    other = replace(DUE, id="01OTHER")
    later = replace(DUE, message="Later.")

    known = with_due(with_due(with_due((), DUE), other), later)

    assert known == (other, later)
    assert without_due(known, "01RUN") == (other,)
    assert without_due(known, "01NEW") == known


def test_memory_is_bounded_and_keeps_the_latest() -> None:
    known: tuple[Due, ...] = ()
    for number in range(MAX_DUE + 2):
        known = with_due(known, replace(DUE, id=str(number)))
    assert [one.id for one in known] == [str(one) for one in range(2, MAX_DUE + 2)]


def test_words_grow_old_and_what_was_done_does_not() -> None:
    said = replace(DUE, message="The door is open.")
    assert not said.is_over(NOON + WORDS_LAST)
    assert said.is_over(NOON + WORDS_LAST + timedelta(seconds=1))
    assert not DUE.is_over(NOON + 9 * WORDS_LAST)


def test_of_an_action_alone_its_run_was_told() -> None:
    assert DUE.is_of_run
    assert not replace(DUE, id="01RUN_0").is_of_run


@pytest.mark.contract("C6")
@pytest.mark.parametrize(
    "due",
    [
        DUE,
        replace(DUE, message="Fed.", targets=("notify.a", "notify.b")),
        replace(
            DUE,
            actions=(
                action(note="It is still off.", answered_by="Ann"),
                action("light.turn_on", ActionStatus.FAILED, error="no"),
            ),
        ),
    ],
)
def test_what_is_written_is_what_is_read(due: Due) -> None:
    assert Due.from_dict(json.loads(json.dumps(due.as_dict()))) == due


@pytest.mark.contract("D1")
@pytest.mark.parametrize(
    "change",
    [
        {"id": 1},
        {"run_id": None},
        {"at": "2026-11-30T12:00:00"},
        {"actions": {}},
        {"actions": [{**DUE.as_dict()}]},
        {"message": 5},
        {"targets": "notify.a"},
        {"targets": [5]},
    ],
    ids=str,
)
def test_rubbish_is_not_read(change: dict[str, Any]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        Due.from_dict({**DUE.as_dict(), **change})


@pytest.mark.contract("D1")
@pytest.mark.parametrize(
    "change", [{"data": []}, {"status": "asleep"}, {"error": 5}, {"action": None}]
)
def test_a_rubbish_action_is_not_read(change: dict[str, Any]) -> None:
    (written,) = replace(DUE, actions=(action(),)).as_dict()["actions"]
    with pytest.raises((TypeError, ValueError)):
        Due.from_dict({**DUE.as_dict(), "actions": [{**written, **change}]})


@pytest.mark.contract("S2")
@pytest.mark.parametrize(
    ("actions", "said"),
    [
        ((), None),
        ((action(status=ActionStatus.FAILED),), None),
        ((action(status=ActionStatus.WAITING),), None),
        ((action(answered_by="Ann"),), None),
        ((action(),), "Stopped. Done: script.feed."),
        (
            (action(status=ActionStatus.STILL_RUNNING),),
            "Stopped. Begun: script.feed.",
        ),
        (
            (action(status=ActionStatus.FAILED, error=NOT_ENDED),),
            "Stopped. Begun: script.feed.",
        ),
        (
            (
                action("c", ActionStatus.FAILED),
                action("b", ActionStatus.STILL_RUNNING),
                action("a"),
            ),
            "Stopped. Done: a. Begun: b. Not done: c.",
        ),
    ],
)
def test_what_was_done_before_the_end_is_told_as_far_as_it_was_seen(
    actions: tuple[ActionRecord, ...], said: str | None
) -> None:
    assert interrupted_message(actions, PHRASES) == said


def test_however_much_was_done_it_is_one_message() -> None:
    many = [action("x" * 90 + str(number)) for number in range(9)]
    told = interrupted_message(
        [*many, action("y" * 300, ActionStatus.STILL_RUNNING)], PHRASES
    )
    assert told is not None
    assert len(told) <= MAX_LENGTH
    assert "Begun: y" in told

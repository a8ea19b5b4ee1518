from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import HealthCheck, given, settings, strategies as st
import pytest

from custom_components.proactive_agent.engine.approval_words import (
    action_in_words,
    as_record,
    request_message,
    short_name,
    standing,
)
from custom_components.proactive_agent.engine.approvals import Approval, ApprovalStatus
from custom_components.proactive_agent.engine.plain_text import (
    MAX_LENGTH,
    message_line,
    plain_line,
)
from custom_components.proactive_agent.engine.records import ActionRecord, ActionStatus
from custom_components.proactive_agent.engine.report import Phrases

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
SENTENCES: Mapping[str, str] = {
    "asks": "{heartbeat} asks for your yes: {actions}.",
    "asks_because": "Because: {because}",
    "and_more": "{actions} and {count} more",
}
ELSEWHERE = "Answer on the page of Milonga in Home Assistant, by 2026-11-30 13:00."
UNLOCK = Approval(
    approval_id="01A",
    action="lock.unlock",
    entity_id=("lock.front",),
    because="She stands outside.",
    asked=NOON,
    expires=NOON + timedelta(hours=1),
)


def phrases(**names: str) -> Phrases:
    """Speak English; a lock is named as said, any other by its id."""

    def say(key: str, **placeholders: str) -> str:
        return SENTENCES[key].format(**placeholders)

    def name_of(action: ActionRecord) -> str:
        locks = ", ".join(names.get(one[5:], one) for one in action.entity_id)
        return f"Unlock ({locks})"

    return Phrases(say=say, name_of=name_of)


HOME = phrases(front="Front door")


@pytest.mark.contract("P1")
def test_a_request_says_what_where_and_why() -> None:
    assert request_message(UNLOCK, "Milonga", HOME) == (
        "Milonga asks for your yes: Unlock (Front door). Because: She stands outside."
    )


@pytest.mark.contract("P1")
@pytest.mark.parametrize(
    ("because", "end"), [("She waits", "."), ("She waits.", ""), ("Warum?", "")]
)
def test_what_follows_is_no_part_of_the_reason(because: str, end: str) -> None:
    why = replace(UNLOCK, because=because)
    asked = request_message(why, "Milonga", HOME, ELSEWHERE)
    assert asked.endswith(f"Because: {because}{end}")


@pytest.mark.contract("P1")
def test_without_a_reason_none_is_made_up() -> None:
    plain = replace(UNLOCK, because=" <b></b> ")
    asked = "Milonga asks for your yes: Unlock (Front door)."
    assert request_message(plain, "Milonga", HOME) == asked


@pytest.mark.contract("P1")
def test_each_value_is_said_in_the_order_of_the_call() -> None:
    one = replace(UNLOCK, data={"code": "12", "after": {"minutes": 5}, "quiet": None})
    assert action_in_words(one, HOME) == (
        "Unlock (Front door), code: 12, after: {'minutes': 5}, quiet: None"
    )


@pytest.mark.contract("P1")
def test_a_long_value_leaves_room_for_the_others() -> None:
    one = replace(UNLOCK, data={"note": "word " * 100, "code": "12"})
    words = action_in_words(one, HOME)
    assert words.startswith("Unlock (Front door), note: word word")
    assert words.endswith("…, code: 12")


@pytest.mark.contract("P1")
def test_a_name_is_cut_before_a_value_is() -> None:
    one = replace(UNLOCK, data={"code": "12", "after": "5 minutes"})
    asked = request_message(one, "Milonga", phrases(front="door " * 60), ELSEWHERE)
    assert "Unlock (door door" in asked
    assert "…, code: 12, after: 5 minutes." in asked
    assert len(message_line(asked, ELSEWHERE)) <= MAX_LENGTH


@pytest.mark.contract("P1")
def test_of_how_many_it_is_said_where_not_all_can_be_named() -> None:
    doors = [f"lock.the_door_of_room_{number:02}" for number in range(30)]
    many = replace(UNLOCK, entity_id=tuple(doors), data={"code": "12"})
    asked = request_message(many, "Milonga", HOME, ELSEWHERE)
    named = sum(one in asked for one in doors)
    assert 0 < named < len(doors)
    assert f") and {len(doors) - named} more, code: 12." in asked
    assert len(message_line(asked, ELSEWHERE)) <= MAX_LENGTH


@pytest.mark.contract("P1", "S6")
def test_the_reason_is_the_models_and_no_more_than_text() -> None:
    sly = replace(
        UNLOCK,
        because="[all well](http://evil.test) {actions}\n**Done.** " + "x" * 5_000,
    )
    asked = request_message(sly, "Milonga", HOME, ELSEWHERE)
    assert asked.startswith(
        "Milonga asks for your yes: Unlock (Front door). Because: all well {actions} "
    )
    assert len(asked) == MAX_LENGTH
    shown = message_line(asked, ELSEWHERE)
    assert "Unlock (Front door). Because" in shown
    assert shown.endswith(ELSEWHERE)


@pytest.mark.contract("P1", "S6")
@pytest.mark.parametrize(
    "name",
    ["**Front** [door](http://evil.test)", "Front <img src=x>door", "Front\ndoor"],
)
def test_names_are_no_more_than_text(name: str) -> None:
    one = replace(UNLOCK, because="")
    assert request_message(one, "<b>Milonga</b>", phrases(front=name)) == (
        "Milonga asks for your yes: Unlock (Front door)."
    )


def test_what_has_no_name_is_named_by_its_action() -> None:
    nameless = Phrases(say=HOME.say, name_of=lambda _: "<i></i>")
    assert action_in_words(UNLOCK, nameless) == "lock.unlock"


NAMES = st.text(st.characters(codec="utf-8"), max_size=300)


@pytest.mark.contract("P1", "S6")
@given(
    heartbeat=NAMES,
    because=NAMES,
    ending=st.text("abc 12:", max_size=110).map(plain_line),
    data=st.dictionaries(st.text("abc", max_size=9), NAMES, max_size=3),
)
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_what_to_do_is_never_what_falls_off(
    heartbeat: str, because: str, ending: str, data: dict[str, str]
) -> None:
    one = replace(UNLOCK, because=because, data=data)
    asked = request_message(one, heartbeat, HOME, ending)
    assert len(asked) <= MAX_LENGTH
    assert f"{short_name(heartbeat)} asks for your yes: Unlock (Front door)" in asked
    shown = message_line(asked, ending)
    assert "asks for your yes: Unlock (Front door)" in shown
    assert len(shown) <= MAX_LENGTH


def test_a_long_name_of_a_heartbeat_is_cut() -> None:
    assert len(short_name("Milonga " * 50)) <= 40
    assert short_name("Milonga") == "Milonga"


@pytest.mark.contract("P5")
def test_the_next_run_is_told_what_stands() -> None:
    one = replace(UNLOCK, data={"code": 1})
    told = {
        status: standing([replace(one, status=status)], NOON + timedelta(minutes=90))
        for status in ApprovalStatus
    }
    asked = "lock.unlock on lock.front (code: 1): "
    assert told == {
        ApprovalStatus.PENDING: (
            f"{asked}waits for the owner's answer, asked 1 h ago.",
        ),
        ApprovalStatus.APPROVED: (
            f"{asked}has the owner's yes and is about to be done, asked 1 h ago.",
        ),
        ApprovalStatus.EXECUTING: (
            f"{asked}has the owner's yes and is being done, asked 1 h ago.",
        ),
        ApprovalStatus.REJECTED: (f"{asked}the owner said no; asked 1 h ago.",),
        ApprovalStatus.EXPIRED: (
            f"{asked}the owner did not answer, which is a no; asked 1 h ago.",
        ),
        ApprovalStatus.DONE: (),
        ApprovalStatus.FAILED: (),
        ApprovalStatus.UNKNOWN: (),
        ApprovalStatus.WITHDRAWN: (),
    }


@pytest.mark.contract("A2")
def test_the_model_learns_no_id_and_no_secret() -> None:
    one = replace(UNLOCK, approval_id="01SECRETID", secret="psst", run_id="01RUN")
    (line,) = standing([one], NOON)
    assert line == (
        "lock.unlock on lock.front: waits for the owner's answer, asked just now."
    )


def test_a_record_of_a_request_is_the_action_itself() -> None:
    assert as_record(UNLOCK, ActionStatus.FAILED, "no") == ActionRecord(
        action="lock.unlock",
        entity_id=("lock.front",),
        data={},
        status=ActionStatus.FAILED,
        error="no",
    )

from collections.abc import Mapping
from dataclasses import replace

from hypothesis import example, given, settings, strategies as st
import pytest

from custom_components.proactive_agent.engine.errors import CutReason, ErrorKind
from custom_components.proactive_agent.engine.plain_text import MAX_LENGTH, plain_line
from custom_components.proactive_agent.engine.records import (
    NOT_ENDED,
    ActionRecord,
    ActionStatus,
    Outcome,
    RunError,
)
from custom_components.proactive_agent.engine.report import (
    Ending,
    Phrases,
    owner_message,
    settled_message,
)

SENTENCES = {
    "done": "Done: {actions}.",
    "unseen": "Called, but not seen to take effect yet: {actions}.",
    "not_done": "Not done: {actions}.",
    "waiting": "Waiting for your yes: {actions}.",
    "still_running": "Still running: {actions}.",
    "unhelpful": "It did not help, and was not repeated: {actions}.",
    "settled_done": "It has ended: {actions}.",
    "settled_failed": "It has failed: {actions}.",
    "settled_unended": "It may still be running: {actions}.",
    "cut_timeout": "The run was cut short: it took too long.",
    "cut_loading": "The run was cut short: the model was still being loaded.",
    "cut_turn_limit": "The run was cut short: it needed too many turns.",
    "cut_action_limit": "The run was cut short: it reached its limit of actions.",
    "cut_token_limit": "The run was cut short: the token budget for today is spent.",
    "cut_stopped": "The run was cut short: the heartbeat was switched off.",
    "cut_error": "The run was cut short: the model failed.",
}
ERROR = RunError(kind=ErrorKind.CONNECTION, message="No route to host")
CUT = CutReason.TIMEOUT
SAID = "I fed her."


def phrases(names: Mapping[str, str] | None = None) -> Phrases:
    known = names or {}
    return Phrases(
        say=lambda key, **words: SENTENCES[key].format(**words),
        name_of=lambda action: known.get(action.action, action.action),
    )


def action(name: str, status: ActionStatus) -> ActionRecord:
    return ActionRecord(action=name, entity_id=("script.x",), data={}, status=status)


DONE = action("Feed", ActionStatus.DONE)
ALREADY = action("Lamp", ActionStatus.ALREADY)
FAILED = action("Play", ActionStatus.FAILED)
WAITS = action("Unlock", ActionStatus.WAITING)
RUNS = action("Wash", ActionStatus.STILL_RUNNING)
DRY = action("Feed", ActionStatus.NOT_DONE)
UNENDED = replace(FAILED, error=NOT_ENDED)


@pytest.mark.contract("S1", "S2", "A6")
@pytest.mark.parametrize(
    ("ending", "outcome", "message"),
    [
        # Nothing was done: the owner hears only what the model chose to say.
        (Ending(), Outcome.NOTHING, None),
        (Ending(said=SAID), Outcome.SPOKE, "I fed her."),
        (Ending(actions=(ALREADY,)), Outcome.NOTHING, None),
        (Ending(actions=(ALREADY,), said=SAID), Outcome.SPOKE, "I fed her."),
        (Ending(actions=(FAILED,)), Outcome.NOTHING, None),
        (
            Ending(actions=(FAILED,), said=SAID),
            Outcome.SPOKE,
            "I fed her. Not done: Play.",
        ),
        (Ending(actions=(WAITS,)), Outcome.WAITING, None),
        (
            Ending(actions=(WAITS,), said=SAID),
            Outcome.WAITING,
            "I fed her. Waiting for your yes: Unlock.",
        ),
        (Ending(actions=(RUNS,), cut=CUT), Outcome.TIMEOUT, None),
        (Ending(actions=(DRY,)), Outcome.NOTHING, None),
        (Ending(cut=CUT), Outcome.TIMEOUT, None),
        (Ending(error=ERROR), Outcome.ERROR, None),
        (
            Ending(said=SAID, cut=CUT),
            Outcome.TIMEOUT,
            "I fed her. The run was cut short: it took too long.",
        ),
        (
            Ending(said=SAID, error=ERROR),
            Outcome.ERROR,
            "I fed her. The run was cut short: the model failed.",
        ),
        # Something was done: the owner hears of it in any case.
        (Ending(actions=(DONE,)), Outcome.ACTED, "Done: Feed."),
        (Ending(actions=(DONE,), said=SAID), Outcome.ACTED, "I fed her."),
        (Ending(actions=(DONE, DONE)), Outcome.ACTED, "Done: Feed."),
        (Ending(actions=(DONE, ALREADY)), Outcome.ACTED, "Done: Feed."),
        (
            Ending(actions=(FAILED, DONE)),
            Outcome.ACTED,
            "Done: Feed. Not done: Play.",
        ),
        (
            Ending(actions=(DONE, WAITS), said=SAID),
            Outcome.ACTED,
            "I fed her. Waiting for your yes: Unlock.",
        ),
        (
            Ending(actions=(DONE, RUNS), cut=CUT),
            Outcome.TIMEOUT,
            "Done: Feed. Still running: Wash. The run was cut short: it took too long.",
        ),
        (
            Ending(actions=(DONE,), error=ERROR),
            Outcome.ERROR,
            "Done: Feed. The run was cut short: the model failed.",
        ),
        (
            Ending(actions=(RUNS, WAITS, FAILED, DONE), said=SAID, cut=CUT),
            Outcome.TIMEOUT,
            (
                "I fed her. Not done: Play. Waiting for your yes: Unlock."
                " Still running: Wash. The run was cut short: it took too long."
            ),
        ),
        (
            Ending(actions=(DONE,), cut=CutReason.STOPPED, error=ERROR),
            Outcome.STOPPED,
            "Done: Feed. The run was cut short: the heartbeat was switched off.",
        ),
    ],
)
def test_who_hears_what(ending: Ending, outcome: Outcome, message: str | None) -> None:
    assert ending.outcome is outcome
    assert owner_message(ending, phrases()) == message


@pytest.mark.contract("A6")
@pytest.mark.parametrize("status", ActionStatus)
def test_only_an_executed_action_counts_as_acted(status: ActionStatus) -> None:
    ending = Ending(actions=(action("Feed", status),), said="I have done everything.")

    assert ending.acted is (status is ActionStatus.DONE)
    assert (ending.outcome is Outcome.ACTED) is (status is ActionStatus.DONE)


@pytest.mark.contract("S2")
@pytest.mark.parametrize("cut", CutReason)
def test_each_cut_has_an_outcome_and_a_sentence(cut: CutReason) -> None:
    ending = Ending(actions=(DONE,), cut=cut)

    assert ending.outcome == cut.value
    message = owner_message(ending, phrases())
    assert message == f"Done: Feed. {SENTENCES[f'cut_{cut.value}']}"


@pytest.mark.contract("S2", "F3")
@pytest.mark.parametrize("kind", ErrorKind)
def test_a_timeout_says_that_the_model_was_still_loading(kind: ErrorKind) -> None:
    error = RunError(kind=kind, message="It waits.")
    waited = Ending(actions=(DONE,), cut=CutReason.TIMEOUT, error=error)
    key = "cut_loading" if kind is ErrorKind.LOADING else "cut_timeout"

    assert waited.outcome is Outcome.TIMEOUT
    assert owner_message(waited, phrases()) == f"Done: Feed. {SENTENCES[key]}"


@pytest.mark.contract("S2", "S6")
def test_what_the_code_adds_is_never_lost() -> None:
    many = tuple(
        action(f"A rather long name of an action, number {n}", status)
        for n in range(20)
        for status in ActionStatus
    )
    ending = Ending(actions=many, said="word " * 200, cut=CutReason.TOKEN_LIMIT)

    message = owner_message(ending, phrases())

    assert message is not None
    assert len(message) <= MAX_LENGTH
    assert message.startswith("word word word")
    for part in ("Not done: A", "Waiting for your yes: A", "Still running: A"):
        assert part in message
    assert message.endswith(SENTENCES["cut_token_limit"])


@pytest.mark.contract("S2")
def test_the_first_words_keep_the_room_that_the_rest_leaves() -> None:
    ending = Ending(actions=(FAILED,), said="word " * 200)

    message = owner_message(ending, phrases())

    assert message is not None
    assert message.endswith("… Not done: Play.")
    assert MAX_LENGTH - 6 <= len(message) <= MAX_LENGTH


@pytest.mark.contract("S2")
def test_names_are_written_out_where_there_is_room() -> None:
    name = "The big lamp in the corner of the living room behind the old green sofa"
    ending = Ending(actions=(action(name, ActionStatus.FAILED),), said=SAID)

    assert owner_message(ending, phrases()) == f"I fed her. Not done: {name}."


@pytest.mark.contract("S2")
def test_sentences_of_any_length_fit() -> None:
    wordy = Phrases(
        say=lambda key, **_words: f"{key} " * 60, name_of=lambda one: one.action
    )

    message = owner_message(Ending(actions=(DONE, FAILED), cut=CUT), wordy)

    assert message is not None
    assert len(message) <= MAX_LENGTH
    assert message.startswith("done done")
    assert "not_done" in message


@pytest.mark.contract("A1", "S2", "S6")
@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("<script>", "Feed"),
        ("<!--", "Feed"),
        ("", "Feed"),
        ("**Bowl**", "Bowl"),
        ("Bowl\n\n# Not done: nothing", "Bowl Not done: nothing"),
        ("Bowl https://evil.example", "Bowl"),
        ("{actions} %s", "{actions} %s"),
    ],
)
def test_an_entitys_name_can_hide_nothing(name: str, shown: str) -> None:
    ending = Ending(actions=(DONE, FAILED))

    message = owner_message(ending, phrases({"Feed": name}))

    assert message == f"Done: {shown}. Not done: Play."


@pytest.mark.contract("S6")
def test_the_models_words_become_plain_text() -> None:
    ending = Ending(actions=(DONE,), said="**Fed** her\n![x](http://evil/x.png)!")

    assert owner_message(ending, phrases()) == "Fed her x!"


@pytest.mark.contract("S1", "S2")
def test_markup_without_a_word_says_nothing() -> None:
    said = "<img src=http://evil/x.png>"

    assert owner_message(Ending(said=said), phrases()) is None
    assert owner_message(Ending(said=said, actions=(DONE,)), phrases()) == "Done: Feed."


@pytest.mark.contract("S1", "S2", "S6")
@example(statuses=[ActionStatus.FAILED], said="[a](", cut=None, name=")")
@example(statuses=[ActionStatus.FAILED], said="Fed [a][", cut=None, name="]")
@given(
    statuses=st.lists(st.sampled_from(ActionStatus), max_size=30),
    said=st.none() | st.text(max_size=400),
    cut=st.none() | st.sampled_from(CutReason),
    name=st.text(max_size=80),
)
@settings(deadline=None)
def test_any_message_is_one_plain_line_that_leaves_nothing_out(
    statuses: list[ActionStatus], said: str | None, cut: CutReason | None, name: str
) -> None:
    actions = tuple(action(f"domain.{n}", s) for n, s in enumerate(statuses))
    names = {one.action: name for one in actions}
    ending = Ending(actions=actions, said=said, cut=cut)

    message = owner_message(ending, phrases(names))

    if message is None:
        assert not ending.acted
        return
    assert ending.acted or said
    assert len(message) <= MAX_LENGTH
    for line in (message, plain_line(message)):  # the notifier makes it plain again
        assert ("Not done: " in line) >= (ActionStatus.FAILED in statuses)
        assert ("Waiting for your yes: " in line) >= (ActionStatus.WAITING in statuses)
        assert ("Still running: " in line) >= (ActionStatus.STILL_RUNNING in statuses)
        assert cut is None or line.endswith(SENTENCES[f"cut_{cut.value}"])


@pytest.mark.contract("A5", "S2")
def test_what_was_not_seen_is_not_told_as_done() -> None:
    unseen = replace(action("Lamp", ActionStatus.DONE), note="It is still off.")
    assert owner_message(Ending(actions=(DONE, unseen)), phrases()) == (
        "Done: Feed. Called, but not seen to take effect yet: Lamp."
    )
    assert owner_message(Ending(actions=(unseen,)), phrases()) == (
        "Called, but not seen to take effect yet: Lamp."
    )
    # The model has read what was seen: its own words stand.
    assert owner_message(Ending(actions=(unseen,), said=SAID), phrases()) == SAID


@pytest.mark.contract("A7", "S1", "S2")
@pytest.mark.parametrize(
    ("ending", "outcome", "message"),
    [
        (
            Ending(unhelpful=(DRY,)),
            Outcome.SPOKE,
            "It did not help, and was not repeated: Feed.",
        ),
        (
            Ending(unhelpful=(DRY, DRY), said=SAID),
            Outcome.SPOKE,
            "I fed her. It did not help, and was not repeated: Feed.",
        ),
        (
            Ending(unhelpful=(DRY,), actions=(DONE, FAILED)),
            Outcome.ACTED,
            "Done: Feed. Not done: Play. It did not help, and was not repeated: Feed.",
        ),
        (
            Ending(unhelpful=(DRY,), actions=(ALREADY,), cut=CUT),
            Outcome.TIMEOUT,
            (
                "It did not help, and was not repeated: Feed."
                " The run was cut short: it took too long."
            ),
        ),
    ],
)
def test_what_did_not_help_is_told_even_if_nothing_else_is(
    ending: Ending, outcome: Outcome, message: str
) -> None:
    assert ending.outcome is outcome
    assert owner_message(ending, phrases()) == message


@pytest.mark.contract("S2", "S3", "P1")
@pytest.mark.parametrize(
    "status", [ActionStatus.DONE, ActionStatus.ALREADY, ActionStatus.FAILED]
)
def test_what_got_its_answer_meanwhile_is_not_told_by_the_run(
    status: ActionStatus,
) -> None:
    answered = replace(WAITS, status=status, answered_by="Anna")
    alone = Ending(actions=(answered,))
    assert (alone.outcome, owner_message(alone, phrases())) == (Outcome.WAITING, None)
    assert not alone.acted
    both = Ending(actions=(DONE, answered), said=SAID)
    assert (both.outcome, owner_message(both, phrases())) == (Outcome.ACTED, SAID)


@pytest.mark.contract("S1", "S4")
@pytest.mark.parametrize(
    ("actions", "has_called"),
    [
        ((), False),
        ((ALREADY, FAILED, WAITS, DRY), False),
        ((DONE,), True),
        ((RUNS,), True),
        ((UNENDED,), True),
    ],
)
def test_a_run_has_called_what_was_done_or_may_still_be(
    actions: tuple[ActionRecord, ...], has_called: bool
) -> None:
    assert Ending(actions=actions).has_called is has_called


@pytest.mark.contract("R8", "S2")
@pytest.mark.parametrize(
    ("action", "message"),
    [
        (DONE, "It has ended: Feed."),
        (FAILED, "It has failed: Play."),
        (UNENDED, "It may still be running: Play."),
    ],
)
def test_what_became_of_an_action_is_told_as_it_is(
    action: ActionRecord, message: str
) -> None:
    assert settled_message(action, phrases()) == message

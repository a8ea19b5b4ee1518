"""The catalogue's answers in other forms, and several faults in one."""

from collections.abc import Sequence
import contextlib
import json
from random import Random
from typing import Any

from hypothesis import given, settings, strategies as st
import pytest

from custom_components.proactive_agent.engine.errors import ErrorKind, ModelError
from custom_components.proactive_agent.engine.wire import (
    classify_error,
    decode_models,
    decode_reply,
)
from custom_components.proactive_agent.engine.wire.adapt import adapt
from custom_components.proactive_agent.engine.wire.facts import read_facts
from custom_components.proactive_agent.engine.wire.shape import USUAL
from tests.support.wire_catalogue import CASES, CHATS, MODELS, TOOLS, Case
from tests.support.wire_mutations import SAME, WORSE, Form

RANDOM = st.integers(0, 2**32).map(Random)
ANSWERED = [case for case in CASES if case.status]
KINDS = {*ErrorKind}


def _calls(calls: Sequence[Any]) -> list[str]:
    found = [[one.name, one.arguments] for one in calls if one.fault is None]
    return [json.dumps(call, sort_keys=True) for call in found]


def _mutated(form: Form, names: list[str], rand: Random) -> Form:
    for name in names:
        # What the one has left over may be nothing that the next can work on.
        with contextlib.suppress(LookupError, TypeError, AttributeError):
            form = {**SAME, **WORSE}[name](form, rand) or form
    return form


def _outcome(case: Case, form: Form) -> tuple[Any, ...]:
    """Read an answer; whatever it is, this is all that may come of it."""
    try:
        if case.endpoint == "models":
            return ("models", decode_models(form.status, form.headers, form.body))
        reply = decode_reply(form.status, form.headers, form.body, TOOLS)
    except ModelError as err:
        assert err.kind in KINDS  # noqa: PT017 - there need not be any
        assert "\n" not in str(err)  # noqa: PT017
        return ("error", err.kind)
    json.dumps(reply.message, allow_nan=False).encode()
    assert reply.calls or reply.text
    ids = [call.id for call in reply.calls]
    assert len({*ids}) == len(ids)
    assert all(ids)
    return ("reply", _calls(reply.calls), reply.text)


def _made(case: Case) -> set[str]:
    """Return the calls that the answer makes, as it stands in the catalogue."""
    calls = case.expected.get("tool_calls") or []
    return {json.dumps([c["name"], c["arguments"]], sort_keys=True) for c in calls}


def test_there_are_many_forms() -> None:
    assert len(SAME) >= 60
    assert len(WORSE) >= 20


@pytest.mark.parametrize("name", SAME)
@settings(max_examples=12, deadline=None)
@given(rand=RANDOM)
def test_another_form_means_the_same(name: str, rand: Random) -> None:
    tried = 0
    for case in ANSWERED:
        form = Form.of(case)
        mutated = SAME[name](form, rand)
        if mutated is not None:
            tried += 1
            assert _outcome(case, mutated) == _outcome(case, form), case.id
    assert tried


@pytest.mark.parametrize("name", WORSE)
@settings(max_examples=12, deadline=None)
@given(rand=RANDOM)
def test_a_worse_form_makes_no_call_up(name: str, rand: Random) -> None:
    tried = 0
    for case in ANSWERED:
        mutated = WORSE[name](Form.of(case), rand)
        if mutated is not None:
            tried += 1
            _assert_nothing_made_up(case, mutated)
    assert tried


def _assert_nothing_made_up(case: Case, form: Form) -> None:
    kind, *said = _outcome(case, form)
    if kind == "reply":
        # A byte of chance in a value is another value, and no fault that is seen.
        for call in said[0]:
            assert json.loads(call)[0].encode() in case.body, case.id


@pytest.mark.parametrize(
    "name", ["cut_by_the_limit", "cut_off", "arguments_cut_off", "twice_over"]
)
@settings(max_examples=12, deadline=None)
@given(rand=RANDOM)
def test_what_is_cut_off_makes_none_but_whole_calls(name: str, rand: Random) -> None:
    for case in CHATS:
        mutated = WORSE[name](Form.of(case), rand) if case.status else None
        if mutated is not None:
            kind, *said = _outcome(case, mutated)
            assert kind == "error" or _allowed(said[0], case, name), case.id


def _allowed(calls: list[str], case: Case, name: str) -> bool:
    made = _made(case)
    if name == "arguments_cut_off":
        # Nothing where arguments were is a call without any, as servers write it.
        made |= {json.dumps([json.loads(call)[0], {}]) for call in made}
    return {*calls} <= made


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(ANSWERED),
    st.lists(st.sampled_from([*SAME, *WORSE]), min_size=2, max_size=4),
    RANDOM,
)
def test_several_faults_in_one(case: Case, names: list[str], rand: Random) -> None:
    form = _mutated(Form.of(case), names, rand)
    _assert_nothing_made_up(case, form)
    request = {"model": "m", "messages": [], "tools": [], "seed": 1, "max_tokens": 9}
    error = classify_error(form.status, form.headers, form.body, api_key="secret-key")
    shape = adapt(error, read_facts(form.status, form.body), request, [USUAL])
    if shape is not None:
        assert shape.apply(request).keys() >= {"model", "messages", "tools"}


@pytest.mark.parametrize("case", MODELS, ids=lambda case: case.id)
@settings(max_examples=30, deadline=None)
@given(names=st.lists(st.sampled_from([*SAME, *WORSE]), max_size=4), rand=RANDOM)
def test_lists_of_models(case: Case, names: list[str], rand: Random) -> None:
    form = _mutated(Form.of(case), names, rand)
    kind, said = _outcome(case, form)
    assert kind == "error" or all(isinstance(name, str) and name for name in said)

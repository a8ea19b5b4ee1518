from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
import json
from typing import Any

from hypothesis import HealthCheck, given, settings, strategies as st
import pytest

from custom_components.proactive_agent.engine.approval_data import (
    approval_as_dict,
    approval_from_dict,
)
from custom_components.proactive_agent.engine.approvals import Approval, ApprovalStatus

pytestmark = pytest.mark.contract("P7", "D1")

NOON = datetime(2026, 11, 30, 12, 0, 0, 7, tzinfo=UTC)
PLAIN = Approval(
    approval_id="01A",
    action="lock.unlock",
    entity_id=("lock.front",),
    asked=NOON,
    expires=NOON + timedelta(hours=1),
)
FULL = replace(
    PLAIN,
    data={"code": "1", "list": [1, {"a": None}]},
    named=("lock.back",),
    words="Unlock (Front door)",
    must_ask=True,
    is_risky=False,
    because="She stands outside.",
    states={"lock.front": "locked"},
    entries={"lock.front": "0123"},
    secret="secret",
    run_id="01RUN",
    index=2,
    context_id="01CONTEXT",
    targets=("notify.phone",),
    status=ApprovalStatus.REJECTED,
    settled=NOON + timedelta(minutes=1),
    answered_by="Anna",
    note="not now",
    is_asked=True,
    has_changed=True,
)
KEYS = tuple(approval_as_dict(FULL))


@pytest.mark.parametrize("approval", [PLAIN, FULL], ids=["plain", "full"])
def test_what_is_written_is_what_is_read(approval: Approval) -> None:
    on_disk = json.loads(json.dumps(approval_as_dict(approval)))
    assert approval_from_dict(on_disk) == approval


@pytest.mark.parametrize("status", ApprovalStatus)
def test_each_status_survives(status: ApprovalStatus) -> None:
    one = replace(PLAIN, status=status)
    settled = None if one.is_open else NOON
    one = replace(one, settled=settled)
    assert approval_from_dict(approval_as_dict(one)) == one


def test_where_a_request_of_before_is_shown_is_not_known() -> None:
    data = approval_as_dict(FULL)
    del data["targets"]
    assert approval_from_dict(data) == replace(FULL, targets=())


@pytest.mark.parametrize("key", sorted({*KEYS} - {"targets"}))
def test_half_a_request_is_none(key: str) -> None:
    data = approval_as_dict(FULL)
    del data[key]
    with pytest.raises(KeyError):
        approval_from_dict(data)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("rubbish", [3.5, ["x", 1], {"x": 1}, "\ud800"])
def test_rubbish_is_no_request(key: str, rubbish: Any) -> None:
    fits: dict[str, Callable[[Any], bool]] = {
        "data": lambda value: isinstance(value, dict),
        **dict.fromkeys(
            ("approval_id", "action", "words", "because", "secret", "run_id"),
            lambda value: isinstance(value, str),
        ),
        **dict.fromkeys(
            ("context_id", "answered_by", "note"),
            lambda value: isinstance(value, str),
        ),
    }
    data = {**approval_as_dict(FULL), key: rubbish}
    if fits.get(key, lambda _: False)(rubbish):
        assert getattr(approval_from_dict(data), key) == rubbish
        return
    with pytest.raises((KeyError, TypeError, ValueError)):
        approval_from_dict(data)


@pytest.mark.parametrize(
    "change",
    [
        {"settled": None},
        {"status": "pending"},
        {"status": "executing"},
        {"status": "maybe"},
        {"index": -1},
        {"index": True},
        {"must_ask": 1},
        {"entity_id": "lock.front"},
        {"named": [None]},
        {"targets": "notify.phone"},
        {"states": {"lock.front": None}},
        {"entries": {"lock.front": 5}},
        {"asked": "2026-11-30T12:00:00"},
        {"expires": None},
        {"expires": "soon"},
        {"settled": 1},
        {"answered_by": 5},
    ],
    ids=str,
)
def test_what_does_not_fit_together_is_no_request(change: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        approval_from_dict({**approval_as_dict(FULL), **change})


@given(
    st.dictionaries(
        st.sampled_from(KEYS),
        st.none()
        | st.booleans()
        | st.integers()
        | st.text(max_size=20)
        | st.lists(st.text(max_size=3), max_size=2)
        | st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2),
    )
)
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_whatever_is_read_can_be_written_again(changes: dict[str, Any]) -> None:
    try:
        read = approval_from_dict({**approval_as_dict(FULL), **changes})
    except KeyError, TypeError, ValueError:
        return
    assert approval_from_dict(approval_as_dict(read)) == read

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

from hypothesis import HealthCheck, given, settings, strategies as st
import pytest

from custom_components.proactive_agent.engine.approvals import (
    MAX_SETTLED,
    NEVER_CALLED,
    OPEN,
    Approval,
    ApprovalStatus as S,
    fault_of,
    in_the_way,
    is_remembered,
    pending,
    recovered,
    refused_at,
    trimmed,
)
from custom_components.proactive_agent.engine.errors import ApprovalError, ApprovalFault

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
RECHECK = timedelta(hours=6)

UNLOCK = Approval(
    approval_id="01A",
    action="lock.unlock",
    entity_id=("lock.front",),
    data={"code": 1},
    states={"lock.front": "locked"},
    secret="a secret",
    asked=NOON,
    expires=NOON + HOUR,
)

ALLOWED = {
    (S.PENDING, S.APPROVED),
    (S.PENDING, S.REJECTED),
    (S.PENDING, S.EXPIRED),
    (S.PENDING, S.WITHDRAWN),
    (S.APPROVED, S.EXECUTING),
    (S.APPROVED, S.FAILED),
    (S.APPROVED, S.WITHDRAWN),
    (S.APPROVED, S.PENDING),
    (S.EXECUTING, S.DONE),
    (S.EXECUTING, S.FAILED),
    (S.EXECUTING, S.UNKNOWN),
}


def request(status: S = S.PENDING, **changes: Any) -> Approval:
    settled = None if status in OPEN else NOON
    return replace(UNLOCK, status=status, settled=settled, **changes)


@pytest.mark.contract("P3", "P6")
@pytest.mark.parametrize(("before", "after"), product(S, S))
def test_a_request_goes_on_only_where_there_is_a_next_step(before: S, after: S) -> None:
    one = request(before)
    later = NOON + timedelta(minutes=5)
    if (before, after) not in ALLOWED:
        with pytest.raises(ApprovalError) as caught:
            one.to(after, now=later)
        assert caught.value.kind is fault_of(one)
        return
    assert one.to(after, now=later) == replace(
        one, status=after, settled=None if after in OPEN else later
    )


@pytest.mark.contract("P3")
def test_what_has_come_to_its_end_stays_there() -> None:
    ends = {before for before in S if not any(one == before for one, _ in ALLOWED)}
    assert ends == {*S} - OPEN
    assert all(request(one).is_open == (one not in ends) for one in S)
    assert [one for one in S if request(one).is_pending] == [S.PENDING]


def test_who_answered_and_what_came_of_it_is_kept() -> None:
    approved = UNLOCK.to(S.APPROVED, now=NOON, answered_by="Anna")
    executing = approved.to(S.EXECUTING, now=NOON)
    failed = executing.to(S.FAILED, now=NOON, note="it is stuck")
    assert (failed.answered_by, failed.note) == ("Anna", "it is stuck")


@pytest.mark.contract("P6")
@pytest.mark.parametrize(
    ("status", "fault"),
    [
        (S.EXPIRED, ApprovalFault.EXPIRED),
        (S.WITHDRAWN, ApprovalFault.WITHDRAWN),
        (S.REJECTED, ApprovalFault.REJECTED),
        (S.APPROVED, ApprovalFault.ANSWERED),
        (S.EXECUTING, ApprovalFault.ANSWERED),
        (S.DONE, ApprovalFault.ANSWERED),
        (S.FAILED, ApprovalFault.ANSWERED),
        (S.UNKNOWN, ApprovalFault.ANSWERED),
    ],
)
def test_an_answer_that_comes_too_late_is_told_why(
    status: S, fault: ApprovalFault
) -> None:
    for answer in (S.APPROVED, S.REJECTED):
        with pytest.raises(ApprovalError) as caught:
            request(status).to(answer, now=NOON)
        assert caught.value.kind is fault


@pytest.mark.contract("P4")
@pytest.mark.parametrize(
    ("asked", "now", "has_changed"),
    [
        ({"lock.front": "locked"}, {"lock.front": "locked"}, False),
        ({"lock.front": "locked"}, {"lock.front": "jammed"}, True),
        ({"lock.front": "locked"}, {"lock.front": "unknown"}, True),
        ({"lock.front": "locked"}, {}, True),
        ({"lock.all": "on"}, {"lock.all": "on", "lock.new": "on"}, True),
        ({"number.brew": "20"}, {"number.brew": "20.0"}, False),
        ({"number.brew": "20"}, {"number.brew": "20.1"}, False),
        ({"number.brew": "20"}, {"number.brew": "25"}, True),
    ],
)
def test_a_yes_holds_for_the_states_it_was_asked_in(
    asked: dict[str, str], now: dict[str, str], has_changed: bool
) -> None:
    assert replace(UNLOCK, states=asked).differs_from(now) is has_changed


def test_the_same_request_is_the_same_action_with_the_same_data() -> None:
    both = replace(UNLOCK, entity_id=("lock.front", "lock.back"))
    assert both.key == replace(both, entity_id=("lock.back", "lock.front")).key
    assert replace(UNLOCK, because="x", asked=NOON + HOUR).key == UNLOCK.key
    others = [
        both,
        replace(UNLOCK, data={"code": 2}),
        replace(UNLOCK, action="lock.open"),
    ]
    assert UNLOCK.key not in [one.key for one in others]


@pytest.mark.contract("P2")
def test_the_oldest_is_answered_first() -> None:
    requests = [
        request(approval_id="late", asked=NOON + HOUR),
        request(S.REJECTED, approval_id="over", asked=NOON - HOUR),
        request(approval_id="b"),
        request(approval_id="a"),
    ]
    # Of two in the same moment the one that came first.
    assert [one.approval_id for one in pending(requests)] == ["b", "a", "late"]


@pytest.mark.contract("P5")
@pytest.mark.parametrize("status", S)
@pytest.mark.parametrize("has_changed", [False, True])
def test_a_no_stands_until_something_changes(status: S, has_changed: bool) -> None:
    one = request(status, has_changed=has_changed)
    stands = status in {S.REJECTED, S.EXPIRED} and not has_changed
    assert is_remembered(one, NOON, RECHECK) is stands
    in_its_way = in_the_way([one], UNLOCK.key, now=NOON, recheck_after=RECHECK)
    assert (in_its_way is one) is (stands or status in OPEN)


@pytest.mark.contract("P5")
@pytest.mark.parametrize(
    ("after", "stands"),
    [(timedelta(), True), (RECHECK - timedelta(seconds=1), True), (RECHECK, False)],
)
def test_a_no_stands_for_a_while(after: timedelta, stands: bool) -> None:
    one = request(S.REJECTED)
    assert is_remembered(one, NOON + after, RECHECK) is stands
    assert not is_remembered(one, NOON, timedelta())


@pytest.mark.contract("P5")
def test_what_changes_is_seen_from_the_no_on() -> None:
    one = request(S.REJECTED, has_changed=True)
    one = replace(one, states={"lock.front": "locked", "lock.back": "locked"})
    now = refused_at(one, {"lock.front": "unlocked"})
    assert now.states == {"lock.front": "unlocked", "lock.back": "locked"}
    assert not now.has_changed


@pytest.mark.contract("P5")
def test_another_request_is_in_nobodys_way() -> None:
    other = request(S.REJECTED, data={"code": 2})
    known = [other, request(S.DONE)]
    assert in_the_way(known, UNLOCK.key, now=NOON, recheck_after=RECHECK) is None


@pytest.mark.contract("P3", "P7")
@pytest.mark.parametrize("status", S)
def test_after_a_restart_nothing_is_done_again(status: S) -> None:
    before = request(status, answered_by="Anna")
    after = recovered(before, NOON + HOUR)
    if status is S.EXECUTING:
        assert (after.status, after.settled) == (S.UNKNOWN, NOON + HOUR)
    elif status is S.APPROVED:
        assert (after.status, after.note) == (S.FAILED, NEVER_CALLED)
    else:
        assert after is before
    assert after.answered_by == "Anna"
    assert recovered(after, NOON + HOUR) is after


@given(st.lists(st.sampled_from(S), max_size=60))
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_only_what_has_long_come_to_its_end_is_forgotten(statuses: list[S]) -> None:
    known = [
        request(status, approval_id=f"{place:02}", asked=NOON + place * HOUR)
        for place, status in enumerate(statuses)
    ]
    kept = trimmed(known)
    settled = [one for one in known if not one.is_open]
    assert [one for one in kept if one.is_open] == [one for one in known if one.is_open]
    assert [one for one in kept if not one.is_open] == settled[-MAX_SETTLED:]
    assert trimmed(kept) == kept


@pytest.mark.contract("P2")
def test_the_secret_is_not_shown() -> None:
    assert "a secret" not in repr(UNLOCK)

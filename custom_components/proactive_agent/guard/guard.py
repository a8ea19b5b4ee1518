"""The one door to Home Assistant's actions for the model (A1-A9, P1, R8)."""

import asyncio
from collections.abc import Callable

from homeassistant.core import Context, HomeAssistant
from homeassistant.util import dt as dt_util

from ..engine.errors import (
    ActionRefusedError,
    CutReason,
    RefusalKind,
    RunCutError,
)
from ..engine.policy import Verdict
from ..engine.records import ActionRecord, ActionStatus, Json
from ..engine.repeats import action_key
from ..engine.spans import ago
from .call import call_reading
from .checks import Action, check, check_reading, judge_action
from .consent import Consent, Grant
from .look import Look
from .past_actions import PastActions
from .records import ActionRecords, record_of
from .terms import Terms
from .witness import Nobody, Witness
from .work import Result, Work

__all__ = ["Action", "Consent", "Grant", "Guard", "Terms"]

WAITS = "The owner has been asked and has not answered yet; go on without it."
WOULD_ASK = "The owner would be asked first."


class Guard:
    """Lets the actions of one run through: resolve, judge, check, act, look.

    - `lock` belongs to the heartbeat: one action at a time, also across runs (A8).
    - `on_settled` gets an action that outlived the waiting for it or the run (R8): its
      index in `actions` and its final record.
    - `past_actions` is the heartbeat's memory of what did not help (A7).
    - `consent` asks its owner (P1), `witness` has each action written down before it is
      called (S5).
    """

    def __init__(
        self,
        hass: HomeAssistant,
        *,
        context: Context,
        terms: Terms,
        lock: asyncio.Lock,
        on_settled: Callable[[int, ActionRecord], None],
        past_actions: PastActions,
        consent: Consent,
        witness: Witness | None = None,
    ) -> None:
        """Serve one run, with no action yet."""
        self._hass = hass
        self._context = context
        self._terms = terms
        self._lock = lock
        self._past_actions = past_actions
        self._consent = consent
        self._witness = witness or Nobody()
        self._unhelpful: list[ActionRecord] = []
        self._records = ActionRecords()
        self._work = Work(
            hass,
            context=context,
            records=self._records,
            lock=lock,
            past_actions=past_actions,
            on_settled=on_settled,
            witness=self._witness,
        )

    @property
    def actions(self) -> tuple[ActionRecord, ...]:
        """The actions so far; one that has not ended yet is `still_running`."""
        return tuple(self._records)

    @property
    def unhelpful(self) -> tuple[ActionRecord, ...]:
        """What was not repeated, and its owner does not know that it did not help."""
        return tuple(self._unhelpful)

    def answered(self, index: int, record: ActionRecord) -> None:
        """Note what became of an action that waited for a yes (P1)."""
        self._records.replace(index, record)

    def close(self) -> None:
        """Let no new action through; what has been called goes on (F6, R8)."""
        self._work.close()

    async def act(self, action: Action) -> Result:
        """Execute an action; return its record and its response, if it has one.

        One that would certainly change nothing is not called (A5), one that needs a
        yes waits for it (P1). Raises `ActionRefusedError` for what is not done or
        failed, `RunCutError` when the run may not act any more. Cancelling the wait
        does not cancel an action that has been called (R8).
        """
        verdict = self._judge(action)
        if (already := self._already(action)) is not None:
            return already, None
        self._admit(action)
        if verdict is Verdict.ASK:
            return await self._ask(action), None
        if self._terms.dry_run:
            return self._records.append(action, ActionStatus.NOT_DONE), None
        return await self._under_lock(action)

    async def act_with(self, grant: Grant, action: Action) -> Result:
        """Execute an action that has its owner's yes (P3, P4).

        Raises as `act` does.
        """
        self._judge(action)
        grant.check()
        return await self._under_lock(action, grant)

    async def read(self, action: Action) -> Json:
        """Return the answer of an action that does nothing but answer.

        Takes entities that may only be seen, too; counts as no action, and is let
        through in a dry run. Raises `ActionRefusedError` for what is not allowed or
        failed, `RunCutError` when the run is over.
        """
        self._check_open()
        check_reading(self._hass, action, self._terms.permitted())
        answer, error = await call_reading(self._hass, action, self._context)
        if error is not None:
            raise ActionRefusedError(
                RefusalKind.FAILED, f"{action.name} failed: {error}"
            )
        return answer

    async def _under_lock(self, action: Action, grant: Grant | None = None) -> Result:
        await self._lock.acquire()
        is_started = False
        try:
            # Everything as of now: it may have waited for a long time, and then for
            # the disk.
            if grant is not None:
                self._judge(action)
                grant.check()
                await grant.async_begin()
                self._judge(action)
                grant.check()
            else:
                self._check_free(action)
                if (already := self._already(action)) is not None:
                    return already, None
                self._admit(action)
                await self._write_down(action)
                self._check_free(action)
            if (already := self._already(action)) is not None:
                return already, None
            index, task = self._work.start(action)
            is_started = True
        finally:
            if not is_started:
                self._witness.done_so_far(self.actions)
                self._lock.release()
        return await self._work.wait(index, task)

    async def _write_down(self, action: Action) -> None:
        about_to = record_of(action, ActionStatus.STILL_RUNNING)
        await self._witness.async_about_to((*self._records, about_to))

    async def _ask(self, action: Action) -> ActionRecord:
        """Put an action to the owner; it counts as one of the run (F5, P1)."""
        if self._terms.dry_run:
            return self._records.append(action, ActionStatus.NOT_DONE, note=WOULD_ASK)
        index = len(self._records)
        record = self._records.append(action, ActionStatus.WAITING, note=WAITS)
        try:
            await self._consent.async_ask(action, index)
        except ActionRefusedError as err:
            if err.kind is RefusalKind.REPEATED:
                self._records.take_back(index)
            else:
                self._records.change(
                    index, status=ActionStatus.FAILED, note=None, error=str(err)
                )
            raise
        self._check_open()
        return record

    def _check_open(self) -> None:
        if self._work.is_over:
            raise RunCutError(CutReason.STOPPED)

    def _judge(self, action: Action) -> Verdict:
        """Check everything as of now; raise for what is not to be done at all."""
        self._check_open()
        reach = self._terms.permitted()
        check(self._hass, action, reach)
        verdict = judge_action(
            self._hass, action, reach, ask_before_risky=self._terms.ask_before_risky
        )
        if verdict is Verdict.DENY:
            raise _refused(f"{action.name} is not allowed here.")
        return verdict

    def _check_free(self, action: Action) -> None:
        """Check everything as of now; raise for what may not be done unasked."""
        if self._judge(action) is Verdict.ASK:
            raise _refused(f"{action.name} needs the owner's yes by now; not done.")

    def _already(self, action: Action) -> ActionRecord | None:
        """Return the record of an action that need not be called (A5)."""
        look = Look(self._hass, action)
        if not look.is_already_met:
            return None
        return self._records.append(
            action, ActionStatus.ALREADY, observed=look.observed()
        )

    def _admit(self, action: Action) -> None:
        """Raise for what has been done without help, or is one too many (A7, F5)."""
        self._check_help(action)
        if self._records.counted >= self._terms.max_actions:
            raise RunCutError(CutReason.ACTION_LIMIT)

    def _check_help(self, action: Action) -> None:
        """Refuse what was done and changed nothing since; note it for the owner (A7).

        In the run that did it, it is too early to say that it did not help.
        """
        key = action_key(action.name, action.entity_id, action.data)
        if (past := self._past_actions.without_effect(key)) is None:
            return
        error = (
            f"It was done {ago(dt_util.utcnow() - past.at)} and nothing has changed"
            " since; not repeated."
        )
        if past.to_tell and not self._terms.dry_run and not self._work.has_done(key):
            self._past_actions.mark_told(key)
            self._unhelpful.append(
                record_of(action, ActionStatus.NOT_DONE, error=error)
            )
        raise ActionRefusedError(RefusalKind.REPEATED, error)


def _refused(sentence: str) -> ActionRefusedError:
    return ActionRefusedError(RefusalKind.NOT_ALLOWED, sentence)

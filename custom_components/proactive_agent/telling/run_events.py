"""What Home Assistant hears of a run: bus events, and the heartbeat's activity."""

from collections.abc import Iterable
from typing import Any, Final

from homeassistant.core import Context

from ..activity import Activity
from ..const import (
    ATTR_BECAUSE,
    ATTR_DID,
    ATTR_DRY_RUN,
    ATTR_MESSAGE,
    ATTR_REASON,
    ATTR_RUN_ID,
    CONF_CHECK_PROMPT,
    EVENT_ACTED,
    EVENT_FAILED,
    EVENT_HEARTBEAT_TICK,
)
from ..engine.export import action_as_dict
from ..engine.plain_text import plain_line
from ..engine.records import ActionRecord, ActionStatus, Outcome
from ..engine.report import Ending
from ..models import HeartbeatOptions
from ..run.run import Run
from ..texts import Texts
from . import deeds
from .speaker import Speaker

# The outcomes of a run that could not do its work (as F7 counts them).
_FAILURES: Final = frozenset(
    {
        Outcome.ERROR,
        Outcome.TIMEOUT,
        Outcome.TURN_LIMIT,
        Outcome.ACTION_LIMIT,
        Outcome.TOKEN_LIMIT,
    }
)


class RunEvents:
    """Fires the events of one heartbeat's runs, and tells its activity."""

    def __init__(self, speaker: Speaker) -> None:
        """Tell through this speaker."""
        self._speaker = speaker

    def woke(self, run: Run) -> None:
        """Tell that the model is about to be called, and why."""
        plan = run.plan
        data = {
            **_of_run(plan.options, run.run_id),
            "cause": plan.cause,
            ATTR_BECAUSE: plan.grounds,
            ATTR_DRY_RUN: plan.dry_run,
        }
        self._speaker.fire(EVENT_HEARTBEAT_TICK, plan.options, data, plan.context)
        if not plan.dry_run:
            told = {
                ATTR_RUN_ID: run.run_id,
                "cause": plan.cause,
                ATTR_REASON: plan.grounds,
            }
            self._speaker.note(Activity.WOKE, told, plan.context)

    def acted(
        self,
        options: HeartbeatOptions,
        run_id: str,
        *,
        actions: tuple[ActionRecord, ...],
        message: str,
        outcome: Outcome,
        context: Context,
        texts: Texts,
    ) -> None:
        """Tell that a run has acted, or has something to say (S3)."""
        done = [*_done(actions)]
        self._speaker.fire(
            EVENT_ACTED,
            options,
            {
                **_of_run(options, run_id),
                "actions": [action_as_dict(action) for action in actions],
                ATTR_DID: deeds.in_words(texts, done),
                ATTR_MESSAGE: message,
            },
            context,
        )
        self._speaker.note(
            Activity.ACTED if done else Activity.SPOKE,
            {ATTR_RUN_ID: run_id, "outcome": outcome, ATTR_MESSAGE: message},
            context,
        )

    def failed(self, run: Run, ending: Ending, texts: Texts) -> None:
        """Tell of a run that could not do its work, and why; of others nothing."""
        if ending.outcome not in _FAILURES:
            return
        error = ending.error
        kind = error.kind if error else ending.outcome
        reason = error.message if error else texts.say(f"failed_{ending.outcome}")
        said = {"kind": kind, ATTR_REASON: plain_line(reason)}
        plan = run.plan
        data = {**_of_run(plan.options, run.run_id), **said}
        self._speaker.fire(EVENT_FAILED, plan.options, data, plan.context)
        told = {ATTR_RUN_ID: run.run_id, **said}
        self._speaker.note(Activity.FAILED, told, plan.context)


def _of_run(options: HeartbeatOptions, run_id: str) -> dict[str, Any]:
    return {CONF_CHECK_PROMPT: options.prompt_for_events, ATTR_RUN_ID: run_id}


def _done(actions: Iterable[ActionRecord]) -> Iterable[ActionRecord]:
    """Yield what a run did by itself; what had a yes is told by itself (S3)."""
    for action in actions:
        if action.status is ActionStatus.DONE and action.answered_by is None:
            yield action

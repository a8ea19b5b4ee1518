"""What a heartbeat tells: bus events, messages to the owner, activity."""

from dataclasses import dataclass, field
from typing import Any

from homeassistant.core import Context, HomeAssistant, callback

from ..activity import Activity, OnActivity
from ..const import (
    ATTR_MESSAGE,
    ATTR_REASON,
    ATTR_RUN_ID,
    CONF_CHECK_PROMPT,
    EVENT_ACTED,
    EVENT_HEARTBEAT_TICK,
)
from ..engine.due import Due
from ..engine.export import action_as_dict
from ..engine.records import ActionRecord, ActionStatus, Outcome
from ..engine.report import (
    Ending,
    Phrases,
    interrupted_message,
    owner_message,
    settled_message,
)
from ..identity import Identity
from ..models import HeartbeatOptions
from ..notifier.notifier import Delivery, Notifier, OnLate
from ..run import Run
from ..texts import Texts

# Why a message was not sent, as a record says it.
NOT_NEWS = "already_told"
# The outcomes of a run that could not do its work (as F7 counts them).
_FAILURES = frozenset(
    {
        Outcome.ERROR,
        Outcome.TIMEOUT,
        Outcome.TURN_LIMIT,
        Outcome.ACTION_LIMIT,
        Outcome.TOKEN_LIMIT,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a finished run was reported as; `not_sent` says why nothing was sent."""

    message: str | None = None
    not_sent: str | None = None
    delivery: Delivery = field(default_factory=Delivery)


class Reporter:
    """Fires a heartbeat's events and sends its messages."""

    def __init__(
        self,
        hass: HomeAssistant,
        identity: Identity,
        notifier: Notifier,
        on_activity: OnActivity,
    ) -> None:
        """Report for the heartbeat with this identity."""
        self._hass = hass
        self._identity = identity
        self._notifier = notifier
        self._on_activity = on_activity

    @callback
    def woke(self, run: Run) -> None:
        """Tell that the model is about to be called."""
        self._hass.bus.async_fire(
            EVENT_HEARTBEAT_TICK, self._run_data(run), context=run.plan.context
        )
        if run.plan.dry_run:
            return
        self._on_activity(
            Activity.WOKE,
            {
                ATTR_RUN_ID: run.run_id,
                "cause": run.plan.cause,
                ATTR_REASON: "; ".join(v.reason for v in run.plan.gate),
            },
            run.plan.context,
        )

    async def ended(self, run: Run, ending: Ending, on_late: OnLate) -> Told:
        """Report a run that is over: at most one message (S1, S3); a dry run none.

        `on_late` hears what became of targets that were waited for.
        """
        if run.plan.dry_run:
            return Told()
        phrases = await self._phrases((*ending.actions, *ending.unhelpful))
        message = owner_message(ending, phrases)
        targets = self._targets(run, ending)
        if targets is None:
            self._activity_of(run, ending, None)
            return Told(not_sent=NOT_NEWS if message else None)
        self._activity_of(run, ending, message)
        if message is None:
            return Told()
        data, context = self._run_data(run), run.plan.context
        self._fire_acted(data, ending.actions, message, context)
        return Told(
            message=message,
            delivery=await self._send_news(run, ending, message, targets, on_late),
        )

    async def settled(
        self, run: Run, action: ActionRecord, *, first_word: bool
    ) -> Delivery:
        """Tell what became of an action that outlived its run (R8).

        `first_word` if the owner has heard nothing of this run: its event is due (S3).
        """
        message = settled_message(action, await self._phrases((action,)))
        if action.status is ActionStatus.DONE and first_word:
            data = self._run_data(run)
            self._fire_acted(data, (action,), message, run.plan.context)
        return await self._send(
            run.plan.options, message, f"{run.run_id}_settled", run.plan.context
        )

    async def overdue(
        self, options: HeartbeatOptions, due: Due, *, on_late: OnLate
    ) -> Told:
        """Tell after a restart what it has kept from being told (S5).

        The event of a run that acted is due with it, unless it was fired before (S3).
        """
        message, context = due.message, Context()
        if message is None:
            message = interrupted_message(due.actions, await self._phrases(due.actions))
            has_acted = Ending(actions=due.actions).acted
            if message is not None and has_acted and due.is_of_run:
                data = self._data(options, due.run_id)
                self._fire_acted(data, due.actions, message, context)
                self._on_activity(
                    Activity.ACTED,
                    {
                        ATTR_RUN_ID: due.run_id,
                        "outcome": Outcome.STOPPED,
                        ATTR_MESSAGE: message,
                    },
                    context,
                )
        if message is None:
            return Told()
        wanted = tuple(one for one in due.targets if one in options.notify)
        delivery = await self._notifier.async_send(
            wanted or options.notify,
            title=options.title,
            message=message,
            notification_id=due.id,
            context=context,
            on_late=on_late,
        )
        return Told(message=message, delivery=delivery)

    def _targets(self, run: Run, ending: Ending) -> tuple[str, ...] | None:
        """Return whom to tell; None if everyone knows already (S4)."""
        targets = run.plan.options.notify
        if ending.has_called:
            return targets
        return run.plan.hearing.not_heard(targets, ending.unhelpful)

    async def _send_news(
        self,
        run: Run,
        ending: Ending,
        message: str,
        targets: tuple[str, ...],
        on_late: OnLate,
    ) -> Delivery:
        """Send what a run has to say, and remember who has heard it (S4)."""

        @callback
        def note(delivery: Delivery) -> None:
            if not ending.has_called:
                run.plan.hearing.note(
                    message, delivery.reached, ending.unhelpful, kept=delivery.kept
                )

        @callback
        def note_late(delivery: Delivery) -> None:
            note(delivery)
            on_late(delivery)

        delivery = await self._notifier.async_send(
            targets,
            title=run.plan.options.title,
            message=message,
            notification_id=run.run_id,
            context=run.plan.context,
            on_late=note_late,
        )
        note(delivery)
        return delivery

    async def _phrases(self, actions: tuple[ActionRecord, ...]) -> Phrases:
        texts = await Texts.async_load(self._hass, actions)
        return Phrases(say=texts.say, name_of=texts.name_of)

    async def _send(
        self,
        options: HeartbeatOptions,
        message: str,
        notification_id: str,
        context: Context,
    ) -> Delivery:
        return await self._notifier.async_send(
            options.notify,
            title=options.title,
            message=message,
            notification_id=notification_id,
            context=context,
        )

    def _fire_acted(
        self,
        run_data: dict[str, Any],
        actions: tuple[ActionRecord, ...],
        message: str,
        context: Context,
    ) -> None:
        self._hass.bus.async_fire(
            EVENT_ACTED,
            {
                **run_data,
                "actions": [action_as_dict(action) for action in actions],
                ATTR_MESSAGE: message,
            },
            context=context,
        )

    def _activity_of(self, run: Run, ending: Ending, message: str | None) -> None:
        data = {
            ATTR_RUN_ID: run.run_id,
            "outcome": ending.outcome,
            ATTR_MESSAGE: message,
        }
        if ending.acted:
            self._on_activity(Activity.ACTED, data, run.plan.context)
        elif message is not None:
            self._on_activity(Activity.SPOKE, data, run.plan.context)
        if ending.outcome in _FAILURES:
            error = ending.error
            kind = error.kind if error else ending.outcome
            reason = error.message if error else None
            self._on_activity(
                Activity.FAILED,
                {ATTR_RUN_ID: run.run_id, "kind": kind, ATTR_REASON: reason},
                run.plan.context,
            )

    def _run_data(self, run: Run) -> dict[str, Any]:
        return self._data(run.plan.options, run.run_id)

    def _data(self, options: HeartbeatOptions, run_id: str) -> dict[str, Any]:
        return {
            **self._identity.describe(self._hass, options.title),
            CONF_CHECK_PROMPT: options.check_prompt,
            ATTR_RUN_ID: run_id,
        }

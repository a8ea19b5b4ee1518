"""What a heartbeat tells of its runs: at most one message, and the events."""

from dataclasses import dataclass, field

from homeassistant.core import Context, callback

from ..engine.due import Due
from ..engine.records import ActionRecord, ActionStatus, Outcome
from ..engine.report import (
    Ending,
    Phrases,
    interrupted_message,
    owner_message,
    settled_message,
)
from ..models import HeartbeatOptions
from ..notifier.notifier import Delivery, OnLate
from ..run.run import Run
from ..texts import Texts
from .run_events import RunEvents
from .speaker import Speaker

# Why a message was not sent, as a record says it.
NOT_NEWS = "already_told"


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What was told of a run, and whom it has reached.

    `not_sent` is why nothing was sent although there was something to say.
    """

    message: str | None = None
    not_sent: str | None = None
    delivery: Delivery = field(default_factory=Delivery)


class Reporter:
    """Tells of each run once it is over, and of what was due from before."""

    def __init__(self, speaker: Speaker) -> None:
        """Report through this speaker."""
        self._speaker = speaker
        self._events = RunEvents(speaker)

    @callback
    def woke(self, run: Run) -> None:
        """Tell that the model is about to be called."""
        self._events.woke(run)

    async def ended(self, run: Run, ending: Ending, on_late: OnLate) -> Told:
        """Report a run that is over: at most one message (S1, S3); a dry run none.

        `on_late` hears what became of targets that were waited for.
        """
        if run.plan.dry_run:
            return Told()
        texts = await self._speaker.async_texts((*ending.actions, *ending.unhelpful))
        message = owner_message(ending, _phrases(texts))
        targets = self._targets(run, ending)
        if message is not None and targets is not None:
            self._events.acted(
                run.plan.options,
                run.run_id,
                actions=ending.actions,
                message=message,
                outcome=ending.outcome,
                context=run.plan.context,
                texts=texts,
            )
        self._events.failed(run, ending, texts)
        if message is None:
            return Told()
        if targets is None:
            return Told(not_sent=NOT_NEWS)
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
        texts = await self._speaker.async_texts((action,))
        message = settled_message(action, _phrases(texts))
        if action.status is ActionStatus.DONE and first_word:
            self._events.acted(
                run.plan.options,
                run.run_id,
                actions=(action,),
                message=message,
                outcome=Outcome.ACTED,
                context=run.plan.context,
                texts=texts,
            )
        return await self._speaker.async_send(
            run.plan.options,
            message,
            notification_id=f"{run.run_id}_settled",
            context=run.plan.context,
        )

    async def overdue(
        self, options: HeartbeatOptions, due: Due, *, on_late: OnLate
    ) -> Told:
        """Tell after a restart what it has kept from being told (S5).

        A run that acted gets its event `acted` with it, unless it has had it before
        (S3).
        """
        message, context = due.message, Context()
        if message is None:
            texts = await self._speaker.async_texts(due.actions)
            message = interrupted_message(due.actions, _phrases(texts))
            has_acted = Ending(actions=due.actions).acted
            if message is not None and has_acted and due.is_of_run:
                self._events.acted(
                    options,
                    due.run_id,
                    actions=due.actions,
                    message=message,
                    outcome=Outcome.STOPPED,
                    context=context,
                    texts=texts,
                )
        if message is None:
            return Told()
        wanted = tuple(one for one in due.targets if one in options.notify)
        delivery = await self._speaker.async_send(
            options,
            message,
            notification_id=due.id,
            context=context,
            targets=wanted or options.notify,
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

        delivery = await self._speaker.async_send(
            run.plan.options,
            message,
            notification_id=run.run_id,
            context=run.plan.context,
            targets=targets,
            on_late=note_late,
        )
        note(delivery)
        return delivery


def _phrases(texts: Texts) -> Phrases:
    return Phrases(say=texts.say, name_of=texts.name_of)

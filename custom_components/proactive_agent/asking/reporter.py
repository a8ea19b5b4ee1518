"""What is told of a request: bus events, activity, messages to its owner (P2, S3)."""

from collections.abc import Mapping
from typing import Any, Final

from homeassistant.core import Context

from ..activity import Activity
from ..const import (
    ATTR_ANSWERED_BY,
    ATTR_APPROVAL_ID,
    ATTR_BECAUSE,
    ATTR_DID,
    ATTR_MESSAGE,
    ATTR_REQUEST,
    ATTR_RUN_ID,
    CONF_CHECK_PROMPT,
    DOMAIN,
    EVENT_ACTED,
    EVENT_APPROVAL_ANSWERED,
    EVENT_APPROVAL_REQUESTED,
    EVENT_FAILED,
    TAP_APPROVE,
    TAP_REJECT,
)
from ..engine.approval_words import (
    action_in_words,
    as_record,
    request_message,
    short_name,
)
from ..engine.approvals import Approval, ApprovalStatus, fault_after_yes
from ..engine.errors import RefusalKind
from ..engine.export import action_as_dict
from ..engine.records import ActionRecord, ActionStatus
from ..engine.report import Phrases
from ..models import HeartbeatOptions
from ..notifier.notifier import Button, Notifier, OnLate
from ..telling import deeds
from ..telling.reporter import Told
from ..telling.speaker import Speaker
from ..texts import local_time

_ACTIVITIES: Final[Mapping[ApprovalStatus, Activity]] = {
    ApprovalStatus.APPROVED: Activity.APPROVED,
    ApprovalStatus.REJECTED: Activity.REJECTED,
    ApprovalStatus.EXPIRED: Activity.EXPIRED,
}


class ApprovalReporter:
    """Asks the owner of one heartbeat, and tells what has become of it."""

    def __init__(self, speaker: Speaker, notifier: Notifier) -> None:
        """Tell through this speaker; the notifier puts the buttons on phones."""
        self._speaker = speaker
        self._notifier = notifier

    async def words(self, approval: Approval) -> str:
        """Say what a yes would do, in at most 255 characters."""
        phrases = await self._phrases(approval)
        return action_in_words(approval, phrases)

    async def asked(
        self, options: HeartbeatOptions, approval: Approval, *, again: bool = False
    ) -> None:
        """Put the question to the targets of the heartbeat (P2).

        `again` shows it once more where a restart has taken it away, without an event.
        """
        phrases = await self._phrases(approval)
        elsewhere = phrases.say(
            "asks_elsewhere",
            heartbeat=short_name(options.title),
            time=local_time(approval.expires),
        )
        message = request_message(approval, options.title, phrases, elsewhere)
        context = Context()
        if not again:
            self._fire(EVENT_APPROVAL_REQUESTED, options, approval, message, context)
            self._speaker.note(Activity.ASKED, _activity(approval, message), context)
        await self._notifier.async_ask(
            options.notify,
            title=options.title,
            message=message,
            elsewhere=elsewhere,
            tag=tag_of(approval),
            buttons=_buttons(approval, phrases),
            context=context,
        )

    async def answered(self, options: HeartbeatOptions, approval: Approval) -> None:
        """Tell that a request has got its answer, or will get none.

        The event carries the context that the action is called with, so that the
        action is put down to the heartbeat (A8).
        """
        phrases = await self._phrases(approval)
        wanted = action_in_words(approval, phrases)
        context = Context(id=approval.context_id)
        self._fire(
            EVENT_APPROVAL_ANSWERED,
            options,
            approval,
            wanted,
            context,
        )
        if (activity := _ACTIVITIES.get(approval.status)) is not None:
            self._speaker.note(activity, _activity(approval, wanted), context)

    async def cleared(self, options: HeartbeatOptions, approval: Approval) -> None:
        """Take a request off every device (P2)."""
        await self._notifier.async_clear(
            shown_on(approval, options), tag=tag_of(approval), context=Context()
        )

    async def executed(
        self,
        options: HeartbeatOptions,
        approval: Approval,
        record: ActionRecord,
        message: str,
        on_late: OnLate,
    ) -> Told:
        """Tell by this message how an approved action ended (S3)."""
        context = Context(id=approval.context_id)
        if record.status is ActionStatus.DONE:
            texts = await self._speaker.async_texts((record,))
            did = deeds.in_words(texts, (record,))
            self._fire(EVENT_ACTED, options, approval, message, context, record, did)
            self._speaker.note(Activity.ACTED, _activity(approval, message), context)
        elif record.status is ActionStatus.ALREADY:
            self._speaker.note(Activity.SPOKE, _activity(approval, message), context)
        else:
            self._fire(EVENT_FAILED, options, approval, message, context, record)
            self._speaker.note(Activity.FAILED, _activity(approval, message), context)
        return await self._send(options, approval, message, context, on_late)

    async def ending(
        self, approval: Approval, record: ActionRecord, refused: RefusalKind | None
    ) -> str:
        """Return the one line on how an approved action ended (S2)."""
        phrases = await self._phrases(approval)
        wanted = action_in_words(approval, phrases)
        return phrases.say(_ending(record, refused), actions=wanted)

    async def interruption(self, approval: Approval) -> str:
        """Return the one line on what a restart has cut short (P3)."""
        phrases = await self._phrases(approval)
        is_unknown = approval.status is ApprovalStatus.UNKNOWN
        return phrases.say(
            "approval_unknown" if is_unknown else "approval_never_called",
            actions=action_in_words(approval, phrases),
        )

    async def interrupted(
        self,
        options: HeartbeatOptions,
        approval: Approval,
        message: str,
        on_late: OnLate,
    ) -> Told:
        """Tell by this message what a restart has cut short (P3)."""
        context = Context()
        self._fire(EVENT_FAILED, options, approval, message, context)
        self._speaker.note(Activity.FAILED, _activity(approval, message), context)
        return await self._send(options, approval, message, context, on_late)

    async def _phrases(self, approval: Approval) -> Phrases:
        record = as_record(approval, ActionStatus.WAITING)
        texts = await self._speaker.async_texts((record,))
        return Phrases(say=texts.say, name_of=texts.name_of)

    async def _send(
        self,
        options: HeartbeatOptions,
        approval: Approval,
        message: str,
        context: Context,
        on_late: OnLate,
    ) -> Told:
        delivery = await self._speaker.async_send(
            options,
            message,
            notification_id=due_id_of(approval),
            context=context,
            on_late=on_late,
        )
        return Told(message=message, delivery=delivery)

    def _fire(
        self,
        event_type: str,
        options: HeartbeatOptions,
        approval: Approval,
        message: str,
        context: Context,
        record: ActionRecord | None = None,
        did: str | None = None,
    ) -> None:
        action = record or as_record(approval, ActionStatus.WAITING)
        self._speaker.fire(
            event_type,
            options,
            {
                CONF_CHECK_PROMPT: options.prompt_for_events,
                ATTR_APPROVAL_ID: approval.approval_id,
                ATTR_RUN_ID: approval.run_id,
                ATTR_REQUEST: approval.words,
                ATTR_MESSAGE: message,
                ATTR_ANSWERED_BY: approval.answered_by,
                "status": approval.status,
                ATTR_BECAUSE: approval.because,
                "expires": approval.expires.isoformat(),
                "actions": [action_as_dict(action)],
                **({ATTR_DID: did} if did else {}),
            },
            context,
        )


def due_id_of(approval: Approval) -> str:
    """Return the id of the message that tells how a request ended (S5)."""
    return f"{approval.approval_id}_ended"


def tag_of(approval: Approval) -> str:
    """Return the tag by which phones and Home Assistant replace a request."""
    return f"{DOMAIN}_{approval.approval_id}"


def shown_on(approval: Approval, options: HeartbeatOptions) -> tuple[str, ...]:
    """Return the targets that show a request, whatever the options name by now."""
    return approval.targets or options.notify


def _ending(record: ActionRecord, refused: RefusalKind | None) -> str:
    """Return the key of the sentence for how it ended (S2)."""
    if record.may_go_on:
        return "settled_unended"
    if record.status is ActionStatus.DONE:
        return "approval_done" if record.note is None else "approval_unseen"
    if record.status is ActionStatus.ALREADY:
        return "approval_already"
    return fault_after_yes(refused)


def _buttons(approval: Approval, phrases: Phrases) -> tuple[Button, Button]:
    return (
        Button(
            action=f"{TAP_APPROVE}{approval.secret}",
            title=phrases.say("button_approve"),
            needs_unlock=approval.is_risky,
        ),
        Button(
            action=f"{TAP_REJECT}{approval.secret}",
            title=phrases.say("button_reject"),
            destructive=True,
        ),
    )


def _activity(approval: Approval, message: str) -> dict[str, Any]:
    return {
        ATTR_RUN_ID: approval.run_id,
        ATTR_APPROVAL_ID: approval.approval_id,
        ATTR_MESSAGE: message,
        ATTR_ANSWERED_BY: approval.answered_by,
    }

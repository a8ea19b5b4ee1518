"""How requests have ended, told also if Home Assistant ends meanwhile (S2, S5)."""

from collections.abc import Callable
from functools import partial

from homeassistant.core import callback

from ..engine.approval_words import as_record
from ..engine.approvals import Approval
from ..engine.errors import RefusalKind
from ..engine.records import ActionRecord, ActionStatus
from ..models import HeartbeatOptions
from ..telling.due import DueMessages
from .reporter import ApprovalReporter, due_id_of


class Endings:
    """Tells the owner how requests have ended, by the options of the moment.

    Each message is written to disk before it is sent, and taken off when it was.
    """

    def __init__(
        self,
        reporter: ApprovalReporter,
        due: DueMessages,
        options: Callable[[], HeartbeatOptions],
    ) -> None:
        """Tell by the options of the moment."""
        self._reporter = reporter
        self._due = due
        self._options = options

    async def async_message(
        self, approval: Approval, record: ActionRecord, refused: RefusalKind | None
    ) -> str:
        """Return what there is to tell of an approved action."""
        return await self._reporter.ending(approval, record, refused)

    @callback
    def put(self, approval: Approval, message: str) -> None:
        """Have the message written down with whatever is saved next."""
        self._due.put_words(due_id_of(approval), approval.run_id, message)

    async def async_tell(
        self, approval: Approval, record: ActionRecord, message: str
    ) -> None:
        """Tell how an approved action ended, by the message that was put."""
        due_id = due_id_of(approval)
        told = await self._reporter.executed(
            self._options(),
            approval,
            record,
            message,
            partial(self._due.reached, due_id),
        )
        self._due.delivered(due_id, told)

    async def async_stopped(self, approval: Approval) -> None:
        """Tell that what had its yes was not begun when the heartbeat stopped (F6)."""
        record = as_record(approval, ActionStatus.FAILED)
        message = await self.async_message(approval, record, RefusalKind.STOPPED)
        self.put(approval, message)
        await self.async_tell(approval, record, message)

    async def async_interrupted(self, approval: Approval) -> None:
        """Tell what a restart has cut short (P3)."""
        message = await self._reporter.interruption(approval)
        self.put(approval, message)
        due_id = due_id_of(approval)
        told = await self._reporter.interrupted(
            self._options(), approval, message, partial(self._due.reached, due_id)
        )
        self._due.delivered(due_id, told)

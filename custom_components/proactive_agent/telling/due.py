"""Messages that the owner has yet to get, kept over a restart (S5)."""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from homeassistant.components.persistent_notification import (
    Notification,
    UpdateType,
    async_register_callback,
)
from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.util import dt as dt_util

from ..engine.due import Due, with_due, without_due
from ..engine.records import ActionRecord, ActionStatus
from ..models import HeartbeatOptions
from ..notifier.letter import shown_as
from ..notifier.notifier import Delivery
from ..store.memory import Memory
from ..store.store import SAVE_SHORTLY
from .reporter import Reporter, Told


class DueMessages:
    """Keeps a run's messages on disk, from its first action until they are told.

    What a run is about to do is on disk before it is done. A message that has reached
    nobody is sent again after a restart, unless its owner has dismissed it in Home
    Assistant.
    """

    def __init__(
        self,
        hass: HomeAssistant,
        memory: Memory,
        reporter: Reporter,
        on_overdue: Callable[[str, Told], None],
        on_unseen: Callable[[str, int], None],
    ) -> None:
        """Go on with what the memory holds; nothing is told before `resume`.

        `on_overdue` hears how a run was told only after it was over, `on_unseen` of
        which action of a run it was told that nobody saw its end.
        """
        self._hass = hass
        self._memory = memory
        self._reporter = reporter
        self._on_overdue = on_overdue
        self._on_unseen = on_unseen
        self._unsubscribe: CALLBACK_TYPE | None = None

    @callback
    def resume(
        self,
        spawn: Callable[[Coroutine[Any, Any, None], str], object],
        options: HeartbeatOptions,
    ) -> None:
        """Tell after a start what was not told before it."""
        now = dt_util.utcnow()
        for due in self._memory.due:
            if due.is_over(now):
                self._put(without_due(self._memory.due, due.id))
                given_up = Delivery(failed=due.targets)
                self._on_overdue(due.id, Told(message=due.message, delivery=given_up))
            else:
                spawn(self._tell(due, options), "due message")

    @callback
    def close(self) -> None:
        """Follow no more what is dismissed."""
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None

    async def async_about_to(
        self, run_id: str, actions: Sequence[ActionRecord]
    ) -> None:
        """Have it on disk that the last of a run's actions is about to be called.

        A disk that takes nothing keeps no action back: it could not be told later.
        """
        known = self._find(run_id)
        due = known or Due(id=run_id, run_id=run_id, at=dt_util.utcnow())
        due = replace(due, actions=tuple(actions))
        self._memory.put_due(with_due(self._memory.due, due))
        await self._memory.meter.async_save_ahead()

    @callback
    def done_so_far(self, run_id: str, actions: Sequence[ActionRecord]) -> None:
        """Note how the actions of a run stand, if there is something due of it."""
        due = self._find(run_id)
        if due is not None and due.message is None:
            due = replace(due, actions=tuple(actions))
            # What comes next in the run is written at once, and this with it.
            self._put(with_due(self._memory.due, due), SAVE_SHORTLY)

    @callback
    def told(self, run_id: str, actions: Sequence[ActionRecord], told: Told) -> None:
        """Note that a run has been told.

        Each of its actions that is still running becomes a message of its own.
        """
        due = without_due(self._memory.due, run_id)
        for index, action in enumerate(actions):
            if action.status is ActionStatus.STILL_RUNNING:
                one = _of_action(run_id, index)
                due = with_due(due, replace(one, actions=(action,)))
        left = _left(Due(id=run_id, run_id=run_id, at=dt_util.utcnow()), told)
        # A run that has been told is about to end, which is written at once.
        self._put(with_due(due, left) if left else due, SAVE_SHORTLY)

    @callback
    def settled(self, run_id: str, index: int) -> None:
        """Note that the end of an action that outlived its run has been told."""
        self._put(without_due(self._memory.due, _of_action(run_id, index).id))

    @callback
    def put_words(self, due_id: str, run_id: str, message: str) -> None:
        """Keep this message; it is written with whatever is saved next."""
        due = Due(id=due_id, run_id=run_id, at=dt_util.utcnow(), message=message)
        self._memory.put_due(with_due(self._memory.due, due))

    @callback
    def delivered(self, due_id: str, told: Told) -> None:
        """Note which targets a message has reached that `put_words` kept."""
        if (due := self._find(due_id)) is not None:
            self._delivered(due, told)

    @callback
    def reached(self, run_id: str, delivery: Delivery) -> None:
        """Note which late targets a message has reached."""
        due = self._find(run_id)
        told = Told(message=due.message if due else None, delivery=delivery)
        if due is not None:
            self._delivered(due, told)
        self._on_overdue(run_id, told)

    def still_waits(self, run_id: str, told: Told) -> tuple[str, ...]:
        """Return the targets of a run's message that are still waited for."""
        due = self._find(run_id)
        left = () if due is None else due.targets
        return tuple(one for one in told.delivery.late if one in left)

    async def _tell(self, due: Due, options: HeartbeatOptions) -> None:
        told = await self._reporter.overdue(
            options, due, on_late=partial(self.reached, due.id)
        )
        self._delivered(due, told)
        if due.is_of_run and told.message is not None:
            self._on_overdue(due.run_id, told)
        elif due.actions and not due.is_of_run:
            self._on_unseen(due.run_id, _place_of(due))

    @callback
    def _delivered(self, due: Due, told: Told) -> None:
        left = _left(due, told)
        known = without_due(self._memory.due, due.id)
        self._put(with_due(known, left) if left else known)

    def _find(self, due_id: str) -> Due | None:
        return next((one for one in self._memory.due if one.id == due_id), None)

    @callback
    def _put(self, due: tuple[Due, ...], delay: float = 0) -> None:
        if due != self._memory.due:
            self._memory.put_due(due)
            self._memory.save_soon(delay)
        has_words = any(one.message is not None for one in due)
        if has_words and self._unsubscribe is None:
            self._unsubscribe = async_register_callback(self._hass, self._updated)
        elif not has_words:
            self.close()

    @callback
    def _updated(self, update: UpdateType, changed: dict[str, Notification]) -> None:
        """Take for heard what is dismissed."""
        if update is UpdateType.REMOVED:
            self._put(
                tuple(
                    one
                    for one in self._memory.due
                    if one.message is None or shown_as(one.id) not in changed
                )
            )


def _left(due: Due, told: Told) -> Due | None:
    """Return what has reached nobody, or who is still waited for."""
    delivery = told.delivery
    left = (*delivery.failed, *delivery.late) if delivery.kept else delivery.late
    if told.message is None or not left:
        return None
    return replace(due, actions=(), message=told.message, targets=left)


def _of_action(run_id: str, index: int) -> Due:
    return Due(id=f"{run_id}_{index}", run_id=run_id, at=dt_util.utcnow())


def _place_of(due: Due) -> int:
    """Return which action of its run it is about, as `_of_action` has it."""
    return int(due.id.removeprefix(f"{due.run_id}_"))

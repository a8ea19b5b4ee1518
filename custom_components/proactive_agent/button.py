"""What a heartbeat can be told from a dashboard: check now, yes, no."""

from homeassistant.components.button import ButtonEntity
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .answers.answers import Answers, Request
from .const import DOMAIN
from .entity import HeartbeatEntity, add_for_each_heartbeat
from .heartbeat.heartbeat import Heartbeat
from .runtime import ProactiveAgentConfigEntry

PARALLEL_UPDATES = 0
# Seconds. Whoever taps twice means the request that was there before.
UNSEEN = 2


async def async_setup_entry(
    hass: HomeAssistant,
    entry: ProactiveAgentConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the buttons of each heartbeat."""
    answers = entry.runtime_data.answers
    add_for_each_heartbeat(
        entry,
        async_add_entities,
        lambda heartbeat: [
            CheckNowButton(heartbeat),
            AnswerButton(heartbeat, answers, yes=True),
            AnswerButton(heartbeat, answers, yes=False),
        ],
    )


class CheckNowButton(HeartbeatEntity, ButtonEntity):
    """Wakes the model whatever the gate says; it does not wait for the run (C8)."""

    def __init__(self, heartbeat: Heartbeat) -> None:
        """Be the button of a heartbeat."""
        super().__init__(heartbeat, "check_now")

    async def async_press(self) -> None:
        """Start a run; refused with a reason when there can be none."""
        self.heartbeat.wake(context=self._context)


class AnswerButton(HeartbeatEntity, ButtonEntity):
    """Answers the oldest request, which `pending_approval` shows (P2)."""

    def __init__(self, heartbeat: Heartbeat, answers: Answers, *, yes: bool) -> None:
        """Be the button that says yes or no."""
        super().__init__(heartbeat, "approve" if yes else "reject")
        self._answers = answers
        self._yes = yes
        self._shown = self._oldest_id()
        self._replaced_at: float | None = None

    async def async_press(self) -> None:
        """Answer; refused with a reason if there is nothing, or nothing seen yet."""
        if not self.heartbeat.asking.pending:
            raise _refused("nothing_pending", self.heartbeat)
        if self._is_unseen():
            raise _refused("request_replaced", self.heartbeat)
        oldest = self.heartbeat.asking.pending[0]
        await self._answers.async_answer(
            Request(heartbeat=self.heartbeat, approval=oldest),
            yes=self._yes,
            context=self._context or Context(),
        )

    @callback
    def _heartbeat_changed(self) -> None:
        oldest = self._oldest_id()
        if self._shown is not None and self._shown != oldest:
            self._replaced_at = self.hass.loop.time()
        self._shown = oldest
        super()._heartbeat_changed()

    def _oldest_id(self) -> str | None:
        pending = self.heartbeat.asking.pending
        return pending[0].approval_id if pending else None

    def _is_unseen(self) -> bool:
        if self._replaced_at is None:
            return False
        return self.hass.loop.time() - self._replaced_at < UNSEEN


def _refused(key: str, heartbeat: Heartbeat) -> ServiceValidationError:
    return ServiceValidationError(
        translation_domain=DOMAIN,
        translation_key=key,
        translation_placeholders={"heartbeat": heartbeat.options.title},
    )

"""One run: from the wake to the last word, on a fresh conversation."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
import logging

from homeassistant.core import HomeAssistant, callback
from homeassistant.util import dt as dt_util
from homeassistant.util.ulid import ulid_now

from ..engine.errors import Advice, CutReason, ModelError, RunCutError, own_fault
from ..engine.journal import Journal
from ..engine.plain_text import plain_line
from ..engine.ports import Allowance, Mind
from ..engine.prompt import opening_messages
from ..engine.records import ActionRecord, JsonObject, RunError, RunRecord
from ..engine.report import Ending
from ..engine.truncation import Reading
from ..guard.guard import Action, Guard, Terms
from ..home.home import Reach, describe
from ..store.meter import Meter
from ..texts import cached_error_text
from ..tools.toolbox import OfferCache, Toolbox
from .plan import RunPlan

_LOGGER = logging.getLogger(__name__)

# Seconds that a cancelled conversation may take to end before it is left behind.
LET_GO_TIMEOUT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPorts:
    """What a run asks of its heartbeat while it is in flight.

    - `permitted` returns what may be seen and touched now (C7).
    - `announce` is called when the model is about to be asked.
    - `on_settled` gets an action that outlived it: the run, the index, the record (R8).
    - `ask` puts an action to the owner: run id, index, action, the reason (P1).
    - `about_to` and `done_so_far` keep on disk what the run has called (S5).
    """

    mind: Mind
    offers: OfferCache
    permitted: Callable[[], Reach]
    action_lock: asyncio.Lock
    budget: Meter
    announce: Callable[[Run], None]
    on_settled: Callable[[Run, int, ActionRecord], None]
    ask: Callable[[str, int, Action, str], Awaitable[None]]
    about_to: Callable[[str, Sequence[ActionRecord]], Awaitable[None]]
    done_so_far: Callable[[str, Sequence[ActionRecord]], None]


class Run:
    """One run of the model; `execute` it once, `cut` it at any time."""

    def __init__(self, hass: HomeAssistant, plan: RunPlan, ports: RunPorts) -> None:
        """Prepare; nothing happens before `execute`."""
        self.run_id = ulid_now()
        self.plan = plan
        self.stop_reason: str | None = None
        self._hass = hass
        self._ports = ports
        self.started = dt_util.utcnow()
        self._began = hass.loop.time()
        self._journal = Journal(clock=hass.loop.time)
        self._seen: tuple[str, ...] = ()
        self._cut: CutReason | None = None
        self._error: RunError | None = None
        self._said: str | None = None
        self._released = hass.loop.create_future()
        self._conversation: asyncio.Task[None] | None = None
        self._guard = Guard(
            hass,
            context=plan.context,
            terms=Terms(
                permitted=ports.permitted,
                ask_before_risky=plan.options.manners.ask_before_risky,
                max_actions=plan.options.fuses.max_actions,
                dry_run=plan.dry_run,
            ),
            lock=ports.action_lock,
            on_settled=self._action_settled,
            past_actions=plan.past_actions,
            consent=self,
            witness=self,
        )

    @property
    def ending(self) -> Ending:
        """What is known of the run by now."""
        return Ending(
            actions=self._guard.actions,
            said=None if self.plan.dry_run else self._said,
            cut=self._cut,
            error=self._error,
            unhelpful=self._guard.unhelpful,
        )

    @property
    def first_request(self) -> Reading | None:
        """How much was read of what was sent first, if the server says."""
        return self._journal.first

    @callback
    def cut(self, reason: CutReason) -> None:
        """End the waiting at once: no new action is called (R8, F3, F6)."""
        if not self._over:
            self._cut = reason
            self._end()

    @callback
    def answered(self, index: int, action: ActionRecord) -> None:
        """Note what became of an action that waited for a yes (P1)."""
        self._guard.answered(index, action)

    async def execute(self) -> None:
        """Run to the end or to `run_timeout`, whatever a tool or server does (F3)."""
        conversation = self._conversation = self._hass.async_create_background_task(
            self._converse(),
            f"proactive_agent run {self.run_id}",
            eager_start=True,
        )
        try:
            await asyncio.wait(
                {conversation, self._released},
                timeout=self.plan.options.fuses.run_timeout,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if not conversation.done():
                self.cut(CutReason.TIMEOUT)
        finally:
            self._end()
        await asyncio.wait({conversation}, timeout=LET_GO_TIMEOUT)
        # What a conversation that does not let go still does is not this run's.
        self._journal = self._journal.copy()

    async def async_ask(self, action: Action, index: int) -> None:
        """Put an action of this run to the owner (P1)."""
        await self._ports.ask(self.run_id, index, action, self._reason)

    async def async_about_to(self, actions: Sequence[ActionRecord]) -> None:
        """Have it on disk that the last of these is about to be called (S5)."""
        await self._ports.about_to(self.run_id, actions)

    @callback
    def done_so_far(self, actions: Sequence[ActionRecord]) -> None:
        """Note how the actions stand by now (S5)."""
        self._ports.done_so_far(self.run_id, actions)

    def record(self, ending: Ending) -> RunRecord:
        """Return the run as it stood at `ending`; nothing is told of it yet."""
        return RunRecord(
            run_id=self.run_id,
            started=self.started,
            cause=self.plan.cause,
            outcome=ending.outcome,
            error=ending.error,
            gate=self.plan.gate,
            actions=ending.actions,
            message=None,
            turns=self._journal.turns,
            tokens=self._journal.usage,
            seconds=round(self._hass.loop.time() - self._began, 3),
            calls=tuple(self._journal.calls),
            stopped=False,
            answer=self._journal.answer,
            dry_run=self.plan.dry_run,
            seen=self._seen,
            each_turn=tuple(self._journal.answered),
        )

    async def _converse(self) -> None:
        try:
            self._check()
            self._ports.mind.check_ready()
            if not await self._ports.budget.charge_wake():
                self._fail(own_fault(Advice.NOT_CHARGED))
                return
            toolbox, opening = await self._toolbox(), self._opening()
            self._check()
            self._ports.announce(self)
            await self._ports.mind.converse(
                toolbox,
                opening,
                max_turns=self.plan.options.fuses.max_turns,
                allowance=self._allowance(),
                journal=self._journal,
            )
        except asyncio.CancelledError as cancelled:
            if self._cut is CutReason.TIMEOUT:
                # Why the model was still waited for when the time was over (F3).
                self._note(cancelled.__cause__)
            raise
        except RunCutError as cut:
            self._cut = self._cut or cut.kind
        except ModelError as error:
            self._fail(error)
        except Exception as error:
            _LOGGER.exception("A run of %s failed", self.plan.options.title)
            self._fail(own_fault(Advice.INTERNAL, detail=repr(error)))

    async def _toolbox(self) -> Toolbox:
        return await self._ports.offers.async_toolbox(
            reach=self.plan.reach,
            guard=self._guard,
            tell=self._tell,
            stop=self._stop if self.plan.options.manners.may_stop else None,
            context=self.plan.context,
        )

    def _allowance(self) -> Allowance:
        return Allowance(
            remaining=lambda: self._ports.budget.tokens_left,
            charge=self._ports.budget.charge_tokens,
            check=self._check,
        )

    def _opening(self) -> Sequence[JsonObject]:
        home = describe(self._hass, self.plan.reach)
        self._seen = tuple(home.splitlines())
        return opening_messages(
            self.plan.options.check_prompt,
            local_time=dt_util.now().strftime("%A, %Y-%m-%d %H:%M"),
            home=home,
            requests=self.plan.requests,
            told=self.plan.hearing.for_prompt(),
        )

    def _end(self) -> None:
        self._guard.close()
        if self._conversation is not None:
            # At once: a pause between two tries could else end in one more request.
            self._conversation.cancel()
        if not self._over:
            self._released.set_result(None)

    @property
    def _reason(self) -> str:
        """Why it woke, for where the model gives no reason of its own."""
        held = (verdict.reason for verdict in self.plan.gate if verdict.result)
        return self.plan.grounds or "; ".join(held)

    @property
    def _over(self) -> bool:
        return self._released.done()

    def _fail(self, error: ModelError) -> None:
        if not self._over:
            self._note(error)

    def _note(self, error: BaseException | None) -> None:
        if isinstance(error, ModelError):
            message = cached_error_text(self._hass, error)
            self._error = RunError(kind=error.kind, message=message)

    def _check(self) -> None:
        if self._cut is not None:
            raise RunCutError(self._cut)

    @callback
    def _tell(self, message: str) -> None:
        if not self._over:
            self._said = plain_line(message) or self._said

    @callback
    def _stop(self, reason: str) -> None:
        if not self._over:
            self.stop_reason = plain_line(reason)

    @callback
    def _action_settled(self, index: int, action: ActionRecord) -> None:
        self._ports.on_settled(self, index, action)

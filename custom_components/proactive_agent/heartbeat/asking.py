"""Puts together what a heartbeat needs to ask its owner."""

from collections.abc import Callable

from homeassistant.core import Context, HomeAssistant, callback

from ..approvals.approvals import Approvals
from ..asking.asking import Asking
from ..asking.carrying_out import CarryingOut
from ..asking.endings import Endings
from ..asking.farewell import Farewell
from ..asking.ports import Ports as AskingPorts
from ..asking.reporter import ApprovalReporter
from ..engine.errors import ActionRefusedError, RefusalKind
from ..engine.records import ActionRecord
from ..guard.guard import Action, Guard, Terms
from ..lineage import RunLineage
from ..store.memory import Memory
from .ports import Ports
from .runner import Runner
from .waker import Waker


class _NobodyToAsk:
    """What has its yes is not asked for again."""

    async def async_ask(self, action: Action, _index: int) -> None:
        raise ActionRefusedError(
            RefusalKind.NEEDS_APPROVAL, f"{action.name} needs another yes."
        )


def make_asking(
    hass: HomeAssistant,
    ports: Ports,
    *,
    state: Memory,
    reporter: ApprovalReporter,
    runner: Runner,
    waker: Waker,
    lineage: RunLineage,
) -> Asking:
    """Return what asks the owner of one heartbeat."""
    farewell = Farewell(
        state,
        options=ports.options,
        is_running=lambda: runner.is_running,
        is_last_tick=lambda: state.meter.ticks_spent,
        on_stop=ports.on_stop,
    )
    approvals = Approvals(state, hass, ports.on_change)

    @callback
    def make_guard(
        context: Context, on_settled: Callable[[int, ActionRecord], None]
    ) -> Guard:
        lineage.add(context.id)
        return Guard(
            hass,
            context=context,
            terms=Terms(
                permitted=waker.reach,
                ask_before_risky=ports.options().manners.ask_before_risky,
                max_actions=1,
            ),
            lock=runner.action_lock,
            on_settled=on_settled,
            past_actions=waker.past_actions,
            consent=_NobodyToAsk(),
        )

    endings = Endings(reporter, runner.due, ports.options)
    carrying_out = CarryingOut(
        hass,
        approvals=approvals,
        endings=endings,
        make_guard=make_guard,
        on_answer=runner.answered,
        on_over=farewell.request_over,
    )
    return Asking(
        hass,
        AskingPorts(
            options=ports.options,
            is_on=lambda: state.is_on,
            spawn=runner.spawn,
            on_answer=runner.answered,
        ),
        approvals=approvals,
        reporter=reporter,
        endings=endings,
        carrying_out=carrying_out,
        farewell=farewell,
    )

"""Puts together what a heartbeat is made of."""

from dataclasses import dataclass
from functools import partial

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util

from ..asking.asking import Asking
from ..engine.fuses import Stop, StopReason
from ..identity import Identity
from ..models import has_key
from ..store.memory import Memory
from .asking import make_asking
from .health import Health
from .ports import Ports
from .rhythm import Rhythm
from .runner import Runner
from .shared import Shared
from .voice import Voice
from .waker import Waker


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """One of each; nothing of them is started yet."""

    state: Memory
    waker: Waker
    voice: Voice
    runs: Runner
    asking: Asking
    rhythm: Rhythm
    health: Health


def make_parts(
    hass: HomeAssistant,
    entry: ConfigEntry,
    heartbeat_id: str,
    shared: Shared,
    ports: Ports,
) -> Parts:
    """Make the parts of one heartbeat, by what the store knows of it."""
    options = ports.options()
    state = Memory(shared.store, heartbeat_id, options.fuses, now=dt_util.utcnow())
    waker = Waker(hass, heartbeat_id, options, state)
    identity = Identity(entry_id=entry.entry_id, heartbeat_id=heartbeat_id)
    voice = Voice(hass, identity, ports.on_activity)
    runs = Runner(
        hass,
        entry,
        voice.runs,
        state,
        shared.book(heartbeat_id, state),
        partial(shared.issues.judge, heartbeat_id),
        ports.on_run_ended,
    )
    asking = make_asking(
        hass,
        ports,
        state=state,
        reporter=voice.requests,
        runner=runs,
        waker=waker,
        lineage=shared.lineage,
    )
    rhythm = Rhythm(
        hass,
        options.title,
        state,
        key=heartbeat_id,
        on_tick=ports.on_tick,
        on_deadline=lambda _: ports.on_stop(Stop(reason=StopReason.MAX_DURATION)),
    )
    health = Health(
        hass,
        heartbeat_id,
        ports,
        state=state,
        sight=waker,
        notices=voice.notices,
        can_sign_in=lambda: has_key(entry),
        spawn=runs.spawn,
    )
    return Parts(
        state=state,
        waker=waker,
        voice=voice,
        runs=runs,
        asking=asking,
        rhythm=rhythm,
        health=health,
    )

"""Keeps a heartbeat's gate built, watched and judged."""

import logging

from homeassistant.core import HomeAssistant, callback

from .engine.records import GateVerdict
from .gate import Gate
from .gate_watch import GateWatch
from .models import HeartbeatOptions

_LOGGER = logging.getLogger(__name__)


class GateKeeper:
    """Owns the gate and its watch; until the first is built it stays closed."""

    def __init__(self, hass: HomeAssistant, heartbeat_id: str) -> None:
        """Prepare for one heartbeat; nothing is built yet."""
        self._hass = hass
        self._heartbeat_id = heartbeat_id
        self._watch: GateWatch | None = None
        self._builds = 0
        self.gate: Gate | None = None

    async def async_build(self, options: HeartbeatOptions) -> None:
        """Build the gate of these options in place of the last one (G1)."""
        self._builds += 1
        build = self._builds
        gate = await Gate.async_build(self._hass, options.conditions, options.title)
        if build != self._builds:
            # Newer options, or the end, came while this was built.
            gate.async_unload()
            return
        self._drop()
        self.gate = gate
        self._watch = GateWatch(
            self._hass,
            heartbeat_id=self._heartbeat_id,
            title=options.title,
            gate=gate,
        )
        self._watch.async_start()

    @property
    def entity_ids(self) -> frozenset[str]:
        """What the gate is known to depend on."""
        return self.gate.entity_ids if self.gate else frozenset()

    @property
    def needs_rebuild(self) -> bool:
        """Whether building the gate again may help it to be judged."""
        return self.gate is not None and self.gate.needs_rebuild

    @callback
    def judge(self) -> bool | None:
        """Say whether the gate is open; None is a gate that cannot be judged (G2)."""
        if self.gate is None or self._watch is None:
            return None
        verdict = self.gate.judge()
        self._watch.async_refresh()
        return verdict

    @callback
    def explain(self) -> tuple[GateVerdict, ...]:
        """Return what each condition says now and why (G3)."""
        return self.gate.explain() if self.gate else ()

    @callback
    def close(self) -> None:
        """Let go of the gate, also of one that is being built."""
        self._builds += 1
        self._drop()

    @callback
    def _drop(self) -> None:
        if self._watch is not None:
            self._watch.async_stop()
        if self.gate is not None:
            self.gate.async_unload()
        self._watch = self.gate = None

"""Keeps a heartbeat's gate built, watched and judged."""

from collections.abc import Sequence

from homeassistant.core import HomeAssistant, callback

from ..engine.records import GateVerdict
from ..models import HeartbeatOptions
from .gate import Gate
from .watch import GateWatch

_NOT_BUILT = GateVerdict(
    condition="all", result=None, reason="The conditions are still being prepared."
)


class GateKeeper:
    """Owns the gate and its watch; until it is built the gate stays closed."""

    def __init__(
        self, hass: HomeAssistant, heartbeat_id: str, options: HeartbeatOptions
    ) -> None:
        """Prepare for one heartbeat; nothing is built yet."""
        self._hass = hass
        self._heartbeat_id = heartbeat_id
        self._options = options
        self._watch: GateWatch | None = None
        self._builds = 0
        self._is_building = False
        self._is_current = False
        self._looked_at: Sequence[frozenset[str]] = ()
        self.gate: Gate | None = None

    @callback
    def change(self, options: HeartbeatOptions) -> bool:
        """Take other options; returns whether the gate has to be built anew (C7).

        Until that is done, other conditions than these decide nothing.
        """
        before, self._options = self._options, options
        if before.conditions != options.conditions:
            self._is_current = False
        elif before.title == options.title:
            return False
        return True

    async def async_build(self) -> None:
        """Build the gate of the present options in place of the last one (G1)."""
        self._builds += 1
        build = self._builds
        options = self._options
        self._is_building = True
        try:
            gate = await Gate.async_build(self._hass, options.conditions, options.title)
        finally:
            if build == self._builds:
                self._is_building = False
        if build != self._builds:
            # Newer options, or the end, came while this was built.
            gate.async_unload()
            return
        last, self.gate = self.gate, gate
        self._looked_at = ()
        self._is_current = True
        if self._watch is not None:
            self._watch.async_follow(gate, options.title)
        else:
            self._watch = GateWatch(
                self._hass,
                heartbeat_id=self._heartbeat_id,
                title=options.title,
                gate=gate,
            )
            self._watch.async_start()
        if last is not None:
            last.async_unload()

    @property
    def entity_ids(self) -> frozenset[str]:
        """What the gate is known to depend on."""
        return self.gate.entity_ids if self.gate else frozenset()

    @property
    def needs_rebuild(self) -> bool:
        """Whether building the gate again may help it to be judged."""
        if self._is_building:
            return False
        return not self._is_current or self.gate is None or self.gate.needs_rebuild

    @property
    def stays_closed(self) -> bool:
        """Whether the gate is still closed, judged anew only where it has to be."""
        if not self._is_current or self.gate is None:
            return False
        return self.gate.stays_closed or self.judge() is False

    @callback
    def judge(self) -> bool | None:
        """Say whether the gate is open; None is a gate that cannot be judged (G2)."""
        if self.gate is None or self._watch is None or not self._is_current:
            return None
        verdict = self.gate.judge()
        # The watch hears by itself when one of those falls silent that it knows.
        if (looked_at := self.gate.looked_at) != self._looked_at:
            self._looked_at = looked_at
            self._watch.async_refresh()
        return verdict

    @callback
    def explain(self) -> tuple[GateVerdict, ...]:
        """Return what each condition says now and why (G3)."""
        return self.gate.explain() if self.gate and self._is_current else (_NOT_BUILT,)

    @callback
    def grounds(self) -> str:
        """Say why the gate is open, in one line for its owner."""
        return self.gate.grounds() if self.gate else ""

    @callback
    def close(self) -> None:
        """Unload the gate, also one that is being built."""
        self._builds += 1
        if self._watch is not None:
            self._watch.async_stop()
        if self.gate is not None:
            self.gate.async_unload()
        self._watch = self.gate = None

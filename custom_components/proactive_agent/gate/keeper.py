"""Keeps a heartbeat's gate built, watched and judged."""

from homeassistant.core import HomeAssistant, callback

from ..engine.records import GateVerdict
from ..models import HeartbeatOptions
from .gate import Gate
from .watch import GateWatch

_NOT_BUILT = GateVerdict(
    condition="all", result=None, reason="The conditions are still being prepared."
)


class GateKeeper:
    """Owns the gate and its watch; until the first is built it stays closed."""

    def __init__(self, hass: HomeAssistant, heartbeat_id: str) -> None:
        """Prepare for one heartbeat; nothing is built yet."""
        self._hass = hass
        self._heartbeat_id = heartbeat_id
        self._watch: GateWatch | None = None
        self._builds = 0
        self._built_of: HeartbeatOptions | None = None
        self.gate: Gate | None = None

    async def async_build(self, options: HeartbeatOptions) -> None:
        """Build the gate of these options in place of the last one (G1)."""
        self._builds += 1
        build = self._builds
        self._built_of = options
        gate = await Gate.async_build(self._hass, options.conditions, options.title)
        if build != self._builds:
            # Newer options, or the end, came while this was built.
            gate.async_unload()
            return
        last, self.gate = self.gate, gate
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

    def is_built_of(self, options: HeartbeatOptions) -> bool:
        """Say whether other options need no other gate."""
        built_of = self._built_of
        return built_of is not None and (built_of.title, built_of.conditions) == (
            options.title,
            options.conditions,
        )

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
        return self.gate.explain() if self.gate else (_NOT_BUILT,)

    @callback
    def close(self) -> None:
        """Let go of the gate, also of one that is being built."""
        self._builds += 1
        if self._watch is not None:
            self._watch.async_stop()
        if self.gate is not None:
            self.gate.async_unload()
        self._watch = self.gate = None

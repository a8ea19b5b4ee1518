"""The runs that are in flight, written down in case Home Assistant ends (C6)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from homeassistant.core import callback

from ..engine.records import Cause, GateVerdict
from ..engine.stored import moment_from

# Of a gate, in case its owner has built a very long one.
MAX_CONDITIONS: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRun:
    """A run that has begun: why it woke, and when."""

    run_id: str
    started: datetime
    cause: Cause
    gate: tuple[GateVerdict, ...]
    dry_run: bool = False


class OpenRuns:
    """By heartbeat; written with the wake that is charged, and with its end."""

    def __init__(self) -> None:
        """Begin without any."""
        self._runs: dict[str, OpenRun] = {}

    def get(self, heartbeat_id: str) -> OpenRun | None:
        """Return the run of a heartbeat that has begun and not ended."""
        return self._runs.get(heartbeat_id)

    @callback
    def begin(self, heartbeat_id: str, run: OpenRun) -> None:
        """Note a run that begins; it is written with whatever is saved next."""
        self._runs[heartbeat_id] = run

    @callback
    def end(self, heartbeat_id: str) -> None:
        """Note that a run has ended."""
        self._runs.pop(heartbeat_id, None)

    def load(self, stored: Any) -> None:
        """Take what `as_dict` wrote; nothing depends on it, so rubbish is nothing."""
        if not isinstance(stored, dict):
            return
        for heartbeat_id, run in stored.items():
            try:
                self._runs[heartbeat_id] = _from_dict(run)
            except KeyError, TypeError, ValueError:
                continue

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            heartbeat_id: {
                "run_id": run.run_id,
                "started": run.started.isoformat(),
                "cause": run.cause,
                "dry_run": run.dry_run,
                "gate": [asdict(one) for one in run.gate[:MAX_CONDITIONS]],
            }
            for heartbeat_id, run in self._runs.items()
        }


def _from_dict(data: Mapping[str, Any]) -> OpenRun:
    return OpenRun(
        run_id=data["run_id"],
        started=moment_from(data["started"]),
        cause=Cause(data["cause"]),
        gate=tuple(GateVerdict(**one) for one in data["gate"]),
        dry_run=data["dry_run"],
    )

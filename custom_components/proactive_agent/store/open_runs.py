"""The runs that are in flight, written down in case Home Assistant ends (C6)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from homeassistant.core import callback

from ..engine.records import Cause, GateVerdict, RunRecord
from ..engine.run_data import run_from_text
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
    """The run in flight of each heartbeat; written with whatever is saved next."""

    def __init__(self) -> None:
        """Begin without any."""
        self._runs: dict[str, OpenRun] = {}
        self._ended: dict[str, str] = {}

    def get(self, heartbeat_id: str) -> OpenRun | None:
        """Return the run of a heartbeat that has begun and not ended."""
        return self._runs.get(heartbeat_id)

    @callback
    def begin(self, heartbeat_id: str, run: OpenRun) -> None:
        """Note a run that begins; it is written with whatever is saved next."""
        self._runs[heartbeat_id] = run

    def last_ended(self, heartbeat_id: str) -> RunRecord | None:
        """Return the last run of a heartbeat if its log may not be on disk yet."""
        text = self._ended.get(heartbeat_id)
        return None if text is None else run_from_text(text)

    @callback
    def end(self, heartbeat_id: str, text: str) -> None:
        """Note that a run has ended, with its record until the log is on disk."""
        self._runs.pop(heartbeat_id, None)
        self._ended[heartbeat_id] = text

    @callback
    def logged(self, heartbeat_id: str, text: str) -> None:
        """Note that a log is on disk with this record as its newest."""
        if self._ended.get(heartbeat_id) == text:
            del self._ended[heartbeat_id]

    @callback
    def forget(self, heartbeat_id: str) -> None:
        """Drop what is known of a heartbeat that was removed."""
        self._runs.pop(heartbeat_id, None)
        self._ended.pop(heartbeat_id, None)

    def load(self, stored: Any) -> None:
        """Take what `as_dict` wrote; a run that cannot be read is left out."""
        if not isinstance(stored, dict):
            return
        for heartbeat_id, run in stored.items():
            try:
                self._runs[heartbeat_id] = _from_dict(run)
            except KeyError, TypeError, ValueError:
                continue

    def load_ended(self, stored: Any) -> None:
        """Take what `ended` gave; a record that cannot be read is left out."""
        if not isinstance(stored, dict):
            return
        for heartbeat_id, text in stored.items():
            try:
                run_from_text(text)
            except AttributeError, KeyError, RecursionError, TypeError, ValueError:
                continue
            self._ended[heartbeat_id] = text

    @property
    def ended(self) -> dict[str, str]:
        """The records that only the state holds, as text."""
        return {**self._ended}

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

"""What two ticks cost that were measured in turns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Final

MICROSECOND: Final = 1_000  # nanoseconds


@dataclass(frozen=True, slots=True)
class Beside:
    """The processor's nanoseconds of steps that were taken in turns."""

    automation: list[int] = field(default_factory=list)
    ours: list[int] = field(default_factory=list)
    idle: list[int] = field(default_factory=list)

    @property
    def ours_us(self) -> float:
        """Our tick in microseconds."""
        return self._net(self.ours)

    @property
    def automation_us(self) -> float:
        """The automation's tick in microseconds."""
        return self._net(self.automation)

    @property
    def ratio(self) -> float:
        """Our tick as a share of the automation's."""
        return self.ours_us / self.automation_us

    @property
    def figures(self) -> dict[str, float]:
        """Both ticks, and ours as a share, as they are printed."""
        return {
            "ours_us": round(self.ours_us, 2),
            "automation_us": round(self.automation_us, 2),
            "ratio": round(self.ratio, 3),
        }

    def _net(self, steps: Sequence[int]) -> float:
        return (median(steps) - median(self.idle)) / MICROSECOND


def in_its_pace(found: Mapping[int, Beside], headline: Beside) -> dict[str, float]:
    """Return the costs as if the machine had been as fast as for the headline.

    How fast it was is seen from the automation that ticked beside.
    """
    return {
        str(size): round(beside.ratio * headline.automation_us, 2)
        for size, beside in found.items()
    }

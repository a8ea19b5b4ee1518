"""What is to be looked after in the week, the same for each agent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

DOOR: Final = "binary_sensor.freezer_door"
FREEZER: Final = "sensor.freezer_temperature"
WASHER: Final = "sensor.washer"
WINDOW: Final = "binary_sensor.bath_window"
BATH: Final = "sensor.bath_temperature"
HEATER: Final = "input_boolean.bath_heater"
HUMIDITY: Final = "sensor.cellar_humidity"
PUMP: Final = "script.drain_pump"

EVERY: Final = 15  # minutes from one tick to the next
DAMP: Final = 70  # per cent


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One thing to look after, as its owner would set it up."""

    name: str
    prompt: str
    conditions: Sequence[Mapping[str, Any]]
    look: Sequence[str]
    act: Sequence[str] = field(default=())


JOBS: Final = (
    Job(
        name="Freezer",
        prompt="Look after the freezer: if its door is open, say so, and how warm it "
        "is inside.",
        conditions=[
            {
                "condition": "state",
                "entity_id": DOOR,
                "state": "on",
                "for": {"minutes": 5},
            }
        ],
        look=[DOOR, FREEZER],
    ),
    Job(
        name="Washer",
        prompt="Look after the washing: if it is done, say so.",
        conditions=[{"condition": "state", "entity_id": WASHER, "state": "done"}],
        look=[WASHER],
    ),
    Job(
        name="Bath",
        prompt="Look after the bath: if a window is open while it is heated, switch "
        "the heater off.",
        conditions=[
            {"condition": "state", "entity_id": WINDOW, "state": "on"},
            {"condition": "state", "entity_id": HEATER, "state": "on"},
        ],
        look=[WINDOW, BATH],
        act=[HEATER],
    ),
    Job(
        name="Cellar",
        prompt=f"Look after the cellar: if it is damper than {DAMP} %, run the drain "
        "pump.",
        conditions=[
            {"condition": "numeric_state", "entity_id": HUMIDITY, "above": DAMP}
        ],
        look=[HUMIDITY],
        act=[PUMP],
    ),
)

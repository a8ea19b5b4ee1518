"""What stands where in a home of a given size; plain data, the same every time."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

ROOMS: Final = (
    "Kitchen",
    "Living room",
    "Bedroom",
    "Bathroom",
    "Hallway",
    "Office",
    "Dining room",
    "Kids room",
    "Garage",
    "Garden",
    "Guest room",
    "Laundry",
    "Pantry",
    "Attic",
    "Basement",
    "Terrace",
    "Workshop",
    "Library",
    "Sauna",
    "Porch",
)
# One room after the other takes the next of these, so that every home has this mix.
MIX: Final = (
    ("light", "light"),
    ("sensor", "temperature"),
    ("switch", "socket"),
    ("sensor", "humidity"),
    ("light", "ceiling spots"),
    ("binary_sensor", "motion"),
    ("cover", "blinds"),
    ("sensor", "power"),
    ("media_player", "speaker"),
    ("light", "table lamp"),
    ("sensor", "illuminance"),
    ("switch", "charger"),
    ("light", "floor lamp"),
    ("climate", "heating"),
    ("sensor", "carbon dioxide"),
    ("light", "strip"),
    ("fan", "fan"),
    ("binary_sensor", "window"),
    ("sensor", "battery"),
    ("switch", "heater plug"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """One entity, alone on its device, as most things in a home are."""

    domain: str
    kind: str
    room: str
    name: str


def plan(size: int) -> tuple[Thing, ...]:
    """Return the things of a home; a bigger one has more rooms and fuller ones."""
    rooms = ROOMS[: max(5, min(len(ROOMS), size // 10))]
    return tuple(_things(size, rooms))


def _things(size: int, rooms: tuple[str, ...]) -> Iterator[Thing]:
    for index in range(size):
        domain, kind = MIX[index % len(MIX)]
        room = rooms[index * len(rooms) // size]
        yield Thing(domain=domain, kind=kind, room=room, name=f"{room} {kind}")

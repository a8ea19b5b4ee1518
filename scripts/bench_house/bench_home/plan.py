"""What stands where in a home of a given size; plain data, the same every time."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

type Kind = tuple[str, str]

ROOMS: Final = (
    "Kitchen",
    "Living room",
    "Bedroom",
    "Bathroom",
    "Hallway",
    "Office",
    "Dining room",
    "Kids room",
    "Guest room",
    "Garage",
    "Laundry",
    "Pantry",
    "Attic",
    "Basement",
    "Terrace",
    "Workshop",
    "Library",
    "Sauna",
    "Porch",
    "Garden",
)
FEWEST_ROOMS: Final = 5
PER_ROOM: Final = 10

# What these rooms get before anything else ...
FIRST: Final[Mapping[str, tuple[Kind, ...]]] = {
    "Living room": (
        ("media_player", "television"),
        ("cover", "blinds"),
        ("climate", "heating"),
    ),
    "Bedroom": (("cover", "blinds"), ("climate", "heating")),
    "Bathroom": (("fan", "fan"), ("climate", "heating")),
    "Office": (("media_player", "speaker"), ("cover", "blinds")),
    "Dining room": (("media_player", "speaker"), ("cover", "blinds")),
    "Kids room": (("media_player", "speaker"), ("climate", "heating")),
    "Guest room": (("cover", "blinds"), ("climate", "heating")),
}
# ... and what every room gets, the more of it the fuller the home is.
THEN: Final[tuple[Kind, ...]] = (
    ("light", "light"),
    ("sensor", "temperature"),
    ("switch", "socket"),
    ("sensor", "humidity"),
    ("light", "ceiling spots"),
    ("binary_sensor", "motion"),
    ("sensor", "power"),
    ("binary_sensor", "window"),
    ("light", "lamp"),
    ("sensor", "illuminance"),
    ("climate", "heating"),
    ("cover", "blinds"),
    ("media_player", "speaker"),
    ("switch", "charger"),
    ("light", "strip"),
    ("sensor", "carbon dioxide"),
    ("fan", "fan"),
    ("sensor", "battery"),
    ("light", "night light"),
    ("switch", "heater plug"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """One entity, alone on its device, as most things in a home are."""

    domain: str
    kind: str
    room: str

    @property
    def name(self) -> str:
        """What its owner calls it."""
        return f"{self.room} {self.kind}"


def plan(size: int) -> tuple[Thing, ...]:
    """Return the things of a home; a bigger one has more rooms and fuller ones.

    A size that the rooms cannot share evenly, or that they do not hold, gives fewer.
    """
    rooms = ROOMS[: max(FEWEST_ROOMS, min(len(ROOMS), size // PER_ROOM))]
    return tuple(
        thing
        for room in rooms
        for thing in islice(_things_of(room), size // len(rooms))
    )


def _things_of(room: str) -> Iterator[Thing]:
    for domain, kind in dict.fromkeys((*FIRST.get(room, ()), *THEN)):
        yield Thing(domain=domain, kind=kind, room=room)

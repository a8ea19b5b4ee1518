"""One week in a home, minute by minute, the same each time."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
import random
from typing import Final

from homeassistant.core import Event, HomeAssistant, callback

from .jobs import BATH, DOOR, EVERY, FREEZER, HEATER, HUMIDITY, WASHER, WINDOW

DAY: Final = 24 * 60
WEEK: Final = 7 * DAY
SEED: Final = 20261102
# After a start the sensors come up late.
UNAVAILABLE_FOR: Final = 3
RESTARTS: Final = (2 * DAY + 14 * 60 + 5, 5 * DAY + 21 * 60 + 42)

_CELSIUS: Final = {"unit_of_measurement": "°C", "device_class": "temperature"}
_ATTRIBUTES: Final[Mapping[str, Mapping[str, str]]] = {
    DOOR: {"friendly_name": "Freezer door", "device_class": "door"},
    FREEZER: {"friendly_name": "Freezer temperature", **_CELSIUS},
    WASHER: {"friendly_name": "Washer"},
    WINDOW: {"friendly_name": "Bath window", "device_class": "window"},
    BATH: {"friendly_name": "Bath temperature", **_CELSIUS},
    HUMIDITY: {
        "friendly_name": "Cellar humidity",
        "unit_of_measurement": "%",
        "device_class": "humidity",
    },
}
SENSORS: Final = tuple(_ATTRIBUTES)
_FROZEN, _DRY, _FLOODED = -18.0, 58.0, 81.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """Something its owner has to hear of once, from when until when, in minutes."""

    job: str
    begins: int
    ends: int
    repairs: bool = True  # what is done about it helps


def _at(day: int, hour: int, minute: int) -> int:
    return day * DAY + hour * 60 + minute


def _lasting(job: str, begins: int, minutes: int) -> Incident:
    return Incident(job=job, begins=begins, ends=begins + minutes)


_STUCK: Final = _at(5, 15, 2)
INCIDENTS: Final = (
    _lasting("Freezer", _at(0, 18, 11), 32),
    _lasting("Freezer", _at(0, 19, 43), 33),  # the same door, an hour later
    _lasting("Freezer", _at(3, 8, 4), 27),
    _lasting("Freezer", _at(5, 21, 22), 33),  # and a restart in between
    _lasting("Washer", _at(0, 10, 7), 95),
    _lasting("Washer", _at(2, 13, 31), 160),  # and a restart in between
    _lasting("Washer", _at(4, 9, 36), 300),
    _lasting("Washer", _at(6, 11, 12), 44),
    _lasting("Bath", _at(1, 7, 13), 30),
    _lasting("Bath", _at(3, 22, 1), 25),
    _lasting("Bath", _at(6, 8, 22), 30),
    _lasting("Cellar", _at(2, 3, 4), 40),
    # The pump runs, and that it has not helped is another thing to hear of.
    Incident(job="Cellar", begins=_STUCK, ends=_STUCK + EVERY, repairs=False),
    Incident(job="Cellar", begins=_STUCK + EVERY, ends=_at(5, 18, 5), repairs=False),
)
# Nobody has to hear of a door that somebody has just opened.
_PASSINGS: Final = tuple(_at(day, hour, 29) for day in range(7) for hour in (7, 12, 19))
_PASSING: Final = 2  # minutes
# The heating comes on each morning and each evening.
_HEATED: Final = ((6 * 60, 9 * 60), (21 * 60, 23 * 60))


@dataclass(slots=True)
class Week:
    """What is true in the home, whatever Home Assistant knows of it."""

    minute: int = 0
    _freezer: float = _FROZEN
    _humidity: float = _DRY
    _is_draining: bool = False
    _available_from: int = 0
    _random: random.Random = field(
        default_factory=lambda: random.Random(SEED)  # noqa: S311 - the same each time
    )

    @callback
    def plug_in(self, hass: HomeAssistant) -> None:
        """Show everything as unavailable at first, and hear when the pump runs."""
        self._available_from = self.minute + UNAVAILABLE_FOR
        hass.bus.async_listen("drain_pump_runs", self._pump_runs)
        for entity_id in SENSORS:
            hass.states.async_set(entity_id, "unavailable", _ATTRIBUTES[entity_id])

    async def pass_minute(self, hass: HomeAssistant) -> None:
        """Go on by one minute."""
        self.minute += 1
        self._freezer = max(_FROZEN, self._freezer + (0.2 if self._is_open() else -0.5))
        self._flow()
        if self.minute >= self._available_from:
            for entity_id, state in self._states():
                hass.states.async_set(entity_id, state, _ATTRIBUTES[entity_id])
        await self._heat(hass)

    def _states(self) -> Iterator[tuple[str, str]]:
        yield DOOR, "on" if self._is_open() else "off"
        yield FREEZER, f"{self._trembling(self._freezer):.1f}"
        yield WASHER, "done" if self._goes_on("Washer") else "off"
        yield WINDOW, "on" if self._goes_on("Bath") else "off"
        yield BATH, f"{self._trembling(20.5):.1f}"
        yield HUMIDITY, f"{self._trembling(self._humidity):.1f}"

    def _is_open(self) -> bool:
        is_passing = any(0 <= self.minute - one < _PASSING for one in _PASSINGS)
        return is_passing or self._goes_on("Freezer") is not None

    def _goes_on(self, job: str) -> Incident | None:
        return next(
            (
                one
                for one in INCIDENTS
                if one.job == job and one.begins <= self.minute < one.ends
            ),
            None,
        )

    def _flow(self) -> None:
        incident = self._goes_on("Cellar")
        if incident is None:
            self._humidity, self._is_draining = _DRY, False
        elif self._is_draining and incident.repairs:
            self._humidity = max(_DRY, self._humidity - 2)
        elif not self._is_draining:
            self._humidity = _FLOODED

    async def _heat(self, hass: HomeAssistant) -> None:
        """Follow the schedule: what somebody switches off in between stays off."""
        for begins, ends in _HEATED:
            for minute, action in ((begins, "turn_on"), (ends, "turn_off")):
                if self.minute % DAY == minute:
                    await hass.services.async_call(
                        "input_boolean", action, {"entity_id": HEATER}, blocking=True
                    )

    def _trembling(self, value: float) -> float:
        return value + self._random.choice((0, 0.1))

    @callback
    def _pump_runs(self, _event: Event) -> None:
        self._is_draining = True

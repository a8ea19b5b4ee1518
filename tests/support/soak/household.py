"""What is true in the home, whatever Home Assistant knows of it."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any, Final

from homeassistant.core import Event, HomeAssistant, State, callback

from .agenda import Agenda

DOOR: Final = "binary_sensor.door"
LEAK: Final = "binary_sensor.leak"
BATH: Final = "sensor.bath"
FREEZER: Final = "sensor.freezer"
WASHER: Final = "sensor.washer"
POWER: Final = "sensor.power"
HEATER: Final = "input_boolean.heater"

CHORE: Final = "chore"

_CELSIUS: Final = {"unit_of_measurement": "°C", "device_class": "temperature"}
_ATTRIBUTES: Final[dict[str, dict[str, str]]] = {
    DOOR: {"device_class": "door"},
    LEAK: {"device_class": "moisture"},
    BATH: _CELSIUS,
    FREEZER: _CELSIUS,
    WASHER: {},
    POWER: {"unit_of_measurement": "W", "device_class": "power"},
}

type OnDeed = Callable[[], None]


class Household:
    """Keeps its states, changes by what is done in it, and counts the deeds.

    What is `real` is a change that an owner would call one; the rest trembles.
    """

    def __init__(self, agenda: Agenda) -> None:
        self.deeds: list[tuple[float, str]] = []
        self.changed: defaultdict[str, list[float]] = defaultdict(list)
        self.on_deed: dict[str, OnDeed] = {}
        self.last_change = 0.0
        self.is_heating = False
        self.agenda = agenda
        self._states = {
            DOOR: "off",
            LEAK: "off",
            BATH: "21.0",
            FREEZER: "-18.0",
            WASHER: "off",
            POWER: "100",
        }
        self._hass: HomeAssistant | None = None
        self._up: set[str] = set()

    @property
    def entity_ids(self) -> tuple[str, ...]:
        """The entities that come up late after a start."""
        return tuple(self._states)

    @callback
    def plug_in(self, hass: HomeAssistant) -> None:
        """Show everything as unavailable at first."""
        self._hass = hass
        for entity_id in self._states:
            hass.states.async_set(entity_id, "unavailable", _ATTRIBUTES[entity_id])
        hass.bus.async_listen(CHORE, self._chore)
        hass.bus.async_listen("state_changed", self._switched)

    @callback
    def unplug(self) -> None:
        """Hear nothing of Home Assistant any more."""
        self._hass = None
        self._up.clear()

    @callback
    def come_up(self, entity_id: str) -> None:
        """Let Home Assistant know a state."""
        self._up.add(entity_id)
        self._show(entity_id)

    @callback
    def change(self, entity_id: str, state: str) -> None:
        """Change something for real."""
        self._note_change(entity_id)
        self.tremble(entity_id, state)

    @callback
    def tremble(self, entity_id: str, state: str) -> None:
        """Let a state be measured a little differently."""
        self._states[entity_id] = state
        self._show(entity_id)

    def state(self, entity_id: str) -> str:
        """Return what is true."""
        return self._states[entity_id]

    async def stop_heating(self) -> None:
        """Switch the heater off, as a thermostat does."""
        self._note_change(HEATER)
        self.is_heating = False
        if self._hass is not None:
            await self._hass.services.async_call(
                "input_boolean", "turn_off", {"entity_id": HEATER}, blocking=True
            )

    @callback
    def _note_change(self, entity_id: str) -> None:
        self.last_change = self.agenda.now
        self.changed[entity_id].append(self.last_change)

    @callback
    def _show(self, entity_id: str) -> None:
        if self._hass is not None and entity_id in self._up:
            state, attributes = self._states[entity_id], _ATTRIBUTES[entity_id]
            self._hass.states.async_set(entity_id, state, attributes)

    @callback
    def _chore(self, event: Event[Any]) -> None:
        if self._hass is not None:
            self._done(event.data["what"])

    @callback
    def _switched(self, event: Event[Any]) -> None:
        new: State | None = event.data["new_state"]
        if self._hass is None or new is None or new.entity_id != HEATER:
            return
        if new.state == "on" and not self.is_heating:
            self.is_heating = True
            self._note_change(HEATER)
            self._done(HEATER)

    @callback
    def _done(self, what: str) -> None:
        self.deeds.append((self.agenda.now, what))
        if (on_deed := self.on_deed.get(what)) is not None:
            on_deed()

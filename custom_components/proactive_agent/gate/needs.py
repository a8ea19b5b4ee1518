"""What has to be there before a condition can be judged at all (G2)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import ATTR_DEVICE_CLASS
from homeassistant.core import HomeAssistant, State, split_entity_id
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers.condition import trace_condition
from homeassistant.util import dt as dt_util

from ..const import SILENT_STATES
from .reading import ReadTemplate
from .standing import Basis
from .tree import Trouble

_NO_NUMBER = (None, *SILENT_STATES)


class Need(Protocol):
    """Something a condition cannot be judged without.

    One that `wanders` may be about other entities at each tick.
    """

    @property
    def wanders(self) -> bool:
        """Whether it may be about others at the next tick."""
        ...

    def basis(self) -> Basis | None:
        """Return all that it rests on, as last looked at; None if not only states."""
        ...

    def fault(self) -> str | None:
        """Say in words what is missing; None if nothing is."""
        ...

    def entity_ids(self) -> Iterator[str]:
        """Yield the entities it is about."""
        ...

    def troubles(self) -> Iterator[tuple[str, Trouble]]:
        """Yield those of them that are missing or silent."""
        ...


def trouble_of(
    hass: HomeAssistant, entity_id: str, asked: frozenset[str] = frozenset()
) -> Trouble | None:
    """Say what is wrong with an entity whose silent states `asked` are welcome."""
    if (state := hass.states.get(entity_id)) is None:
        return "missing"
    if state.state in SILENT_STATES and state.state not in asked:
        return "unavailable"
    return None


def trouble_in_words(hass: HomeAssistant, entity_id: str) -> str:
    """Put an entity's trouble into words."""
    if (state := hass.states.get(entity_id)) is None:
        return f"{entity_id} does not exist"
    return f"{entity_id} is {state.state}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityNeed:
    """An entity that must exist and have a state, or one that is `asked` for.

    `fit` may demand more of its state and says what is wrong with it.
    """

    wanders: ClassVar[bool] = False

    hass: HomeAssistant
    entity_id: str
    asked: frozenset[str] = frozenset()
    fit: Callable[[State], str | None] | None = None

    def fault(self) -> str | None:
        """Say what is wrong with the entity."""
        # One look at the state: this runs on each quiet tick.
        if (state := self.hass.states.get(self.entity_id)) is None:
            return f"{self.entity_id} does not exist"
        if state.state in SILENT_STATES and state.state not in self.asked:
            return f"{self.entity_id} is {state.state}"
        return self.fit(state) if self.fit else None

    def basis(self) -> Basis:
        """Return the entity."""
        return Basis(entity_ids=(self.entity_id,))

    def entity_ids(self) -> Iterator[str]:
        """Yield the entity."""
        yield self.entity_id

    def troubles(self) -> Iterator[tuple[str, Trouble]]:
        """Yield the entity if it is missing or silent."""
        if trouble := trouble_of(self.hass, self.entity_id, self.asked):
            yield self.entity_id, trouble


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicesNeed:
    """Devices of which one must be there, its integration loaded."""

    wanders: ClassVar[bool] = False

    hass: HomeAssistant
    device_ids: tuple[str, ...]

    def fault(self) -> str | None:
        """Say that none of the devices is there."""
        if any(self._present(device_id) for device_id in self.device_ids):
            return None
        return "its device is gone, disabled or not loaded"

    def _present(self, device_id: str) -> bool:
        device = dr.async_get(self.hass).async_get(device_id)
        if device is None or device.disabled:
            return False
        entry = self.hass.config_entries.async_get_entry(device.config_entry_id)
        return entry is not None and entry.state is ConfigEntryState.LOADED

    def basis(self) -> None:
        """It rests on the devices."""
        return

    def entity_ids(self) -> Iterator[str]:
        """No entity is involved."""
        yield from ()

    def troubles(self) -> Iterator[tuple[str, Trouble]]:
        """No entity is to blame."""
        yield from ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateNeed:
    """A template beside the condition proper, such as `value_template` or `for`.

    Rendered once more than Home Assistant does, as only this tells what it reads.
    """

    wanders: ClassVar[bool] = True

    hass: HomeAssistant
    template: ReadTemplate
    state_of: str | None = None
    number: bool = False

    def fault(self) -> str | None:
        """Say why the template's result cannot be trusted."""
        with trace_condition(None):  # or an undefined variable would be logged
            info = self.template.async_render_to_info(self._variables())
        for entity_id in sorted(self.template.read):
            if trouble_of(self.hass, entity_id):
                return trouble_in_words(self.hass, entity_id)
        if info.exception:
            return f"its template fails: {info.exception}"
        if self.number and info.result() in _NO_NUMBER:
            return "its template gives no number"
        return None

    def _variables(self) -> Mapping[str, Any]:
        if self.state_of is None:
            return {}
        return {"state": self.hass.states.get(self.state_of)}

    def basis(self) -> Basis | None:
        """Return what the template read last."""
        return self.template.basis()

    def entity_ids(self) -> Iterator[str]:
        """Yield what the template read last."""
        yield from self.template.read

    def troubles(self) -> Iterator[tuple[str, Trouble]]:
        """Yield those of them that are missing or silent."""
        for entity_id in self.template.read:
            if trouble := trouble_of(self.hass, entity_id):
                yield entity_id, trouble


def holds_number(state: State) -> str | None:
    """Demand a state that is a number."""
    try:
        float(state.state)
    except ValueError:
        return f"{state.entity_id} is {state.state}, which is no number"
    return None


def holds_time(state: State) -> str | None:
    """Demand what the time condition can read as a time of day."""
    match split_entity_id(state.entity_id)[0]:
        case "input_datetime":
            fits = "hour" in state.attributes
        case "time":
            fits = dt_util.parse_time(state.state) is not None
        case _:
            fits = (
                state.attributes.get(ATTR_DEVICE_CLASS) in ("timestamp", "uptime")
                and dt_util.parse_datetime(state.state) is not None
            )
    return None if fits else f"{state.entity_id} is {state.state}, which is no time"


def holds_number_in(attribute: str) -> Callable[[State], str | None]:
    """Demand an attribute with something in it to compare."""

    def fit(state: State) -> str | None:
        if state.attributes.get(attribute) in _NO_NUMBER:
            return f"{state.entity_id} has no number in {attribute}"
        return None

    return fit

"""Whether areas, labels, devices and entities are as they were (C4)."""

from typing import Any

from homeassistant.core import CALLBACK_TYPE, Event, HomeAssistant, callback
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    floor_registry as fr,
    label_registry as lr,
)

_CHANGES = (
    ar.EVENT_AREA_REGISTRY_UPDATED,
    dr.EVENT_DEVICE_REGISTRY_UPDATED,
    er.EVENT_ENTITY_REGISTRY_UPDATED,
    fr.EVENT_FLOOR_REGISTRY_UPDATED,
    lr.EVENT_LABEL_REGISTRY_UPDATED,
)


class Registries:
    """Counts what changes in the registries, from `listen` until it is closed."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Begin without a listener: most gates need none."""
        self._hass = hass
        self._unlisten: list[CALLBACK_TYPE] = []
        self.version = 0

    @property
    def are_heard(self) -> bool:
        """Whether the count can be relied on."""
        return bool(self._unlisten)

    @callback
    def listen(self) -> None:
        """Count from now on."""
        if not self._unlisten:
            listen = self._hass.bus.async_listen
            self._unlisten = [listen(one, self._changed) for one in _CHANGES]

    @callback
    def close(self) -> None:
        """Stop counting."""
        for unlisten in self._unlisten:
            unlisten()
        self._unlisten.clear()

    @callback
    def _changed(self, _event: Event[Any]) -> None:
        self.version += 1

"""What all things of the home have in common."""

from typing import Any

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import callback
from homeassistant.helpers.device_registry import DeviceInfo
from homeassistant.helpers.entity import Entity
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .config_flow import DOMAIN, SIZE
from .plan import Thing, plan


class ThingEntity(Entity):
    """The one entity of its device; it is as it was told to be."""

    _attr_has_entity_name = True
    _attr_name = None
    _attr_should_poll = False

    def __init__(self, index: int, thing: Thing) -> None:
        """Stand where the plan says."""
        self._attr_unique_id = f"thing_{index}"
        self._attr_device_info = DeviceInfo(
            identifiers={(DOMAIN, self._attr_unique_id)},
            name=thing.name,
            manufacturer="Bench",
            model=thing.kind,
        )

    @callback
    def become(self, **attributes: Any) -> None:
        """Change, and say so."""
        for name, value in attributes.items():
            setattr(self, f"_attr_{name}", value)
        self.async_write_ha_state()


def put_up(
    domain: str,
    make: type[ThingEntity],
    entry: ConfigEntry,
    add: AddConfigEntryEntitiesCallback,
) -> None:
    """Add every thing of one domain."""
    add(
        make(index, thing)
        for index, thing in enumerate(plan(entry.data[SIZE]))
        if thing.domain == domain
    )

"""What Home Assistant can do by now, and how it says it in English."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
import logging
from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.helpers.service import (
    async_get_all_descriptions,
    async_get_cached_service_description,
)
from homeassistant.helpers.translation import async_get_translations

from ..engine.one_line import one_line
from ..engine.policy import SCRIPT
from .amendments import CORRECTIONS, correction

_LOGGER = logging.getLogger(__name__)

_MAX_DESCRIPTION = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """The actions and their texts; `filtering` are attributes their fields ask for."""

    actions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    filtering: frozenset[str] = frozenset()

    @classmethod
    async def async_read(
        cls, hass: HomeAssistant, known: Catalogue | None = None
    ) -> Catalogue:
        """Read the descriptions; return what is `known` as long as it still holds.

        Where a base component of Home Assistant lacks a package, its descriptions
        cannot be read; the scripts, which describe themselves, are left.
        """
        failure: ImportError | None = None
        try:
            actions = await async_get_all_descriptions(hass)
        except ImportError as err:
            failure = err
            actions = {SCRIPT: _described_scripts(hass)}
        if known is not None and known.actions == actions:
            return known
        if failure is not None:
            _LOGGER.warning("Only scripts can be tools: %s", failure)
        return cls(
            actions=actions,
            texts=await async_get_translations(hass, "en", "services", {*actions}),
            filtering=frozenset(_filtering(actions)),
        )

    def text(self, description: Mapping[str, Any], *path: str) -> str:
        """Return a description's text: its own, else the translated one."""
        own = description.get("description") or description.get("name")
        key = ".".join(("component", path[0], "services", *path[1:]))
        text = own or self.texts.get(f"{key}.description", "")
        for name, value in (description.get("description_placeholders") or {}).items():
            text = text.replace(f"{{{name}}}", str(value))
        return one_line(text, _MAX_DESCRIPTION)

    def fields(self, domain: str, service: str) -> dict[str, Any]:
        """Return the fields of an action with their texts, sections kept."""
        fields = self.actions[domain][service].get("fields") or {}
        return self._with_texts(fields, domain, service)

    def _with_texts(
        self, fields: Mapping[str, Any], domain: str, service: str
    ) -> dict[str, Any]:
        described: dict[str, Any] = {}
        for name, config in fields.items():
            one = config or {}
            if isinstance(section := one.get("fields"), Mapping):
                described[name] = {"fields": self._with_texts(section, domain, service)}
                continue
            text = self.text(one, domain, service, "fields", name)
            amended = correction(domain, service, name)
            described[name] = {**one, **amended, "description": text}
        return described


def _described_scripts(hass: HomeAssistant) -> dict[str, Any]:
    return {
        service: description
        for service in hass.services.async_services_for_domain(SCRIPT)
        if (description := async_get_cached_service_description(hass, SCRIPT, service))
    }


def _filtering(actions: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for services in actions.values():
        for description in services.values():
            yield from _filtering_fields(description.get("fields"))
    for corrected in CORRECTIONS.values():
        yield from _filtering_fields(corrected)


def _filtering_fields(fields: Any) -> Iterator[str]:
    if not isinstance(fields, Mapping):
        return
    for config in fields.values():
        if isinstance(config, Mapping):
            if isinstance(wanted := config.get("filter"), Mapping):
                yield from wanted.get("attribute") or ()
            yield from _filtering_fields(config.get("fields"))

"""What Home Assistant can do by now, and how it says it in English."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.helpers.translation import async_get_translations

from ..engine.one_line import one_line
from .amendments import CORRECTIONS, correction
from .descriptions import async_descriptions

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
        """Read the descriptions; return what is `known` as long as it still holds."""
        actions = await async_descriptions(hass)
        if known is not None and known.actions == actions:
            return known
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
